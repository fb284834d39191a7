package causes

import (
	"cmp"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// busy is a frame, or a part of one, in which others had the CPUs. share is the
// part of it by which they may have held the service up.
type busy struct {
	stretch
	share float64 // 0..1
}

// hosted is what a frame tells of the host.
type hosted struct {
	stretch
	*signals.Host
}

// full reports whether processes that the experiment did not start left no room
// on the host.
func (h hosted) full() bool {
	return signals.Full(h.Idle, h.CPUs) && signals.Busy(h.Foreign, h.CPUs)
}

// beside reports whether one frame follows another; some between may be missing.
func (h hosted) beside(next hosted) bool {
	return next.from-h.to < h.to-h.from
}

// share tells by which share others kept the machine's CPUs from what the
// experiment started. What the services and the others used together is the most
// that the services could have had alone.
func (h hosted) share() float64 {
	others := h.Foreign + h.Steal
	return min(1, others/(others+max(0, h.Services)))
}

// stayed is the share of what others used in a full frame from which on they did not
// come or go in the one beside it: there was room beside them, so that it was not
// they who filled the host.
const stayed = 0.9

// occupied is when others had the CPUs. They neither begin nor end where frames
// do: what they used in a frame beside one that was full tells how long they were
// there in it, as that one tells what they use when they are.
func occupied(hosts []hosted) (all []busy) {
	hosts = slices.SortedFunc(slices.Values(hosts), func(a, b hosted) int { return cmp.Compare(a.from, b.from) })
	for i, h := range hosts {
		if h.full() || signals.Stolen(h.Steal) {
			all = append(all, busy{h.stretch, h.share()})
			continue
		}
		if !signals.Busy(h.Foreign, h.CPUs) {
			continue
		}
		there := func(full hosted) float64 {
			if share := h.Foreign / full.Foreign; share < stayed {
				return min(share, (float64(h.CPUs)-h.Idle)/(float64(h.CPUs)-full.Idle))
			}
			return 0
		}
		before := i > 0 && hosts[i-1].full() && hosts[i-1].beside(h)
		after := i+1 < len(hosts) && hosts[i+1].full() && h.beside(hosts[i+1])
		long := float64(h.to - h.from)
		if before && after {
			long /= 2 // it is the end of the one and the beginning of the other
		}
		if before {
			full := hosts[i-1]
			all = append(all, busy{stretch{h.from, h.from + int64(long*there(full))}, full.share()})
		}
		if after {
			full := hosts[i+1]
			all = append(all, busy{stretch{h.to - int64(long*there(full)), h.to}, full.share()})
		}
	}
	return all
}

// others is when others had the CPUs of a machine, in the order of their times.
// That agents waited for a CPU tells of the machine that they are on too.
func (t *trial) others(machine string) []busy {
	all := occupied(t.hosts[machine])
	if machine == "" {
		all = append(all, t.busy...)
	}
	slices.SortFunc(all, func(x, y busy) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.share, y.share))
	})
	return all
}

// waited tells in which share of a frame an agent waited for a CPU, where it
// also sent late; 0 is that it did not.
func waited(f *signals.Frame) float64 {
	c := f.Client
	if c.RunWait == nil || !signals.Waited(*c.RunWait, f.Seconds()) || c.SendLag.Count() == 0 || c.Latency.Count() == 0 {
		return 0
	}
	if !signals.SentLate(c.SendLag.Quantile(0.99), c.Latency.Quantile(0.99)) {
		return 0
	}
	return min(1, *c.RunWait/f.Seconds())
}

// failed tells whether a replica was killed for memory, restarted or was down in
// a frame: for platforms that give no windows, and for the time just before a
// kill, when memory is short.
func failed(f *signals.Frame) bool {
	s := f.Server
	return f.Phase == signals.Measure && (s.OOMKills != nil && *s.OOMKills > 0 || s.Restarts > 0 || !s.Up)
}

// frozen is the stretches in which the generator held back requests of a trial
// for longer than is late, and for long enough to matter beside the tail: a
// service that has a queue to work at does not notice a short delay.
func frozen(requests []signals.SlowLine, threshold int64) times {
	var all []stretch
	for i := range requests {
		if r := &requests[i]; signals.SentLate(time.Duration(r.Lag), time.Duration(threshold)) {
			all = append(all, stretch{r.Sent - r.Lag, r.Sent})
		}
	}
	return union(all...)
}

// ground is the evidence that lies in time, at one replica in one trial.
type ground struct {
	throttled, down times         // windows of the replica
	episodes        [causes]times // what may have built a queue, by cause
	busy            []busy
}

func (b *Builder) ground(at place, frozen times, busy []busy) *ground {
	var throttled, down, occupied []stretch
	for _, w := range b.windows[at] {
		switch w.Kind {
		case signals.Throttled:
			throttled = append(throttled, stretch{w.Start, w.End})
		case signals.Down:
			down = append(down, stretch{w.Start, w.End})
		}
	}
	for _, f := range busy {
		occupied = append(occupied, f.stretch)
	}
	g := &ground{throttled: union(throttled...), down: union(down...), busy: busy}
	g.episodes[generator] = frozen
	g.episodes[throttling] = g.throttled
	g.episodes[restart] = union(append(down, b.failing[at]...)...)
	g.episodes[neighbours] = union(occupied...)
	return g
}

// lost is by how much the episodes of a cause between two moments can have
// delayed a request that came after them: the whole of a pause, and the share of
// a frame in which others had the CPUs.
func (g *ground) lost(c cause, from, to int64) int64 {
	if c != neighbours {
		return g.episodes[c].within(from, to)
	}
	all := 0.0
	for _, f := range g.busy {
		all += f.share * float64(max(0, min(f.to, to)-max(f.from, from)))
	}
	return min(int64(all), g.episodes[c].within(from, to))
}

// median is that of done - sent in a client's frame.
type median struct{ at, ns int64 }

// telling is how many requests of a frame tell its median.
const telling = 20

// usual is what a request usually took just before a moment, at most what it
// took in the whole of the cell: where a queue stands for most of a trial, the
// cell's own median lies in it.
func (t *trial) usual(moment, typical int64) int64 {
	var last median
	for _, m := range t.medians {
		if m.at <= moment && (m.at > last.at || m.at == last.at && m.ns > last.ns) {
			last = m
		}
	}
	if last.at == 0 {
		return typical
	}
	return min(typical, last.ns)
}
