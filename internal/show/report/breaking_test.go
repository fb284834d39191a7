package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// TestEndsAreCalledWhatTheyAre: a bracket between two levels of a ramp is no 95%
// interval, and that of one search is one of its start.
func TestEndsAreCalledWhatTheyAre(t *testing.T) {
	of := func(n int, more ...change) summary.Cell {
		return cellOf("go", append([]change{breaksBetween(200, 210, 250, summary.ByCPULimit), searches(n)}, more...)...)
	}
	for name, c := range map[string]struct {
		cells []summary.Cell
		want  string
	}{
		"six searches":   {[]summary.Cell{of(6), of(7)}, "95%\ninterval"},
		"few searches":   {[]summary.Cell{of(2), of(5)}, "range of\nthe trials"},
		"one search":     {[]summary.Cell{of(1), cellOf("bun", noPoint("it died"))}, "95% interval\n(1 search)"},
		"one ramp":       {[]summary.Cell{of(1, staged), of(1, staged)}, "last met–\nfirst missed"},
		"six ramps":      {[]summary.Cell{of(6, staged)}, "95%\ninterval"},
		"of some kinds":  {[]summary.Cell{of(6), of(5)}, "from\nto"},
		"no ends at all": {[]summary.Cell{cellOf("bun", noPoint("it died"))}, "from\nto"},
	} {
		if got := endsHead(pointers(c.cells)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
