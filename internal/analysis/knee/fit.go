package knee

import "math"

// fit is a floor that turns into a rising line at a break. If only the highest load
// lies above the floor, every break in the gap below it fits equally well: from and to
// are the ends of that gap. Otherwise they are equal.
type fit struct {
	from, to float64 // the break
	floor    float64 // logarithm of ms
	rise     float64 // above the floor at the highest load
	highest  float64
	misfit   float64 // weighted sum of squares
}

// at is the fitted value at a load.
func (f fit) at(load float64) float64 {
	turn := (f.from + f.to) / 2
	if load <= turn || f.highest <= turn {
		return f.floor
	}
	return f.floor + f.rise*(load-turn)/(f.highest-turn)
}

// fit finds the least squares fit of two joined pieces, exactly. The break lies either
// at one of the loads, or inside a gap where both pieces, fitted separately, happen to
// meet (D. J. Hudson, Journal of the American Statistical Association 61, 1966, pages
// 1097 to 1129).
func (c *curve) fit() fit {
	n := len(c.levels)
	above := make([]sums, n) // the loads from each one on, up to the highest
	for i := n - 1; i >= 0; i-- {
		if i < n-1 {
			above[i] = above[i+1]
		}
		above[i].add(&c.levels[i])
	}
	best := fit{from: c.highest(), to: c.highest(), highest: c.highest(), floor: above[0].mean(), misfit: above[0].flat()}
	try := func(f fit) {
		if f.rise > 0 && f.misfit < best.misfit {
			best = f
		}
	}
	var below sums
	for i := range n - 1 {
		below.add(&c.levels[i])
		at := c.hinge(i, below, above[i+1])
		if i == n-2 {
			at.to = c.highest()
		}
		try(at)
		if i < n-2 { // a line needs two loads
			if inside, ok := c.inGap(i, below, above[i+1]); ok {
				try(inside)
			}
		}
	}
	return best
}

// inGap fits a floor to the loads up to i and a line to those above; ok is false if
// they do not meet between load i and the next.
func (c *curve) inGap(i int, below, above sums) (fit, bool) {
	slope, start, misfit := above.line()
	floor := below.mean()
	if slope <= 0 {
		return fit{}, false
	}
	at := (floor - start) / slope
	if at <= c.levels[i].load || at >= c.levels[i+1].load {
		return fit{}, false
	}
	return fit{from: at, to: at, floor: floor, rise: slope * (c.highest() - at), highest: c.highest(), misfit: below.flat() + misfit}, true
}

// hinge fits with the break at load i: a line over the distance from it, which
// is zero for all loads up to it.
func (c *curve) hinge(i int, below, above sums) fit {
	at := c.levels[i].load
	all := sums{
		w: below.w + above.w, wy: below.wy + above.wy, wyy: below.wyy + above.wyy,
		wx:  above.wx - at*above.w,
		wxx: above.wxx - 2*at*above.wx + at*at*above.w,
		wxy: above.wxy - at*above.wy,
	}
	slope, floor, misfit := all.line()
	return fit{from: at, to: at, floor: floor, rise: slope * (c.highest() - at), highest: c.highest(), misfit: misfit}
}

// sums are weighted sums over levels, from which a straight line is computed.
type sums struct{ w, wx, wxx, wy, wyy, wxy float64 }

func (s *sums) add(l *level) {
	s.w += l.w
	s.wx += l.w * l.load
	s.wxx += l.w * l.load * l.load
	s.wy += l.wy
	s.wyy += l.wyy
	s.wxy += l.wy * l.load
}

func (c *curve) whole() sums {
	var s sums
	for i := range c.levels {
		s.add(&c.levels[i])
	}
	return s
}

func (s sums) mean() float64 { return s.wy / s.w }

// flat is the sum of squares around the mean.
func (s sums) flat() float64 { return max(0, s.wyy-s.wy*s.wy/s.w) }

// line is the least squares line: its slope, its value at x = 0, and the sum of
// squares around it.
func (s sums) line() (slope, start, misfit float64) {
	xx := s.wxx - s.wx*s.wx/s.w
	xy := s.wxy - s.wx*s.wy/s.w
	if xx <= 0 || math.IsNaN(xx) {
		return 0, s.mean(), s.flat()
	}
	slope = xy / xx
	return slope, (s.wy - slope*s.wx) / s.w, max(0, s.flat()-slope*xy)
}
