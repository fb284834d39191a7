package capacity

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestHoldsOfTheSameTargetThatMeetAreOneLevel(t *testing.T) {
	s := time.Second
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Stages: []experiment.Stage{{Duration: s, Target: 50}, {Duration: s, Target: 50}, {Duration: s, Target: 50}, {Duration: s, Target: 80}, {Duration: s, Target: 80}}}})
	l := LevelsOf(e, &e.Cells[0])
	want := []Level{{from: 2 * s, to: 4 * s, Target: 50}, {from: 5 * s, to: 6 * s, Target: 80}}
	if d := cmp.Diff(want, l.Held, cmp.AllowUnexported(Level{})); d != "" {
		t.Error(d)
	}
}
