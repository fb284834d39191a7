package report

import (
	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// under is what stands under a figure in the HTML: its interval, or the range
// over trials. Where both ends read the same it adds nothing.
func under(c *analysis.CellSummary, path string, trial func(*analysis.TrialFigures) *float64) string {
	low, high, what := analysis.SpreadOf(c, path, trial)
	text := display.Figure(low) + "–" + display.Figure(high)
	switch {
	case what == analysis.NoEnds || display.Figure(low) == display.Figure(high):
		return ""
	case what == analysis.RangeOfTrials:
		return "range " + text
	case what == analysis.IntervalOfFrames:
		return "frames " + text
	}
	return text
}

// spreadColumn is the column beside p99. Where cells have ends of different
// kinds, those that are not the surest are marked.
func spreadColumn(s *analysis.Summary) (head string, cells []string) {
	kinds := make([]analysis.Certainty, len(s.Cells))
	var seen [analysis.IntervalOfTrials + 1]bool
	surest := analysis.NoEnds
	for i := range s.Cells {
		low, high, what := analysis.SpreadOfP99(&s.Cells[i])
		text := display.Absent
		if what != analysis.NoEnds {
			text = display.Figure(low) + "–" + display.Figure(high)
		}
		cells, kinds[i], seen[what] = append(cells, text), what, true
		surest = max(surest, what)
	}
	for i, what := range kinds {
		switch what {
		case surest, analysis.NoEnds:
		case analysis.RangeOfTrials:
			cells[i] += "*"
		default:
			cells[i] += "†"
		}
	}
	switch {
	case surest == analysis.IntervalOfTrials && seen[analysis.RangeOfTrials] && seen[analysis.IntervalOfFrames]:
		return "95% (* range\n† by frames)", cells
	case surest == analysis.IntervalOfTrials && seen[analysis.RangeOfTrials]:
		return "95% (* range\nof trials)", cells
	case surest == analysis.IntervalOfTrials && seen[analysis.IntervalOfFrames]:
		return "95% (†\nby frames)", cells
	case surest == analysis.RangeOfTrials && seen[analysis.IntervalOfFrames]:
		return "range († 95%\nby frames)", cells
	case surest == analysis.RangeOfTrials:
		return "range of\nthe trials", cells
	case surest == analysis.IntervalOfFrames:
		return "95% by\nframes", cells
	}
	return "95%\ninterval", cells
}
