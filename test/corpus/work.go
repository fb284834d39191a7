package corpus

import (
	"math"
	"math/rand/v2"
	"time"
)

// Fixed is work that always takes the same time.
func Fixed(d time.Duration) func(*rand.Rand) time.Duration {
	return func(*rand.Rand) time.Duration { return d }
}

// Exponential is work with an exponential distribution.
func Exponential(mean time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration { return time.Duration(float64(mean)*r.ExpFloat64()) + 1 }
}

// Mixed is work that is long for a share of the requests.
func Mixed(short, long time.Duration, share float64) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration {
		if r.Float64() < share {
			return long
		}
		return short
	}
}

// Lognormal is work whose logarithm has the standard deviation sigma.
func Lognormal(mean time.Duration, sigma float64) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration {
		return time.Duration(float64(mean)*math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)) + 1
	}
}

// Pareto is work with a tail that falls with the power alpha, which is above 1.
func Pareto(mean time.Duration, alpha float64) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration {
		least := float64(mean) * (alpha - 1) / alpha
		return time.Duration(least*math.Pow(1-r.Float64(), -1/alpha)) + 1
	}
}
