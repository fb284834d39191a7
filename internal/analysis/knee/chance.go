package knee

import (
	"math"
	"math/rand/v2"
	"slices"
)

// A null is what the curve is without a knee: its values at the points, and its weighted
// sum of squares.
type null func(*curve) (expected func(load float64) float64, misfit float64)

// flat is the null that latency does not depend on the load.
func (c *curve) flat() (func(float64) float64, float64) {
	all := c.whole()
	mean := all.mean()
	return func(float64) float64 { return mean }, all.flat()
}

// straight is the null that the logarithm of latency changes evenly over all loads, so
// that it has no floor. A latency that itself rises evenly bends the other way.
func (c *curve) straight() (func(float64) float64, float64) {
	slope, start, misfit := c.whole().line()
	return func(load float64) float64 { return start + slope*load }, misfit
}

// gain is how much better a floor with a rise fits than a null, relative to what neither
// explains: an F statistic without its constant factor.
func (c *curve) gain(without null) float64 {
	_, misfit := without(c)
	with := c.fit().misfit
	if with <= 1e-9*misfit { // to the precision of the arithmetic
		return math.Inf(1)
	}
	return (misfit - with) / with
}

// chance is the probability of a gain as large as the curve's if the null holds, by a
// permutation test: the distances from the null, each divided by its standard deviation,
// are shuffled over the points (D. Freedman, D. Lane, Journal of Business and Economic
// Statistics 1, 1983, pages 292 to 298). The place of the break is searched for in every
// permutation as in the curve, so the search is accounted for, and one outlier can only
// pass for a rise if it has as few other places as 1 in 20. It is not computed exactly
// above 1 - confidence.
func (c *curve) chance(without null, random *rand.Rand) float64 {
	expected, _ := without(c)
	observed := c.gain(without) * (1 - 1e-9)
	distances := make([]float64, len(c.points))
	for i, p := range c.points {
		distances[i] = (p.y - expected(p.load)) * math.Sqrt(p.weight)
	}
	again := curve{points: slices.Clone(c.points), levels: slices.Clone(c.levels)}
	asLarge, enough := 1, int((1-confidence)*(resamples+1))
	for range resamples {
		random.Shuffle(len(distances), func(i, j int) { distances[i], distances[j] = distances[j], distances[i] })
		for i, p := range c.points {
			again.points[i].y = expected(p.load) + distances[i]/math.Sqrt(p.weight)
		}
		again.sum()
		if again.gain(without) >= observed {
			asLarge++
		}
		if asLarge > enough {
			break
		}
	}
	return float64(asLarge) / (resamples + 1)
}
