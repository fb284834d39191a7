package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis"
)

// TestEndsAreCalledWhatTheyAre: a bracket between two levels of a ramp is no 95%
// interval, and that of one search is one of its start.
func TestEndsAreCalledWhatTheyAre(t *testing.T) {
	of := func(n int, more ...change) analysis.CellSummary {
		return cellOf("go", append([]change{breaksBetween(200, 210, 250, analysis.ByCPULimit), searches(n)}, more...)...)
	}
	for name, c := range map[string]struct {
		cells []analysis.CellSummary
		want  string
	}{
		"six searches":   {[]analysis.CellSummary{of(6), of(7)}, "95%\ninterval"},
		"few searches":   {[]analysis.CellSummary{of(2), of(5)}, "range of\nthe trials"},
		"one search":     {[]analysis.CellSummary{of(1), cellOf("bun", noPoint("it died"))}, "95% interval\n(1 search)"},
		"one ramp":       {[]analysis.CellSummary{of(1, staged), of(1, staged)}, "last met–\nfirst missed"},
		"six ramps":      {[]analysis.CellSummary{of(6, staged)}, "95%\ninterval"},
		"of some kinds":  {[]analysis.CellSummary{of(6), of(5)}, "from\nto"},
		"no ends at all": {[]analysis.CellSummary{cellOf("bun", noPoint("it died"))}, "from\nto"},
	} {
		if got := endsHead(pointers(c.cells)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
