package causes

import (
	"cmp"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/data/signals"
)

// calls are the calls of a replica to its dependency in a trial, as the replica
// reports them. They do not belong to known requests: the report has only how many
// calls took how long in each interval.
type calls struct {
	intervals []*interval
	due       func(from, to int64) float64
}

// interval is the calls that ended between two scrapes.
type interval struct {
	stretch
	buckets []bucket // the slowest first
	count   float64
	sum     float64 // nanoseconds
}

// bucket is the calls of an interval that took from low to high nanoseconds.
type bucket struct {
	bounds
	mean  float64
	count float64
	left  float64 // not matched with a request yet; the fastest of the bucket
}

func newCalls(frames []*signals.Frame, means map[bounds]float64, due func(from, to int64) float64) *calls {
	c := &calls{due: due}
	for _, f := range frames {
		c.intervals = append(c.intervals, newInterval(f, means))
	}
	slices.SortStableFunc(c.intervals, func(a, b *interval) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.count, b.count), cmp.Compare(a.sum, b.sum))
	})
	return c
}

// validWaits reports whether a histogram is consistent.
func validWaits(w *signals.Waits) bool {
	const longest = 1e12 // seconds; excludes NaN, too
	finite := func(f float64) bool { return math.Abs(f) < longest }
	for i, bound := range w.Bounds {
		if !finite(bound) || i > 0 && bound <= w.Bounds[i-1] {
			return false
		}
	}
	for _, n := range w.Counts {
		if n < 0 {
			return false
		}
	}
	return len(w.Counts) == len(w.Bounds)+1 && finite(w.Sum) && w.Sum >= 0
}

func newInterval(f *signals.Frame, means map[bounds]float64) *interval {
	w := f.Waits
	out := &interval{stretch: stretch{f.Start, f.End}, sum: 1e9 * w.Sum}
	for k, n := range w.Counts {
		if n == 0 {
			continue
		}
		in := bucketBounds(w.Bounds, k)
		out.buckets = append(out.buckets, bucket{in, means[in], float64(n), float64(n)})
		out.count += float64(n)
	}
	slices.Reverse(out.buckets)
	return out
}

// match returns how long a request waited for the dependency, and how long a request
// usually does, in nanoseconds.
//
// Requests arrive here ordered by the time that is still unexplained, longest first.
// Each is matched with the slowest calls that are not matched yet, in the intervals
// that it overlaps and no longer than itself, as many as the requests that it stands
// for. So ranks correspond, and no call counts twice. If a request makes several
// calls, the others are assumed to be average.
func (c *calls) match(d *division) (waited, usual int64) {
	r := d.request
	at := c.during(r.Sent, r.Done)
	if len(at) == 0 {
		return 0, 0
	}
	each, mean := c.usual(at)
	matched := slowest(at, r.For, float64(r.Done-r.Sent))
	return int64(matched + max(0, each-1)*mean), int64(each * mean)
}

func (c *calls) during(from, to int64) []*interval {
	var out []*interval
	for _, i := range c.intervals {
		if i.from >= to {
			break
		}
		if i.count > 0 && i.to > from {
			out = append(out, i)
		}
	}
	return out
}

// usual returns how many calls a request made in some intervals (1 if unknown), and
// their mean time.
func (c *calls) usual(at []*interval) (each, mean float64) {
	var count, sum, due float64
	for _, i := range at {
		count += i.count
		sum += i.sum
		due += c.due(i.from, i.to)
	}
	if due == 0 {
		return 1, sum / count
	}
	return count / due, sum / count
}

// slowest removes the slowest calls that are left and returns their mean time, at most
// limit. Missing calls count as 0.
func slowest(at []*interval, want, limit float64) float64 {
	missing, sum := want, 0.0
	for missing > 0 {
		var next *bucket
		for _, i := range at {
			if b := i.top(limit); b != nil && (next == nil || b.slowest(0) > next.slowest(0)) {
				next = b
			}
		}
		if next == nil {
			break
		}
		n := min(missing, next.left)
		sum += n * min(limit, next.slowest(n))
		next.left -= n
		missing -= n
	}
	return sum / want
}

// top returns the slowest bucket with calls left that begins below limit.
func (i *interval) top(limit float64) *bucket {
	for k := range i.buckets {
		if b := &i.buckets[k]; b.left > 0 && b.low < limit {
			return b
		}
	}
	return nil
}

// slowest is the mean time of the n slowest calls that are left.
func (b *bucket) slowest(n float64) float64 {
	return b.value((b.left-n/2)/b.count, b.mean)
}

// allWaits returns the frames with waits of all trials and replicas, in an order that
// does not depend on the input.
func (b *Builder) allWaits() (all []*signals.Frame) {
	for _, frames := range b.waits {
		all = append(all, frames...)
	}
	slices.SortFunc(all, func(x, y *signals.Frame) int {
		return cmp.Or(cmp.Compare(x.Trial, y.Trial), cmp.Compare(x.Index, y.Index), cmp.Compare(x.Start, y.Start),
			cmp.Compare(x.End, y.End), cmp.Compare(x.Waits.Sum, y.Waits.Sum), slices.Compare(x.Waits.Counts, y.Waits.Counts),
			slices.Compare(x.Waits.Bounds, y.Waits.Bounds))
	})
	return all
}
