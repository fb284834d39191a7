package verdict

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/stats"
)

// Bound is by how much B may differ from A.
type Bound struct {
	Metric  string
	Above   bool    // fails above the value, else below
	Value   float64 // signed; in percent of A, or in the metric's unit for people
	Percent bool
}

// Outcome of a bound, by the 95% interval of the difference.
type Outcome string

const (
	Held      Outcome = "held"   // the whole interval lies within the bound
	Broken    Outcome = "broken" // the whole interval lies beyond it, and the difference is significant
	Undecided Outcome = "untold" // neither: it includes the bound, or there is none
)

// Ground is what the outcome of a bound rests on.
type Ground int

const (
	NotMeasured    Ground = iota // on either side
	NotTested                    // measured on one side only, too few trials, or not the service's: see Withheld
	Interval                     // the interval lies on one side of the bound
	Includes                     // the interval includes the bound
	NotSignificant               // beyond the bound, but not significant among the pairs
	Infinities                   // failed requests make the whole interval infinite, or most trials of one side only
	FewInfinities                // likewise, in too few trials
	SomeInfinities               // likewise, on both sides or in some trials
)

// Judgement is the outcome of a bound for one difference.
type Judgement struct {
	Outcome   Outcome
	Ground    Ground
	Low, High float64 // the interval in the unit of the bound; infinite if an end is not known
}

// Judge is a test of non-inferiority or, for a bound in the good direction, of its
// mirror image: not whether B differs from A, but whether it does by more than the
// bound. That no difference was seen is no proof that there is none.
func (b Bound) Judge(d *Difference) Judgement {
	switch {
	case d == nil:
		return Judgement{Outcome: Undecided, Ground: NotMeasured}
	case d.Verdict == Withheld:
		return Judgement{Outcome: Undecided, Ground: NotTested}
	case d.Verdict != OneSided && d.Verdict != TooFew:
		return b.byInterval(d)
	case d.failing():
		return b.infinite(d)
	}
	return Judgement{Outcome: Undecided, Ground: NotTested}
}

// byInterval judges by the 95% interval, also if failed requests make a latency infinite
// in some trials: the interval holds, with an end that is infinite or not. Only if it does
// not decide are the infinite trials the reason.
func (b Bound) byInterval(d *Difference) Judgement {
	j := Judgement{Outcome: Undecided, Ground: Includes, Low: b.end(d, d.Low, -1), High: b.end(d, d.High, 1)}
	switch side := b.side(j.Low, j.High); {
	case side == Broken && !d.Significant():
		j.Ground = NotSignificant
	case side != Undecided:
		j.Outcome, j.Ground = side, Interval
	case d.failing():
		return b.infinite(d)
	}
	if j.Ground == Interval && d.Low == nil && d.High == nil {
		j.Ground = Infinities
	}
	return j
}

// side is the outcome by the side of the bound on which a whole interval lies.
func (b Bound) side(low, high float64) Outcome {
	switch {
	case b.Above && high <= b.Value || !b.Above && low >= b.Value:
		return Held
	case b.Above && low > b.Value || !b.Above && high < b.Value:
		return Broken
	}
	return Undecided
}

// failing reports whether failed requests make the metric infinite in a trial.
func (d *Difference) failing() bool { return d.Infinite[0].N+d.Infinite[1].N > 0 }

// end is an end of the interval in the unit of the bound; one that is not known lies
// infinitely far in a direction. From 0 any step is more than any percentage.
func (b Bound) end(d *Difference, v *float64, direction int) float64 {
	switch {
	case v == nil && d.interval != nil && d.interval.Low == d.interval.High:
		return d.interval.Low // both are infinite in one direction
	case v == nil:
		return math.Inf(direction)
	case !b.Percent:
		return *v * d.Scale()
	case *v == 0:
		return 0
	case *d.A == 0:
		return math.Copysign(math.Inf(1), *v)
	}
	return 100 * *v / *d.A
}

// infinite judges a latency that is infinite in some trials: it differs if it is in most
// trials of one side and not of the other, and in more than chance explains.
func (b Bound) infinite(d *Difference) Judgement {
	a, of := d.Infinite[0], d.Infinite[1]
	sign, p := stats.CensoredTest(of.split(), a.split())
	rises, falls := sign > 0 && 2*of.N > of.Of && 2*a.N < a.Of, sign < 0 && 2*a.N > a.Of && 2*of.N < of.Of
	switch {
	case a.Of == 0 || of.Of == 0 || stats.LeastP(a.Of, of.Of) >= 1-stats.Level:
		return Judgement{Outcome: Undecided, Ground: FewInfinities}
	case p >= 1-stats.Level || !rises && !falls:
		return Judgement{Outcome: Undecided, Ground: SomeInfinities}
	case rises == b.Above:
		return Judgement{Outcome: Broken, Ground: Infinities}
	}
	return Judgement{Outcome: Held, Ground: Infinities}
}

// split has a 1 for each of the part, and a 0 for each other one.
func (p Part) split() []stats.Observed {
	all := make([]stats.Observed, p.Of)
	for i := range p.N {
		all[i] = stats.Known(1)
	}
	return all
}

// Scale makes a value of the metric one in its unit for people: shares are percent.
func (d *Difference) Scale() float64 {
	if d.Unit == "share" {
		return 100
	}
	return 1
}
