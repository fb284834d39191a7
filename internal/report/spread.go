package report

import (
	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// certainty is what the ends beside a figure are made of, the least sure first.
type certainty int

const (
	unknown  certainty = iota // nothing tells
	byFrames                  // the 95% interval of one trial, by its frames: how starts differ is not in it
	ranged                    // the lowest and the highest of few trials
	interval                  // the 95% interval of the median over trials
)

// ofFrames are the intervals of a cell that rest on frames of its few trials.
const ofFrames = "frames"

// spreadOf tells how sure a figure is: the interval under path, where that is
// over trials, else the range of the trials. An interval by frames is the last
// resort: it knows nothing of how one start of the service differs from another.
func spreadOf(c *analysis.CellSummary, path string, trial func(*analysis.TrialFigures) *float64) (low, high float64, what certainty) {
	ends, known := c.Intervals[path]
	if known && c.IntervalsOf != ofFrames {
		return ends[0], ends[1], interval
	}
	if low, high, n := trialRange(c, trial); n > 1 {
		return low, high, ranged
	}
	if known {
		return ends[0], ends[1], byFrames
	}
	return 0, 0, unknown
}

// spread tells how sure a cell's p99 is.
func spread(c *analysis.CellSummary) (low, high float64, what certainty) {
	return spreadOf(c, "latency_ms.p99", trialP99)
}

// trialRange is the lowest and the highest figure of a cell's trials, and how
// many of them have it.
func trialRange(c *analysis.CellSummary, of func(*analysis.TrialFigures) *float64) (low, high float64, n int) {
	for i := range c.PerTrial {
		v := of(&c.PerTrial[i])
		if v == nil {
			continue
		}
		if n == 0 {
			low, high = *v, *v
		}
		low, high, n = min(low, *v), max(high, *v), n+1
	}
	return low, high, n
}

// under is what stands under a figure in the HTML: its interval, or the range
// over trials. Where both ends read the same it adds nothing.
func under(c *analysis.CellSummary, path string, trial func(*analysis.TrialFigures) *float64) string {
	low, high, what := spreadOf(c, path, trial)
	text := display.Figure(low) + "–" + display.Figure(high)
	switch {
	case what == unknown || display.Figure(low) == display.Figure(high):
		return ""
	case what == ranged:
		return "range " + text
	case what == byFrames:
		return "frames " + text
	}
	return text
}

// spreadColumn is the column beside p99. Where cells have ends of different
// kinds, those that are not the surest are marked.
func spreadColumn(s *analysis.Summary) (head string, cells []string) {
	kinds := make([]certainty, len(s.Cells))
	var seen [interval + 1]bool
	surest := unknown
	for i := range s.Cells {
		low, high, what := spread(&s.Cells[i])
		text := display.Absent
		if what != unknown {
			text = display.Figure(low) + "–" + display.Figure(high)
		}
		cells, kinds[i], seen[what] = append(cells, text), what, true
		surest = max(surest, what)
	}
	for i, what := range kinds {
		switch {
		case what == surest || what == unknown:
		case what == ranged:
			cells[i] += "*"
		default:
			cells[i] += "†"
		}
	}
	switch {
	case surest == interval && seen[ranged] && seen[byFrames]:
		return "95% (* range\n† by frames)", cells
	case surest == interval && seen[ranged]:
		return "95% (* range\nof trials)", cells
	case surest == interval && seen[byFrames]:
		return "95% (†\nby frames)", cells
	case surest == ranged && seen[byFrames]:
		return "range († 95%\nby frames)", cells
	case surest == ranged:
		return "range of\nthe trials", cells
	case surest == byFrames:
		return "95% by\nframes", cells
	}
	return "95%\ninterval", cells
}
