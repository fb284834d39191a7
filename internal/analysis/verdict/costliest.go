package verdict

import "github.com/millicore/millicore/internal/analysis/summary"

// wellKnown is the half of the interval of a cost, as a share of it, up to which it is stated.
const wellKnown = 0.2

// Costliest is the kind of request with most of the CPU time, of a cell that shows its cost within
// a fifth and that no other kind has as much; nil: it does not.
func Costliest(c *summary.Cell) *summary.KindFigures {
	if len(c.Kinds) == 0 {
		return nil
	}
	top := &c.Kinds[0]
	low, _, known := top.EndsOfShare()
	if !known || *top.CPUHigh-*top.CPUMS > wellKnown**top.CPUMS {
		return nil
	}
	for i := range c.Kinds[1:] {
		if _, high, ok := c.Kinds[1+i].EndsOfShare(); !ok || high >= low {
			return nil
		}
	}
	return top
}
