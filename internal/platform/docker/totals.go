package docker

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// totals are the running totals of a replica over all its instances, and continue over
// restarts. What a container used between its last reading and its end is lost: up to
// one frame of counters, and 10 ms of samples. Several goroutines may use it
// concurrently.
type totals[T any] struct {
	mu     sync.Mutex
	now    func() (T, error) // reads the present instance; nil between instances
	files  io.Closer         // of its reader
	before T                 // of earlier instances
	last   T                 // reading of this one
	closed bool
}

// begin begins an instance with a reader of its group.
func (t *totals[T]) begin(files io.Closer, now func() (T, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var none T
	t.files, t.now, t.last = files, now, none
}

// end ends an instance; sum adds two totals.
func (t *totals[T]) end(sum func(before, now T) T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var none T
	t.before, t.last = sum(t.before, t.last), none
	_ = t.shut()
}

// read returns the totals. running is false if no instance runs: the totals are those
// of earlier ones.
func (t *totals[T]) read(sum func(before, now T) T) (total T, running bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return total, false, errStopped
	}
	if t.now != nil {
		now, err := t.now()
		switch {
		case err == nil:
			t.last = now
			return sum(t.before, now), true, nil
		case !errors.Is(err, cgroup.ErrGone):
			return total, false, err
		}
	}
	return sum(t.before, t.last), false, nil
}

// shut closes the files of an instance.
func (t *totals[T]) shut() error {
	if t.now == nil {
		return nil
	}
	err := t.files.Close()
	t.now, t.files = nil, nil
	return err
}

func (t *totals[T]) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	return t.shut()
}

// errStopped is the error of a replica that was removed.
var errStopped = fmt.Errorf("the container was removed: %w", os.ErrClosed)

// counterTotals are the totals of counters.
type counterTotals struct {
	totals[signals.Counters]
	meter *meter.Meter // of the last instance
}

func (c *counterTotals) begin(m *meter.Meter) {
	c.mu.Lock()
	c.meter = m
	c.mu.Unlock()
	c.totals.begin(m, m.Counters)
}

// oomKilled reports whether the kernel has counted an OOM kill in the present instance.
func (c *counterTotals) oomKilled() bool {
	_, _ = c.read() // of the group, if it still exists; otherwise the last reading stands
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.OOMKills != nil && *c.last.OOMKills > 0
}

// resized records that the limits of the container were changed.
func (c *counterTotals) resized(l experiment.Limits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before.CPULimit, c.before.MemoryLimit = nil, nil
	if c.now != nil {
		c.meter.Resized(l)
	}
}

// end ends an instance. outOfMemory reports that it ran out of memory: the kernel's
// count of that is removed with the control group.
func (c *counterTotals) end(outOfMemory bool) {
	c.totals.end(func(before, now signals.Counters) signals.Counters {
		if outOfMemory && (now.OOMKills == nil || *now.OOMKills == 0) {
			one := int64(1)
			now.OOMKills = &one
		}
		return supervise.SumCounters(before, now)
	})
}

// read returns the totals. Between instances they have no current memory.
func (c *counterTotals) read() (signals.Counters, error) {
	sum, running, err := c.totals.read(supervise.SumCounters)
	if err == nil && !running {
		sum.At, sum.Memory = time.Now(), nil
	}
	return sum, err
}

// sampleTotals are the totals of samples. Reading them does not wait for counters.
type sampleTotals struct{ totals[signals.ThrottleSample] }

func (p *sampleTotals) begin(m *meter.ThrottleReader) { p.totals.begin(m, m.ThrottleSample) }
func (p *sampleTotals) end()                          { p.totals.end(supervise.SumThrottleSamples) }

func (p *sampleTotals) read() (signals.ThrottleSample, error) {
	sum, running, err := p.totals.read(supervise.SumThrottleSamples)
	if err == nil && !running {
		sum.At = time.Now()
	}
	return sum, err
}
