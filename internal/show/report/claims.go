package report

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Claim is a published claim and what was measured of it.
type Claim struct {
	Says      string
	Published string // "" if no figures were given
	Measured  string // the figure that the claim is about, with its ends; "": an order
	Cells     string // what the figure is of
	Verdict   summary.Verdict
	Reason    string
	Range     *Range // nil: no interval, or no bound
	Scale     Scale  // of the range; each claim has its own
}

func newClaims(s *summary.Summary, names []string) []Claim {
	var all []Claim
	for i := range s.Claims {
		c := &s.Claims[i]
		one := Claim{Says: display.Plain(c.Says), Published: display.Plain(c.Published), Cells: narrative.ClaimedCells(s, names, c),
			Verdict: summary.Verdict(display.Plain(c.Verdict.String())), Reason: display.Plain(c.Reason)}
		if c.Value != nil || c.Low != nil {
			one.Measured = narrative.ClaimFigure(c.Value, c.Low, c.High, c.IntervalOf, c.ValueUnit())
		}
		one.Range, one.Scale = claimRange(c)
		all = append(all, one)
	}
	return all
}

// Mark is the sign of a verdict, and the tone in which it is written.
func (c *Claim) Mark() (string, display.Tone) {
	switch c.Verdict {
	case summary.Reproduced:
		return "✓", display.Good
	case summary.NotReproduced:
		return "✗", display.Bad
	}
	return "inconclusive:", display.Normal
}

// Found is what was measured, on one line.
func (c *Claim) Found() string {
	if c.Measured == "" {
		return c.Cells
	}
	return c.Cells + ": " + c.Measured
}

// claimRange shows the claimed side and the interval that was measured, on a scale
// from 0.
func claimRange(c *summary.Claim) (*Range, Scale) {
	side, where := &Bound{Above: true}, "above "
	bound := summary.Finite(c.Above)
	if bound == nil {
		bound, side.Above, where = summary.Finite(c.Below), false, "below "
	}
	low, high, value := summary.Finite(c.Low), summary.Finite(c.High), summary.Finite(c.Value)
	if bound == nil || low == nil {
		return nil, Scale{}
	}
	side.At = *bound
	top := math.Max(*bound, *low)
	for _, v := range []*float64{high, value} {
		if v != nil {
			top = math.Max(top, *v)
		}
	}
	write := func(v float64) string { return narrative.InUnit(v, c.ValueUnit()) }
	scale := scaleTo(top*1.05, write)
	if !scale.Drawn() {
		return nil, scale
	}
	return &Range{Value: value, Low: low, High: high, Claimed: side,
		Label: "claimed: " + where + write(*bound) + "; measured: " + narrative.ClaimFigure(value, low, high, c.IntervalOf, c.ValueUnit())}, scale
}
