package report

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis"
)

// grid is the common time of all trials: moment k ends step x (k+1) seconds
// after the load began.
type grid struct {
	step float64
	size int
}

// newGrid takes its step from the trials' most usual interval.
func newGrid(series []analysis.Series) grid {
	var steps []float64
	last := 0.0
	for _, one := range series {
		before := 0.0
		for _, p := range one.Points {
			if p.T > before {
				steps = append(steps, p.T-before)
			}
			before = p.T
		}
		last = max(last, before)
	}
	if len(steps) == 0 {
		return grid{}
	}
	slices.Sort(steps)
	step := math.Max(0.01, math.Round(steps[len(steps)/2]*100)/100)
	return grid{step: step, size: max(1, int(math.Round(last/step)))}
}

// lay puts one metric of a trial on the grid. Where two intervals fall on one
// moment, as at a drain's short end, the later one with a value stands.
func (g grid) lay(one analysis.Series, of func(*analysis.Point) *float64) []*float64 {
	out := make([]*float64, g.size)
	for i := range one.Points {
		p := &one.Points[i]
		k := int(math.Round(p.T/g.step)) - 1
		if k < 0 || k >= g.size {
			continue
		}
		if v := finite(of(p)); v != nil {
			out[k] = v
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
func pointsPerLine(trials, cells int) int {
	return min(maxPoints, max(minPoints, maxValues/(len(metrics)*max(1, trials+3*cells))))
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

// times are the moments of the points, in seconds.
func (t thinning) times(step float64) []float64 {
	out := []float64{}
	at := func(k float64) { out = append(out, math.Round(k*step*1000)/1000) }
	t.buckets(func(from, to int) {
		if !t.active() {
			at(float64(to))
			return
		}
		at(float64(from) + float64(t.bucket)/4)
		at(float64(from) + float64(t.bucket)*3/4)
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

// extremes are the places that remain when points are thinned rather than
// lines: per bucket those of the lowest and the highest value.
func (t thinning) extremes(values []*float64) []int {
	var keep []int
	t.buckets(func(from, to int) {
		if !t.active() {
			keep = append(keep, from)
			return
		}
		low, high, ok := ends(values, from, to)
		switch {
		case !ok:
			keep = append(keep, from)
		case low == high:
			keep = append(keep, low)
		default:
			keep = append(keep, min(low, high), max(low, high))
		}
	})
	return keep
}
