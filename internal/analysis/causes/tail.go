package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// ownQuantile of the service times is what a request takes without any disturbance.
// The median of a service that is throttled half of the time would already include
// throttling.
const ownQuantile = 0.05

// Result divides the tail: all requests that took at least the threshold, which is the
// value of the named quantile. typical is the median service time. It returns nil if
// no such request was kept. Agents keep requests above their p95, so the tail of a
// lower quantile is incomplete.
func (b *Builder) Result(quantile string, threshold, typical time.Duration) *summary.Causes {
	own := min(typical, b.own.Quantile(ownQuantile))
	if b.own.Count() == 0 {
		own = typical
	}
	callMeans := means(b.allWaits())
	var tail []*division
	var groups []*group
	requests := b.sorted()
	for len(requests) > 0 {
		number := requests[0].Trial
		n := 1
		for n < len(requests) && requests[n].Trial == number {
			n++
		}
		for _, g := range b.groups(requests[:n], callMeans, threshold, own) {
			groups, tail = append(groups, g), append(tail, g.here...)
		}
		requests = requests[n:]
	}
	in, most := bounding{own: int64(own)}, b.own.Quantile(usualShare)
	in.worked, in.cpu = b.worked(threshold)
	in.common, in.natural = natural(groups)
	for _, g := range groups {
		g.divide(in, int64(typical), int64(most))
	}
	c := sum(tail)
	if c == nil {
		return nil
	}
	c.Quantile, c.FromMS = quantile, ms(int64(threshold))
	c.Slowest = b.slowest(tail)
	return c
}

// group is the tail of a replica in a trial.
type group struct {
	*trial
	here  []*division
	calls *calls
}

// groups returns the tail of a trial by replica, with direct evidence and what may be the
// queues of the generator and of throttling. The requests are sorted by replica.
func (b *Builder) groups(requests []signals.SlowLine, callMeans map[bounds]float64, threshold, own time.Duration) (all []*group) {
	t := b.trial(requests[0].Trial)
	frozen, arrived := frozen(requests, int64(threshold), int64(own)), newArrivals(t.dueFrames)
	due := func(from, to int64) float64 { return arrived.due(from, to) / float64(max(b.replicas, 1)) }

	for len(requests) > 0 {
		n := 1
		for n < len(requests) && requests[n].Replica == requests[0].Replica {
			n++
		}
		at := replicaKey{requests[0].Trial, requests[0].Replica}
		g := &group{t, b.tail(requests[:n], b.evidence(at, frozen, t), due, t, threshold), newCalls(b.waits[at], callMeans, due)}
		for _, d := range g.here {
			d.before(int64(own))
		}
		var slow []came
		for i, w := range weights(requests[:n]) {
			slow = append(slow, came{requests[i].Intended, latency(&requests[i]), w})
		}
		t.classify(g.here, slow, due, int64(own))
		if len(g.here) > 0 {
			all = append(all, g)
		}
		requests = requests[n:]
	}
	return all
}

// divide bounds throttling, and attributes what is left to the causes after it.
func (g *group) divide(in bounding, typical, most int64) {
	for _, d := range g.here {
		usual, longer := g.around(d.request.Intended, d.request.Done)
		if longer == 0 {
			usual, longer = typical, most
		}
		d.bound(in, usual, longer)
	}
	slices.SortStableFunc(g.here, func(x, y *division) int { return cmp.Compare(y.left, x.left) })
	for _, d := range g.here {
		usual, known := g.usual(d.evidence.came(d.since[neighbours]), typical)
		d.after(in.own, usual, known, g.calls)
	}
}

// tail returns the requests of a replica that belong to the tail, with their direct
// evidence and the queues in which they waited.
func (b *Builder) tail(requests []signals.SlowLine, g *evidence, due func(from, to int64) float64, t *trial, threshold time.Duration) []*division {
	bar := threshold
	if b.latency.Count() > 0 {
		bar = min(bar, b.latency.Quantile(0.95))
	}
	weights := weights(requests)
	var since, unsent [causes][]int64
	for c, episodes := range g.episodes {
		if len(episodes) == 0 {
			continue
		}
		q := queue{episodes: episodes, bar: int64(bar), due: due, came: intended}
		if cause(c) == throttling {
			q.period = b.period
		}
		if cause(c) == neighbours {
			since[c] = q.slowed(requests, weights)
			continue
		}
		if !g.shared || !ofReplica(cause(c)) {
			since[c] = q.waited(requests, weights)
			continue
		}
		since[c] = q.atReplica(requests, weights)
		q.episodes = g.common[c]
		unsent[c] = q.waited(requests, weights)
	}
	var tail []*division
	for i := range requests {
		if t.measures && requests[i].Intended < t.measured || !b.reaches(latency(&requests[i]), threshold) {
			continue
		}
		d := &division{request: &requests[i], evidence: g}
		for c := range since {
			d.since[c], d.unsent[c] = never, never
			if since[c] != nil {
				d.since[c] = since[c][i]
			}
			if unsent[c] != nil {
				d.unsent[c] = unsent[c][i]
			}
		}
		d.direct()
		tail = append(tail, d)
	}
	return tail
}

// reaches reports whether a latency counts as at least the threshold. A quantile of a
// histogram is only known to the histogram's precision.
func (b *Builder) reaches(nanoseconds int64, threshold time.Duration) bool {
	us := min(nanoseconds/int64(time.Microsecond), signals.HighestMicros)
	from := min(int64(threshold/time.Microsecond), signals.HighestMicros)
	return us >= from || signals.Alike(max(us, signals.LowestMicros), from)
}

// weights returns for each request how many slow ones a kept one stands for at its
// time. Agents keep only some of an interval's slow requests; the slowest has a weight
// of one.
func weights(requests []signals.SlowLine) []float64 {
	const second = int64(time.Second)
	most := map[int64]float64{}
	for i := range requests {
		s := requests[i].Done / second
		most[s] = max(most[s], requests[i].For)
	}
	out := make([]float64, len(requests))
	for i := range requests {
		out[i] = most[requests[i].Done/second]
	}
	return out
}

// sum adds up divisions; nil if there is no time to divide.
func sum(tail []*division) *summary.Causes {
	var requests, whole, directly, byAgents, high float64
	trials := map[int]float64{}
	var held [causes]float64
	for _, d := range tail {
		w := d.request.For
		requests += w
		whole += w * float64(latency(d.request))
		directly += w * float64(d.directly)
		byAgents += w * float64(d.byAgents)
		high += w * float64(d.throttledHigh)
		trials[d.request.Trial] += w
		for c := range held {
			held[c] += w * float64(d.held[c])
		}
	}
	if whole == 0 {
		return nil
	}
	return &summary.Causes{
		Requests:          int(math.Round(requests)),
		MeanMS:            whole / requests / 1e6,
		Generator:         held[generator] / whole,
		GeneratorQueue:    held[generatorQueue] / whole,
		Throttling:        held[throttling] / whole,
		Dependency:        held[dependency] / whole,
		Restart:           held[restart] / whole,
		Neighbours:        held[neighbours] / whole,
		Rest:              held[rest] / whole,
		ThrottlingHigh:    high / whole,
		ThrottledDirectly: directly / whole,

		NeighboursGenerator: byAgents / whole,
		MostIn:              mostIn(trials, requests),
	}
}

// mostIn is the smallest number of trials that has more than three quarters of the
// requests. Two of six trials that are alike often have half of them by chance.
func mostIn(trials map[int]float64, requests float64) (n int) {
	sum := 0.0
	for _, in := range slices.Backward(slices.Sorted(maps.Values(trials))) {
		n, sum = n+1, sum+in
		if 4*sum > 3*requests {
			break
		}
	}
	return n
}

// keptSlowest is how many of the slowest requests a result shows.
const keptSlowest = 8

func (b *Builder) slowest(tail []*division) []summary.SlowRequest {
	sorted := slices.Clone(tail)
	slices.SortStableFunc(sorted, func(x, y *division) int { return cmp.Compare(latency(y.request), latency(x.request)) })
	out := []summary.SlowRequest{}
	for _, d := range sorted[:min(len(sorted), keptSlowest)] {
		r := d.request
		out = append(out, summary.SlowRequest{
			Trial:    r.Trial,
			Replica:  r.Replica,
			AtS:      float64(r.Intended-b.began(r.Trial)) / 1e9,
			SentMS:   ms(r.Sent - r.Intended),
			DoneMS:   ms(r.Done - r.Intended),
			TimedOut: r.TimedOut,
			Windows:  d.windows(),
		})
	}
	return out
}

// began is the start of a trial's first frame, or else when its first slow request was
// intended.
func (b *Builder) began(number int) int64 {
	first := b.trial(number).first
	if first != math.MaxInt64 {
		return first
	}
	for i := range b.requests {
		if b.requests[i].Trial == number {
			first = min(first, b.requests[i].Intended)
		}
	}
	return first
}

// windows returns those that the request overlaps, ordered by time.
func (d *division) windows() []summary.SlowWindow {
	r := d.request
	out := []summary.SlowWindow{}
	add := func(kind signals.WindowKind, all times) {
		for _, s := range all {
			out = append(out, summary.SlowWindow{Kind: string(kind), FromMS: ms(s.from - r.Intended), ToMS: ms(s.to - r.Intended)})
		}
	}
	add(signals.Throttled, d.evidence.during(d.evidence.throttled, r))
	add(signals.Down, d.evidence.during(d.evidence.down, r))
	slices.SortStableFunc(out, func(a, b summary.SlowWindow) int { return cmp.Compare(a.FromMS, b.FromMS) })
	return out
}

func ms(nanoseconds int64) float64 { return float64(nanoseconds) / 1e6 }
