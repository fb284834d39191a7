package pods

import (
	"context"
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
)

// A unit has either a fixed number of replicas, with limits that can be changed, or
// an autoscaler that sets the number.

// fixedUnit is a unit with a fixed number of replicas.
type fixedUnit struct{ *unit }

// Resize changes the limits of every replica in place, and waits until its kubelet
// has applied them.
func (u fixedUnit) Resize(ctx context.Context, l experiment.Limits) error { return u.resize(ctx, l) }

// scaledUnit is a unit with an autoscaler.
type scaledUnit struct{ *unit }

// CurrentReplicas returns every replica so far: first those of Replicas, then later
// ones in the order in which they became ready; nil for a pod that was removed or
// is being deleted.
func (u scaledUnit) CurrentReplicas() []platform.Replica {
	own := u.own()
	all := make([]platform.Replica, len(own))
	for i, r := range own {
		if !r.isGone() {
			all[i] = r
		}
	}
	return all
}

// scaling starts the replicas that an autoscaler adds.
type scaling struct {
	stopping context.Context
	stop     context.CancelFunc
	done     chan struct{}
}

// scale creates the autoscaler, and prepares the replicas that it adds until the
// unit stops.
func (u *unit) scale(ctx context.Context) error {
	if u.of.Autoscale == nil {
		return nil
	}
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), brief)
	defer cancel()
	if _, err := kube.Autoscalers.Create(making, u.k.api, u.k.maker.Autoscaler(&u.of, u.k.part(u.of.Name))); err != nil {
		return fmt.Errorf("create the HorizontalPodAutoscaler %s: %w", u.name, err)
	}
	s := &scaling{done: make(chan struct{})}
	s.stopping, s.stop = context.WithCancel(context.Background())
	u.scaling = s
	go u.bringUp(s)
	return nil
}

// bringUp prepares new pods concurrently.
func (u *unit) bringUp(s *scaling) {
	defer close(s.done)
	known := map[string]bool{}
	for _, r := range u.own() {
		known[r.pod] = true
	}
	came := make(chan *replica)
	ended := make(chan struct{})
	begun := 0
	for {
		some, changed, err := u.k.pods.With(u.chosen)
		for _, p := range some {
			if known[p.Name] || err != nil || podstatus.Gone(p) != "" || podstatus.ObstacleOf(p, objects.UnitContainer) != nil {
				continue
			}
			known[p.Name] = true
			r, err := u.begin(p, p.Name[strings.LastIndexByte(p.Name, '-')+1:])
			if err != nil {
				u.k.warn(fmt.Sprintf("replica %s: %v", p.Name, err))
				continue
			}
			begun++
			go func() {
				if u.join(s.stopping, r) {
					came <- r
				} else {
					ended <- struct{}{}
				}
			}()
		}
		select {
		case r := <-came:
			begun--
			u.mu.Lock()
			r.index = len(u.replicas)
			u.replicas = append(u.replicas, r)
			u.mu.Unlock()
		case <-ended:
			begun--
		case <-changed:
		case <-s.stopping.Done():
			for ; begun > 0; begun-- {
				select {
				case r := <-came: // too late for the trial
					_ = r.end()
				case <-ended:
				}
			}
			return
		}
	}
}

// join prepares a replica. It returns false if the replica did not become ready;
// the replica is then ended.
func (u *unit) join(ctx context.Context, r *replica) bool {
	all := []*replica{r}
	err := u.locate(ctx, all)
	if err == nil {
		err = r.observe(ctx, u.of.Limits)
	}
	if err == nil {
		err = u.awaitReady(ctx, all)
	}
	if err == nil {
		return true
	}
	if ctx.Err() == nil && !r.isGone() {
		u.k.options.Note(fmt.Sprintf("replica %s does not serve: %v", r.pod, err))
	}
	_ = r.end()
	return false
}

// end stops bringUp and waits for it.
func (s *scaling) end() {
	if s != nil {
		s.stop()
		<-s.done
	}
}

// isGone reports whether the replica's pod was removed.
func (r *replica) isGone() bool { return r.whyGone() != "" }

var (
	_ platform.Resizer    = fixedUnit{}
	_ platform.Autoscaled = scaledUnit{}

	_ platform.WindowSource = (*replica)(nil)
)
