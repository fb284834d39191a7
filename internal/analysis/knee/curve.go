package knee

import (
	"cmp"
	"math"
	"slices"
)

// curve is the points by load, with the logarithm of their latency.
type curve struct {
	points []point // ascending by load
	levels []level // one per distinct load, ascending
	used   []used  // CPU of the limit, if it was measured; ascending by load
}

type point struct{ load, y, weight float64 }

// level is what the fit needs of all points of one load: weighted sums.
type level struct {
	load         float64
	w, wy, wyy   float64
	first, after int // its points
}

type used struct{ load, ofLimit, weight float64 }

func newCurve(points []Point) *curve {
	c := &curve{}
	for _, p := range points {
		if !(p.Latency > 0) || !(p.Load > 0) || math.IsInf(p.Load, 0) {
			continue
		}
		weight := weightOf(p.Above)
		c.points = append(c.points, point{p.Load, math.Log(p.Latency), weight})
		if p.OfLimit != nil {
			c.used = append(c.used, used{p.Load, *p.OfLimit, weight})
		}
	}
	slices.SortStableFunc(c.points, func(a, b point) int { return cmp.Compare(a.load, b.load) })
	slices.SortStableFunc(c.used, func(a, b used) int { return cmp.Compare(a.load, b.load) })
	for i, p := range c.points {
		if n := len(c.levels); n == 0 || c.levels[n-1].load != p.load {
			c.levels = append(c.levels, level{load: p.load, first: i})
		}
		c.levels[len(c.levels)-1].after = i + 1
	}
	c.sum()
	return c
}

// sum computes the levels' sums from the points.
func (c *curve) sum() {
	for i := range c.levels {
		l := &c.levels[i]
		l.w, l.wy, l.wyy = 0, 0, 0
		for _, p := range c.points[l.first:l.after] {
			l.w += p.weight
			l.wy += p.weight * p.y
			l.wyy += p.weight * p.y * p.y
		}
	}
}

func (l *level) mean() float64 { return l.wy / l.w }

func (c *curve) highest() float64 { return c.levels[len(c.levels)-1].load }

// weightOf is the weight of a window with so many requests above its quantile. The
// variance of the logarithm of a sample quantile falls with their number (H. A. David,
// H. N. Nagaraja, Order Statistics, 3rd edition, 2003, section 10.2).
func weightOf(above float64) float64 { return max(above, 1) }

// limited limits the latencies to ten times the floor. A service that has broken down
// has latencies of a hundred floors, which would dominate the fit. The floor is
// estimated from the lower half of the loads. It returns nil if all of them failed.
func (c *curve) limited() (_ *curve, top float64) {
	top = math.Inf(1)
	for i := range c.levels[:(len(c.levels)+1)/2] {
		top = min(top, c.levels[i].mean()+math.Log(cliff))
	}
	if math.IsInf(top, 1) {
		return nil, top
	}
	below := &curve{points: slices.Clone(c.points), levels: slices.Clone(c.levels)}
	for i := range below.points {
		below.points[i].y = min(below.points[i].y, top)
	}
	below.sum()
	return below, top
}

// upToTheCliff removes what lies beyond the first of those highest loads that all have
// ten times the floor: it belongs to the breaking point, and would bias the fit towards
// it. At least five loads are kept.
func (c *curve) upToTheCliff(top float64) *curve {
	keep := len(c.levels)
	for keep > fewLoads && c.levels[keep-2].mean() >= top-1e-9 {
		keep--
	}
	near := &curve{levels: slices.Clone(c.levels[:keep])}
	near.points = slices.Clone(c.points[:near.levels[keep-1].after])
	return near
}

// ofLimit is the CPU of the limit at a load: interpolated linearly between the loads
// that measured it, and that of the nearest one outside them.
func (c *curve) ofLimit(load float64) *float64 {
	var means []used // one per load
	for _, u := range c.used {
		if n := len(means); n > 0 && means[n-1].load == u.load {
			m := &means[n-1]
			m.ofLimit = (m.ofLimit*m.weight + u.ofLimit*u.weight) / (m.weight + u.weight)
			m.weight += u.weight
			continue
		}
		means = append(means, u)
	}
	if len(means) < 2 {
		return nil
	}
	at := slices.IndexFunc(means, func(u used) bool { return u.load >= load })
	switch at {
	case 0:
		return &means[0].ofLimit
	case -1:
		return &means[len(means)-1].ofLimit
	}
	a, b := means[at-1], means[at]
	v := a.ofLimit + (b.ofLimit-a.ofLimit)*(load-a.load)/(b.load-a.load)
	return &v
}
