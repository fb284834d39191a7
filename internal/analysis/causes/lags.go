package causes

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/data/signals"
)

// lags are the delays that matter of the requests that a generator sent late, in one
// trial. A service with a queue does not notice a short one.
type lags struct {
	episodes times // in which a request was due and not sent
	all      []lag // by the time at which they ended
}

// lag is the end of a delay.
type lag struct {
	sent    int64
	longest int64 // of its episode so far
}

// workLeft is how many requests show that a service had work left.
const workLeft = 3

// frozen returns the lags that are late and long enough to matter for the tail, in
// nanoseconds. own is what a request takes anyway.
//
// An episode that ends while the service still works on what was sent before it has no
// effect on later requests: the service was never idle. The agent may be frozen and not
// read answers, so only answers that come clearly after the episode show that.
func frozen(requests []signals.SlowLine, threshold, own int64) (out lags) {
	var all []stretch
	for i := range requests {
		if r := &requests[i]; disturbance.SentLate(time.Duration(r.Lag), time.Duration(threshold)) {
			all = append(all, stretch{r.Sent - r.Lag, r.Sent})
		}
	}
	work := inside{requests: bySent(requests)}
	for _, e := range union(all...) {
		if work.left(e, own) < workLeft {
			out.episodes = append(out.episodes, e)
		}
	}
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Or(cmp.Compare(a.to, b.to), cmp.Compare(a.from, b.from)) })
	for _, s := range all {
		if i := out.episodes.after(s.from); i < len(out.episodes) && out.episodes[i].from <= s.from {
			one := lag{s.to, s.to - s.from}
			if n := len(out.all); n > 0 && out.all[n-1].sent > out.episodes[i].from {
				one.longest = max(one.longest, out.all[n-1].longest)
			}
			out.all = append(out.all, one)
		}
	}
	return out
}

func bySent(requests []signals.SlowLine) []signals.SlowLine {
	return slices.SortedFunc(slices.Values(requests), func(a, b signals.SlowLine) int { return cmp.Compare(a.Sent, b.Sent) })
}

// inside are the requests inside of the service, for episodes in the order of time.
type inside struct {
	requests []signals.SlowLine // by sent
	next     int
	now      []*signals.SlowLine
}

// left returns how many requests that were sent before an episode were done clearly
// after it.
func (q *inside) left(e stretch, own int64) (n float64) {
	for ; q.next < len(q.requests) && q.requests[q.next].Sent < e.from; q.next++ {
		q.now = append(q.now, &q.requests[q.next])
	}
	q.now = slices.DeleteFunc(q.now, func(r *signals.SlowLine) bool { return r.Done <= e.to+own })
	for _, r := range q.now {
		n += r.For
	}
	return n
}

// longestLag returns the longest lag of the requests that were sent from one time to
// another; 0 if none was late.
func (g *evidence) longestLag(from, to int64) (longest int64) {
	l := g.lags
	for i := l.episodes.after(from); i < len(l.episodes) && l.episodes[i].from < to; i++ {
		until := min(l.episodes[i].to, to)
		n := sort.Search(len(l.all), func(k int) bool { return l.all[k].sent > until })
		if n > 0 && l.all[n-1].sent > l.episodes[i].from {
			longest = max(longest, l.all[n-1].longest)
		}
	}
	return longest
}
