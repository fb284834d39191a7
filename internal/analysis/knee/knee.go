// Package knee finds where latency leaves its floor: the load from which a latency
// quantile rises. It fits two pieces to the logarithm of the latency over the load: a
// flat one, and a rising one that begins where the flat one ends. There is a knee only
// if this fits better than a flat line and better than a rising one, by more than chance
// explains (chance.go). It bootstraps the fit for an interval. It is pure: points in, a
// knee or the reason for its absence out.
//
// A knee is not the breaking point. It is where waiting starts to show, often at half
// the load that the service can handle.
package knee

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Knee is where latency leaves its floor. Loads are in the points' unit.
type Knee struct {
	Load      float64
	Low, High float64 // of the 95% interval of Load
	FloorMS   float64 // the latency below it
	// OfLimit is the CPU of the limit at Load, 0..1, and OfLimitLow and OfLimitHigh the
	// lowest and the highest of those at Load, Low and High, interpolated between points
	// that measured it; nil if fewer than two loads did.
	OfLimit, OfLimitLow, OfLimitHigh *float64
}

const (
	fewLoads   = 5    // distinct loads that a knee needs
	leastRise  = 0.25 // of the floor: less is not called a rise
	cliff      = 10   // times the floor: what lies beyond belongs to the breaking point
	resamples  = 999
	confidence = 0.95
	// mayErr is the P below which a test finds a rise, or a bend. Windows can be
	// exchanged only if the noise is the same at all loads. If it is not, a test at 0.05
	// errs in up to 7% of the measurements, and one at 0.025 in about 5% (TestErrorRates).
	mayErr = 0.025
)

// Absence is why there is no knee.
type Absence string

const (
	FewLoads    Absence = "few loads"     // fewer distinct loads than it takes
	Failures    Absence = "failures"      // too many requests failed even at the lowest loads
	Flat        Absence = "flat"          // latency stays within a quarter of its floor
	NoFloorSeen Absence = "no floor seen" // latency already rises at the lowest load
	Noise       Absence = "noise"         // it varies as much within a load as over the loads
	NoBend      Absence = "no bend"       // it may rise from the lowest load on
)

// Find returns the knee, or nil and why there is none. The same seed gives the same
// interval. Points without a positive latency and load are ignored.
func Find(points []Point, seed uint64) (*Knee, Absence) {
	all := newCurve(points)
	if len(all.levels) < fewLoads {
		return nil, FewLoads
	}
	whole, top := all.limited()
	if whole == nil {
		return nil, Failures
	}
	c := whole.upToTheCliff(top)
	best := c.fit()
	random := rand.New(rand.NewPCG(seed, 0))
	switch {
	case math.Exp(best.rise)-1 < leastRise:
		return nil, Flat
	case best.to <= c.levels[0].load:
		return nil, NoFloorSeen
	case whole.chance((*curve).flat, random) > mayErr:
		return nil, Noise
	case c.chance((*curve).straight, random) > mayErr:
		return nil, NoBend
	}
	k := &Knee{Load: (best.from + best.to) / 2, FloorMS: math.Exp(best.floor)}
	k.Low, k.High = c.interval(best, random)
	k.OfLimit, k.OfLimitLow, k.OfLimitHigh = all.ofLimit(k.Load), all.ofLimit(k.Low), all.ofLimit(k.High)
	if k.OfLimit != nil { // beyond its breaking point a service may use less than at it
		at := []float64{*k.OfLimit, *k.OfLimitLow, *k.OfLimitHigh}
		*k.OfLimitLow, *k.OfLimitHigh = slices.Min(at), slices.Max(at)
	}
	return k, ""
}

// interval bootstraps the break. The loads were chosen, not drawn, so they stay. The
// distance of each point from the fit gets a random sign, so loads may differ in their
// noise (the wild bootstrap of C. F. J. Wu, Annals of Statistics 14, 1986, pages 1261
// to 1295).
func (c *curve) interval(f fit, random *rand.Rand) (low, high float64) {
	n := float64(len(c.points))
	inflate := math.Sqrt(n / max(1, n-3)) // the fit took three parameters out of the distances
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
