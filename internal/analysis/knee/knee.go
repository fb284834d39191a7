// Package knee finds where latency leaves its floor: the load from which on a
// latency quantile rises. It fits two pieces to the logarithm of the latency
// over the load, a flat one and a rising one that begins where the flat one
// ends, and bootstraps the fit for an interval. It is pure: points in, a knee or
// the reason why there is none out.
//
// A knee is not the breaking point: it is where waiting starts to show, often at
// half the load that the service can bear.
package knee

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/aclements/go-moremath/mathx"
)

// Point is one steady window. There may be several of a load.
type Point struct {
	Load    float64  // requests/s, or users
	Latency float64  // a quantile of the window's latencies, ms
	Weight  float64  // how much it counts: the window's seconds; 0 is 1
	OfLimit *float64 // CPU of the limit, 0..1; nil: no limit, or not measured
}

// Knee is where latency leaves its floor. Loads are in the points' unit.
type Knee struct {
	Load      float64
	Low, High float64 // of the 95% interval of Load
	FloorMS   float64 // the latency below it
	// The CPU of the limit at Load, Low and High, 0..1, between the points that
	// measured it; nil where fewer than two loads did.
	OfLimit, OfLimitLow, OfLimitHigh *float64
}

const (
	fewLoads   = 5    // distinct loads that a knee wants
	leastRise  = 0.25 // of the floor: what is less is not called a rise
	cliff      = 10   // times the floor: what lies behind is the breaking point's matter
	resamples  = 999
	confidence = 0.95
)

// Find returns the knee, or nil and the reason in words: fewer than five
// distinct loads, latency that never rises by a quarter of its floor or not
// beyond its noise, or no floor at all. The same seed gives the same interval.
// Points without a positive latency and load are passed over.
func Find(points []Point, seed uint64) (*Knee, string) {
	all := newCurve(points)
	if n := len(all.levels); n < fewLoads {
		return nil, fmt.Sprintf("latency was measured at %d loads; a knee wants at least %d", n, fewLoads)
	}
	c := all.upToTheCliff()
	best := c.fit()
	if rise := math.Exp(best.rise) - 1; rise < leastRise {
		return nil, fmt.Sprintf("latency stays within %.0f%% of its floor up to the highest load, %.4g", leastRise*100, c.highest())
	}
	if best.to <= c.levels[0].load {
		return nil, fmt.Sprintf("latency rises from the lowest load on, %.4g: its floor was not seen", c.levels[0].load)
	}
	if !c.beyondNoise(best) {
		return nil, "latency varies as much between windows of one load as over the loads: a rise cannot be told"
	}
	k := &Knee{Load: (best.from + best.to) / 2, FloorMS: math.Exp(best.floor)}
	k.Low, k.High = c.interval(best, rand.New(rand.NewPCG(seed, 0)))
	k.OfLimit, k.OfLimitLow, k.OfLimitHigh = all.ofLimit(k.Load), all.ofLimit(k.Low), all.ofLimit(k.High)
	return k, ""
}

// beyondNoise is an F test of the two pieces against one flat line. The place of
// the break counts as a parameter like the floor and the slope, and once more
// because it was looked for.
func (c *curve) beyondNoise(f fit) bool {
	const searched = 3
	left := float64(len(c.points) - 1 - searched)
	flat := c.whole().flat()
	if f.misfit <= 1e-9*flat {
		return true // to the precision of the arithmetic
	}
	if left <= 0 {
		return false
	}
	ratio := (flat - f.misfit) / searched / (f.misfit / left)
	// The chance of a larger ratio, by the distribution of F.
	return mathx.BetaInc(left/(left+searched*ratio), left/2, searched/2.0) < 1-confidence
}

// interval bootstraps the break. The loads were chosen, not drawn, so they stay,
// and each point's distance from the fit is drawn anew: as it is or turned
// round, so that loads may differ in their noise (the wild bootstrap of C. F. J.
// Wu, Annals of Statistics 14, 1986, pages 1261 to 1295).
func (c *curve) interval(f fit, random *rand.Rand) (low, high float64) {
	n := float64(len(c.points))
	inflate := math.Sqrt(n / max(1, n-3)) // the fit has taken three parameters out of the distances
	again := curve{points: slices.Clone(c.points), levels: slices.Clone(c.levels)}
	from, to := make([]float64, resamples), make([]float64, resamples)
	for i := range resamples {
		for k, p := range c.points {
			expected := f.at(p.load)
			distance := inflate * (p.y - expected)
			if random.Uint64()&1 == 0 {
				distance = -distance
			}
			again.points[k].y = expected + distance
		}
		again.sum()
		drawn := again.fit()
		from[i], to[i] = drawn.from, drawn.to
	}
	slices.Sort(from)
	slices.Sort(to)
	k := int((resamples + 1) * (1 - confidence) / 2)
	return min(from[k-1], f.from), max(to[resamples-k], f.to)
}
