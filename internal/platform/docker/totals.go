package docker

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/life"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// Totals go on over a replica's lives (life.Sum). What a life used between its
// last reading and its end is lost: up to a frame's worth of counters, 10 ms of
// pulses.

// counting is the counters of a replica over its lives. It may be used by several
// goroutines at once.
type counting struct {
	mu     sync.Mutex
	life   *meter.Meter // nil between lives
	before signals.Counters
	last   signals.Counters // of this life
	closed bool
}

// begin begins a life.
func (c *counting) begin(m *meter.Meter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.life, c.last = m, signals.Counters{}
}

// resized tells that the container was given other limits.
func (c *counting) resized(l experiment.Limits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before.CPULimit, c.before.MemoryLimit = nil, nil
	if c.life != nil {
		c.life.Resized(l)
	}
}

// end ends a life. Where it ended for want of memory, the group is gone with the
// kernel's count of that.
func (c *counting) end(starved bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if starved && (c.last.OOMKills == nil || *c.last.OOMKills == 0) {
		one := int64(1)
		c.last.OOMKills = &one
	}
	c.before = life.Sum(c.before, c.last)
	c.last = signals.Counters{}
	c.shut()
}

// read gives the totals. Between lives nothing of now is in them.
func (c *counting) read() (signals.Counters, error) {
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
			return life.Sum(c.before, now), nil
		case !errors.Is(err, cgroup.ErrGone):
			return signals.Counters{}, err
		}
	}
	sum := life.Sum(c.before, c.last)
	sum.At, sum.Memory = time.Now(), nil
	return sum, nil
}

// shut closes the files of a life.
func (c *counting) shut() error {
	if c.life == nil {
		return nil
	}
	err := c.life.Close()
	c.life = nil
	return err
}

func (c *counting) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.shut()
}

// errStopped is the answer of a replica that is no more.
var errStopped = fmt.Errorf("the container was removed: %w", os.ErrClosed)

// pulsing is the pulses of a replica over its lives. It may be used by several
// goroutines at once, and waits for no counters.
type pulsing struct {
	mu     sync.Mutex
	life   *meter.Pulser // nil between lives
	before signals.Pulse
	last   signals.Pulse // of this life
	closed bool
}

func (p *pulsing) begin(m *meter.Pulser) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.life, p.last = m, signals.Pulse{}
}

func (p *pulsing) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = sumPulses(p.before, p.last)
	p.last = signals.Pulse{}
	p.shut()
}

func (p *pulsing) read() (signals.Pulse, error) {
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
			return sumPulses(p.before, now), nil
		case !errors.Is(err, cgroup.ErrGone):
			return signals.Pulse{}, err
		}
	}
	sum := sumPulses(p.before, p.last)
	sum.At = time.Now()
	return sum, nil
}

func (p *pulsing) shut() error {
	if p.life == nil {
		return nil
	}
	err := p.life.Close()
	p.life = nil
	return err
}

func (p *pulsing) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return p.shut()
}

// sumPulses adds the totals of lives that ended to those of a later one.
func sumPulses(before, now signals.Pulse) signals.Pulse {
	sum := now
	sum.Periods = life.Plus(before.Periods, now.Periods)
	sum.ThrottledPeriods = life.Plus(before.ThrottledPeriods, now.ThrottledPeriods)
	sum.Throttled = life.Plus(before.Throttled, now.Throttled)
	sum.CPU = life.Plus(before.CPU, now.CPU)
	return sum
}
