package stats

import "math"

// Proportion is the 95% interval of a probability that was seen k times in n, by E. B.
// Wilson's score (Journal of the American Statistical Association 22, 1927, pages 209 to
// 212). It assumes that the n are independent; with events in clusters the true interval is
// wider. n must be positive.
func Proportion(k, n float64) (low, high float64) {
	z := math.Sqrt2 * math.Erfinv(Level)
	p, square := k/n, z*z/n
	middle := (p + square/2) / (1 + square)
	half := z * math.Sqrt(p*(1-p)/n+square/(4*n)) / (1 + square)
	if k == 0 {
		return 0, middle + half
	}
	return middle - half, min(1, middle+half)
}
