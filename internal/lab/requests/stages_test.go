package requests

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/load/protocol"
)

func TestStagesBeginAtTheTargetBefore(t *testing.T) {
	s := time.Second
	got := Stages(&experiment.Target{Stages: []experiment.Stage{{Duration: 2 * s, Target: 50}, {Duration: 0, Target: 100}, {Duration: s, Target: 100}, {Duration: s, Target: 0}}}, 0)
	d := func(v time.Duration) protocol.Duration { return protocol.Duration(v) }
	want := []protocol.Stage{{Duration: d(2 * s), From: 0, To: 50}, {Duration: d(s), From: 100, To: 100}, {Duration: d(s), From: 100, To: 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each kind is left out in turn, and the others are sent as often as before.
func TestTheMixVaries(t *testing.T) {
	mixed := experiment.Load{Mix: []experiment.Request{
		{Path: "/a", Weight: 6, Name: "a"}, {Path: "/b", Weight: 3, Name: "b"}, {Path: "/b?x", Weight: 1, Name: "b"},
	}}
	varied := func(l experiment.Load, search time.Duration) (protocol.Load, time.Duration) {
		return Varied(&experiment.Experiment{Measure: experiment.Measure{Duration: search, Interval: 500 * time.Millisecond}}, &experiment.Cell{Load: l}, 700)
	}
	if _, length := varied(mixed, 8*time.Second); length != 0 {
		t.Errorf("before a measurement that is too short, for %v", length)
	}
	mixed.Find = true
	load, length := varied(mixed, 8*time.Second)
	second := func(rate float64, omits string) protocol.Stage {
		return protocol.Stage{Duration: protocol.Duration(time.Second), From: rate, To: rate, Omits: omits}
	}
	round := []protocol.Stage{second(280, "a"), second(420, "b"), second(0, "")}
	want := append(append(round, round...), protocol.Stage{Duration: protocol.Duration(24 * time.Hour)})
	if d := cmp.Diff(want, load.Stages, cmpopts.EquateApprox(0, 1e-9)); d != "" || length != 6*time.Second {
		t.Errorf("for %v\n%s", length, d)
	}
	if _, length := varied(mixed, time.Hour); length != 18*time.Second {
		t.Errorf("%v", length)
	}
	one, users, steps := mixed, mixed, mixed
	one.Mix, users.Users, steps.Session = mixed.Mix[1:], &experiment.Target{Value: 4}, true
	for _, l := range []experiment.Load{one, users, steps} {
		if load, length := varied(l, time.Hour); length != 0 || load.Stages != nil {
			t.Errorf("%+v varies for %v", l, length)
		}
	}
}
