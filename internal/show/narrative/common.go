package narrative

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// CommonLoad is the load of the second part of a run, for the head of a column:
// "247/s", "12 users".
func CommonLoad(s *summary.Summary) string {
	if len(s.Common.Cells) > 0 {
		switch l := &s.Common.Cells[0].Load; {
		case l.Users != nil:
			return display.Users(*l.Users)
		case l.Rate != nil:
			return display.Figure(*l.Rate) + "/s"
		}
	}
	return display.Absent
}

// CommonNote is what the latencies beside breaking points are of.
func CommonNote(s *summary.Summary) string {
	trials := 0
	for i := range s.Common.Cells {
		trials = max(trials, s.Common.Cells[i].Trials)
	}
	text := fmt.Sprintf("Latency, throttling and CPU per request are medians of %s at %s, a load below every breaking point",
		display.Counted(int64(trials), "trial"), CommonLoad(s))
	if slices.ContainsFunc(s.Common.Cells, func(c summary.Cell) bool { return c.Causes != nil && c.Causes.Divided() }) {
		text += "; the slow tail is that of the same trials"
	}
	return text + "."
}
