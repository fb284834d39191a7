package analysis

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// fill adds what the levels show to a trial of a cell.
func fill(c *cell, trial int, levels []fixture.Level) {
	for i, level := range levels {
		for _, f := range level.Frames(1 + i) {
			if f.Server != nil || f.Waits != nil {
				f.Of = c.plan.Service.Name
			}
			c.trials[trial].levels[i].Add(f, c.plan.Service.Name)
		}
	}
}

func TestASummaryOfARamp(t *testing.T) {
	b := New(fixture.Ramp(100, 200), []Attempt{{Trial: 1}})
	b.Add(fixture.Client(0, signals.Warmup, 100, time.Second))
	for i, level := range []fixture.Level{fixture.Fine, fixture.Slow} {
		for _, f := range level.Frames(1 + i) {
			b.Add(f)
		}
	}
	got := b.Cells()[0]
	if got.Breaking == nil || *got.Breaking.Low != 100 || len(got.Steps) != 2 || !got.Load.Stages || *got.Objective.Met {
		t.Errorf("%+v: want two steps, and a breaking point between them", got)
	}
}
