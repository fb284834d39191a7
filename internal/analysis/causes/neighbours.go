package causes

import (
	"cmp"
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/data/signals"
)

// busy is a frame, or a part of one, in which others used the CPUs. share is the part
// of it by which they may have delayed the service, and stolen the part by which the
// hypervisor may have.
type busy struct {
	stretch
	share, stolen float64 // 0..1
}

// hosted is what a frame shows of the host.
type hosted struct {
	stretch
	*signals.Host
}

// full reports whether processes that the experiment did not start left no CPU idle on
// the host.
func (h hosted) full() bool {
	return disturbance.Full(h.Idle, h.CPUs) && disturbance.Busy(h.Foreign, h.CPUs)
}

// byTime orders frames, and those of the same time by what the causes use of them.
func byTime(hosts []hosted) []hosted {
	return slices.SortedFunc(slices.Values(hosts), func(a, b hosted) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.Foreign, b.Foreign), cmp.Compare(a.Steal, b.Steal),
			cmp.Compare(a.Services, b.Services), cmp.Compare(a.Agents, b.Agents), cmp.Compare(a.Idle, b.Idle))
	})
}

// beside reports whether one frame follows another; short gaps are allowed.
func (h hosted) beside(next hosted) bool {
	return next.from-h.to < h.to-h.from
}

// share is the share of the machine's CPUs that others kept from the experiment. What
// the services and the others used together is the most that the services could have
// used alone.
func (h hosted) share() float64 {
	others := h.Foreign + h.Steal
	return unit(others / (others + max(0, h.Services)))
}

// stayed is a share of the others' CPU in a full frame. If they used at least that
// much in the frame beside it, they were there all the time: there was room for them,
// so they did not fill the host.
const stayed = 0.9

// occupied returns when others used the CPUs. Their times do not match the frames.
// What they used in a frame beside a full one shows for how long they ran in it,
// because the full frame shows how much they use while they run.
func occupied(hosts []hosted) (all []busy) {
	hosts = byTime(hosts)
	for i, h := range hosts {
		if h.full() || disturbance.Stolen(h.Steal) {
			all = append(all, busy{h.stretch, h.share(), unit(h.Steal)})
			continue
		}
		if !disturbance.Busy(h.Foreign, h.CPUs) {
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
			all = append(all, busy{stretch{h.from, h.from + int64(long*there(full))}, full.share(), unit(h.Steal)})
		}
		if after {
			full := hosts[i+1]
			all = append(all, busy{stretch{h.to - int64(long*there(full)), h.to}, full.share(), unit(h.Steal)})
		}
	}
	return all
}

// others returns when others used the CPUs of a machine. Agents that waited for a CPU are
// evidence for the machine that they run on.
func (t *trial) others(machine string) []busy {
	all := occupied(t.hosts[machine])
	if machine == "" {
		all = append(all, t.busy...)
	}
	return all
}

// waited returns in which share of a frame an agent waited for a CPU if it also sent
// late; 0 if it did not.
func waited(f *signals.Frame) float64 {
	c := f.Client
	if c.RunWait == nil || !disturbance.Waited(*c.RunWait, f.Seconds()) || c.SendLag.Count() == 0 || c.Latency.Count() == 0 {
		return 0
	}
	if !disturbance.SentLate(c.SendLag.Quantile(0.99), c.Latency.Quantile(0.99)) {
		return 0
	}
	return min(1, *c.RunWait/f.Seconds())
}

// failed reports whether a replica was killed for memory, restarted or was down in a
// frame. It is for platforms without windows, and for the time just before a kill,
// when memory is short.
func failed(f *signals.Frame) bool {
	s := f.Server
	return f.Phase == signals.Measure && (s.OOMKills != nil && *s.OOMKills > 0 || s.Restarts > 0 || !s.Up)
}

// evidence is what is known about one replica in one trial by time.
type evidence struct {
	throttled, down times         // windows of the replica
	contended       times         // when it may have had a queue that throttling built
	always          bool          // it was contended all the time
	shared          bool          // there are several replicas: a request belongs to none of them before it is sent
	stopped         times         // when all other replicas were throttled or down, if there are any
	common          [causes]times // episodes of throttling and restart that were also in stopped
	episodes        [causes]times // what may have built a queue, by cause
	lags            lags
	busy            []busy   // when others used the CPUs, by time, without overlaps
	hosts           []hosted // frames of its machine, by time
}

func (b *Builder) evidence(at replicaKey, frozen lags, t *trial) *evidence {
	throttled, down := b.windowsOf(at)
	g := &evidence{throttled: union(throttled...), down: union(down...), hosts: byTime(t.hosts[b.on[at]])}
	g.contended = contended(g.throttled, b.period)
	g.always = t.always(g.contended)
	g.busy = bounded(t.others(b.on[at]), b.waitable(at, g.throttled, g.hosts))
	var occupied []stretch
	for _, f := range g.busy {
		occupied = append(occupied, f.stretch)
	}
	g.shared, g.stopped = b.replicas > 1, b.othersStopped(at)
	g.episodes[generatorQueue] = frozen.episodes
	g.lags = frozen
	g.episodes[throttling] = g.throttled
	g.episodes[restart] = union(append(down, b.failing[at]...)...)
	for _, c := range []cause{throttling, restart} {
		g.common[c] = g.episodes[c].both(g.stopped)
	}
	g.episodes[neighbours] = union(occupied...)
	return g
}

func (b *Builder) windowsOf(at replicaKey) (throttled, down []stretch) {
	for _, w := range b.windows[at] {
		switch w.Kind {
		case signals.Throttled:
			throttled = append(throttled, stretch{w.Start, w.End})
		case signals.Down:
			down = append(down, stretch{w.Start, w.End})
		}
	}
	return throttled, down
}

// othersStopped returns when all other replicas were throttled or down.
func (b *Builder) othersStopped(at replicaKey) (all times) {
	first := true
	for i := range b.replicas {
		if i == at.replica {
			continue
		}
		throttled, down := b.windowsOf(replicaKey{at.trial, i})
		stopped := union(append(throttled, down...)...)
		if !first {
			stopped = all.both(stopped)
		}
		all, first = stopped, false
	}
	return all
}

// ofReplica reports whether the windows of one replica show a cause.
func ofReplica(c cause) bool { return c == throttling || c == restart }

// during returns which of the replica's windows a request waited in. If there are
// several replicas, all requests wait in one queue until they are sent, so before that
// only windows of all replicas count.
func (g *evidence) during(windows times, r *signals.SlowLine) times {
	if !g.shared {
		return windows.during(r.Intended, r.Done)
	}
	before := windows.both(g.stopped).during(r.Intended, r.Sent)
	return union(append(before, windows.during(r.Sent, r.Done)...)...)
}

// maxDelay returns by how much the episodes of a cause between two times can have
// delayed a request that came after them: the whole of a pause, and the share of a
// frame in which others used the CPUs.
func (g *evidence) maxDelay(c cause, from, to int64) int64 {
	if c != neighbours {
		return g.episodes[c].within(from, to)
	}
	all := 0.0
	for _, f := range g.busy[after(g.busy, from):] {
		if f.from >= to {
			break
		}
		all += f.share * float64(min(f.to, to)-max(f.from, from))
	}
	return int64(all)
}

// agents is which share of the CPU that the service did not have was the agents' own,
// between two times, while others used the CPUs.
func (g *evidence) agents(from, to int64) float64 {
	var own, all float64
	for _, h := range g.hosts {
		if long := g.episodes[neighbours].within(max(from, h.from), min(to, h.to)); long > 0 {
			own += max(0, h.Agents) * float64(long)
			all += max(0, h.Agents+h.Foreign+h.Steal) * float64(long)
		}
	}
	return unit(own / all)
}

// came is when those others came who used the CPUs at a time.
func (g *evidence) came(moment int64) int64 {
	there := g.episodes[neighbours]
	if i := there.after(moment); i < len(there) {
		return min(moment, there[i].from)
	}
	return moment
}

// median is the median service time in a client frame, that of usualShare, and the 95th
// percentile.
type median struct{ from, at, ns, most, natural int64 }

// spent is the CPU of a frame in nanoseconds, how many requests ended in it, and how many
// slow ones.
type spent struct {
	stretch
	cpu, ended, slow float64
}

// fewestForMedian is how many requests a frame needs for its median.
const fewestForMedian = 20

// usual is the usual service time just before a moment, at most that of the whole
// cell, and whether it is known. If a queue stands for most of a trial, the median of
// the cell includes it.
func (t *trial) usual(moment, typical int64) (ns int64, known bool) {
	var last median
	for _, m := range t.medians {
		if m.at <= moment && (m.at > last.at || m.at == last.at && m.ns > last.ns) {
			last = m
		}
	}
	if last.at == 0 {
		return typical, false
	}
	return min(typical, last.ns), true
}

// always reports whether the frames with requests lie within some times, but for their ends.
func (t *trial) always(within times) bool {
	var in, all int64
	for _, f := range t.dueFrames {
		if f.n > 0 {
			in, all = in+within.within(f.from, f.to), all+f.to-f.from
		}
	}
	return all > 0 && float64(in) >= 0.97*float64(all)
}

// around are the highest median service time, and that of usualShare, of the frames that
// a request overlaps; 0 if none has enough requests.
func (t *trial) around(from, to int64) (ns, most int64) {
	for _, m := range t.medians {
		if m.from < to && m.at > from {
			ns, most = max(ns, m.ns), max(most, m.most)
		}
	}
	return ns, most
}
