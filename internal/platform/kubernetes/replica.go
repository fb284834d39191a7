package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/platform/ready"
	"github.com/millicore/millicore/internal/signals"
)

// replica is a pod of a unit. It stays the same pod when its container dies and
// is started again; a pod that takes its place has another address, and is none
// of the unit's replicas.
type replica struct {
	k       *kubernetes
	index   int
	pod     string // its name
	node    string
	host    string // its node's address
	address string
	ready   experiment.Ready
	serves  func(context.Context, string) error // as in platform.Unit
	scaled  bool                                // it may go because it is too many

	log    *life.Log
	output *follower
	forget func() // has nobody read its counters any more

	counters counting
	near     *watching // what its node's agent sees; nil: it has none
	standing life.Standing

	stopping context.Context
	stop     context.CancelFunc
	kept     chan struct{} // closed when nobody looks after it any more; nil before

	mu     sync.Mutex
	memory int64 // its limit, bytes; 0: none
	up     bool
	// downSince is since when it is down, as far as that was told; zero: it is up, or
	// was never.
	downSince time.Time
	downs     []signals.Window
	restarts  int32           // of its container, as its kubelet counts
	deaths    map[string]bool // containers of it that have ended, by their ids
	kills     int64           // those that ended for want of memory
	gone      string          // why its pod is no more; "": it is there
}

// Address is where the replica listens: its pod's own address.
func (r *replica) Address() string { return r.address }

// Counters gives the newest totals, with the time at which its kubelet, or its
// node's agent, read them. They go on over the replica's lives. Where no newer
// ones are there the error says so.
func (r *replica) Counters() (signals.Counters, error) {
	r.mu.Lock()
	down, kills := !r.up, r.kills
	r.mu.Unlock()
	if r.near != nil {
		r.near.read(&r.counters)
	}
	c, err := r.standing.Counters(r.counters.read(down))
	if err == nil {
		c.OOMKills = &kills // of pods' status: cAdvisor counts those of processes that it hears of
	}
	return c, err
}

// Pulse tells whether the replica serves. How it is throttled within a frame
// cannot be seen from outside its node: those figures are nil.
func (r *replica) Pulse() (signals.Pulse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return signals.Pulse{At: time.Now(), Up: r.up}, nil
}

// Machine is the node that the replica's pod runs on.
func (r *replica) Machine() string { return r.node }

// PIDs are those of another machine.
func (r *replica) PIDs() []int { return nil }

// Windows gives the windows that have ended since the last call, in the order of
// their ends. Those in which the replica was down are of its pod's status, and
// begin up to half a second off: kubelets tell the second. One that goes on is
// given in pieces. Those in which it was throttled its node's agent sees.
func (r *replica) Windows() []signals.Window {
	r.mu.Lock()
	now := time.Now()
	if !r.downSince.IsZero() && now.After(r.downSince) {
		r.downs = append(r.downs, signals.Window{Kind: signals.Down, Start: r.downSince.UnixNano(), End: now.UnixNano()})
		r.downSince = now
	}
	all := r.downs
	r.downs = nil
	r.mu.Unlock()
	if r.near == nil {
		return all
	}
	all = append(r.near.take(), all...)
	slices.SortStableFunc(all, func(a, b signals.Window) int { return cmp.Compare(a.End, b.End) })
	return all
}

// rise takes that the replica serves.
func (r *replica) rise() {
	r.mu.Lock()
	if now := time.Now(); !r.downSince.IsZero() && now.After(r.downSince) {
		r.downs = append(r.downs, signals.Window{Kind: signals.Down, Start: r.downSince.UnixNano(), End: now.UnixNano()})
	}
	r.up, r.downSince = true, time.Time{}
	r.mu.Unlock()
	r.standing.SetUp(true)
}

// fall takes that it does not, if it did.
func (r *replica) fall(since time.Time) {
	r.mu.Lock()
	if r.up {
		r.up, r.downSince = false, since
	}
	r.mu.Unlock()
	r.standing.SetUp(false)
}

// fellAt is when a container ended, as well as that is known by now.
func fellAt(end *corev1.ContainerStateTerminated, now time.Time) time.Time {
	if end == nil || end.FinishedAt.IsZero() {
		return now
	}
	if at := end.FinishedAt.Add(time.Second / 2); at.Before(now) && now.Sub(at) < time.Minute {
		return at
	}
	return now
}

// look takes what the pod's status says of deaths since the last look. began is
// the running container, "" where none runs.
func (r *replica) look(p *corev1.Pod) (began string) {
	s := statusOf(p, unitContainer)
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
		if t.Reason == starved {
			r.kills++
		}
		r.log.Note("%s", obituary(t, r.memory))
	}
	for ; r.restarts < s.RestartCount; r.restarts++ {
		r.standing.Restarted()
	}
	if s.State.Running == nil {
		return ""
	}
	return s.ContainerID
}

// awaitReady waits until the running container serves. It returns life.ErrDied if
// that ends first, and another error when ctx does.
func (r *replica) awaitReady(ctx context.Context, container string) error {
	looking, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := ready.Begin(looking, r.ready, r.address, r.serves)
	for {
		pod, changed := r.k.pods.get(r.pod)
		if !runs(pod, container) {
			return life.ErrDied
		}
		select {
		case err := <-answered:
			return err
		case <-changed:
		}
	}
}

// runs reports whether this container of a pod runs.
func runs(p *corev1.Pod, container string) bool {
	if gone(p) != "" {
		return false
	}
	s := statusOf(p, unitContainer)
	return s.State.Running != nil && s.ContainerID == container
}

// keep looks after the replica until it is to stop: it tells when it is down, and
// when it serves again.
func (r *replica) keep(serving string) {
	defer close(r.kept)
	for {
		pod, changed := r.k.pods.get(r.pod)
		if why := gone(pod); why != "" {
			r.lose(why)
			return
		}
		container := r.look(pod)
		if container != serving {
			r.fall(fellAt(ended(statusOf(pod, unitContainer)), time.Now()))
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
				continue // what came meanwhile
			}
		}
		select {
		case <-r.stopping.Done():
			return
		case <-changed:
		}
	}
}

// lose takes that the pod is no more: what serves in its place has another
// address, which nobody was told.
func (r *replica) lose(why string) {
	r.fall(time.Now())
	r.mu.Lock()
	r.gone = why
	if r.scaled {
		r.downSince = time.Time{} // it is not missed
	}
	r.mu.Unlock()
	if r.stopping.Err() != nil || r.scaled {
		return
	}
	r.standing.Restarted()
	r.log.Note("its pod %s is no more: %s", r.pod, why)
}

// whyGone is why the replica's pod is no more; "" while it is there.
func (r *replica) whyGone() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone
}

// evicted is the error of a start whose pod is no more.
func evicted(pod, why string) error {
	return fmt.Errorf("the pod %s is no more: %s (%w)", pod, why, platform.ErrEvicted)
}

// follow has the running container read from near, where a node agent is there.
func (r *replica) follow(p *corev1.Pod, container string) {
	if r.near != nil {
		r.near.begin(string(p.UID), container)
	}
}

// unlimited takes that the kubelet does not hold the container to its CPU limit:
// what is measured then is not what was asked for.
func (r *replica) unlimited() {
	r.k.warn("the kubelet of node " + r.node + " does not hold containers to their CPU limit (cpuCFSQuota: false, or the CPU manager's policy static with a limit of whole CPUs): there is no throttling there")
}

// end ends what looks after the replica; its pod is gone by now, or is not waited
// for any longer.
func (r *replica) end() error {
	r.stop()
	if r.kept != nil {
		<-r.kept
	}
	r.fall(time.Now())
	if r.forget != nil {
		r.forget()
	}
	if r.near != nil {
		r.near.end()
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

// tailWithin is how long the last words of a container that died may take to come
// before it is explained.
const tailWithin = 2 * time.Second
