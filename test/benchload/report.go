package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report is a tool's own result of a run.
type report struct {
	Good    int64         `json:"good"`              // requests that were answered with 2xx
	Bad     int64         `json:"bad,omitempty"`     // answered otherwise, or not at all
	Dropped int64         `json:"dropped,omitempty"` // due and never sent, as it says itself
	Drained int64         `json:"drained,omitempty"` // of the good ones, answered after the load's end; Millicore's alone
	P50     time.Duration `json:"p50_ns,omitempty"`  // of latencies; 0: not reported
	P95     time.Duration `json:"p95_ns,omitempty"`
	P99     time.Duration `json:"p99_ns,omitempty"`
	Lag     time.Duration `json:"send_lag_p99_ns,omitempty"` // Millicore's alone
	LagP50  time.Duration `json:"send_lag_p50_ns,omitempty"` // likewise
}

// number finds the first group of an expression in a tool's output.
func number(out []byte, e *regexp.Regexp) (float64, error) {
	found := e.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("no %q in what it said", e)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// numbers sums the first group over all matches of an expression.
func numbers(out []byte, e *regexp.Regexp) (sum int64) {
	for _, found := range e.FindAllSubmatch(out, -1) {
		n, _ := strconv.ParseInt(string(found[1]), 10, 64) // digits by the expression
		sum += n
	}
	return sum
}

// latencyAt finds a latency with its unit in a tool's output.
func latencyAt(out []byte, e *regexp.Regexp) time.Duration {
	found := e.FindSubmatch(out)
	if found == nil {
		return 0
	}
	d, _ := time.ParseDuration(string(found[1])) // of Go's own form by the expression
	return d
}

var (
	wrkRequests  = regexp.MustCompile(`(?m)^\s*(\d+) requests in `)
	wrkStatus    = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
	wrkErrors    = regexp.MustCompile(`(?:connect|read|write|timeout) (\d+)`)
	wrkErrorLine = regexp.MustCompile(`Socket errors: .*`)
	wrkP50       = regexp.MustCompile(`(?m)^\s*50%\s+([0-9.]+[a-z]+)$`)
	wrkP99       = regexp.MustCompile(`(?m)^\s*99%\s+([0-9.]+[a-z]+)$`)
)

// readWrk parses the output of wrk --latency, which has no p95.
func readWrk(out []byte) (report, error) {
	all, err := number(out, wrkRequests)
	bad := numbers(out, wrkStatus)
	r := report{Good: int64(all) - bad, P50: latencyAt(out, wrkP50), P99: latencyAt(out, wrkP99)}
	r.Bad = bad + numbers(wrkErrorLine.Find(out), wrkErrors)
	return r, err
}

var (
	h2loadGood   = regexp.MustCompile(`status codes: (\d+) 2xx`)
	h2loadFailed = regexp.MustCompile(`(\d+) failed, \d+ errored`) // those that errored are among them
	h2loadOther  = regexp.MustCompile(`(\d+) [345]xx`)
)

// readH2load parses the output of h2load, which has no quantiles: they are computed
// from its log of requests, if there is one.
func readH2load(out, log []byte) (report, error) {
	good, err := number(out, h2loadGood)
	r := report{Good: int64(good)}
	failed, _ := number(out, h2loadFailed)
	r.Bad = max(int64(failed), numbers(out, h2loadOther)) // answers of 4xx and 5xx count as failed
	if err != nil || len(log) == 0 {
		return r, err
	}
	var micros []int64
	for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\t") // when it began, status, microseconds
		if len(fields) < 3 {
			return r, fmt.Errorf("a line of its log is %q", lines.Text())
		}
		us, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return r, fmt.Errorf("a line of its log: %w", err)
		}
		micros = append(micros, us)
	}
	slices.Sort(micros)
	at := func(percent int) time.Duration {
		return time.Duration(micros[(percent*len(micros)+99)/100-1]) * time.Microsecond
	}
	r.P50, r.P95, r.P99 = at(50), at(95), at(99)
	return r, nil
}

var (
	abComplete = regexp.MustCompile(`Complete requests:\s+(\d+)`)
	abFailed   = regexp.MustCompile(`Failed requests:\s+(\d+)`)
	abStatus   = regexp.MustCompile(`Non-2xx responses:\s+(\d+)`)
	abKept     = regexp.MustCompile(`Keep-Alive requests:\s+(\d+)`)
	abP50      = regexp.MustCompile(`(?m)^\s*50%\s+(\d+)`)
	abP95      = regexp.MustCompile(`(?m)^\s*95%\s+(\d+)`)
	abP99      = regexp.MustCompile(`(?m)^\s*99%\s+(\d+)`)
)

// readAb parses the output of ab. Its latencies are in whole milliseconds.
func readAb(out []byte) (report, error) {
	all, err1 := number(out, abComplete)
	failed, err2 := number(out, abFailed)
	kept, err3 := number(out, abKept)
	if err := errors.Join(err1, err2, err3); err != nil {
		return report{}, err
	}
	if kept < all*0.99 {
		return report{}, fmt.Errorf("%v of %v requests kept their connections: it was not asked what the others are", kept, all)
	}
	bad := int64(failed) + numbers(out, abStatus)
	ms := func(e *regexp.Regexp) time.Duration { return time.Duration(numbers(out, e)) * time.Millisecond }
	return report{Good: int64(all) - bad, Bad: bad, P50: ms(abP50), P95: ms(abP95), P99: ms(abP99)}, nil
}

var (
	heyStatus = regexp.MustCompile(`(?m)^\s*\[(\d+)\]\s+(\d+) responses$`)
	heyErrors = regexp.MustCompile(`(?m)^\s*\[(\d+)\]\s+[^\s0-9|]`)
	heyP50    = regexp.MustCompile(`50%+ in ([0-9.]+) s`)
	heyP95    = regexp.MustCompile(`95%+ in ([0-9.]+) s`)
	heyP99    = regexp.MustCompile(`99%+ in ([0-9.]+) s`)
)

// readHey parses the output of hey.
func readHey(out []byte) (report, error) {
	var r report
	if !bytes.Contains(out, []byte("Status code distribution:")) {
		return r, errors.New("no status codes in what it said")
	}
	for _, c := range heyStatus.FindAllSubmatch(out, -1) {
		n, _ := strconv.ParseInt(string(c[2]), 10, 64)
		r.byStatus(string(c[1]), n)
	}
	if _, words, ok := bytes.Cut(out, []byte("Error distribution:")); ok {
		r.Bad += numbers(words, heyErrors)
	}
	seconds := func(e *regexp.Regexp) time.Duration {
		s, _ := number(out, e)
		return time.Duration(s * 1e9)
	}
	r.P50, r.P95, r.P99 = seconds(heyP50), seconds(heyP95), seconds(heyP99)
	return r, nil
}

// byStatus counts answers with a status.
func (r *report) byStatus(code string, n int64) {
	if len(code) == 3 && code[0] == '2' {
		r.Good += n
	} else {
		r.Bad += n
	}
}

// readBombardier reads bombardier's -o json, whose latencies are microseconds.
func readBombardier(out []byte) (report, error) {
	var said struct {
		Result *struct {
			Req1xx, Req2xx, Req3xx, Req4xx, Req5xx, Others int64
			Latency                                        struct{ Percentiles map[string]float64 }
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return report{}, err
	}
	if said.Result == nil {
		return report{}, errors.New("no result in what it said")
	}
	w := said.Result
	at := func(p string) time.Duration {
		return time.Duration(w.Latency.Percentiles[p] * float64(time.Microsecond))
	}
	return report{Good: w.Req2xx, Bad: w.Req1xx + w.Req3xx + w.Req4xx + w.Req5xx + w.Others, P50: at("50"), P95: at("95"), P99: at("99")}, nil
}

// readVegeta reads vegeta report -type json.
func readVegeta(out []byte) (report, error) {
	var said struct {
		Latencies struct {
			P50 time.Duration `json:"50th"`
			P95 time.Duration `json:"95th"`
			P99 time.Duration `json:"99th"`
		}
		Codes map[string]int64 `json:"status_codes"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return report{}, err
	}
	r := report{P50: said.Latencies.P50, P95: said.Latencies.P95, P99: said.Latencies.P99}
	for code, n := range said.Codes { // 0 is one that was not answered
		r.byStatus(code, n)
	}
	return r, nil
}

// ohaDeadline is oha's name of requests that are aborted at the end of the run, which
// are not errors.
const ohaDeadline = "aborted due to deadline"

// readOha reads oha's --output-format json, whose latencies are seconds. Its own
// success rate counts a 5xx as a success.
func readOha(out []byte) (report, error) {
	var said struct {
		Latency struct{ P50, P95, P99 float64 } `json:"latencyPercentiles"`
		Codes   map[string]int64                `json:"statusCodeDistribution"`
		Errors  map[string]int64                `json:"errorDistribution"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return report{}, err
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	r := report{P50: seconds(said.Latency.P50), P95: seconds(said.Latency.P95), P99: seconds(said.Latency.P99)}
	for code, n := range said.Codes {
		r.byStatus(code, n)
	}
	for words, n := range said.Errors {
		if words != ohaDeadline {
			r.Bad += n
		}
	}
	return r, nil
}

// readK6 reads k6's --summary-export, whose latencies are milliseconds.
func readK6(out []byte) (report, error) {
	type metric struct {
		Count  int64
		Passes int64
		P50    float64 `json:"p(50)"`
		P95    float64 `json:"p(95)"`
		P99    float64 `json:"p(99)"`
	}
	var said struct{ Metrics map[string]metric }
	if err := json.Unmarshal(out, &said); err != nil {
		return report{}, err
	}
	all, ok := said.Metrics["http_reqs"]
	if !ok {
		return report{}, errors.New("no http_reqs in its summary")
	}
	took, failed := said.Metrics["http_req_duration"], said.Metrics["http_req_failed"]
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	return report{
		Good: all.Count - failed.Passes, Bad: failed.Passes, Dropped: said.Metrics["dropped_iterations"].Count,
		P50: ms(took.P50), P95: ms(took.P95), P99: ms(took.P99),
	}, nil
}

// readMillicore reads millicore load --json, whose latencies are milliseconds.
func readMillicore(out []byte) (report, error) {
	var said struct {
		Requests     int64
		Availability *float64
		Latency      *struct{ P50, P95, P99 float64 } `json:"latency_ms"`
		Errors       struct{ Dropped int64 }
		Generator    struct {
			Lag *float64 `json:"send_lag_p99_us"`
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return report{}, err
	}
	if said.Availability == nil {
		return report{}, errors.New("no availability in what it said")
	}
	if said.Latency == nil { // no answer was good
		said.Latency = new(struct{ P50, P95, P99 float64 })
	}
	good := int64(float64(said.Requests)**said.Availability/100 + 0.5)
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	lag := cmp.Or(said.Generator.Lag, new(float64))
	return report{
		Good: good, Bad: said.Requests - good - said.Errors.Dropped, Dropped: said.Errors.Dropped,
		P50: ms(said.Latency.P50), P95: ms(said.Latency.P95), P99: ms(said.Latency.P99),
		Lag: time.Duration(*lag * float64(time.Microsecond)),
	}, nil
}
