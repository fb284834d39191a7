package pods

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// replica is a pod of a unit. It stays the same pod when its container dies and
// restarts. A pod that replaces it has another address and is not a replica of the
// unit.
type replica struct {
	k       *cluster
	index   int
	pod     string // its name
	node    string
	host    string // its node's address
	address string
	ready   experiment.Ready
	serves  func(context.Context, string) error // as in platform.UnitSpec
	scaled  bool                                // the autoscaler may remove it

	log    *supervise.Log
	output *follower
	forget func() // ends the reading of its counters

	counters sampledTotals
	watching *watching // what the agent of its node reads; nil: there is none
	held     held
	status   supervise.Status

	stopping context.Context
	stop     context.CancelFunc
	kept     chan struct{} // closed when keep has returned; nil before

	mu     sync.Mutex
	memory int64 // its limit, bytes; 0: none
	up     bool
	// downSince is the end of the last reported down window, or its begin; zero: it
	// is up, or never was.
	downSince  time.Time
	downs      []signals.Window
	restarts   int32           // of its container, counted by the kubelet
	deaths     map[string]bool // its containers that have ended, by id
	kills      int64           // those that ran out of memory
	unenforced int             // samples in a row that show no quota, though there is a CPU limit
	gone       string          // why its pod was removed; "": it exists
}

// Address is where the replica listens: its pod's own address.
func (r *replica) Address() string { return r.address }

// Counters returns the newest totals, with the time at which the kubelet or the
// node agent read them. They continue over restarts. The error is
// nodeagent.ErrNoNewer if there are no newer ones.
func (r *replica) Counters() (signals.Counters, error) {
	r.mu.Lock()
	down, kills := !r.up, r.kills
	r.mu.Unlock()
	if r.watching != nil {
		r.watching.read(&r.counters)
	}
	c, err := r.status.Counters(r.counters.read(down))
	if err == nil {
		c.OOMKills = &kills // from the pod's status: cAdvisor does not report all
	}
	return c, err
}

// ThrottleSample reports whether the replica serves. Throttling within a frame can be
// measured only on its node: those figures are nil.
func (r *replica) ThrottleSample() (signals.ThrottleSample, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return signals.ThrottleSample{At: time.Now(), Up: r.up}, nil
}

// Machine is the node that the replica's pod runs on.
func (r *replica) Machine() string { return r.node }

// PIDs is nil: the processes are on another machine.
func (r *replica) PIDs() []int { return nil }

// Windows returns the windows that have ended since the last call, in the order of
// their ends. Down windows come from the pod's status; their begin may be wrong by
// half a second, because kubelets report whole seconds. A down window that
// continues is returned in pieces. Throttle windows come from the node agent.
func (r *replica) Windows() []signals.Window {
	r.mu.Lock()
	now := time.Now()
	if !r.downSince.IsZero() && now.After(r.downSince) {
		r.downs = append(r.downs, downWindow(r.downSince, now))
		r.downSince = now
	}
	all := r.downs
	r.downs = nil
	r.mu.Unlock()
	if r.watching == nil {
		return all
	}
	all = append(r.watching.take(), all...)
	slices.SortStableFunc(all, func(a, b signals.Window) int { return cmp.Compare(a.End, b.End) })
	return all
}

// downWindow is the window between two times. If the clock was set in between, its length
// is that of the monotonic clock.
func downWindow(since, now time.Time) signals.Window {
	return signals.Window{Kind: signals.Down, Start: since.UnixNano(), End: since.Add(now.Sub(since)).UnixNano()}
}

// rise records that the replica serves.
func (r *replica) rise() {
	r.mu.Lock()
	if now := time.Now(); !r.downSince.IsZero() && now.After(r.downSince) {
		r.downs = append(r.downs, downWindow(r.downSince, now))
	}
	r.up, r.downSince = true, time.Time{}
	r.mu.Unlock()
	r.status.SetUp(true)
}

// fall records that it does not serve any more.
func (r *replica) fall(since time.Time) {
	r.mu.Lock()
	if r.up {
		r.up, r.downSince = false, since
	}
	r.mu.Unlock()
	r.status.SetUp(false)
}

// fellAt is when a container ended, as precisely as it is known.
func fellAt(end *corev1.ContainerStateTerminated, now time.Time) time.Time {
	if end == nil || end.FinishedAt.IsZero() {
		return now
	}
	if at := end.FinishedAt.Add(time.Second / 2); at.Before(now) && now.Sub(at) < time.Minute {
		return at
	}
	return now
}

// look records the deaths in the pod's status since the last call. began is the
// running container; "" if none runs.
func (r *replica) look(p *corev1.Pod) (began string) {
	s := podstatus.Of(p, objects.UnitContainer)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range []*corev1.ContainerStateTerminated{s.LastTerminationState.Terminated, s.State.Terminated} {
		if t == nil || r.deaths[t.ContainerID] {
			continue
		}
		if r.deaths == nil {
			r.deaths = map[string]bool{}
		}
		r.deaths[t.ContainerID] = true
		if t.Reason == podstatus.OOMKilled {
			r.kills++
		}
		r.log.Note("%s", podstatus.EndText(t, r.memory))
	}
	for ; r.restarts < s.RestartCount; r.restarts++ {
		r.status.Restarted()
	}
	if s.State.Running == nil {
		return ""
	}
	return s.ContainerID
}

// awaitReady waits until the running container serves. It returns
// supervise.ErrDied if the container ends first, and another error when ctx ends.
func (r *replica) awaitReady(ctx context.Context, container string) error {
	looking, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := supervise.StartProbe(looking, r.ready, r.address, r.serves)
	for {
		pod, changed := r.k.pods.Get(r.pod)
		if !runs(pod, container) {
			return supervise.ErrDied
		}
		select {
		case err := <-answered:
			return err
		case <-changed:
		}
	}
}

// runs reports whether a container of a pod runs.
func runs(p *corev1.Pod, container string) bool {
	if podstatus.Gone(p) != "" {
		return false
	}
	s := podstatus.Of(p, objects.UnitContainer)
	return s.State.Running != nil && s.ContainerID == container
}

// keep follows the replica until it is to stop, and records when it is down and
// when it serves again.
func (r *replica) keep(serving string) {
	defer close(r.kept)
	for {
		pod, changed := r.k.pods.Get(r.pod)
		if why := podstatus.Gone(pod); why != "" {
			r.lose(why)
			return
		}
		container := r.look(pod)
		if container != serving {
			r.fall(fellAt(podstatus.Ended(podstatus.Of(pod, objects.UnitContainer)), time.Now()))
			serving = ""
			if container != "" && r.awaitReady(r.stopping, container) == nil {
				r.follow(pod, container)
				r.rise()
				serving = container
			}
			if container != "" {
				if r.stopping.Err() != nil {
					return
				}
				continue // with changes in the meantime
			}
		}
		select {
		case <-r.stopping.Done():
			return
		case <-changed:
		}
	}
}

// lose records that the pod was removed. Its replacement has another address, to
// which no agent sends.
func (r *replica) lose(why string) {
	r.fall(time.Now())
	r.mu.Lock()
	r.gone = why
	if r.scaled {
		r.downSince = time.Time{} // it is not down: the autoscaler removed it
	}
	r.mu.Unlock()
	if r.stopping.Err() != nil || r.scaled {
		return
	}
	r.status.Restarted()
	r.log.Note("its pod %s was removed: %s", r.pod, why)
}

// whyGone is why the replica's pod was removed; "" while it exists.
func (r *replica) whyGone() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// evicted is the error of a start whose pod was removed.
func evicted(pod, why string) error {
	return fmt.Errorf("the pod %s was removed: %s (%w)", pod, why, platform.ErrEvicted)
}

// follow lets the node agent, if there is one, read the running container.
func (r *replica) follow(p *corev1.Pod, container string) {
	if r.watching != nil {
		r.watching.begin(string(p.UID), container)
	}
}

// unlimited warns that the kubelet does not enforce the CPU limit, so that the
// measurement is not the one that was configured.
func (r *replica) unlimited() {
	r.k.warn("the kubelet of node " + r.node + " does not enforce the CPU limit of containers (cpuCFSQuota: false, or the CPU manager's policy static with a limit of whole CPUs): they are never throttled")
}

// end ends the goroutines of the replica. Its pod is gone, or is not waited for.
func (r *replica) end() error {
	r.stop()
	if r.kept != nil {
		<-r.kept
	}
	r.fall(time.Now())
	if r.forget != nil {
		r.forget()
	}
	if r.watching != nil {
		r.watching.end()
	}
	r.counters.close()
	if r.output != nil {
		r.output.end()
	}
	if r.log == nil {
		return nil
	}
	return r.log.File.Close()
}

// tailWithin is how long explain waits for the last output of a container.
const tailWithin = 2 * time.Second
