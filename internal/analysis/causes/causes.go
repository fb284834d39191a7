// Package causes tells where the time of a cell's slowest requests went: into
// the generator, into CPU throttling, into a dependency, into a restart, into
// busy neighbours, or into the rest, which is queueing and work. It looks at
// single requests and the windows that they lay in; docs/causes.md has the
// rules, and what they get wrong.
//
// It is pure: it is given what a record holds, line by line, and what it keeps
// of that grows with the slow requests and windows of the record, not with its
// traffic. It does not say what a service is limited by: that is told from its
// frames, in package analysis.
package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// cause is the index of a cause, in the order of precedence.
type cause int

const (
	generator cause = iota
	throttling
	dependency
	restart
	neighbours
	rest
	causes // how many there are
)

// The kernel's own period of a CPU limit.
const defaultPeriod = 100 * time.Millisecond

// Builder takes the lines of a record, in any order, and divides the tail that
// they show. It is for one cell: give it only lines of that cell's trials, and
// only of trials that count.
type Builder struct {
	service  string
	period   int64
	requests []signals.SlowLine
	windows  map[place][]signals.Window
	waits    map[place][]*signals.Frame
	failing  map[place][]stretch // frames in which a replica was killed or down
	trials   map[int]*trial
	on       map[place]string // the machine that a replica runs on, where that is known
	replicas int              // how many there are, as far as was seen

	latency, own *signals.Histogram // of the measured frames; own is done - sent
}

// place is a replica in a trial.
type place struct{ trial, replica int }

// trial is what frames tell of a trial.
type trial struct {
	first    int64 // start of its first frame, unix nanoseconds
	measured int64 // start of its first measured frame
	measures bool  // whether it has one
	counted  []counted
	busy     []busy              // frames in which the agents waited for a CPU
	hosts    map[string][]hosted // by machine; "" is the agents' too
	medians  []median
}

// New returns a builder for a cell of a service. The period is that of its CPU
// limit; 0 is the kernel's own.
func New(service string, period time.Duration) *Builder {
	if period <= 0 {
		period = defaultPeriod
	}
	return &Builder{
		service: service,
		period:  int64(period),
		windows: map[place][]signals.Window{},
		waits:   map[place][]*signals.Frame{},
		failing: map[place][]stretch{},
		trials:  map[int]*trial{},
		on:      map[place]string{},
		latency: signals.NewHistogram(),
		own:     signals.NewHistogram(),
	}
}

// Slow takes a slow request. One whose times are out of order is passed over.
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

// Window takes a window; those of dependencies are passed over.
func (b *Builder) Window(w signals.Window) {
	if w.Of == b.service && w.End > w.Start {
		at := place{w.Trial, w.Index}
		b.windows[at] = append(b.windows[at], w)
	}
}

// Frame takes a frame of any kind. It keeps a frame's waits.
func (b *Builder) Frame(f *signals.Frame) {
	t := b.trial(f.Trial)
	t.first = min(t.first, f.Start)
	switch at := (place{f.Trial, f.Index}); {
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
		if failed(f) {
			b.failing[at] = append(b.failing[at], stretch{f.Start, f.End})
		}
	case f.Waits != nil && whole(f.Waits):
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
	t.counted = append(t.counted, counted{stretch{f.Start, f.End}, f.Client.Intended})
	if f.Phase != signals.Warmup {
		b.latency.Merge(f.Client.Latency)
		b.own.Merge(f.Client.Service)
	}
	if f.Client.Service.Count() >= telling {
		t.medians = append(t.medians, median{f.End, int64(f.Client.Service.Quantile(0.5))})
	}
	if f.Phase == signals.Measure {
		t.measured, t.measures = min(t.measured, f.Start), true
	}
	if share := waited(f); share > 0 {
		t.busy = append(t.busy, busy{stretch{f.Start, f.End}, share})
	}
}

// Merge adds what another builder of the same cell has taken.
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
	for at, failing := range o.failing {
		b.failing[at] = append(b.failing[at], failing...)
	}
	for number, more := range o.trials {
		t := b.trial(number)
		t.first, t.measured = min(t.first, more.first), min(t.measured, more.measured)
		t.measures = t.measures || more.measures
		t.counted, t.busy = append(t.counted, more.counted...), append(t.busy, more.busy...)
		for name, hosts := range more.hosts {
			t.hosts[name] = append(t.hosts[name], hosts...)
		}
		t.medians = append(t.medians, more.medians...)
	}
	b.latency.Merge(o.latency)
	b.own.Merge(o.own)
}

// latency is what a user waited, in nanoseconds.
func latency(r *signals.SlowLine) int64 { return r.Done - r.Intended }

// sorted is the requests by trial, replica and intended, and then by all that
// they have, so that a result does not depend on the order they were given in.
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
