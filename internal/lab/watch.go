package lab

import (
	"slices"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/signals"
)

// watcher reads the pulses of replicas while a trial's load runs, and gives the
// windows in which they could not run. It costs about 1% of a CPU for one
// replica and 2% for four on a busy machine with cold caches, half of it for
// being woken; a reading alone is one system call of 2 us.
type watcher struct {
	trial, cell int
	watched     []*watched
	rescale     func()                // takes in the replicas that have come; nil: none can
	out         func(*signals.Window) // called from the watcher's goroutine
}

// watched is one replica with what rebuilds its windows.
type watched struct {
	of      string
	index   int
	pulse   func() (signals.Pulse, error)
	windows *signals.Rebuilder
	told    platform.WindowSource // in the place of pulse and windows: somebody near it tells
}

// watcher returns the one of the trial's service and dependencies, which have
// started.
func (t *trial) watcher(out func(*signals.Window)) *watcher {
	w := &watcher{trial: t.number, cell: t.cell.Index, out: out}
	w.add(t.cell.Service.Name, replicas(t.services), t.cell.Limits)
	if scaled, ok := platform.As[platform.Autoscaled](t.services); ok {
		w.rescale = func() { w.add(t.cell.Service.Name, scaled.CurrentReplicas(), t.cell.Limits) }
	}
	for _, d := range t.cell.Service.Dependencies {
		if running := t.deps[d.Name]; running != nil {
			w.add(d.Name, running.Replicas(), d.Limits)
		}
	}
	return w
}

// add has the watcher read all replicas of a service or dependency that it does
// not read yet. One that has gone is nil; of those that it reads it says nothing
// new.
func (w *watcher) add(of string, replicas []platform.Replica, limits experiment.Limits) {
	quota, period := cpuQuota(limits)
	for i, r := range replicas {
		if r == nil || slices.ContainsFunc(w.watched, func(k *watched) bool { return k.of == of && k.index == i }) {
			continue
		}
		one := &watched{of: of, index: i, pulse: r.Pulse, windows: signals.NewRebuilder(quota, period, cpuCount())}
		one.told, _ = platform.As[platform.WindowSource](r)
		w.watched = append(w.watched, one)
	}
}

// cpuQuota is the CPU time that limits allow in each period; 0: any.
func cpuQuota(l experiment.Limits) (quota, period time.Duration) {
	period = l.Period
	if period == 0 {
		period = signals.DefaultPeriod
	}
	return time.Duration(l.CPUMillis) * period / 1000, period
}

// run watches until stop is closed.
func (w *watcher) run(stop <-chan struct{}) {
	asked := time.Now()
	meter.Beat(stop, func() {
		w.read()
		if time.Since(asked) >= askEvery {
			w.ask()
			asked = time.Now()
		}
	})
	w.end()
}

// read reads each replica once. One that cannot be read tells nothing now; its
// next pulse tells what happened in between.
func (w *watcher) read() {
	for _, r := range w.watched {
		if r.told != nil {
			continue
		}
		if p, err := r.pulse(); err == nil {
			r.windows.Add(p, func(v signals.Window) { w.give(r, v) })
		}
	}
}

// askEvery is how often it is asked for windows that others see, and for replicas
// that have come: both come a while later anyway.
const askEvery = time.Second

// ask takes the windows that others have seen, and the replicas that have come.
func (w *watcher) ask() {
	for _, r := range w.watched {
		if r.told == nil {
			continue
		}
		for _, v := range r.told.Windows() {
			w.give(r, v)
		}
	}
	if w.rescale != nil {
		w.rescale()
	}
}

// onTheirWay is how long windows take that others see: they tell of them once a
// second.
const onTheirWay = 1500 * time.Millisecond

// end reads a last time and ends the windows in which a replica is still down.
func (w *watcher) end() {
	w.read()
	now := time.Now()
	for _, r := range w.watched {
		r.windows.Flush(now, func(v signals.Window) { w.give(r, v) })
	}
	if slices.ContainsFunc(w.watched, func(r *watched) bool { return r.told != nil }) {
		time.Sleep(onTheirWay)
		w.ask()
	}
}

func (w *watcher) give(r *watched, v signals.Window) {
	v.Trial, v.Cell, v.Of, v.Index = w.trial, w.cell, r.of, r.index
	w.out(&v)
}
