package narrative

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/results"
)

// Tested gives the metric of a comparison a name and a unit.
func Tested(path string, s *analysis.Summary) (name, unit string) {
	switch path {
	case analysis.BreakingPointMetric:
		return "breaking point", strings.Join(LoadUnits(s), " or ")
	case "rate_rps":
		return "requests/s", "requests/s"
	case "availability":
		return "availability", "percentage points"
	}
	if group, name, ok := strings.Cut(path, "."); ok && (group == "latency_ms" || group == "service_ms") {
		return QuantileName(name), "ms"
	}
	return display.Plain(path), ""
}

// Against is the title of a table of tests: "p99, median over trials, compared with
// procs=1 (150 ms)".
func Against(metric, baseline string, value float64, unit string) string {
	return display.Capital(fmt.Sprintf("%s, median over trials, compared with %s (%s)", metric, baseline, strings.TrimSpace(display.Figure(value)+" "+unit)))
}

// Significance words the result of a test.
func Significance(c *analysis.Comparison) string {
	if c.Significant {
		return "significant"
	}
	return "not significant"
}

// Untested gives the reason why cells that could be compared were not tested
// against one another; "" if they were, or if there is nothing to compare.
func Untested(s *analysis.Summary) string {
	fewest, cells, what := math.MaxInt, 0, "searches"
	for i := range s.Cells {
		c := &s.Cells[i]
		n := c.Trials
		if results.Searched(c) {
			n = c.Breaking.Searches
		}
		if c.Load.Stages {
			what = "ramps"
		}
		if results.Failed(c) && !results.Searched(c) || n == 0 {
			continue
		}
		cells++
		fewest = min(fewest, n)
	}
	switch {
	case len(s.Comparisons) > 0 || cells < 2 || fewest >= analysis.EnoughTrials:
		return ""
	case results.KindOf(s) == results.Search && fewest < analysis.EnoughSearches:
		return fmt.Sprintf("Too few %s to test the breaking points: %d per cell; at least %d are needed, %d advised (measure.repeats).",
			what, fewest, max(stats.TrialsNeeded(cells-1), analysis.EnoughSearches), analysis.EnoughTrials)
	}
	return fmt.Sprintf("Too few trials to test the differences: %d per cell; %d are needed (measure.repeats).", fewest, analysis.EnoughTrials)
}
