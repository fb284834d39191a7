package traffic

import (
	"context"
	"errors"

	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/signals"
)

// Mortal is a platform of services that are not ours: once the process that is
// looked at has ended, nothing is read of it any more. What its files say then is
// of a process that is no more, or of another with its number.
func Mortal(p platform.Platform, ended func() bool) platform.Platform { return mortal{p, ended} }

type mortal struct {
	platform.Platform
	ended func() bool
}

func (m mortal) Start(ctx context.Context, u platform.Unit) (platform.Running, error) {
	r, err := m.Platform.Start(ctx, u)
	if err != nil {
		return nil, err
	}
	return mortals{r, m.ended}, nil
}

type mortals struct {
	platform.Running
	ended func() bool
}

func (m mortals) Replicas() []platform.Replica {
	var all []platform.Replica
	for _, r := range m.Running.Replicas() {
		all = append(all, mortalReplica{r, m.ended})
	}
	return all
}

type mortalReplica struct {
	platform.Replica
	ended func() bool
}

var errEnded = errors.New("the process that was looked at has ended")

// Counters reads first and asks then: what was read of a process that lived on
// is its own.
func (m mortalReplica) Counters() (signals.Counters, error) {
	c, err := m.Replica.Counters()
	if err == nil && m.ended() {
		err = errEnded
	}
	return c, err
}

func (m mortalReplica) Pulse() (signals.Pulse, error) {
	p, err := m.Replica.Pulse()
	if err == nil && m.ended() {
		err = errEnded
	}
	return p, err
}
