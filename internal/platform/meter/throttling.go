package meter

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/signals"
)

// ThrottleReader reads a group's throttling: one pread of cpu.stat. It has its own reader, so
// that it never waits for the counters, which are slower to read.
type ThrottleReader struct {
	mu     sync.Mutex
	reader *cgroup.Reader
	last   cgroup.CPUStat
}

// NewThrottleReader returns the throttling of a group.
func NewThrottleReader(g Group) (*ThrottleReader, error) {
	reader, err := g.Open()
	if err != nil {
		return nil, err
	}
	return &ThrottleReader{reader: reader}, nil
}

// ThrottleSample reads everything except Up. CPU is available on v2 only: v1 has it in another
// file.
func (p *ThrottleReader) ThrottleSample() (signals.ThrottleSample, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var now cgroup.CPUStat
	err := p.reader.ReadThrottling(&now)
	if err == nil && torn(&p.last, &now) {
		// The kernel counts the period first and the time up to 140 us later,
		// CPU by CPU. Reading again almost always takes long enough.
		err = p.reader.ReadThrottling(&now)
	}
	if err != nil {
		return signals.ThrottleSample{}, fmt.Errorf("read throttling: %w", err)
	}
	p.last = now
	return sampleOf(&now, time.Now()), nil
}

// torn reports whether one of the two figures of throttling has moved and the
// other has not.
func torn(before, after *cgroup.CPUStat) bool {
	p0, _ := before.ThrottledPeriods.Get()
	t0, _ := before.Throttled.Get()
	p1, known := after.ThrottledPeriods.Get()
	t1, timed := after.Throttled.Get()
	return known && timed && (p0 != p1) != (t0 != t1)
}

// sampleOf has all figures in one allocation.
func sampleOf(s *cgroup.CPUStat, at time.Time) signals.ThrottleSample {
	f := new(struct {
		periods, throttledPeriods int64
		throttled, cpu            time.Duration
	})
	return signals.ThrottleSample{
		At:               at,
		Periods:          into(&f.periods, s.Periods),
		ThrottledPeriods: into(&f.throttledPeriods, s.ThrottledPeriods),
		Throttled:        into(&f.throttled, s.Throttled),
		CPU:              into(&f.cpu, s.Usage),
	}
}

// into stores a value in place and returns place; nil if there is no value.
func into[T any](place *T, v cgroup.Value[T]) *T {
	value, ok := v.Get()
	if !ok {
		return nil
	}
	*place = value
	return place
}

// Close closes the group's file. It may be called again.
func (p *ThrottleReader) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.reader.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
