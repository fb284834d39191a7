package charts

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// grid is the common time of all trials: the moments at which intervals end,
// in seconds since the load began, upwards. The trials of a record are cut
// alike, so that their intervals end at nearly the same times; only drains
// take as long as the last answer.
type grid struct {
	moments []float64
	drain   int // moments from here on end a drain
}

// newGrid joins times that lie closer together than a part of the usual
// interval: they are one moment, a little early in one trial and late in
// another.
func newGrid(series []summary.Series) grid {
	var sent, drained, steps []float64
	for _, one := range series {
		before := 0.0
		for _, p := range one.Points {
			if p.Phase == "drain" {
				drained = append(drained, p.T)
			} else {
				sent = append(sent, p.T)
				steps = append(steps, p.T-before)
			}
			before = p.T
		}
	}
	const close = 0.3 // of the usual interval
	reach := 0.0
	if len(steps) > 0 {
		slices.Sort(steps)
		reach = close * steps[len(steps)/2]
	}
	g := grid{moments: clusters(sent, reach)}
	g.drain = len(g.moments)
	for _, t := range clusters(drained, reach) {
		if g.drain == 0 || t > g.moments[len(g.moments)-1] {
			g.moments = append(g.moments, t)
		}
	}
	return g
}

// clusters gives the middle one of each group of times that lie within reach.
func clusters(times []float64, reach float64) []float64 {
	slices.Sort(times)
	var middles []float64
	for from := 0; from < len(times); {
		to := from + 1
		for to < len(times) && times[to]-times[from] <= reach {
			to++
		}
		middles = append(middles, times[(from+to-1)/2])
		from = to
	}
	return middles
}

// at is the place of a point's moment; -1: it has none, as a drain that was
// over before another trial's last interval.
func (g grid) at(p *summary.Point) int {
	from, to := 0, g.drain
	if p.Phase == "drain" {
		from, to = g.drain, len(g.moments)
	}
	near := g.moments[from:to]
	if len(near) == 0 {
		return -1
	}
	k, _ := slices.BinarySearch(near, p.T)
	if k == len(near) || k > 0 && p.T-near[k-1] < near[k]-p.T {
		k--
	}
	return from + k
}

// lay puts one metric of a trial on the grid. Where two intervals fall on one
// moment, the first with a value stands.
func (g grid) lay(one summary.Series, of func(*summary.Point) *float64) []*float64 {
	out := make([]*float64, len(g.moments))
	for i := range one.Points {
		p := &one.Points[i]
		if k := g.at(p); k >= 0 && out[k] == nil {
			out[k] = summary.Finite(of(p))
		}
	}
	return out
}

const (
	// maxPoints is how many points a line has at most: more than a panel has
	// pixels to show.
	maxPoints = 720
	minPoints = 120
	// maxValues bounds the numbers in the page, which keeps it quick to open.
	maxValues = 300_000
)

// pointsPerLine shares maxValues among the lines of a report.
func pointsPerLine(metrics, trials, cells int) int {
	return min(maxPoints, max(minPoints, maxValues/(metrics*max(1, trials+3*cells))))
}

// thinning cuts n moments into buckets, each of which is drawn as two points:
// its lowest and its highest value in the order in which they came. So no spike
// and no dip is lost, which an average would lose.
type thinning struct {
	n, bucket int // bucket 1: every moment is kept
}

func newThinning(n, points int) thinning {
	if n <= points {
		return thinning{n: n, bucket: 1}
	}
	return thinning{n: n, bucket: int(math.Ceil(float64(n) / float64(points/2)))}
}

func (t thinning) active() bool { return t.bucket > 1 }

// buckets calls do with the ends of each bucket.
func (t thinning) buckets(do func(from, to int)) {
	for from := 0; from < t.n; from += t.bucket {
		do(from, min(from+t.bucket, t.n))
	}
}

// times are the moments of the points: of a bucket, one early and one late in
// it.
func (t thinning) times(moments []float64) []float64 {
	out := []float64{}
	at := func(v float64) { out = append(out, math.Round(v*1000)/1000) }
	t.buckets(func(from, to int) {
		at(moments[min(from+t.bucket/4, to-1)])
		if t.active() {
			// A last bucket of one moment has its second point a little later.
			at(max(moments[min(from+t.bucket*3/4, to-1)], out[len(out)-1]+0.001))
		}
	})
	return out
}

// ends are the places of a bucket's lowest and highest value; ok is false where
// it has none.
func ends(values []*float64, from, to int) (low, high int, ok bool) {
	low, high = -1, -1
	for k := from; k < to; k++ {
		if values[k] == nil {
			continue
		}
		if low < 0 || *values[k] < *values[low] {
			low = k
		}
		if high < 0 || *values[k] > *values[high] {
			high = k
		}
	}
	return low, high, low >= 0
}

// pairs thins a line.
func (t thinning) pairs(values []*float64) []*float64 {
	return t.each(values, func(low, high int) (int, int) { return min(low, high), max(low, high) })
}

// lowest thins the lower edge of a band, highest the upper one.
func (t thinning) lowest(values []*float64) []*float64 {
	return t.each(values, func(low, _ int) (int, int) { return low, low })
}

func (t thinning) highest(values []*float64) []*float64 {
	return t.each(values, func(_, high int) (int, int) { return high, high })
}

func (t thinning) each(values []*float64, choose func(low, high int) (first, second int)) []*float64 {
	out := []*float64{}
	t.buckets(func(from, to int) {
		if !t.active() {
			out = append(out, rounded(values[from]))
			return
		}
		low, high, ok := ends(values, from, to)
		if !ok {
			out = append(out, nil, nil)
			return
		}
		first, second := choose(low, high)
		out = append(out, rounded(values[first]), rounded(values[second]))
	})
	return out
}

// samples are the places that remain when points are thinned rather than lines:
// per bucket its first, which makes a fair sample, and its highest, so that the
// worst is never lost.
func (t thinning) samples(values []*float64) []int {
	var keep []int
	t.buckets(func(from, to int) {
		keep = append(keep, from)
		if _, high, ok := ends(values, from, to); ok && high != from {
			keep = append(keep, high)
		}
	})
	return keep
}
