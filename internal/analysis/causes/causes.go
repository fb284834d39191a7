// Package causes attributes the time of a cell's slowest requests to causes: the
// generator, CPU throttling, a dependency, a restart, busy neighbours, or the rest,
// which is queueing and work. It looks at single requests and the windows that they
// overlap. docs/method.md has the rules and their known errors.
//
// It is pure: it receives what a record holds, line by line. Its memory grows with the
// slow requests and windows of the record, not with the traffic. It does not decide
// what limits a service: package analysis does that from the frames.
package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// cause is the index of a cause, in the order of precedence.
type cause int

const (
	generator cause = iota
	generatorQueue
	throttling
	dependency
	restart
	neighbours
	rest
	causes // number of causes
)

// Builder takes the lines of a record, in any order, and divides the slow tail among
// its causes. It is for one cell: pass it only lines of that cell's trials, and only
// of trials that count.
type Builder struct {
	service  string
	period   int64
	requests []signals.SlowLine
	windows  map[replicaKey][]signals.Window
	waits    map[replicaKey][]*signals.Frame
	spent    map[replicaKey][]spent   // its measured frames
	pressed  map[replicaKey][]pressed // frames with the CPU pressure of a replica
	failing  map[replicaKey][]stretch // frames in which a replica was killed or down
	trials   map[int]*trial
	on       map[replicaKey]string // the machine that a replica runs on, if known
	replicas int                   // number of replicas seen

	latency, own *signals.Histogram // of the measured frames; own is done - sent
}

// replicaKey identifies a replica in a trial.
type replicaKey struct{ trial, replica int }

// trial is what the frames show of a trial.
type trial struct {
	first     int64 // start of its first frame, unix nanoseconds
	measured  int64 // start of its first measured frame
	measures  bool  // whether it has one
	dueFrames []dueFrame
	busy      []busy              // frames in which the agents waited for a CPU
	hosts     map[string][]hosted // by machine; "" is also the machine of the agents
	medians   []median
}

// New returns a builder for a cell of a service. The period is that of its CPU limit;
// 0 means the kernel's default.
func New(service string, period time.Duration) *Builder {
	if period <= 0 {
		period = signals.DefaultPeriod
	}
	return &Builder{
		service: service,
		period:  int64(period),
		windows: map[replicaKey][]signals.Window{},
		waits:   map[replicaKey][]*signals.Frame{},
		spent:   map[replicaKey][]spent{},
		pressed: map[replicaKey][]pressed{},
		failing: map[replicaKey][]stretch{},
		trials:  map[int]*trial{},
		on:      map[replicaKey]string{},
		latency: signals.NewHistogram(),
		own:     signals.NewHistogram(),
	}
}

// Slow takes a slow request. One whose times are out of order is ignored.
func (b *Builder) Slow(line signals.SlowLine) {
	if line.Sent < line.Intended || line.Done < line.Sent {
		return
	}
	if !(line.For > 0) || math.IsInf(line.For, 0) {
		line.For = 1
	}
	line.Lag = min(max(line.Lag, 0), line.Sent-line.Intended)
	b.requests = append(b.requests, line)
	b.replicas = max(b.replicas, line.Replica+1)
}

// Window takes a window; those of dependencies are ignored.
func (b *Builder) Window(w signals.Window) {
	if w.Of == b.service && w.End > w.Start {
		at := replicaKey{w.Trial, w.Index}
		b.windows[at] = append(b.windows[at], w)
	}
}

// Frame takes a frame of any kind. It keeps a frame's waits.
func (b *Builder) Frame(f *signals.Frame) {
	t := b.trial(f.Trial)
	t.first = min(t.first, f.Start)
	switch at := (replicaKey{f.Trial, f.Index}); {
	case f.End <= f.Start:
	case f.Client != nil:
		b.client(t, f)
	case f.Host != nil:
		t.hosts[f.Machine] = append(t.hosts[f.Machine], hosted{stretch{f.Start, f.End}, f.Host})
	case f.Of != b.service:
	case f.Server != nil:
		b.replicas = max(b.replicas, f.Index+1)
		if f.Machine != "" {
			b.on[at] = f.Machine
		}
		b.pressure(at, f)
		if f.Server.CPU != nil && f.Phase == signals.Measure {
			b.spent[at] = append(b.spent[at], spent{stretch: stretch{f.Start, f.End}, cpu: 1e9 * *f.Server.CPU})
		}
		if failed(f) {
			b.failing[at] = append(b.failing[at], stretch{f.Start, f.End})
		}
	case f.Waits != nil && validWaits(f.Waits):
		b.waits[at] = append(b.waits[at], f)
	}
}

func (b *Builder) trial(number int) *trial {
	t := b.trials[number]
	if t == nil {
		t = &trial{first: math.MaxInt64, measured: math.MaxInt64, hosts: map[string][]hosted{}}
		b.trials[number] = t
	}
	return t
}

func (b *Builder) client(t *trial, f *signals.Frame) {
	t.dueFrames = append(t.dueFrames, dueFrame{stretch{f.Start, f.End}, f.Client.Intended, f.Client.Latency.Count()})
	if f.Phase != signals.Warmup {
		b.latency.Merge(f.Client.Latency)
		b.own.Merge(f.Client.Service)
	}
	if f.Client.Service.Count() >= fewestForMedian {
		t.medians = append(t.medians, median{f.Start, f.End, int64(f.Client.Service.Quantile(0.5)), int64(f.Client.Service.Quantile(usualShare)), int64(f.Client.Service.Quantile(0.95))})
	}
	if f.Phase == signals.Measure {
		t.measured, t.measures = min(t.measured, f.Start), true
	}
	if share := waited(f); share > 0 {
		t.busy = append(t.busy, busy{stretch: stretch{f.Start, f.End}, share: share})
	}
}

// Merge adds the lines of another builder of the same cell.
func (b *Builder) Merge(o *Builder) {
	b.requests = append(b.requests, o.requests...)
	b.replicas = max(b.replicas, o.replicas)
	for at, windows := range o.windows {
		b.windows[at] = append(b.windows[at], windows...)
	}
	for at, waits := range o.waits {
		b.waits[at] = append(b.waits[at], waits...)
	}
	maps.Copy(b.on, o.on)
	for at, more := range o.pressed {
		b.pressed[at] = append(b.pressed[at], more...)
	}
	for at, more := range o.spent {
		b.spent[at] = append(b.spent[at], more...)
	}
	for at, failing := range o.failing {
		b.failing[at] = append(b.failing[at], failing...)
	}
	for number, more := range o.trials {
		t := b.trial(number)
		t.first, t.measured = min(t.first, more.first), min(t.measured, more.measured)
		t.measures = t.measures || more.measures
		t.dueFrames, t.busy = append(t.dueFrames, more.dueFrames...), append(t.busy, more.busy...)
		for name, hosts := range more.hosts {
			t.hosts[name] = append(t.hosts[name], hosts...)
		}
		t.medians = append(t.medians, more.medians...)
	}
	b.latency.Merge(o.latency)
	b.own.Merge(o.own)
}

// latency is the time that a user waited, in nanoseconds.
func latency(r *signals.SlowLine) int64 { return r.Done - r.Intended }

// sorted returns the requests by trial, replica and intended time, and then by every
// other field, so that a result does not depend on the order of the input.
func (b *Builder) sorted() []signals.SlowLine {
	all := slices.Clone(b.requests)
	slices.SortFunc(all, func(x, y signals.SlowLine) int {
		return cmp.Or(cmp.Compare(x.Trial, y.Trial), cmp.Compare(x.Replica, y.Replica), cmp.Compare(x.Intended, y.Intended),
			cmp.Compare(x.Done, y.Done), cmp.Compare(x.Sent, y.Sent), cmp.Compare(x.Lag, y.Lag), cmp.Compare(x.For, y.For),
			cmp.Compare(x.Agent, y.Agent), cmp.Compare(one(x.TimedOut), one(y.TimedOut)))
	})
	return all
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
