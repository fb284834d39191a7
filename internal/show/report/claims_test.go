package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/test/sample"
)

func TestAClaimNamesItsLevel(t *testing.T) {
	for _, c := range []struct {
		kind, metric, unit string
		value              float64
		want               string
	}{
		{"open", "p99", "ms", 12, "p99 at 2,000 requests/s of node: 12.0 ms"},
		{"closed", "p99", "ms", 12, "p99 at 2,000 users of node: 12.0 ms"},
		{"open", "cpu_of_limit", "share", 0.4, "CPU of its limit at 2,000 requests/s of node: 40%"},
	} {
		d := sample.Runs()
		d.Summary.Cells[0].Load.Kind = c.kind
		d.Summary.Claims = []summary.Claim{{Metric: c.metric, Unit: c.unit, At: ptr(2000.0), Value: &c.value, Above: ptr(1.0),
			Cells: []summary.ClaimedCell{{Cell: ptr(0), Label: "node at 2000", Value: &c.value}}}}
		if got := newClaims(d.Summary, narrative.CellNames(d.Summary))[0].Found(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestEventsAreCounted(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{{0, "kills", "0 kills"}, {3, "kills", "3 kills"}, {1.5, "restarts", "1.50 restarts"}, {12345, "requests", "12,345 requests"}} {
		if got := narrative.InUnit(c.v, c.unit); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
