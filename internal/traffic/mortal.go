package traffic

import (
	"context"
	"errors"

	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/signals"
)

// Mortal wraps a platform of services that Millicore did not start. Once the
// observed process has ended, its counters and pulses are errors: its files are
// gone by then, or belong to another process with the same number. ended reports
// whether the process has ended.
//
// Units and replicas keep their abilities (platform.As).
func Mortal(p platform.Platform, ended func() bool) platform.Platform {
	return &mortal{p, ended}
}

type mortal struct {
	platform.Platform
	ended func() bool
}

// Unwrap returns the platform that is wrapped.
func (m *mortal) Unwrap() platform.Platform { return m.Platform }

func (m *mortal) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	started, err := m.Platform.Start(ctx, u)
	if err != nil {
		return nil, err
	}
	wrapped := &mortalUnit{started, m.ended}
	if scaled, ok := platform.As[platform.Autoscaled](started); ok {
		return &mortalAutoscaled{wrapped, scaled}, nil
	}
	return wrapped, nil
}

type mortalUnit struct {
	platform.Unit
	ended func() bool
}

// Unwrap returns the unit that is wrapped.
func (m *mortalUnit) Unwrap() platform.Unit { return m.Unit }

func (m *mortalUnit) Replicas() []platform.Replica { return m.wrap(m.Unit.Replicas()) }

// wrap wraps replicas; one that is nil stays nil.
func (m *mortalUnit) wrap(replicas []platform.Replica) []platform.Replica {
	all := make([]platform.Replica, len(replicas))
	for i, r := range replicas {
		if r != nil {
			all[i] = &mortalReplica{r, m.ended}
		}
	}
	return all
}

// mortalAutoscaled is a unit that is Autoscaled.
type mortalAutoscaled struct {
	*mortalUnit
	scaled platform.Autoscaled
}

func (m *mortalAutoscaled) CurrentReplicas() []platform.Replica {
	return m.wrap(m.scaled.CurrentReplicas())
}

type mortalReplica struct {
	platform.Replica
	ended func() bool
}

// Unwrap returns the replica that is wrapped.
func (m *mortalReplica) Unwrap() platform.Replica { return m.Replica }

var errEnded = errors.New("the observed process has ended")

// Counters reads before it checks the process: a reading is valid only if the
// process still lived after it.
func (m *mortalReplica) Counters() (signals.Counters, error) {
	c, err := m.Replica.Counters()
	if err == nil && m.ended() {
		err = errEnded
	}
	return c, err
}

// Pulse reads before it checks the process, as Counters does.
func (m *mortalReplica) Pulse() (signals.Pulse, error) {
	p, err := m.Replica.Pulse()
	if err == nil && m.ended() {
		err = errEnded
	}
	return p, err
}
