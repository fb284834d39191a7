package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// A throttle window shows that its replica wanted more CPU than its limit, and not that a
// certain request did: a request that sleeps takes as long without the limit. Throttling
// of the slow tail is therefore bounded from both sides.
//
// A replica was contended in the periods that ended throttled and in the one after each.
// It had no queue outside of them that its limit built. A slow request that was there
// outside of them for long, beyond its own time, waited for something else. One that was
// there in contended times alone may have slept as well. Two signs show that it did not:
//   - Requests that came beside it took as long, and longer than requests do in calm times.
//   - Frames in which slow requests ended used more CPU: they work for long.
//
// docs/statistics.md has how often the interval contains the truth. It is too high
// for a queue that stands without the limit, and that it hardly lengthens: of a lock that is
// nearly used up, or after a pause of the service.

const (
	// beside is how many requests due before one, and as many due after it, came beside
	// it.
	beside = 10
	// common is the share of them whose time was the time of a queue in which all waited,
	// and rarely the share that does not sleep at once by chance.
	common, rarely = 0.4, 0.2
	// outside is the share of a request's time, beyond its own, that may lie outside of
	// contended times if the limit explains it.
	outside = 0.25
	// usualShare of the requests at a time took no longer than the time by which the
	// limit delays any one that does not queue with the others.
	usualShare = 0.75
	// shortest and longest are how long a request is there at least, and at most, for the CPU
	// time that it uses, in multiples of it: it runs beside others.
	shortest, longest = 1.5, 6
	// lengthened is the part of the wait in a queue behind windows that is the limit's at
	// least where all wait in it: without the limit it stands as well, and is shorter.
	lengthened = 0.6
	// stands is the same for the time within windows of a replica that was contended all the
	// time: without the limit its requests wait for each other, or for something else.
	stands = 0.75
)

// contended is when a replica may have had a queue that its CPU limit built.
func contended(throttled times, period int64) times {
	all := make([]stretch, 0, len(throttled))
	for _, w := range throttled {
		all = append(all, stretch{min(w.from, w.to-period), w.to + period})
	}
	return union(all...)
}

// explains reports whether a request was there in contended times alone, except for its
// own time.
func (t times) explains(from, to, own int64) bool {
	long := to - from
	return float64(long-t.within(from, to)-own) <= outside*float64(max(0, long-own))
}

// Contended returns how many of the slow requests there are, and how many of them the CPU limit
// may have delayed: the others waited for longer than own beside the contended times of their
// replica.
func (b *Builder) Contended(requests []signals.SlowLine, own time.Duration) (may, of float64) {
	in := map[replicaKey]times{}
	for i := range requests {
		r := &requests[i]
		at := replicaKey{r.Trial, r.Replica}
		when, known := in[at]
		if !known {
			throttled, _ := b.windowsOf(at)
			when = contended(union(throttled...), b.period)
			in[at] = when
		}
		from := r.Intended
		if b.replicas > 1 {
			from = r.Sent
		}
		of += r.For
		if when.explains(from, r.Done, int64(own)) {
			may += r.For
		}
	}
	return may, of
}

// arrived is when a request came to the queue of its replica.
func (d *division) arrived() int64 {
	if d.evidence.shared {
		return d.request.Sent
	}
	return d.request.Intended
}

// classify finds which of the requests of a replica the limit may explain, and how long
// others that came beside them took. all are its slow requests.
func (t *trial) classify(here []*division, all []came, due func(from, to int64) float64, own int64) {
	for _, d := range here {
		if len(d.evidence.throttled) == 0 {
			continue
		}
		d.within = d.evidence.contended.explains(d.arrived(), d.request.Done, own)
		d.shared, d.atMost = took(d.request, all, due)
	}
}

// came is a slow request: when it was due, how long it took, and for how many it stands.
type came struct {
	at, took int64
	weight   float64
}

// took is how long many of the requests took that were due beside one, and how long some
// did; 0: fewer were slow. Both are its own time if the record has no arrivals there. all are
// in the order in which they were due.
func took(r *signals.SlowLine, all []came, due func(from, to int64) float64) (many, some int64) {
	const around = int64(500 * time.Millisecond)
	at, took := r.Intended, latency(r)
	rate := due(at-around, at+around) / float64(2*around)
	if rate <= 0 {
		return took, took
	}
	far := int64(beside / rate)
	from := sort.Search(len(all), func(i int) bool { return all[i].at >= at-far })
	to := sort.Search(len(all), func(i int) bool { return all[i].at > at+far })
	there := slices.Clone(all[from:to])
	slices.SortFunc(there, func(a, b came) int { return cmp.Compare(b.took, a.took) })
	n, of := -1.0, min(2*beside, due(at-far, at+far)) // without itself
	for _, c := range there {
		n += c.weight
		if n >= common*of {
			many = max(many, c.took)
		}
		if n >= rarely*of {
			some = max(some, c.took)
		}
	}
	return min(many, took), min(some, took)
}

// bounding is what is known of a tail as a whole.
type bounding struct {
	own int64 // the shortest service time, ns
	// common and natural are the median and the 95th percentile of the service times in calm
	// frames, ns; 0: unknown.
	common, natural int64
	// worked is the CPU time of a request of the tail, at least and at most, and cpu that of
	// any request, on average, ns.
	worked [2]float64
	cpu    float64
}

// worked is the CPU time of a slow request, at least and at most, in nanoseconds: two
// standard errors around its coefficient in a linear regression of the CPU of the frames on
// the slow requests that ended in them, which took at least half of the threshold, and on
// the others. From 0 to infinity: frames with more slow requests do not stand out. cpu is
// the CPU time of any request, on average.
func (b *Builder) worked(threshold time.Duration) (ofSlow [2]float64, cpu float64) {
	frames := map[replicaKey][]spent{}
	at := func(k replicaKey, moment int64) *spent {
		all := frames[k]
		i := sort.Search(len(all), func(i int) bool { return all[i].to >= moment })
		if i == len(all) || all[i].from >= moment {
			return &spent{}
		}
		return &all[i]
	}
	keys := slices.SortedFunc(maps.Keys(b.spent), func(x, y replicaKey) int {
		return cmp.Or(cmp.Compare(x.trial, y.trial), cmp.Compare(x.replica, y.replica))
	})
	for _, k := range keys {
		frames[k] = slices.SortedFunc(slices.Values(b.spent[k]), func(x, y spent) int { return cmp.Compare(x.from, y.from) })
		for _, f := range b.trial(k.trial).dueFrames {
			at(k, f.from+(f.to-f.from)/2).ended += float64(f.ended) / float64(max(1, b.replicas))
		}
	}
	for _, r := range b.requests {
		if 2*latency(&r) >= int64(threshold) {
			at(replicaKey{r.Trial, r.Replica}, r.Done).slow += r.For
		}
	}
	// Without an intercept: a service that uses up its quota uses the same CPU in each frame.
	var n, xx, xm, mm, xy, my, yy, used, ended float64
	for _, k := range keys {
		for _, s := range frames[k] {
			x, m, y := s.ended-s.slow, s.slow, s.cpu
			used, ended = used+y, ended+s.ended
			n, xx, xm, mm, xy, my, yy = n+1, xx+x*x, xm+x*m, mm+m*m, xy+x*y, my+m*y, yy+y*y
		}
	}
	det := xx*mm - xm*xm
	cpu = used / max(1, ended)
	if n < 10 || det <= 1e-9*xx*mm { // all frames have the same share of slow requests, but for rounding
		return [2]float64{0, math.Inf(1)}, cpu
	}
	each, slow := (xy*mm-my*xm)/det, (my*xx-xy*xm)/det
	left := max(0, yy-each*xy-slow*my) / (n - 2)
	sure := 2 * math.Sqrt(left*xx/det)
	return [2]float64{max(0, slow-sure), max(0, slow+sure)}, cpu
}

// bound divides what windows and their queue may have taken of a request into what is
// known to be throttling, and what may be. usual and most are the median of the service
// times around it, and that of usualShare.
func (d *division) bound(in bounding, usual, most int64) {
	may, took := d.held[throttling], latency(d.request)
	if may == 0 {
		return
	}
	// running is what the limit takes of a request that uses so much CPU.
	running := func(worked float64) int64 {
		return int64(min(1, worked/float64(max(1, took-d.directly))) * float64(may))
	}
	low, high := int64(0), max(running(shortest*in.worked[1]), d.edges(in.own, max(0, most-in.own)))
	together := max(d.shared, usual)
	if d.within {
		low = min(max(together-max(in.own, in.common), running(shortest*in.worked[0])), d.directly+int64(lengthened*float64(may-d.directly)), took-in.natural)
		high = max(high, d.atMost-in.own, running(longest*in.worked[1]))
	}
	largest := may
	if d.evidence.always && 2*max(together, most) >= took {
		// It is not known what a request takes beside its CPU time if no queue stands.
		largest += max(0, d.left-int64(in.cpu))
		low, high = max(low, int64(stands*float64(d.directly))), largest
	}
	high = min(max(low, high), largest)
	low = max(0, min(low, high))
	d.held[throttling], d.throttledHigh = low, high
	if low < may {
		d.free = union(append(d.free, d.evidence.during(d.evidence.throttled, d.request)...)...)
		d.free = d.free.without(union(stretch{d.request.Sent - d.request.Lag, d.request.Sent}))
	}
	d.left += may - low
}

// edges is the contended time in which a request that waits for something else came and
// ended: at most as long as most at each.
func (d *division) edges(own, most int64) (sum int64) {
	from, to := d.arrived(), d.request.Done
	all := d.evidence.contended
	first := all.after(from)
	if first == len(all) {
		return 0
	}
	if all[first].from <= from+own {
		sum += min(most, min(all[first].to, to)-max(all[first].from, from))
	}
	if last := all.after(to - 1); last < len(all) && all[last].from < to {
		if last == first && all[first].from <= from+own {
			return min(2*sum, min(all[last].to, to)-max(all[last].from, from))
		}
		sum += min(most, to-max(all[last].from, from))
	}
	return max(0, sum)
}

// natural are the median and the 95th percentile of the service times in calm frames, which
// were contended for less than half of their time: on average; if there are none, the lowest
// of all frames; 0 if there are no frames.
func natural(groups []*group) (common, slow int64) {
	var calm, all []median
	for _, g := range groups {
		contended := g.here[0].evidence.contended
		for _, m := range g.medians {
			if all = append(all, m); 2*contended.within(m.from, m.at) < m.at-m.from {
				calm = append(calm, m)
			}
		}
	}
	if len(all) == 0 {
		return 0, 0
	}
	if len(calm) == 0 {
		common, slow = all[0].ns, all[0].natural
		for _, m := range all {
			common, slow = min(common, m.ns), min(slow, m.natural)
		}
		return common, slow
	}
	for _, m := range calm {
		common, slow = common+m.ns, slow+m.natural
	}
	return common / int64(len(calm)), slow / int64(len(calm))
}
