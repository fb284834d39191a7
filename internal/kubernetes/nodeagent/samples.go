package nodeagent

import (
	"sync"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/meter"
)

// samples reads the throttling of all watched containers 100 times a second and
// reports windows as they end. It has a goroutine while a container is watched.
type samples struct {
	give func(Event) // called from the goroutine

	mu   sync.Mutex
	all  map[int64]*sampled
	stop chan struct{}
	over sync.WaitGroup
}

// sampled is one container with what rebuilds its windows.
type sampled struct {
	throttling *meter.ThrottleReader
	windows    *signals.Rebuilder
}

// add reads a container from now on.
func (p *samples) add(id int64, throttling *meter.ThrottleReader, b bandwidth) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil {
		p.all = map[int64]*sampled{}
	}
	p.all[id] = &sampled{throttling: throttling, windows: signals.NewRebuilder(b.quota, b.period, b.cpus)}
	if p.stop != nil {
		return
	}
	stop := make(chan struct{})
	p.stop = stop
	p.over.Go(func() { meter.Beat(stop, p.read) })
}

// limited records a changed limit. The kernel restarts its period timer, so the known
// ends of periods become invalid.
func (p *samples) limited(id int64, b bandwidth) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.all[id]; one != nil {
		one.windows = signals.NewRebuilder(b.quota, b.period, b.cpus)
	}
}

// remove ends the reading of a container.
func (p *samples) remove(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.all[id]
	if one == nil {
		return
	}
	delete(p.all, id)
	_ = one.throttling.Close() // it was only read
	if len(p.all) == 0 {
		close(p.stop)
		p.stop = nil
	}
}

// wait waits for the goroutine, after all was removed.
func (p *samples) wait() { p.over.Wait() }

// read reads each container once, and skips one that cannot be read: its next sample
// includes what happened in between, and the reading of counters detects whether it
// is gone.
func (p *samples) read() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, one := range p.all {
		sample, err := one.throttling.ThrottleSample()
		if err != nil {
			continue
		}
		sample.Up = true // only the conductor knows it
		var ended []Window
		one.windows.Add(sample, func(w signals.Window) {
			ended = append(ended, Window{Kind: w.Kind, Start: w.Start, End: w.End, Throttled: w.Throttled, CPUs: w.CPUs})
		})
		if len(ended) > 0 {
			p.give(Event{Windows: &Windows{ID: id, Windows: ended}})
		}
	}
}
