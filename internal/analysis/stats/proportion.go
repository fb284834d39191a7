package stats

import "math"

// Proportion is the 95% interval of a probability that was seen k times in n: each end
// excludes at most 2.5%, for any probability (C. J. Clopper, E. S. Pearson, Biometrika 26,
// 1934). E. B. Wilson's score excludes up to 16% where few events are expected. It assumes
// that the n are independent: of events in clusters, divide both by Clustering. n must be
// positive; k and n need not be whole.
func Proportion(k, n float64) (low, high float64) {
	const tail = (1 - Level) / 2
	low, high = 0, 1
	if k > 0 {
		low = solved(func(p float64) bool { return beta(p, k, n-k+1) < tail })
	}
	if k < n {
		high = solved(func(p float64) bool { return beta(p, k+1, n-k) < 1-tail })
	}
	return low, high
}

// Clustering is by how much a number of events in equal parts varies more than that of
// independent events, 1 or more: the mean square of Pearson's residuals.
func Clustering(events []float64) float64 {
	if len(events) < 2 || mean(events) <= 0 {
		return 1
	}
	sum := 0.0
	for _, k := range events {
		sum += (k - mean(events)) * (k - mean(events)) / mean(events)
	}
	return max(1, sum/float64(len(events)-1))
}

// AtMost is the probability of at most k events, if so many are expected on average.
func AtMost(k int, expected float64) float64 {
	sum, p := 0.0, math.Exp(-expected)
	for i := 0; i <= k; i++ {
		sum, p = sum+p, p*expected/float64(i+1)
	}
	return sum
}

// FewAbove is the lowest rank, from 0, that at most 5% of samples of n lie below, if each
// value does with a probability; n if there is none.
func FewAbove(n int, below float64) int {
	sum, p, rank := 0.0, math.Pow(below, float64(n)), n
	for rank > 0 && sum+p <= 1-Level {
		sum += p
		p *= float64(rank) / float64(n-rank+1) * (1 - below) / below
		rank--
	}
	return rank
}

// FewMean is an interval of the mean of 2 to 5 values, each end of which excludes 5% by
// Student's t, if they are about normal: order statistics of so few exclude more. ok is
// false for another number.
func FewMean(v []float64) (low, high float64, ok bool) {
	t := [...]float64{6.314, 2.920, 2.353, 2.132} // of 1 to 4 degrees of freedom
	if len(v) < 2 || len(v) > len(t)+1 {
		return 0, 0, false
	}
	half := t[len(v)-2] * math.Sqrt(variance(v)/float64(len(v)))
	return mean(v) - half, mean(v) + half, true
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

func variance(v []float64) float64 {
	sum, m := 0.0, mean(v)
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return sum / float64(len(v)-1)
}

// solved is the probability up to which below holds.
func solved(below func(p float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if middle := (low + high) / 2; below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// beta is the regularized incomplete beta function, by its continued fraction (NIST
// Digital Library of Mathematical Functions, 8.17.22).
func beta(x, a, b float64) float64 {
	switch {
	case x <= 0 || x >= 1:
		return x
	case x > (a+1)/(a+b+2):
		return 1 - beta(1-x, b, a)
	}
	whole, _ := math.Lgamma(a + b)
	one, _ := math.Lgamma(a)
	other, _ := math.Lgamma(b)
	const least = 1e-300
	not0 := func(v float64) float64 {
		if math.Abs(v) < least {
			return least
		}
		return v
	}
	c, d := 1.0, 1/not0(1-(a+b)*x/(a+1))
	sum := d
	for m := 1.0; m < 1e5; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/not0(1+even*d), not0(1+even/c)
		sum *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/not0(1+odd*d), not0(1+odd/c)
		sum *= d * c
		if math.Abs(d*c-1) < 1e-12 {
			break
		}
	}
	return math.Exp(whole-one-other+a*math.Log(x)+b*math.Log1p(-x)) * sum / a
}
