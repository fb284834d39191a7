package docker

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/supervise"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// Totals continue over restarts (supervise.SumCounters). What a container used
// between its last reading and its end is lost: up to one frame of counters, and
// 10 ms of pulses.

// counterTotals are the counters of a replica over all its lives. Several
// goroutines may use it concurrently.
type counterTotals struct {
	mu     sync.Mutex
	life   *meter.Meter // nil between lives
	before signals.Counters
	last   signals.Counters // of this life
	closed bool
}

// begin begins a life.
func (c *counterTotals) begin(m *meter.Meter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life, c.last = m, signals.Counters{}
}

// resized records that the limits of the container were changed.
func (c *counterTotals) resized(l experiment.Limits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before.CPULimit, c.before.MemoryLimit = nil, nil
	if c.life != nil {
		c.life.Resized(l)
	}
}

// end ends a life. starved reports that it ran out of memory: the kernel's count
// of that is removed with the control group.
func (c *counterTotals) end(starved bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if starved && (c.last.OOMKills == nil || *c.last.OOMKills == 0) {
		one := int64(1)
		c.last.OOMKills = &one
	}
	c.before = supervise.SumCounters(c.before, c.last)
	c.last = signals.Counters{}
	_ = c.shut()
}

// read returns the totals. Between lives they have no current memory.
func (c *counterTotals) read() (signals.Counters, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return signals.Counters{}, errStopped
	}
	if c.life != nil {
		now, err := c.life.Counters()
		switch {
		case err == nil:
			c.last = now
			return supervise.SumCounters(c.before, now), nil
		case !errors.Is(err, cgroup.ErrGone):
			return signals.Counters{}, err
		}
	}
	sum := supervise.SumCounters(c.before, c.last)
	sum.At, sum.Memory = time.Now(), nil
	return sum, nil
}

// shut closes the files of a life.
func (c *counterTotals) shut() error {
	if c.life == nil {
		return nil
	}
	err := c.life.Close()
	c.life = nil
	return err
}

func (c *counterTotals) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.shut()
}

// errStopped is the error of a replica that was removed.
var errStopped = fmt.Errorf("the container was removed: %w", os.ErrClosed)

// pulseTotals are the pulses of a replica over all its lives. Several goroutines
// may use it concurrently; it does not wait for counters.
type pulseTotals struct {
	mu     sync.Mutex
	life   *meter.Pulser // nil between lives
	before signals.Pulse
	last   signals.Pulse // of this life
	closed bool
}

func (p *pulseTotals) begin(m *meter.Pulser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life, p.last = m, signals.Pulse{}
}

func (p *pulseTotals) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = supervise.SumPulses(p.before, p.last)
	p.last = signals.Pulse{}
	_ = p.shut()
}

func (p *pulseTotals) read() (signals.Pulse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return signals.Pulse{}, errStopped
	}
	if p.life != nil {
		now, err := p.life.Pulse()
		switch {
		case err == nil:
			p.last = now
			return supervise.SumPulses(p.before, now), nil
		case !errors.Is(err, cgroup.ErrGone):
			return signals.Pulse{}, err
		}
	}
	sum := supervise.SumPulses(p.before, p.last)
	sum.At = time.Now()
	return sum, nil
}

func (p *pulseTotals) shut() error {
	if p.life == nil {
		return nil
	}
	err := p.life.Close()
	p.life = nil
	return err
}

func (p *pulseTotals) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.shut()
}
