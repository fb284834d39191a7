package lab

import (
	"context"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/platform"
)

// The replicas of an autoscaled service change during a trial. The sampler, the watcher
// and the agents each read platform.Autoscaled at their own pace. A replica keeps its
// index, by which all of them identify it.

// replicas are those that a unit has had so far, by index; nil is one that has gone.
func replicas(u platform.Unit) []platform.Replica {
	if scaled, ok := platform.As[platform.Autoscaled](u); ok {
		return scaled.CurrentReplicas()
	}
	return u.Replicas()
}

// serving are the present replicas of a unit.
func serving(u platform.Unit) []platform.Replica {
	return slices.DeleteFunc(slices.Clone(replicas(u)), func(r platform.Replica) bool { return r == nil })
}

// addresses are the addresses of replicas, as agents get them: empty for one that has
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

// seesWindows reports whether the platform measures when replicas are throttled.
func seesWindows(p platform.Platform) bool {
	s, ok := platform.As[platform.ThrottleVisibility](p)
	return !ok || s.SeesThrottleWindows()
}

// scale is the sampler's view of an autoscaled service.
type scale struct {
	of       string
	unit     platform.Autoscaled
	replicas int       // that serve
	at       time.Time // of the last reading
}

// newScale returns the scale of a service; nil if the service is not autoscaled.
func newScale(of string, u platform.Unit) *scale {
	unit, ok := platform.As[platform.Autoscaled](u)
	if !ok {
		return nil
	}
	return &scale{of: of, unit: unit}
}

// rescale adds new replicas to the sampler's sources and removes those that have gone.
// The first frame of a new replica begins at its first reading.
func (s *sampler) rescale() {
	if s.scale == nil {
		return
	}
	s.scale.replicas = 0
	for i, r := range s.scale.unit.CurrentReplicas() {
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

// scaleEvery is the time between comparisons of the agents' targets with the present
// replicas. A replica may end before the agents know: the requests that they send to it
// meanwhile are counted as cut off or refused.
const scaleEvery = 250 * time.Millisecond

// followReplicas sends new targets to the agents when replicas start or end, until ctx
// ends with the traffic.
func followReplicas(ctx context.Context, service platform.Unit, all *agents) {
	if _, scaled := platform.As[platform.Autoscaled](service); !scaled {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(scaleEvery):
		}
		now := addresses(replicas(service))
		if !slices.Equal(now, all.targets) && len(serving(service)) > 0 {
			all.move(now)
		}
	}
}
