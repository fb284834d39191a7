package attached

import (
	"context"
	"errors"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// UntilEnded wraps a platform of services that Millicore did not start. Once the observed
// process has ended, its counters and samples are errors: its files are gone by then, or
// belong to another process with the same number. ended reports whether the process has
// ended.
//
// Units and replicas keep their abilities (platform.As).
func UntilEnded(p platform.Platform, ended func() bool) platform.Platform {
	return &endingPlatform{p, ended}
}

type endingPlatform struct {
	platform.Platform
	ended func() bool
}

// Unwrap returns the platform that is wrapped.
func (m *endingPlatform) Unwrap() platform.Platform { return m.Platform }

func (m *endingPlatform) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	started, err := m.Platform.Start(ctx, u)
	if err != nil {
		return nil, err
	}
	wrapped := &endingUnit{started, m.ended}
	if scaled, ok := platform.As[platform.Autoscaled](started); ok {
		return &endingAutoscaled{wrapped, scaled}, nil
	}
	return wrapped, nil
}

type endingUnit struct {
	platform.Unit
	ended func() bool
}

// Unwrap returns the unit that is wrapped.
func (m *endingUnit) Unwrap() platform.Unit { return m.Unit }

func (m *endingUnit) Replicas() []platform.Replica { return m.wrap(m.Unit.Replicas()) }

// wrap wraps replicas; one that is nil stays nil.
func (m *endingUnit) wrap(replicas []platform.Replica) []platform.Replica {
	all := make([]platform.Replica, len(replicas))
	for i, r := range replicas {
		if r != nil {
			all[i] = &endingReplica{r, m.ended}
		}
	}
	return all
}

// endingAutoscaled is a unit that is Autoscaled.
type endingAutoscaled struct {
	*endingUnit
	scaled platform.Autoscaled
}

func (m *endingAutoscaled) CurrentReplicas() []platform.Replica {
	return m.wrap(m.scaled.CurrentReplicas())
}

type endingReplica struct {
	platform.Replica
	ended func() bool
}

// Unwrap returns the replica that is wrapped.
func (m *endingReplica) Unwrap() platform.Replica { return m.Replica }

var errEnded = errors.New("the observed process has ended")

// Counters reads before it checks the process: a reading is valid only if the
// process still lived after it.
func (m *endingReplica) Counters() (signals.Counters, error) {
	c, err := m.Replica.Counters()
	if err == nil && m.ended() {
		err = errEnded
	}
	return c, err
}

// ThrottleSample reads before it checks the process, as Counters does.
func (m *endingReplica) ThrottleSample() (signals.ThrottleSample, error) {
	p, err := m.Replica.ThrottleSample()
	if err == nil && m.ended() {
		err = errEnded
	}
	return p, err
}
