package lab

import (
	"context"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/platform"
)

// The replicas of an autoscaled service change during a trial. Every reader asks
// platform.Autoscaled at its own pace. A replica keeps its index, so that all readers
// mean the same one.

// replicas are those that a unit has had so far, by their indexes; nil is one
// that has gone.
func replicas(r platform.Unit) []platform.Replica {
	if scaled, ok := platform.As[platform.Autoscaled](r); ok {
		return scaled.CurrentReplicas()
	}
	return r.Replicas()
}

// serving are those that a unit has now.
func serving(r platform.Unit) []platform.Replica {
	return slices.DeleteFunc(slices.Clone(replicas(r)), func(one platform.Replica) bool { return one == nil })
}

// addresses are the replicas' as agents are told of them: empty is one that has
// gone.
func addresses(all []platform.Replica) []string {
	out := make([]string, len(all))
	for i, r := range all {
		if r != nil {
			out[i] = r.Address()
		}
	}
	return out
}

// seesWindows reports whether the platform sees when replicas are throttled.
func seesWindows(p platform.Platform) bool {
	s, ok := platform.As[platform.ThrottleVisibility](p)
	return !ok || s.SeesThrottleWindows()
}

// scale is what the sampler knows of a service that is scaled.
type scale struct {
	of       string
	running  platform.Autoscaled
	replicas int       // that serve
	at       time.Time // when it was looked at last
}

// newScale is the trial's; nil where the service is not scaled.
func (t *trial) newScale() *scale {
	running, ok := platform.As[platform.Autoscaled](t.services)
	if !ok {
		return nil
	}
	return &scale{of: t.cell.Service.Name, running: running}
}

// rescale has the sampler read the replicas that have come, and leave those that
// have gone. Of one that has come the first reading is where its first frame
// begins.
func (s *sampler) rescale() {
	if s.scale == nil {
		return
	}
	s.scale.replicas = 0
	for i, r := range s.scale.running.CurrentReplicas() {
		at := slices.IndexFunc(s.sources, func(src *source) bool { return src.role == roleService && src.index == i })
		switch {
		case r != nil && at < 0:
			s.sources = append(s.sources, newSource(s.scale.of, i, roleService, r))
		case r == nil && at >= 0:
			s.sources = slices.Delete(slices.Clone(s.sources), at, at+1)
		}
		if r != nil {
			s.scale.replicas++
		}
	}
	s.scale.at = time.Now()
}

// scaleEvery is how often it is looked whether the agents' targets are still the
// service's replicas. One that is taken away may end before the agents know of
// it: what they sent to it meanwhile is counted as cut or refused.
const scaleEvery = 250 * time.Millisecond

// followScale tells the agents of replicas that come and go, until ctx ends with
// the traffic. An agent that cannot be told is lost, as whoever follows it finds
// out.
func (t *trial) followScale(ctx context.Context) {
	if _, scaled := platform.As[platform.Autoscaled](t.services); !scaled {
		return
	}
	told := t.targets
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(scaleEvery):
		}
		now := addresses(replicas(t.services))
		if slices.Equal(now, told) || len(serving(t.services)) == 0 {
			continue
		}
		for _, a := range t.agents {
			_ = a.client.Move(now)
		}
		told = now
	}
}
