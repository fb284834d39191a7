package report

import "math"

// forest is a small picture of a difference: a point with its interval, beside
// the line of no difference. All of a table's share one scale.
type forest struct {
	Zero, Low, Long, Tick float64 // CSS pixels
	Label                 string
}

// forestScale maps a metric's differences to places.
type forestScale struct{ from, to float64 }

func newForestScale(t *shifts) forestScale {
	f := forestScale{}
	for _, r := range t.Rows {
		f.from, f.to = math.Min(f.from, math.Min(r.Of.Low, r.Of.Shift)), math.Max(f.to, math.Max(r.Of.High, r.Of.Shift))
	}
	margin := 0.06 * (f.to - f.from)
	return forestScale{f.from - margin, f.to + margin}
}

func (f forestScale) x(v float64) float64 {
	return math.Round(10*(stripMargin+(v-f.from)/(f.to-f.from)*(stripWidth-2*stripMargin))) / 10
}

// draw is nil where there is nothing to draw: no difference, or one that has no
// end.
func (f forestScale) draw(r *shift) *forest {
	span := f.to - f.from
	if !(span > 0) || math.IsInf(span, 0) {
		return nil
	}
	low := f.x(r.Of.Low)
	return &forest{Zero: f.x(0), Low: low, Long: math.Max(1, f.x(r.Of.High)-low), Tick: f.x(r.Of.Shift),
		Label: r.Shift + ", 95% interval " + r.Interval}
}

// forests draws a table's differences.
func (t *shifts) forests() {
	scale := newForestScale(t)
	for i := range t.Rows {
		t.Rows[i].Forest = scale.draw(&t.Rows[i])
	}
}
