package lab

import (
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
)

// watcher reads the samples of replicas during the load, and produces the windows in
// which they could not run. It uses about 1% of a CPU for one replica and 2% for four
// on a busy machine with cold caches, half of it for wake-ups; one reading is one system
// call of 2 us.
type watcher struct {
	trial, cell int
	began       time.Time // when the load begins
	watched     []*watched
	rescale     func()                // adds new replicas; nil: the number is fixed
	out         func(*signals.Window) // called from the watcher's goroutine
}

// watched is a replica and the source of its windows.
type watched struct {
	of      string
	index   int
	sample  func() (signals.ThrottleSample, error)
	windows *signals.Rebuilder
	remote  platform.WindowSource // instead of sample and windows: they are measured near the replica
}

// watcher returns the watcher of the trial's service and dependencies, which run.
func (t *trial) watcher(begin time.Time, out func(*signals.Window)) *watcher {
	w := &watcher{trial: t.number, cell: t.cell.Index, began: begin, out: out}
	w.add(t.cell.Service.Name, replicas(t.deployment.service), t.cell.Limits)
	if scaled, ok := platform.As[platform.Autoscaled](t.deployment.service); ok {
		w.rescale = func() { w.add(t.cell.Service.Name, scaled.CurrentReplicas(), t.cell.Limits) }
	}
	for _, d := range t.cell.Service.Dependencies {
		if unit := t.deployment.dependencies[d.Name]; unit != nil {
			w.add(d.Name, unit.Replicas(), d.Limits)
		}
	}
	return w
}

// add adds those replicas of a unit that are not watched yet. A replica that has gone
// is nil.
func (w *watcher) add(of string, replicas []platform.Replica, limits experiment.Limits) {
	limit := meter.BandwidthOf(limits)
	for i, r := range replicas {
		if r == nil || slices.ContainsFunc(w.watched, func(k *watched) bool { return k.of == of && k.index == i }) {
			continue
		}
		one := &watched{of: of, index: i, sample: r.ThrottleSample, windows: signals.NewRebuilder(limit.Quota, limit.Period, cpuCount())}
		one.remote, _ = platform.As[platform.WindowSource](r)
		w.watched = append(w.watched, one)
	}
}

// run watches until stop is closed.
func (w *watcher) run(stop <-chan struct{}) {
	collected := time.Now()
	meter.Beat(stop, func() {
		w.read()
		if time.Since(collected) >= collectEvery {
			w.collect()
			collected = time.Now()
		}
	})
	w.end()
}

// read reads the sample of each replica once. If that fails, the next sample includes the
// time since the last one.
func (w *watcher) read() {
	for _, r := range w.watched {
		if r.remote != nil {
			continue
		}
		if p, err := r.sample(); err == nil {
			p.At = steady(w.began, p.At)
			r.windows.Add(p, func(v signals.Window) { w.pass(r, v) })
		}
	}
}

// collectEvery is how often the watcher collects windows that were measured near the
// replicas, and looks for new replicas. Both arrive with a delay anyway.
const collectEvery = time.Second

// collect collects windows that were measured near the replicas, and adds new replicas.
func (w *watcher) collect() {
	for _, r := range w.watched {
		if r.remote == nil {
			continue
		}
		for _, v := range r.remote.Windows() {
			w.pass(r, v)
		}
	}
	if w.rescale != nil {
		w.rescale()
	}
}

// remoteDelay is how long windows take to arrive that are measured near the replicas:
// they are sent once a second.
const remoteDelay = 1500 * time.Millisecond

// end reads a last time, and ends the windows in which a replica is still down.
func (w *watcher) end() {
	w.read()
	now := steady(w.began, time.Now())
	for _, r := range w.watched {
		r.windows.Flush(now, func(v signals.Window) { w.pass(r, v) })
	}
	if slices.ContainsFunc(w.watched, func(r *watched) bool { return r.remote != nil }) {
		time.Sleep(remoteDelay)
		w.collect()
	}
}

// pass passes a window on, with its trial and its replica.
func (w *watcher) pass(r *watched, v signals.Window) {
	v.Trial, v.Cell, v.Of, v.Index = w.trial, w.cell, r.of, r.index
	w.out(&v)
}
