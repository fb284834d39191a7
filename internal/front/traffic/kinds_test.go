package traffic

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
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
