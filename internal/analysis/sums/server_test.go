package sums

import (
	"testing"

	"github.com/millicore/millicore/internal/data/signals"
)

func TestScaledSumsMerge(t *testing.T) {
	frame := func(replicas int) *signals.Frame {
		return &signals.Frame{End: 1e9, Scale: &signals.Scale{Replicas: replicas}}
	}
	var a, b, none Scaled
	a.add(frame(2))
	b.add(frame(5))
	b.add(frame(1))
	none.merge(&a)
	none.merge(&b)
	none.merge(&Scaled{})
	if mean := none.Mean(); none.Least != 1 || none.Most != 5 || mean == nil || *mean != 8.0/3 {
		t.Errorf("%+v with a mean of %v, want 1 to 5 with a mean of 8/3", none, mean)
	}
	if (&Scaled{}).Mean() != nil {
		t.Error("an unknown number is not null")
	}
}

// 5 ms of CPU in a run of 2 ms are the error of the counters, and not 2.5 cores.
func TestAShortRunHasNoFigureInCores(t *testing.T) {
	for _, c := range []struct {
		ms   int64
		want bool
	}{{2, false}, {150, false}, {200, true}, {1000, true}} {
		s, used, limit := NewServer(), 0.005, 1.0
		s.add(&signals.Frame{Phase: signals.Measure, End: c.ms * 1e6, Server: &signals.Server{CPU: &used, CPULimit: &limit}})
		if got := s.Cores() != nil; got != c.want || (s.OfLimit() != nil) != c.want {
			t.Errorf("%d ms: cores known: %v, want %v", c.ms, got, c.want)
		}
	}
}
