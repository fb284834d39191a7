package knee

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Point is one steady window. Several may have the same load.
type Point struct {
	Load    float64  // requests/s, or users
	Latency float64  // a quantile of the window's latencies, ms; infinite if too many requests failed
	Above   float64  // how many of its requests are above the quantile; below 1 counts as 1
	OfLimit *float64 // CPU of the limit, 0..1; nil: no limit, or not measured
}

// PointOf is the point of a window by the latencies of its requests and a share, such as
// 0.99 for p99; false if the quantile is beyond the slowest request.
func PointOf(load float64, latencies *signals.Histogram, share float64) (Point, bool) {
	above := (1 - share) * float64(latencies.Count())
	if above < 1-1e-9 {
		return Point{}, false
	}
	return Point{Load: load, Latency: centred(latencies, share), Above: above}, true
}

// centred is a quantile of latencies in ms whose logarithm does not depend on how many
// there are. The value at rank q*n is on average lower the fewer requests there are: by
// half a request, which is much of a tail of five. So the p99 of a service would rise
// with its load because more requests were measured. The value at the rank q*n + 0.42,
// interpolated, has the mean of the true quantile for tails that fall as a power (the
// ranks' means are in A. Rényi, Acta Mathematica Hungarica 4, 1953, pages 191 to 231),
// and nearly so for exponential ones.
func centred(h *signals.Histogram, q float64) float64 {
	n := float64(h.Count())
	rank := min(q*n+0.42, n)
	below := math.Floor(rank)
	low, high := ms(h, below/n), ms(h, min(below+1, n)/n)
	return low * math.Pow(high/low, rank-below)
}

func ms(h *signals.Histogram, q float64) float64 {
	return float64(h.Quantile(q)) / float64(time.Millisecond)
}
