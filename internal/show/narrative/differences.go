package narrative

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// Tested gives the metric of a comparison a name and a unit.
func Tested(path string, s *summary.Summary) (name, unit string) {
	switch path {
	case verdict.BreakingPointMetric:
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
func Against(metric, baseline, value, unit string) string {
	return display.Capital(fmt.Sprintf("%s, median over trials, compared with %s (%s)", metric, baseline, strings.TrimSpace(value+" "+unit)))
}

// Significance words the result of a test.
func Significance(c *summary.Comparison) string {
	if c.Significant {
		return "significant"
	}
	return "not significant"
}

// Untested gives the reason why cells that could be compared were not tested
// against one another; "" if they were, if there is nothing to compare, or if the
// headline has the reason.
func Untested(s *summary.Summary) string {
	if s.Kind() == summary.KindSearch || len(s.Comparisons)+len(s.Unbounded) > 0 || len(s.Ranking) == 0 {
		return ""
	}
	fewest := s.Ranking[0]
	for _, e := range s.Ranking {
		if e.Basis != summary.Untested {
			return ""
		}
		if min(e.Trials[0], e.Trials[1]) < min(fewest.Trials[0], fewest.Trials[1]) {
			fewest = e
		}
	}
	name, _ := Tested(fewest.Metric, s)
	if text := spoiledIn(s, fewest.Metric); text != "" {
		return fmt.Sprintf("The differences in %s were not tested: %s.", name, text)
	}
	return fmt.Sprintf("The differences in %s were not tested: %s.", name, gapText(fewest.Gap, min(fewest.Trials[0], fewest.Trials[1]), fewest.Cells, fewest.Quantile()))
}

// spoiledIn is why cells have no figure, by its field path, that could be tested; "": all
// have one.
func spoiledIn(s *summary.Summary, path string) string {
	all, names := CellNames(s), []string(nil)
	var gap summary.Gap
	var cells []*summary.Cell
	for i := range s.Cells {
		c := &s.Cells[i]
		if own := verdict.Spoiled(c, path); own != "" && (gap == "" || own == gap) {
			gap, names, cells = own, append(names, all[i]), append(cells, c)
		}
	}
	if gap == "" {
		return ""
	}
	return spoiledText(gap, phrase.List(names), cells...)
}
