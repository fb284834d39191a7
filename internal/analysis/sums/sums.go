// Package sums adds up the frames of a trial, of one level of its load, of a window of
// a search, or of a whole cell: what the clients, the service, its dependencies and the
// machines showed. From the sums come means, rates and shares.
//
// What no frame measured stays unknown (nil), never 0. The package does not judge:
// package disturbance decides what influenced a measurement, and package analysis what
// the figures mean.
package sums

import (
	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/data/signals"
)

// Total sums frames.
type Total struct {
	Client Client
	Server Server             // the service under test
	Deps   map[string]*Server // its dependencies, by name
	Waits  Waits              // of the service for its dependency
	Noise  disturbance.Noise
}

// New returns the sums of no frame.
func New() *Total {
	return &Total{Client: newClient(), Server: NewServer(), Deps: map[string]*Server{}}
}

// Add takes a frame of the measurement or the drain, and deaths of the warm-up; service
// is the name of the service under test.
func (t *Total) Add(f *signals.Frame, service string) {
	switch {
	case f.Server != nil && f.Phase == signals.Warmup:
		t.of(f.Of, service).AddDeaths(f)
	case f.Phase == signals.Warmup:
	case f.Client != nil:
		t.Client.Add(f)
	case f.Server != nil:
		t.of(f.Of, service).add(f)
	case f.Waits != nil && f.Of == service && f.Phase == signals.Measure:
		t.Waits.add(f.Waits)
	case f.Scale != nil && f.Phase == signals.Measure:
		t.of(f.Of, service).Scaled.add(f)
	}
	t.Noise.Add(f)
}

// of returns the sums of the service, or of one of its dependencies.
func (t *Total) of(name, service string) *Server {
	if name == service {
		return &t.Server
	}
	return t.dependency(name)
}

func (t *Total) dependency(name string) *Server {
	if t.Deps[name] == nil {
		s := NewServer()
		t.Deps[name] = &s
	}
	return t.Deps[name]
}

// Merge adds other sums.
func (t *Total) Merge(o *Total) {
	t.Client.merge(&o.Client)
	t.Server.merge(&o.Server)
	for name, d := range o.Deps {
		t.dependency(name).merge(d)
	}
	t.Waits.merge(&o.Waits)
	t.Noise.Merge(&o.Noise)
}

// DependencyCores is the CPU of all dependencies together; nil if none was measured.
func (t *Total) DependencyCores() *float64 {
	var all *float64
	for _, d := range t.Deps {
		all = signals.Plus(all, d.Cores())
	}
	return all
}

// Higher returns the higher of two figures; one that was not measured does not count.
func Higher[T int64 | float64](a, b *T) *T {
	switch {
	case b == nil, a != nil && *a >= *b:
		return a
	}
	higher := *b
	return &higher
}

// Over divides two figures; nil if one is unknown or the divisor is 0.
func Over(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	return new(*a / *b)
}

// Value returns 0 for a figure that was not measured.
func Value[T int64 | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}
