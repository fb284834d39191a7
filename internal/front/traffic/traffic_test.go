package traffic

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/show/answer"
)

// answered is a result with this number of failed requests. The quantiles of the others
// are 1, 2, 3, 300 and 500 ms.
func answered(failed int64) *Result {
	h := signals.NewHistogram()
	for i := range 1000 {
		latency := time.Millisecond
		switch {
		case i >= 999:
			latency = 500 * time.Millisecond
		case i >= 985:
			latency = 300 * time.Millisecond
		case i >= 920:
			latency = 3 * time.Millisecond
		case i >= 800:
			latency = 2 * time.Millisecond
		}
		h.Record(latency)
	}
	good, rate := 100*1000/float64(1000+failed), 1000.0
	return &Result{Client: signals.Client{Good: 1000, Refused: failed, Latency: h}, timeout: 2 * time.Second,
		Cell: &summary.Cell{Requests: 1000 + failed, RateRPS: &rate, Availability: &good,
			LatencyMS: &summary.Quantiles{P50: 1, P90: 2, P95: 3, P99: 300, P999: 300, Max: 500, Mean: 10}}}
}

func TestThresholds(t *testing.T) {
	for text, kept := range map[string]bool{
		"p99<300ms": false, "p99<=300ms": true, "p99 < 0.31s": true, "p50>=1ms": true, "p50>1ms": false,
		"p99>=300ms": true, "p99>300ms": false, "p99>299ms": true,
		"p99.9<301ms": true, "max<1s": true, "max<500ms": false, "max<=500ms": true, "mean<10000us": false, "mean<=10000us": true,
		"errors<1%": true, "rate>999": true, "rate>1000": false,
	} {
		one, err := ParseThreshold(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if k := one.Judge(answered(0)); k.Kept != kept || k.Value == nil || k.Why != "" {
			t.Errorf("%s: %+v, want %v", text, k, kept)
		}
	}
}

// The report shows the latencies of answered requests. A threshold includes the others.
func TestAFailedRequestMissesEveryLatency(t *testing.T) {
	const nine = "90% of the requests failed, and a failed request counts as infinitely late"
	for _, c := range []struct {
		text   string
		failed int64
		kept   bool
		why    string
	}{
		{"p99<1s", 10, true, ""},
		{"p99<1s", 11, false, "1.09% of the requests failed, and a failed request counts as infinitely late"},
		{"p99<1s", 9000, false, nine},
		{"p99<1ms", 9000, false, ""}, // the value shows it
		{"p50<1s", 9000, false, nine},
		{"p50<1s", 1000, true, ""},
		{"p99>1s", 9000, true, ""},
		{"p99<350ms", 5, true, ""},
		{"p95<4ms", 40, false, "3.85% of the requests failed, and a failed request counts as infinitely late"},
		{"max<1s", 1, false, "0.0999% of the requests failed, and a failed request counts as infinitely late"},
		{"mean<1s", 1, false, "0.0999% of the requests failed, and a failed request counts as infinitely late"},
		{"errors<1%", 5, true, ""}, {"errors<0.4%", 5, false, ""}, {"rate>999", 9000, true, ""},
	} {
		one, err := ParseThreshold(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if k := one.Judge(answered(c.failed)); k.Kept != c.kept || k.Why != c.why {
			t.Errorf("%s with %d failed: %+v, want kept %v, %q", c.text, c.failed, k, c.kept, c.why)
		}
	}
	none := &Result{Cell: &summary.Cell{Requests: 100}, Client: signals.Client{Refused: 100, Latency: signals.NewHistogram()}}
	one, _ := ParseThreshold("p99<1s")
	if k := one.Judge(none); k.Kept || k.Text() != "100% of the requests failed, and a failed request counts as infinitely late" {
		t.Errorf("none was answered: %+v: %s", k, k.Text())
	}
	r := answered(0)
	r.Client.Timeouts, r.Client.Good, r.timeout = 100, 900, 20*time.Millisecond // below the threshold
	one, _ = ParseThreshold("p99<1s")
	if one.Judge(r).Kept {
		t.Error("requests that timed out count as in time")
	}
}

func TestThresholdErrors(t *testing.T) {
	one, _ := ParseThreshold("p99<1h")
	if k := one.Judge(&Result{Cell: &summary.Cell{}}); k.Kept || k.Value != nil {
		t.Errorf("not measured: %+v", k)
	}
	for text, want := range map[string]string{
		"p99": "write it as", "p99<300": "needs a unit", "p98<1ms": "p98", "errors<1": "write 1%",
		"rate>5ms": "write 5", "p99<1.2.3ms": "1.2.3 is not", "": "write it as", "p99=1ms": "write it as", "p99<1h2ms": "write it as",
	} {
		if _, err := ParseThreshold(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want in it: %s", text, err, want)
		}
	}
}

// An answer that comes after the load is in the number, and not in the rate.
func TestAnswersAfterTheLoadAreNamed(t *testing.T) {
	for after, want := range map[int64]string{0: "", 2: "", 45: ", 45 of them after the 6.00 s: the rate is without these"} {
		if got := afterwards(&Result{Client: signals.Client{Good: 129}, after: after, Length: 6 * time.Second}); got != want {
			t.Errorf("%d after: %q, want %q", after, got, want)
		}
	}
}

func TestText(t *testing.T) {
	rate, good, lag, cores, cpu, ofLimit := 990.0, 99.0, 35.0, 0.1, 0.4, 0.8
	periods, throttled, memory, open := int64(100), int64(40), int64(20<<20), int64(3)
	latency := signals.NewHistogram()
	for range 98 {
		latency.Record(1200 * time.Microsecond)
	}
	latency.Record(40 * time.Millisecond)
	q := &summary.Quantiles{P50: 1.2, P90: 1.2, P95: 1.2, P99: 40, P999: 40, Max: 40, Mean: 1.59, Min: 1.2}
	r := &Result{
		Cell: &summary.Cell{Requests: 100, RateRPS: &rate, Availability: &good, LatencyMS: q, ServiceMS: q,
			Load:      summary.Load{Kind: "open", Rate: &rate},
			CPU:       summary.CPU{Cores: &cpu, OfLimit: &ofLimit, Periods: &periods, ThrottledPeriods: &throttled},
			Memory:    summary.Memory{PeakBytes: &memory},
			Generator: summary.Generator{SendLagP99US: &lag, Cores: &cores, OpenConnections: &open},
			Flags:     summary.Flags{"few_trials", "unsteady"}},
		Client: signals.Client{Good: 99, Timeouts: 1, Status: map[string]int64{"200": 99}, Bytes: 2048, Connects: 8, CPU: 0.01, Latency: latency},
		Length: 100 * time.Millisecond, measured: 2048,
	}
	value := 40.0
	var b strings.Builder
	if err := Text(&b, "http://x/", r, []Kept{{Threshold: "p99<30ms", Value: &value, Outcome: summary.Missed, metric: "p99"}}, true, display.Terminal{Width: 100}); err != nil {
		t.Fatal(err)
	}
	const latencies = `Latency, ms  from intended  from sent
  lowest              1.20       1.20
  mean                1.59       1.59
  p50                 1.20       1.20
  p90                 1.20       1.20
  p95                 1.20       1.20
  p99                 40.0       40.0
  p99.9               40.0       40.0
  highest             40.0       40.0

`
	const want = `http://x/: p99 40.0 ms at 990 requests/s, 99% available. It misses p99<30ms.

Summary
  requests          100 in 0.100 s
  good answers      99
  load              open loop, 990 requests/s
  received          2 KiB, 20 KiB/s
  connections made  8, at most 3 open at once

` + latencies + `Histogram      requests
  to  1.60 ms        98  ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
  to  2.50 ms         0
  to  4.00 ms         0
  to  6.30 ms         0
  to  10.0 ms         0
  to  16.0 ms         0
  to  25.0 ms         0
  to  40.0 ms         1  ▏

Status codes
  200  99

Errors
  timeout  1

Generator
  send lag, p99  0.035 ms
  CPU used       0.100 CPUs, 101 µs per good answer
  verdict        not the limit: the figures are those of the service

Target
  CPU used      0.400 CPUs, 80% of its limit
  throttled     40 of 100 periods
  memory, peak  20 MiB

Thresholds
  p99<30ms  missed, 40.0 ms

! The first and the last third of the measured part differ: the service had not settled.
`
	if b.String() != want {
		t.Errorf("got:\n%s", b.String())
	}
	b.Reset()
	if err := Text(&b, "http://x/", r, nil, false, display.Terminal{Width: 100}); err != nil {
		t.Fatal(err)
	}
	const short = `http://x/: p99 40.0 ms at 990 requests/s, 99% available.
! The first and the last third of the measured part differ: the service had not settled.

` + latencies + `Status codes
  200  99

Errors
  timeout  1

Target
  CPU used      0.400 CPUs, 80% of its limit
  throttled     40 of 100 periods
  memory, peak  20 MiB

100 requests in 0.100 s · open loop, 990 requests/s
`
	if b.String() != short {
		t.Errorf("got:\n%s", b.String())
	}
}

// What to change follows from the status that most answers had.
func TestAHintFollowsFromTheStatus(t *testing.T) {
	for _, c := range []struct {
		status map[string]int64
		good   int64
		want   string
	}{
		{map[string]int64{"302": 90, "500": 10}, 0, "--follow"},
		{map[string]int64{"401": 100}, 0, "-H 'Name: value', --basic-env or --bearer-env"},
		{map[string]int64{"404": 51, "503": 49}, 0, "check the path"},
		{map[string]int64{"405": 100}, 0, "-m"},
		{map[string]int64{"302": 50, "500": 50}, 0, ""},
		{map[string]int64{"302": 90, "200": 10}, 10, ""},
		{map[string]int64{"500": 100}, 0, ""},
		{map[string]int64{"UNIMPLEMENTED": 100}, 0, `UNIMPLEMENTED (the service says: "no such method")`},
		{map[string]int64{"UNAVAILABLE": 100}, 0, ""},
		{nil, 0, ""},
	} {
		r := &Result{Cell: &summary.Cell{Requests: 100}, Client: signals.Client{Status: c.status, Said: map[string]string{"UNIMPLEMENTED": "no such method"}, Good: c.good, Latency: signals.NewHistogram()}}
		if got := hint(r); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%v: %q, want %q", c.status, got, c.want)
		}
		var b strings.Builder
		if err := Text(&b, "http://x/", r, nil, false, display.Terminal{Width: 80}); err != nil || c.want != "" && !strings.Contains(b.String(), "\nDo: ") {
			t.Errorf("%v: %v\n%s", c.status, err, &b)
		}
	}
}

// No line is wider than the terminal; the rest of a figure stands below its begin.
func TestFiguresAreBrokenWithinTheirColumn(t *testing.T) {
	for _, colour := range []bool{false, true} {
		out := display.Terminal{Width: 80, Colour: colour}
		r := &Result{Cell: &summary.Cell{Generator: summary.Generator{Limited: true}}, Client: signals.Client{Latency: signals.NewHistogram()},
			Spoken: "HTTP/1.1 over TLS 1.3, TLS_AES_128_GCM_SHA256, X25519MLKEM768, certificate of ECDSA P-256"}
		r.Client.Latency.Record(time.Millisecond)
		for _, text := range []string{generator(r, out), summaryText(r, out)} {
			for _, line := range strings.Split(text, "\n") {
				if display.Width(ansi.Strip(line)) > 80 {
					t.Errorf("%d columns: %s", display.Width(ansi.Strip(line)), line)
				}
			}
		}
		if text := ansi.Strip(generator(r, out)); !strings.Contains(text, "  verdict  THE LIMIT: the rate is a lower bound, and the latencies include its\n           own delay\n") {
			t.Errorf("%s", text)
		}
	}
}

// Latencies beyond the range of histograms are shown as lower bounds, with a note.
func TestTextOfLatenciesBeyondTheRange(t *testing.T) {
	rate, good := 1.0, 100.0
	q := &summary.Quantiles{P50: 1, P90: 2, P95: 3, P99: 3_602_907.135, P999: 3_602_907.135, Max: 3_602_907.135, Mean: 72_000, Min: 1, Beyond: 2}
	latency := signals.NewHistogram()
	latency.Record(2 * time.Hour)
	r := &Result{
		Cell:   &summary.Cell{Requests: 100, RateRPS: &rate, Availability: &good, LatencyMS: q, ServiceMS: q, Flags: nil},
		Client: signals.Client{Good: 100, Latency: latency},
	}
	var b strings.Builder
	if err := Text(&b, "http://x/", r, nil, true, display.Terminal{Width: 150}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"p99 > 3,600 s at ", "\n  mean            > 72,000     > 72,000\n", "\n  p99          > 3,600,000  > 3,600,000\n",
		"\n  to  4,000 s  ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}

// 10 users send for 10 s, and the service stalls once. They wait, so that 10 of thousands
// of requests are slow, and p99 does not show the stall.
func TestAClosedLoopThatHidesAStallNamesRate(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   string
		stall  time.Duration
		p99    float64
		stages bool
		hidden bool
	}{
		{"a stall of 2 s", "closed", 2 * time.Second, 10, false, true},
		{"a stall of 50 ms is less than 1% of the time", "closed", 50 * time.Millisecond, 10, false, false},
		{"p99 shows the stall", "closed", 2 * time.Second, 2000, false, false},
		{"an open loop", "open", 2 * time.Second, 10, false, false},
		{"the users of stages are not constant", "closed", 2 * time.Second, 10, true, false},
	} {
		latency, users := signals.NewHistogram(), 10.0
		for range 8000 {
			latency.Record(10 * time.Millisecond)
		}
		for range 10 {
			latency.Record(c.stall)
		}
		r := &Result{Length: 10 * time.Second, Client: signals.Client{Latency: latency},
			Cell: &summary.Cell{LatencyMS: &summary.Quantiles{P99: c.p99}, Load: summary.Load{Kind: c.kind, Users: &users, Stages: c.stages}}}
		want := ""
		if c.hidden {
			want = "The service stalled for 20% of the time, which p99 of a closed loop hides: measure with --rate."
		}
		if got := hiddenStall(r); got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}

func TestTheAnswerHasTheThresholds(t *testing.T) {
	for _, c := range []struct {
		outcomes []summary.Outcome
		what, do string
	}{
		{nil, "p99 5 ms.", "raise the CPU limit."},
		{[]summary.Outcome{summary.Met, summary.Met}, "p99 5 ms. It meets a and b.", "nothing: it meets what is asked."},
		{[]summary.Outcome{summary.Met, summary.Missed}, "p99 5 ms. It misses b.", "raise the CPU limit."},
		{[]summary.Outcome{summary.TooClose, summary.Met}, "p99 5 ms. Too close to tell whether it meets a.", "raise the CPU limit."},
	} {
		var kept []Kept
		for i, outcome := range c.outcomes {
			kept = append(kept, Kept{Threshold: string(rune('a' + i)), Outcome: outcome})
		}
		got := judged(answer.Answer{What: "p99 5 ms.", Why: "its CPU limit.", Do: "raise the CPU limit."}, kept)
		if got.What != c.what || got.Do != c.do {
			t.Errorf("%v: %q, %q; want %q, %q", c.outcomes, got.What, got.Do, c.what, c.do)
		}
	}
}
