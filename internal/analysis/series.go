package analysis

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// Series are the frames of one trial joined by time, for charts: one Point per
// interval, with all agents merged and all replicas summed.
type Series struct {
	Cell   int     `json:"cell"`
	Trial  int     `json:"trial"`
	Points []Point `json:"points"`
}

// DependencyPoint is one dependency in one interval.
type DependencyPoint struct {
	CPU    *float64 `json:"cpu"`    // cores, of all its processes
	Memory *float64 `json:"memory"` // bytes, likewise
}

// Point is one interval of a trial; null means "not measured".
type Point struct {
	T            float64  `json:"t"` // seconds since the trial's load began, at the interval's end
	Phase        string   `json:"phase"`
	Target       *float64 `json:"target"` // configured users or requests/s
	RateRPS      *float64 `json:"rate"`
	P50          *float64 `json:"p50"` // ms
	P99          *float64 `json:"p99"`
	P999         *float64 `json:"p999"`
	Availability *float64 `json:"availability"`       // percent
	CPU          *float64 `json:"cpu"`                // cores, all replicas
	CPUOfLimit   *float64 `json:"cpu_of_limit"`       // 0..1
	Replicas     *float64 `json:"replicas,omitempty"` // that serve
	Memory       *float64 `json:"memory"`             // bytes, the largest replica
	MemoryLimit  *float64 `json:"memory_limit"`       // bytes
	Throttled    *float64 `json:"throttled"`          // share of periods, 0..1
	ThrottledMS  *float64 `json:"throttled_ms"`       // per throttled period and replica
	AgentCPU     *float64 `json:"agent_cpu"`          // cores
	Idle         *float64 `json:"idle"`               // cores
	Foreign      *float64 `json:"foreign"`            // cores
	WaitP50      *float64 `json:"wait_p50"`           // ms that the service reports it waited for its dependency
	WaitP99      *float64 `json:"wait_p99"`
	WaitMean     *float64 `json:"wait_mean"`
	// Dependencies are those with data, by name.
	Dependencies map[string]DependencyPoint `json:"dependencies,omitempty"`
}

// seriesBuilder joins the frames of one trial by time. Client frames share the number
// of their interval. Server and host frames are read a little later, or on the grid of
// another clock, so they join the interval that contains their middle.
type seriesBuilder struct {
	series Series
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
	return &seriesBuilder{series: Series{Cell: plan.Index, Trial: trial, Points: []Point{}}, plan: plan, began: began}
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
		done := float64(t.Client.Good)
		if m.phase == signals.Measure {
			done = t.Client.Answers() // with those carried over from the warm-up
		}
		p.RateRPS = ptr(done / seconds)
		p.Availability = t.Client.Availability()
		if q := quantiles(t.Client.Latency); q != nil {
			p.P50, p.P99, p.P999 = &q.P50, &q.P99, &q.P999
		}
		if b.plan.Load.Users != nil {
			p.Target = ptr(m.users)
		} else {
			p.Target = ptr(m.rate)
		}
		if m.phase == signals.Measure {
			p.AgentCPU = t.Client.Cores()
		}
	}
	p.CPU, p.CPUOfLimit = t.Server.Cores(), t.Server.OfLimit()
	p.Throttled = t.Server.ThrottledShare()
	p.Replicas = t.Server.Scaled.Mean()
	if throttled := t.Server.Throttled; throttled != nil {
		p.ThrottledMS = sums.Over(ptr(*throttled*1000), float(t.Server.ThrottledPeriods))
	}
	p.Memory, p.MemoryLimit = float(m.memory), float(t.Server.MemoryLimit)
	for _, name := range slices.Sorted(maps.Keys(m.hosts)) {
		p.Idle, p.Foreign = signals.Plus(p.Idle, &m.hosts[name].Idle), signals.Plus(p.Foreign, &m.hosts[name].Foreign)
	}
	p.WaitP50, p.WaitP99, p.WaitMean = t.Waits.Quantile(0.5), t.Waits.Quantile(0.99), t.Waits.Mean()
	for name, d := range t.Deps {
		if p.Dependencies == nil {
			p.Dependencies = map[string]DependencyPoint{}
		}
		p.Dependencies[name] = DependencyPoint{CPU: d.Cores(), Memory: float(d.MemoryTogether)}
	}
	return p
}
