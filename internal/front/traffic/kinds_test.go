package traffic

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

func TestKindsOfRequestsInWords(t *testing.T) {
	known := summary.KindFigures{Name: "POST /orders", Share: 0.081, Availability: new(100.), Latency: &summary.Quantiles{P50: 20, P99: 62.9},
		CPUMS: new(9.03), CPULow: new(8.35), CPUHigh: new(9.7), ShareOfCPU: new(0.39)}
	unknown := summary.KindFigures{Name: "GET /", Share: 0.919, Availability: new(99.5)}
	for _, c := range []struct {
		kinds []summary.KindFigures
		want  []string // lines
	}{
		{nil, nil},
		{[]summary.KindFigures{known, unknown}, []string{"Kinds of requests",
			"requests of kind share CPU 95% interval of the CPU p50 p99 good", "% of requests ms each ms each % ms ms %",
			"POST /orders 8.1 9.03 8.35–9.70 39 20.0 62.9 100", "GET / 92 – – – – – 99.5"}},
		{[]summary.KindFigures{unknown}, []string{"Kinds of requests", "requests of kind share good", "% of requests %", "GET / 92 99.5"}},
	} {
		var got []string
		for line := range strings.Lines(kinds(&Result{Cell: &summary.Cell{Kinds: c.kinds}}, display.Terminal{Width: 120})) {
			if line = strings.Join(strings.Fields(line), " "); line != "" {
				got = append(got, line)
			}
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A threshold on a kind is about its requests only.
func TestThresholdsOfKindsOfRequests(t *testing.T) {
	kind := func(good, failed int64, each time.Duration) *signals.Kind {
		k := &signals.Kind{Ended: good + failed, Good: good, Latency: signals.NewHistogram()}
		for range good {
			k.Latency.Record(each)
		}
		return k
	}
	r := &Result{Cell: &summary.Cell{Requests: 2200, RateRPS: new(100.)}, Client: signals.Client{Good: 2000, Kinds: map[string]*signals.Kind{
		"GET /items/{id}": kind(1500, 0, 10*time.Millisecond), "POST /a<b": kind(500, 200, 90*time.Millisecond), "GET /never": kind(0, 0, 0)}}}
	for text, want := range map[string]summary.Outcome{
		"p99{GET /items/{id}}<20ms": summary.Met, "p99{GET /items/{id}} < 9ms": summary.Missed, "errors{GET /items/{id}}<1%": summary.Met,
		"p99{POST /a<b}<200ms": summary.Missed, "p50{POST /a<b}<=200ms": summary.Met, "errors{POST /a<b}<1%": summary.Missed,
		"rate{POST /a<b}>24": summary.Met, "rate{POST /a<b}>26": summary.Missed, "p99{GET /never}<1s": summary.Missed,
	} {
		one, err := ParseThreshold(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if k := one.Judge(r); k.Outcome != want {
			t.Errorf("%s: %+v, want %s", text, k, want)
		}
	}
}

func TestThresholdsOfUnknownKinds(t *testing.T) {
	several := &experiment.Load{Mix: []experiment.Request{{Method: "POST", Path: "/orders"}, {Method: "GET", Path: "/"}, {Method: "GET", Path: "/"}}}
	for _, c := range []struct {
		text, want string
		load       *experiment.Load
	}{
		{"p99{POST /orders}<1s", "", several},
		{"p99<1s", "", &experiment.Load{}},
		{"p99{POST /order}<1s", `threshold "p99{POST /order}<1s": no request is of the kind "POST /order"; the kinds are GET /, POST /orders`, several},
		{"p99{GET /}<1s", `threshold "p99{GET /}<1s": requests are counted by kind only if there are 2 to 20 kinds: leave out {GET /}`, &experiment.Load{}},
	} {
		all, err := ParseThresholds([]string{c.text})
		if err == nil {
			err = checkKinds(all, c.load)
		}
		if got := fmt.Sprint(err); got != cmp.Or(c.want, "<nil>") {
			t.Errorf("%s: %s", c.text, got)
		}
	}
}
