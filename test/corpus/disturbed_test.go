package corpus

import (
	"math"
	"testing"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// The trials with an even repeat lose the CPU for 0.3 s of 10 s: 0.12 cores on average of
// 4 CPUs, and 3% of their requests. The effect is the difference of their p99 from that
// of the others, in both cells, and is known although each cell alone has a level of its
// own.
func TestTheEffectOfADisturbanceIsMeasured(t *testing.T) {
	for _, c := range Cases() {
		if c.Name != "steal-in-half-the-trials" {
			continue
		}
		s := summaryOf(t, &c, 1)
		e, err := file.Parse("", []byte(c.File), nil)
		if err != nil {
			t.Fatal(err)
		}
		plan := e.Plan(1)
		truth := 0.0
		for i := range s.Cells {
			var p99 [2][]float64
			for _, one := range s.Cells[i].PerTrial {
				stolen := 1 - plan[one.Trial-1].Repeat%2
				p99[stolen] = append(p99[stolen], *one.P99)
			}
			truth += (stats.Median(p99[1]) - stats.Median(p99[0])) / 2
		}
		d := verdict.DisturbancesOf([]*summary.Cell{&s.Cells[0], &s.Cells[1]})
		if want := (verdict.Tally{Disturbed: 8, Of: 16}); d.Trials != want || len(d.By) != 1 || d.By[0] != summary.Hypervisor {
			t.Errorf("%+v by %q, want %+v by the hypervisor", d.Trials, d.By, want)
		}
		if d.Effect == nil || math.Abs(d.Effect.Shift-truth) > 0.1*truth || d.Effect.Low > truth || d.Effect.High < truth {
			t.Errorf("effect %+v, want %.0f ms", d.Effect, truth)
		}
	}
}
