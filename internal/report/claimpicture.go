package report

import (
	"math"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/results"
)

// claimPicture is a small picture of a claim: where its figure is said to lie,
// and the interval in which it was seen. Each claim has a scale of its own,
// which begins at 0. Lengths are CSS pixels.
type claimPicture struct {
	Side, SideLong float64 // the claimed side
	Bound          float64
	Low, Long      float64 // the interval
	Open           bool    // it has no upper end
	Tick           float64
	Ticked         bool
	Label          string // for those who cannot see it
	To             string // the end of the scale
}

// newClaimPicture is nil where there is no interval, or no bound.
func newClaimPicture(c *analysis.Claim) *claimPicture {
	bound, above := results.Finite(c.Above), true
	if bound == nil {
		bound, above = results.Finite(c.Below), false
	}
	low, high, value := results.Finite(c.Low), results.Finite(c.High), results.Finite(c.Value)
	if bound == nil || low == nil {
		return nil
	}
	top := math.Max(*bound, *low)
	for _, v := range []*float64{high, value} {
		if v != nil {
			top = math.Max(top, *v)
		}
	}
	if top <= 0 {
		return nil
	}
	scale := stripScale{Max: roundUp(top * 1.05)}
	end := scale.Max
	out := &claimPicture{Bound: scale.x(*bound), Open: high == nil, Ticked: value != nil, To: inUnit(scale.Max, c.ValueUnit())}
	if high != nil {
		end = *high
	}
	out.Low = scale.x(*low)
	out.Long = math.Max(2, scale.x(end)-out.Low)
	if value != nil {
		out.Tick = scale.x(*value)
	}
	out.Side, out.SideLong = scale.x(0), out.Bound-scale.x(0)
	where := "below "
	if above {
		out.Side, out.SideLong = out.Bound, scale.x(scale.Max)-out.Bound
		where = "above "
	}
	out.Label = "claimed: " + where + inUnit(*bound, c.ValueUnit()) + "; measured: " + claimFigure(value, low, high, c.IntervalOf, c.ValueUnit())
	return out
}
