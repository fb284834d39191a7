package stats

import "math"

// Trend is the two-sided P of H. B. Mann's test for a trend (Econometrica 13, 1945): the
// probability that values in random order rise or fall at least as consistently as these.
// Equal values count for neither. It is exact up to exactTrend values, and normal above.
func Trend(v []float64) float64 {
	n, sum := len(v), 0
	for i := range v {
		for _, later := range v[i+1:] {
			switch {
			case later > v[i]:
				sum++
			case later < v[i]:
				sum--
			}
		}
	}
	if sum < 0 {
		sum = -sum
	}
	if n > exactTrend {
		z := (float64(sum) - 1) / math.Sqrt(float64(n*(n-1)*(2*n+5))/18)
		return min(1, math.Erfc(z/math.Sqrt2))
	}
	// The pairs in falling order of a random permutation: the next value falls below as many
	// of those before it as any number from 0 to all.
	inversions := []float64{1}
	for i := 2; i <= n; i++ {
		next := make([]float64, len(inversions)+i-1)
		for k, p := range inversions {
			for more := range i {
				next[k+more] += p / float64(i)
			}
		}
		inversions = next
	}
	p, most := 0.0, (n*(n-1)/2-sum)/2
	for k := 0; k <= most && k < len(inversions); k++ {
		p += inversions[k]
	}
	return min(1, 2*p)
}

const exactTrend = 40
