package schedule

import (
	"math/rand/v2"
	"time"
)

// Arrivals are the times at which one share of an open loop's requests are due, in
// order.
//
// They are computed in operational time, in which the rate is always one: there the
// distance of even arrivals is one, and Poisson arrivals are sums of exponentials with
// a mean of one. The inverse of the rate's integral maps them to real time, so ramps
// are exact and not a staircase.
type Arrivals struct {
	curve  *Curve
	part   int     // the part of the curve that contains the last arrival
	at     float64 // operational time of the last arrival
	step   float64
	random *rand.Rand // nil: even
}

// middle is the position of an even arrival within its step of operational time. With
// one half, an interval with a whole number of arrivals contains exactly that many,
// regardless of rounding, and a ramp from zero has no arrival at zero.
const middle = 0.5

// Even returns the arrivals i, i+n, i+2n, … of an evenly spaced load, for share
// i of n.
func Even(curve *Curve, share, shares int) *Arrivals {
	first := float64(share) + middle
	return &Arrivals{curve: curve, at: first - float64(shares), step: float64(shares)}
}

// Poisson returns random arrivals at an n-th of the rate, independent of each other and
// of the other shares. The same seed and share give the same arrivals.
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
