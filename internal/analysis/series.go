package analysis

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// seriesBuilder joins the frames of one trial by time. Client frames share the number
// of their interval. Server and host frames are read a little later, or on the grid of
// another clock, so they join the interval that contains their middle.
type seriesBuilder struct {
	series summary.Series
	plan   *experiment.Cell
	began  int64       // of the earliest frame
	open   []*interval // not complete yet, ordered by start
}

// lateBy is how long an interval waits for late frames, and mostOpen how many do: more
// than there are in that time, in a record that is not of a run.
const (
	lateBy   = 10 * time.Second
	mostOpen = 2000
)

// interval is one interval with all frames that belong to it.
type interval struct {
	start, end int64
	phase      signals.Phase
	seen       bool // whether there is a client frame
	users      float64
	rate       float64
	memory     *int64
	frames     *sums.Total
	hosts      map[string]*signals.Host // by machine
}

func newSeriesBuilder(trial int, plan *experiment.Cell, began int64) *seriesBuilder {
	return &seriesBuilder{series: summary.Series{Cell: plan.Index, Trial: trial, Points: []summary.Point{}}, plan: plan, began: began}
}

// seriesOf is that of a frame's trial.
func (c *cell) seriesOf(f *signals.Frame) *seriesBuilder {
	s := c.series[f.Trial]
	if s == nil {
		if earlier := c.latest[1]; earlier != nil { // all its frames have come, or it would stay in memory
			earlier.finish()
		}
		s = newSeriesBuilder(f.Trial, c.plan, f.Start)
		c.series[f.Trial], c.latest = s, [2]*seriesBuilder{s, c.latest[0]}
	}
	return s
}

func (b *seriesBuilder) add(f *signals.Frame) {
	b.began = min(b.began, f.Start)
	m := b.interval(f)
	switch {
	case f.Client != nil:
		// The other frames are joined to the intervals of the client.
		m.start, m.end, m.phase, m.seen = f.Start, f.End, f.Phase, true
		m.frames.Client.Add(f) // of every phase: the charts show the whole trial
		m.users += f.Client.Users
		m.rate += f.Client.Rate
	case f.Server != nil:
		m.frames.Add(asMeasured(f), b.plan.Service.Name)
		if f.Of == b.plan.Service.Name {
			m.memory = sums.Higher(m.memory, f.Server.Memory)
		}
	case f.Waits != nil, f.Scale != nil:
		m.frames.Add(asMeasured(f), b.plan.Service.Name)
	case f.Host != nil:
		m.hosts[f.Machine] = f.Host
	}
	for len(b.open) > mostOpen || len(b.open) > 0 && f.Start-b.open[0].end > int64(lateBy) {
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
	m := &interval{start: f.Start, end: f.End, phase: f.Phase, frames: sums.New(), hosts: map[string]*signals.Host{}}
	i, _ := slices.BinarySearchFunc(b.open, m, func(a, b *interval) int { return int(a.start - b.start) })
	b.open = slices.Insert(b.open, i, m)
	return m
}

func (b *seriesBuilder) close() {
	b.series.Points = append(b.series.Points, b.point(b.open[0]))
	b.open[0] = nil // its histograms take more memory than the rest of the trial
	b.open = b.open[1:]
}

func (b *seriesBuilder) finish() summary.Series {
	for len(b.open) > 0 {
		b.close()
	}
	return b.series
}

func (b *seriesBuilder) point(m *interval) summary.Point {
	t := m.frames
	seconds := float64(m.end-m.start) / 1e9
	p := summary.Point{T: math.Round(float64(m.end-b.began)/1e6) / 1e3, Phase: string(m.phase)}
	if m.seen {
		done := float64(t.Client.Good)
		if m.phase == signals.Measure {
			done = t.Client.Answers() // with those carried over from the warm-up
		}
		p.RateRPS = new(done / seconds)
		p.Availability = t.Client.Availability()
		if q := summary.QuantilesOf(t.Client.Latency); q != nil {
			p.P50, p.P99, p.P999 = &q.P50, &q.P99, &q.P999
		}
		if b.plan.Load.Users != nil {
			p.Target = new(m.users)
		} else {
			p.Target = new(m.rate)
		}
		if m.phase == signals.Measure {
			p.AgentCPU = t.Client.Cores()
		}
	}
	p.CPU, p.CPUOfLimit = t.Server.Cores(), t.Server.OfLimit()
	p.Throttled = t.Server.ThrottledShare()
	p.Replicas = t.Server.Scaled.Mean()
	if throttled := t.Server.Throttled; throttled != nil {
		p.ThrottledMS = sums.Over(new(*throttled*1000), float(t.Server.ThrottledPeriods))
	}
	p.Memory, p.MemoryLimit = float(m.memory), float(t.Server.MemoryLimit)
	for _, name := range slices.Sorted(maps.Keys(m.hosts)) {
		p.Idle, p.Foreign = signals.Plus(p.Idle, &m.hosts[name].Idle), signals.Plus(p.Foreign, &m.hosts[name].Foreign)
	}
	p.WaitP50, p.WaitP99, p.WaitMean = t.Waits.Quantile(0.5), t.Waits.Quantile(0.99), t.Waits.Mean()
	for name, d := range t.Deps {
		if p.Dependencies == nil {
			p.Dependencies = map[string]summary.DependencyPoint{}
		}
		p.Dependencies[name] = summary.DependencyPoint{CPU: d.Cores(), Memory: float(d.MemoryTogether)}
	}
	return p
}
