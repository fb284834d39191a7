package analysis

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// seriesBuilder joins the frames of one trial by time. Client frames share the number
// of their interval. Server and host frames are read a little later, or on the grid of
// another clock, so they join the interval that contains their middle.
type seriesBuilder struct {
	series Series
	plan   *experiment.Cell
	began  int64       // of the earliest frame
	open   []*interval // not complete yet, ordered by start
}

// lateBy is how long an interval waits for late frames.
const lateBy = 10 * time.Second

// interval is one interval with all frames that belong to it.
type interval struct {
	start, end int64
	phase      signals.Phase
	seen       bool // whether there is a client frame
	users      float64
	rate       float64
	memory     *int64
	frames     *tally
	hosts      map[string]*signals.Host // by machine
}

func newSeriesBuilder(trial int, plan *experiment.Cell, began int64) *seriesBuilder {
	return &seriesBuilder{series: Series{Cell: plan.Index, Trial: trial, Points: []Point{}}, plan: plan, began: began}
}

func (b *seriesBuilder) add(f *signals.Frame) {
	b.began = min(b.began, f.Start)
	m := b.interval(f)
	switch {
	case f.Client != nil:
		// The other frames are joined to the intervals of the client.
		m.start, m.end, m.phase, m.seen = f.Start, f.End, f.Phase, true
		m.frames.client.add(f) // of every phase: the charts show the whole trial
		m.users += f.Client.Users
		m.rate += f.Client.Rate
	case f.Server != nil:
		m.frames.add(asMeasured(f), b.plan.Service.Name)
		if f.Of == b.plan.Service.Name {
			m.memory = higher(m.memory, f.Server.Memory)
		}
	case f.Waits != nil, f.Scale != nil:
		m.frames.add(asMeasured(f), b.plan.Service.Name)
	case f.Host != nil:
		m.hosts[f.Machine] = f.Host
	}
	for len(b.open) > 0 && f.Start-b.open[0].end > int64(lateBy) {
		b.close()
	}
}

// asMeasured makes a tally count the server's rates and waits of the warm-up and
// drain, too.
func asMeasured(f *signals.Frame) *signals.Frame {
	g := *f
	g.Phase = signals.Measure
	return &g
}

func (b *seriesBuilder) interval(f *signals.Frame) *interval {
	middle := f.Start + (f.End-f.Start)/2
	for _, m := range b.open {
		if m.start <= middle && middle < m.end {
			return m
		}
	}
	m := &interval{start: f.Start, end: f.End, phase: f.Phase, frames: newTally(), hosts: map[string]*signals.Host{}}
	i, _ := slices.BinarySearchFunc(b.open, m, func(a, b *interval) int { return int(a.start - b.start) })
	b.open = slices.Insert(b.open, i, m)
	return m
}

func (b *seriesBuilder) close() {
	b.series.Points = append(b.series.Points, b.point(b.open[0]))
	b.open = b.open[1:]
}

func (b *seriesBuilder) finish() Series {
	for len(b.open) > 0 {
		b.close()
	}
	return b.series
}

func (b *seriesBuilder) point(m *interval) Point {
	t := m.frames
	seconds := float64(m.end-m.start) / 1e9
	p := Point{T: math.Round(float64(m.end-b.began)/1e6) / 1e3, Phase: string(m.phase)}
	if m.seen {
		done := float64(t.client.good)
		if m.phase == signals.Measure {
			done = t.client.answers // with those carried over from the warm-up
		}
		p.RateRPS = ptr(done / seconds)
		p.Availability = t.client.availability()
		if q := quantiles(t.client.latency); q != nil {
			p.P50, p.P99, p.P999 = &q.P50, &q.P99, &q.P999
		}
		if b.plan.Load.Users != nil {
			p.Target = &m.users
		} else {
			p.Target = &m.rate
		}
		if m.phase == signals.Measure {
			p.AgentCPU = t.client.cores()
		}
	}
	p.CPU, p.CPUOfLimit = t.server.cores(), t.server.ofLimit()
	p.Throttled = t.server.throttledShare()
	if r := t.server.scaled.summary(); r != nil {
		p.Replicas = &r.Mean
	}
	if t.server.throttled != nil && t.server.throttledPeriods != nil && *t.server.throttledPeriods > 0 {
		p.ThrottledMS = ptr(*t.server.throttled * 1000 / float64(*t.server.throttledPeriods))
	}
	p.Memory, p.MemoryLimit = float(m.memory), float(t.server.memoryLimit)
	for _, name := range slices.Sorted(maps.Keys(m.hosts)) {
		p.Idle, p.Foreign = signals.Plus(p.Idle, &m.hosts[name].Idle), signals.Plus(p.Foreign, &m.hosts[name].Foreign)
	}
	if w := t.waits.summary(); w != nil {
		p.WaitP50, p.WaitP99, p.WaitMean = w.P50, w.P99, &w.Mean
	}
	for name, d := range t.deps {
		if p.Dependencies == nil {
			p.Dependencies = map[string]DependencyPoint{}
		}
		p.Dependencies[name] = DependencyPoint{CPU: d.cores(), Memory: float(d.memoryTogether)}
	}
	return p
}

func float(v *int64) *float64 {
	if v == nil {
		return nil
	}
	return ptr(float64(*v))
}
