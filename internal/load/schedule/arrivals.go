package schedule

import (
	"math/rand/v2"
	"time"
)

// Arrivals are the moments at which one share of an open loop's requests are
// due, in order.
//
// They are made in operational time, in which the rate is always one: even
// arrivals lie one apart there, Poisson arrivals are sums of exponentials with
// a mean of one. The inverse of the rate's integral maps them to real time, so
// that ramps are exact and not a staircase.
type Arrivals struct {
	curve  *Curve
	part   int     // of the curve, in which the last arrival lay
	at     float64 // operational time of the last arrival
	step   float64
	random *rand.Rand // nil: even
}

// middle is the place of an even arrival within its own step of operational
// time. Halfway, an interval that should hold a whole number of arrivals holds
// it whatever the rounding, and a ramp from zero has no arrival at zero.
const middle = 0.5

// Even returns the arrivals i, i+n, i+2n, … of an evenly spaced load, for share
// i of n.
func Even(curve *Curve, share, shares int) *Arrivals {
	first := float64(share) + middle
	return &Arrivals{curve: curve, at: first - float64(shares), step: float64(shares)}
}

// Poisson returns arrivals at an n-th of the rate, at random and independent of
// each other and of the other shares. The same seed and share give the same
// arrivals.
func Poisson(curve *Curve, share, shares int, seed uint64) *Arrivals {
	return &Arrivals{
		curve:  curve,
		step:   float64(shares),
		random: rand.New(rand.NewPCG(seed, uint64(share))),
	}
}

// Next returns the next arrival, and false after the last. It does not
// allocate.
func (a *Arrivals) Next() (time.Duration, bool) {
	if a.random == nil {
		a.at += a.step
	} else {
		a.at += a.step * a.random.ExpFloat64()
	}
	for a.part+1 < len(a.curve.parts) && a.at >= a.curve.parts[a.part+1].before {
		a.part++
	}
	return a.curve.inverseIn(a.part, a.at)
}
