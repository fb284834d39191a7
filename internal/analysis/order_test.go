package analysis

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestTheOrderInWhichCellsFail(t *testing.T) {
	breaks := func(from int) []fixture.Level {
		levels := []fixture.Level{fixture.Fine, fixture.Fine, fixture.Fine}
		for i := from; i < len(levels); i++ {
			levels[i] = fixture.Slow
		}
		return levels
	}
	for _, c := range []struct {
		name  string
		users bool
		ramps int // 0: one of each
		cells [][]fixture.Level
		want  string // "": no finding
	}{
		{"one after the other", false, 0, [][]fixture.Level{breaks(2), breaks(0), breaks(1)}, "b at 100 requests/s, then c at 200, then a at 300"},
		{"one after the other, four ramps each", false, 4, [][]fixture.Level{breaks(2), breaks(0), breaks(1)}, "b at 100 requests/s, then c at 200, then a at 300"},
		{"ties, in the plan's order", false, 0, [][]fixture.Level{breaks(1), breaks(2), breaks(1), breaks(1)}, "a, c and d at 200 requests/s, then b at 300"},
		{"all at once", false, 0, [][]fixture.Level{breaks(1), breaks(1)}, "a and b at 200 requests/s"},
		{"some never fail", false, 0, [][]fixture.Level{breaks(3), breaks(1), breaks(3), breaks(2)}, "b at 200 requests/s, then d at 300; a and c met the objective up to 300"},
		{"one that was judged up to 100 only", false, 0, [][]fixture.Level{breaks(3), breaks(1), {fixture.Fine, fixture.Late, fixture.Late}}, "b at 200 requests/s; c met the objective up to 100, a met the objective up to 300"},
		{"users", true, 0, [][]fixture.Level{breaks(2), breaks(1)}, "b at 200 users, then a at 300"},
		{"one without a verdict is left out", false, 0, [][]fixture.Level{breaks(2), {fixture.Mute, fixture.Mute, fixture.Mute}, breaks(1)}, "c at 200 requests/s, then a at 300"},
		{"one that failed to run is left out", false, 0, [][]fixture.Level{breaks(2), nil, breaks(1)}, "c at 200 requests/s, then a at 300"},
		{"none fails", false, 0, [][]fixture.Level{breaks(3), breaks(3)}, ""},
		{"one cell alone has no order", false, 0, [][]fixture.Level{breaks(1)}, ""},
		{"one cell next to others without a verdict", false, 0, [][]fixture.Level{breaks(1), {fixture.Mute, fixture.Mute, fixture.Mute}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture.Ramp(100, 200, 300)
			if c.users {
				e.Cells[0].Load.Users, e.Cells[0].Load.Rate = e.Cells[0].Load.Rate, nil
			}
			plan := e.Cells[0]
			e.Cells = nil
			var attempts []Attempt
			for i := range c.cells {
				plan.Index, plan.Service.Name = i, string(rune('a'+i))
				e.Cells = append(e.Cells, plan)
				for k := range max(1, c.ramps) {
					attempts = append(attempts, Attempt{Trial: len(attempts) + 1, Cell: i, Repeat: k})
				}
			}
			b := New(e, attempts)
			var want summary.Finding
			if c.want != "" {
				want = summary.Finding{Level: "result", Title: "load at which each cell failed",
					Text: fmt.Sprintf("%s; not ranked: 1 ramp per cell, at least %d needed (measure.repeats)", c.want, max(4, len(c.cells)+1))}
				if c.ramps > 1 {
					want.Title, want.Text = "order of failure as the load rises", c.want
				}
			}
			cells := make([]summary.Cell, len(e.Cells))
			for i := range cells {
				cell := b.cell(i)
				for k := range cell.trials {
					fill(cell, k, c.cells[i])
				}
				cells[i] = summary.Cell{Label: cell.plan.Label(), Load: loadOf(cell.plan), Breaking: cell.breaking(cell.steps())}
				for _, trial := range cell.trials {
					var one summary.TrialFigures
					one.BreakingFrom, one.BreakingTo = cell.bracket(trial)
					cells[i].PerTrial = append(cells[i].PerTrial, one)
				}
			}
			got, found := b.order(cells)
			if d := cmp.Diff(want, worded(got)); d != "" || found != (c.want != "") {
				t.Errorf("found: %v (-want +got):\n%s", found, d)
			}
		})
	}
}
