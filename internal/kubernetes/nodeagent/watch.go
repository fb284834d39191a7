package nodeagent

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/meter"
)

// watcher reads the containers that the conductor watches. It uses one goroutine,
// except for the samples.
type watcher struct {
	finder  *Finder
	say     func(Event)
	cpus    int // of the node
	all     map[int64]*watched
	samples samples
}

// watched is one container.
type watched struct {
	Watch
	group cgroup.Group
	meter *meter.Meter // nil: there is no group
	limit bandwidth

	why   string        // reason of the last Missing
	again time.Time     // when to look for it again
	pause time.Duration // between the last two times
}

// The pauses between two searches for a missing container, which may be starting.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// watch executes commands until ctx ends.
func watch(ctx context.Context, commands <-chan *Command, finder *Finder, say func(Event)) {
	w := &watcher{finder: finder, say: say, cpus: runtime.NumCPU(), all: map[int64]*watched{}, samples: samples{give: say}}
	defer w.close()
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	w.host()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.tick()
		case c := <-commands:
			switch {
			case c.Interval != nil:
				ticker.Reset(time.Duration(c.Interval.Nanoseconds))
			case c.Forget != nil:
				w.forget(c.Forget.ID)
			default:
				w.forget(c.Watch.ID)
				one := &watched{Watch: *c.Watch}
				w.all[one.ID] = one
				w.look(one)
			}
		}
	}
}

// tick reads everything once, the node last, so that its times come after the CPU
// times of all containers.
func (w *watcher) tick() {
	for _, one := range w.all {
		switch {
		case one.meter != nil:
			w.read(one)
		case !time.Now().Before(one.again):
			w.look(one)
		}
	}
	w.host()
}

// host sends the node's CPU times. If they cannot be read it sends nothing.
func (w *watcher) host() {
	if t, err := meter.ReadHost(); err == nil {
		w.cpus = t.CPUs
		w.say(Event{Host: hostOf(t)})
	}
}

// look searches for a container, and reads it from then on.
func (w *watcher) look(one *watched) {
	var throttling *meter.ThrottleReader
	group, err := w.finder.Find(one.Container, one.Pod)
	if err == nil {
		one.meter, err = meter.New(group, experiment.Limits{})
	}
	if err == nil && !one.Plain {
		throttling, err = meter.NewThrottleReader(group)
	}
	if err != nil {
		w.lose(one, err.Error())
		return
	}
	one.group, one.why, one.pause = group, "", 0
	one.limit = bandwidth{quota: time.Duration(one.Quota), period: time.Duration(one.Period), cpus: one.CPUs}
	if one.limit.cpus == 0 {
		one.limit.cpus = w.cpus
	}
	one.limit.take(group.OwnCPULimit())
	if throttling != nil {
		w.samples.add(one.ID, throttling, one.limit)
	}
	w.read(one)
}

// read sends a container's counters.
func (w *watcher) read(one *watched) {
	if one.limit.take(one.group.OwnCPULimit()) {
		w.samples.limited(one.ID, one.limit)
	}
	c, err := one.meter.Counters()
	if errors.Is(err, cgroup.ErrGone) {
		w.lose(one, "its control group is gone: the container has ended")
		return
	}
	if err != nil {
		w.lose(one, err.Error())
		return
	}
	c.CPULimit = one.limit.cores()
	if limit := one.group.MemoryLimit(); limit.State == cgroup.Limited {
		c.MemoryLimit = &limit.Bytes
	}
	event := countersOf(one.ID, c)
	event.Own = ownOf(one.group)
	w.say(Event{Counters: event})
}

// ownOf reads what a group sets itself; nil if it cannot be read.
func ownOf(g cgroup.Group) *Own {
	cpu, memory := g.OwnCPULimit(), g.OwnMemoryLimit()
	if cpu.State == cgroup.Unknown || memory.State == cgroup.Unknown {
		return nil
	}
	own := &Own{Quota: int64(cpu.Quota), Period: int64(cpu.Period), Memory: memory.Bytes}
	own.CPUs, _ = g.CPUs().Get()
	populated, known := g.Populated().Get()
	own.Empty = known && !populated
	return own
}

// lose ends the reading of a container, sends the reason once, and schedules the next
// search.
func (w *watcher) lose(one *watched, why string) {
	w.release(one)
	one.pause = min(max(2*one.pause, firstPause), longestPause)
	one.again = time.Now().Add(one.pause)
	if why != one.why {
		one.why = why
		w.say(Event{Missing: &Missing{ID: one.ID, Why: why}})
	}
}

// release closes a container's files.
func (w *watcher) release(one *watched) {
	w.samples.remove(one.ID)
	if one.meter != nil {
		_ = one.meter.Close() // they were only read
		one.meter = nil
	}
}

func (w *watcher) forget(id int64) {
	if one := w.all[id]; one != nil {
		w.release(one)
		delete(w.all, id)
	}
}

func (w *watcher) close() {
	for id := range w.all {
		w.forget(id)
	}
	w.samples.wait()
}

// bandwidth is the CPU limit of a container.
type bandwidth struct {
	quota, period time.Duration // a quota of 0: no limit; a period of 0: the kernel's own
	cpus          int           // that it can run on at once
}

// take stores the limit of the container's group, if it is known, and reports whether
// it changed: the container was resized.
func (b *bandwidth) take(own cgroup.CPULimit) bool {
	if own.State == cgroup.Unknown {
		return false
	}
	before := *b
	b.quota, b.period = own.Quota, own.Period
	return *b != before
}

// cores are the CPUs of the limit; nil where there is none.
func (b *bandwidth) cores() *float64 {
	if b.quota == 0 {
		return nil
	}
	cores := float64(b.quota) / float64(cmp.Or(b.period, signals.DefaultPeriod))
	return &cores
}
