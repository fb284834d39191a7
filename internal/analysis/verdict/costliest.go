package verdict

import "github.com/millicore/millicore/internal/analysis/summary"

// wellKnown is the larger half of the interval of a cost, as a share of it, up to which it is stated.
const wellKnown = 0.2

// Costliest is the kind of request with most of the CPU time, of a cell that shows its cost within
// a fifth and that no other kind has as much; nil: it does not.
func Costliest(c *summary.Cell) *summary.KindFigures {
	if len(c.Kinds) == 0 {
		return nil
	}
	top := &c.Kinds[0]
	low, _, known := top.EndsOfShare()
	if !known || max(*top.CPUHigh-*top.CPUMS, *top.CPUMS-*top.CPULow) > wellKnown**top.CPUMS {
		return nil
	}
	for i := range c.Kinds[1:] {
		if _, high, ok := c.Kinds[1+i].EndsOfShare(); !ok || high >= low {
			return nil
		}
	}
	return top
}

// Longer is how many times as long a cell must be measured to know the CPU time of each kind of
// request with a tenth of it within a tenth: an interval gets narrower as the root of the time.
// 0: it is known so well, or not at all, or longer does not help, as of a mix that varied for as long
// as it may.
func Longer(c *summary.Cell) (times float64) {
	const tenth = 0.1
	for i := range c.Kinds {
		k := &c.Kinds[i]
		if _, _, known := k.EndsOfShare(); !known || *k.ShareOfCPU < tenth || k.Varied {
			continue
		}
		off := (*k.CPUHigh - *k.CPUMS) / *k.CPUMS
		if (*k.CPUMS-*k.CPULow) / *k.CPUMS > 2*max(off, tenth) {
			return 0 // what the service does beside its requests, which no length of time removes
		}
		if off > tenth {
			times = max(times, (off/tenth)*(off/tenth))
		}
	}
	return times
}
