package narrative

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// spoiledText is why figures of cells are not those of the services alone: "other
// processes disturbed most of its trials". whose names the cells: "B", or "" if the
// sentence is about them.
func spoiledText(gap summary.Gap, whose string, cells ...*summary.Cell) string {
	own := "its"
	if len(cells) > 1 {
		own = "their"
	}
	if gap == summary.GeneratorsDelay {
		if whose != "" {
			own, whose = "the", " of "+whose
		}
		return own + " slow tail" + whose + " is mostly the generator's own"
	}
	words := disturberNames(verdict.DisturbancesOf(cells).By)
	if len(words) == 0 { // by a rule of an older version
		words = []string{"others"}
	}
	of := "of " + own + " trials"
	if whose != "" {
		of = "trials of " + whose
	}
	return phrase.List(words) + " disturbed most " + of
}

// FailedTrials states in how many trials of a cell failed requests make a latency
// infinite: "in 1 of 6 trials so many requests failed that p99 is infinite (availability
// 0% there)". A median over the trials does not show them. "": in none, or the metric is no
// latency.
func FailedTrials(c *summary.Cell, metric string) string {
	var of []float64
	for i := range c.PerTrial {
		if t := &c.PerTrial[i]; verdict.Infinite(t, metric) {
			of = append(of, *t.Availability)
		}
	}
	if len(of) == 0 {
		return ""
	}
	there := display.Percent(slices.Min(of))
	if most := display.Percent(slices.Max(of)); most != there {
		there += " to " + most
	}
	return fmt.Sprintf("in %d of %s so many requests failed that %s is infinite (availability %s there)", len(of), display.Counted(int64(len(c.PerTrial)), "trial"), QuantileName(metric), there)
}
