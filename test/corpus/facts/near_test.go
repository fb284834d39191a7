package facts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// ends are the ends of a quantile of a cell: the 95% interval of the median over trials, or
// the range of few trials. known is false for one trial, whose interval is a bootstrap.
func (c *cell) ends(quantile string) (low, high float64, known bool) {
	values := c.values(quantileOf(quantile))
	if low, high, known = medianEnds(values); known {
		return low, high, true
	}
	if len(values) < 2 {
		return 0, math.Inf(1), false
	}
	return slices.Min(values), slices.Max(values), true
}

// failing is the 95% interval of the share of failed requests: the shares p from which the
// seen one differs by at most 1.96 standard deviations of a sample, by trying them.
func (c *cell) failing() (low, high float64) {
	p := c.all()
	n, seen := float64(p.requests()), float64(p.bad())/float64(p.requests())
	inside := func(share float64) bool {
		return math.Abs(seen-share) <= 1.959964*math.Sqrt(share*(1-share)/n)
	}
	end := func(from, to float64) float64 { // from is inside, to is not
		for range 60 {
			if middle := (from + to) / 2; inside(middle) {
				from = middle
			} else {
				to = middle
			}
		}
		return from
	}
	return end(seen, 0), end(seen, 1)
}

// undecided reports whether an interval of the cell contains the objective, as far as the
// trials show it.
func (c *cell) undecided() bool {
	o := c.objective
	if o.Quantile != "" {
		limit := float64(o.Latency) / 1e6
		if low, high, _ := c.ends(o.Quantile); low <= limit && limit < high {
			return true
		}
	}
	low, high := c.failing()
	return o.Availability > 0 && low <= 1-o.Availability/100 && 1-o.Availability/100 < high
}

var nearOf = regexp.MustCompile(`^the (95% interval of its|range of its trials') (availability|p[\d.]+), (.+) to (.+), contains the objective$`)

// near checks "the 95% interval of its p99, 77.6 to 114 ms, contains the objective".
func (k *check) near(text string) error {
	m := nearOf.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%q: %w", text, errUnknown)
	}
	if !k.about.undecided() {
		return fmt.Errorf("the interval of %s does not contain the objective", k.about.label())
	}
	if m[2] == "availability" {
		low, high := k.about.failing()
		return first(is("the lower end", m[3], 100*(1-high)), is("the higher end", m[4], 100*(1-low)))
	}
	low, high, known := k.about.ends(m[2])
	if !known {
		return nil
	}
	if _, _, interval := medianEnds(k.about.values(quantileOf(m[2]))); interval != strings.HasPrefix(m[1], "95%") {
		return fmt.Errorf("%q of %d trials", m[1], len(k.about.trials))
	}
	if m[4] == "infinite" {
		return first(need(math.IsInf(high, 1), "the higher end is %g ms", high), is("the lower end", m[3], low))
	}
	return first(is("the lower end", m[3], low), is("the higher end", m[4], high))
}
