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

// byStatus counts answers with a status; SERVING is that of a health check over gRPC.
func (r *report) byStatus(code string, n int64) {
	if len(code) == 3 && code[0] == '2' || code == "SERVING" {
		r.Good += n
	} else {
		r.Bad += n
	}
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

// readFortio reads fortio load -json -, whose latencies are seconds.
func readFortio(out []byte) (report, error) {
	var said struct {
		Codes     map[string]int64 `json:"RetCodes"`
		Durations struct {
			Percentiles []struct{ Percentile, Value float64 }
		} `json:"DurationHistogram"`
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return report{}, err
	}
	if said.Codes == nil {
		return report{}, errors.New("no status codes in what it said")
	}
	var r report
	for code, n := range said.Codes { // -1 is one that was not answered
		r.byStatus(code, n)
	}
	for _, p := range said.Durations.Percentiles {
		took := time.Duration(p.Value * float64(time.Second))
		switch p.Percentile {
		case 50:
			r.P50 = took
		case 95:
			r.P95 = took
		case 99:
			r.P99 = took
		}
	}
	return r, nil
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
