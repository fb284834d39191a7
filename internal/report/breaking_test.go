package report

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
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
		"one search":     {[]analysis.CellSummary{of(1), cellOf("bun", noPoint("it died"))}, "95% of\none start"},
		"one ramp":       {[]analysis.CellSummary{of(1, staged), of(1, staged)}, "between\nlevels"},
		"six ramps":      {[]analysis.CellSummary{of(6, staged)}, "95%\ninterval"},
		"of some kinds":  {[]analysis.CellSummary{of(6), of(5)}, "from\nto"},
		"no ends at all": {[]analysis.CellSummary{cellOf("bun", noPoint("it died"))}, "from\nto"},
	} {
		if got := endsHead(&analysis.Summary{Cells: c.cells}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTextBarGivesEveryCauseRoom(t *testing.T) {
	for name, c := range map[string]struct {
		causes analysis.Causes
		wide   int
		want   string
	}{
		"one cause":             {analysis.Causes{Rest: 1}, 5, "░░░░░"},
		"halves":                {analysis.Causes{Throttling: 0.5, Rest: 0.5}, 10, "█████░░░░░"},
		"a hundredth is seen":   {analysis.Causes{Throttling: 0.01, Rest: 0.99}, 10, "█░░░░░░░░░"},
		"all, in their order":   {analysis.Causes{Generator: 0.1, Throttling: 0.4, Dependency: 0.1, Restart: 0.1, Neighbours: 0.1, Rest: 0.2}, 10, "▚████▓▞▒░░"},
		"rounding takes no one": {analysis.Causes{Throttling: 1. / 3, Dependency: 1. / 3, Rest: 1. / 3}, 10, "████▓▓▓░░░"},
		"nothing known":         {analysis.Causes{}, 10, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := textBar(narrative.Parts(&c.causes), c.wide); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestDifferencesHaveSigns(t *testing.T) {
	for v, want := range map[float64]string{538: "+538", -12.3: "−12.3", 0: "0", -0.0001: "0.000"} {
		if got := signed(v); got != want {
			t.Errorf("signed(%v) = %q, want %q", v, got, want)
		}
	}
	for p, want := range map[float64]string{0.00216: "0.002", 0.0001: "<0.001", 0.0996: "0.100", 0.13: "0.13", 1: "1.00"} {
		if got := display.Chance(p); got != want {
			t.Errorf("chance(%v) = %q, want %q", p, got, want)
		}
	}
}
