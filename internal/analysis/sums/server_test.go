package sums

import (
	"testing"

	"github.com/millicore/millicore/internal/signals"
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
