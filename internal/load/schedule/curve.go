// Package schedule computes when requests are due: the load over time, its arrivals,
// its number of active users, its division among agents and threads, and the intervals
// of a trial. It is pure: times are durations since the start of the load, and nothing
// here reads a clock or waits. Package engine makes the traffic.
package schedule

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Endless is the length of a stage that lasts until something else ends the trial, such
// as a number of requests.
const Endless = time.Duration(math.MaxInt64 / 4)

// Stage changes a load linearly from one value to another, in users or in requests per
// second.
type Stage struct {
	Length   time.Duration
	From, To float64
	Omits    string // a kind of request that is not sent; "": all are
}

// Curve is a load over time: a sequence of stages. The value may jump between two
// stages. A Curve is immutable, so loops share it.
type Curve struct {
	parts  []part
	length time.Duration
	total  float64
	peak   float64
	lead   *Curve // the end of a warm-up; nil: it has the first value
}

// part is a stage with its position in the curve.
type part struct {
	start, end time.Duration
	from, to   float64
	before     float64 // integral of all earlier parts
	omits      string
}

// NewCurve joins stages. It ignores stages without a length; at least one must have a
// length, and no value may be negative or infinite.
func NewCurve(stages []Stage) (*Curve, error) {
	c := &Curve{}
	for i, s := range stages {
		switch {
		case s.Length < 0:
			return nil, fmt.Errorf("stage %d: the duration %v is negative", i+1, s.Length)
		case !isFigure(s.From) || !isFigure(s.To):
			return nil, fmt.Errorf("stage %d: %v to %v: want figures of 0 and more", i+1, s.From, s.To)
		case s.Length == 0:
			continue
		case c.length > Endless-s.Length:
			return nil, fmt.Errorf("stage %d: the stages together are longer than %v", i+1, Endless)
		case s.Length == Endless && s.From != s.To:
			return nil, fmt.Errorf("stage %d: %v to %v: a stage without an end has one figure", i+1, s.From, s.To)
		}
		p := part{start: c.length, end: c.length + s.Length, from: s.From, to: s.To, before: c.total, omits: s.Omits}
		c.parts = append(c.parts, p)
		c.length = p.end
		c.total += p.integral(p.seconds())
		c.peak = max(c.peak, s.From, s.To)
	}
	if len(c.parts) == 0 {
		return nil, fmt.Errorf("the load has no stage with a duration")
	}
	return c, nil
}

// Led returns the curve with the stages that end a warm-up, if there are some.
func (c *Curve) Led(stages []Stage) (*Curve, error) {
	if len(stages) == 0 {
		return c, nil
	}
	lead, err := NewCurve(stages)
	if err != nil {
		return nil, err
	}
	other := *c
	other.lead, other.peak = lead, max(c.peak, lead.peak)
	return &other, nil
}

// After returns the curve with a warm-up before it, at the curve's first value but for the stages
// of Led, if it is as long as these. A warm-up of zero changes nothing.
func (c *Curve) After(warmup time.Duration) *Curve {
	if warmup <= 0 {
		return c
	}
	moved := &Curve{peak: c.peak}
	first, parts := c.parts[0].from, c.parts
	if c.lead != nil && c.lead.length <= warmup {
		warmup, parts = warmup-c.lead.length, slices.Concat(c.lead.parts, c.parts)
	}
	if warmup > 0 {
		parts = append([]part{{end: warmup, from: first, to: first}}, parts...)
	}
	for _, p := range parts {
		length := p.end - p.start
		p.start, p.end, p.before = moved.length, moved.length+length, moved.total
		moved.parts = append(moved.parts, p)
		moved.length += length
		moved.total += p.integral(p.seconds())
	}
	return moved
}

// Length is the length of all stages together.
func (c *Curve) Length() time.Duration { return c.length }

// Peak is the maximum of the curve.
func (c *Curve) Peak() float64 { return c.peak }

// Peaking returns the curve with a peak of its own, of loads whose arrivals have bursts.
func (c *Curve) Peaking(peak float64) *Curve {
	other := *c
	other.peak = max(c.peak, peak)
	return &other
}

// At returns the value at t; where two stages meet, that of the later one. Before its
// start a curve has its first value, after its end its last one.
func (c *Curve) At(t time.Duration) float64 {
	return c.parts[c.partAt(t)].at(t)
}

// Omits is the kind of request that is not sent at t; "": all are.
func (c *Curve) Omits(t time.Duration) string { return c.parts[c.partAt(t)].omits }

// Omitted are the kinds of request that some stage does not send.
func (c *Curve) Omitted() (all []string) {
	for _, p := range c.parts {
		if p.omits != "" && !slices.Contains(all, p.omits) {
			all = append(all, p.omits)
		}
	}
	return all
}

// Until returns the limit of the curve at t from the left: where two stages meet, the
// value of the earlier one.
func (c *Curve) Until(t time.Duration) float64 {
	i := c.partAt(t)
	if i > 0 && t <= c.parts[i].start {
		i--
	}
	return c.parts[i].at(t)
}

// Integral returns the integral of the curve over 0..t; for a rate it is the number of
// requests that are due by t.
func (c *Curve) Integral(t time.Duration) float64 {
	if t <= 0 {
		return 0
	}
	p := &c.parts[c.partAt(t)]
	return p.before + p.integral((min(t, p.end) - p.start).Seconds())
}

// Inverse returns the time at which the integral reaches n, and false if the curve ends
// before.
func (c *Curve) Inverse(n float64) (time.Duration, bool) {
	i := 0
	for i+1 < len(c.parts) && n >= c.parts[i+1].before {
		i++
	}
	return c.inverseIn(i, n)
}

// inverseIn returns the time at which an n is reached in part i or after the curve.
func (c *Curve) inverseIn(i int, n float64) (time.Duration, bool) {
	if n >= c.total {
		return 0, false
	}
	p := &c.parts[i]
	t := p.start + time.Duration(p.inverse(n-p.before)*1e9)
	return min(t, p.end-1), true
}

// partAt returns the index of the part that contains t.
func (c *Curve) partAt(t time.Duration) int {
	i := 0
	for i+1 < len(c.parts) && t >= c.parts[i+1].start {
		i++
	}
	return i
}

func (p *part) seconds() float64 { return (p.end - p.start).Seconds() }

func (p *part) slope() float64 { return (p.to - p.from) / p.seconds() }

func (p *part) at(t time.Duration) float64 {
	switch {
	case p.from == p.to || t <= p.start:
		return p.from
	case t >= p.end:
		return p.to
	}
	return p.from + p.slope()*(t-p.start).Seconds()
}

// integral over the first x seconds: f x + s x²/2 for the value f and the slope s.
func (p *part) integral(x float64) float64 {
	return x * (p.from + p.slope()*x/2)
}

// inverse returns the x with integral(x) = n: the root of s x²/2 + f x - n in
// the form 2n / (f + sqrt(f² + 2 s n)), which is accurate for small slopes and needs
// no special case for a slope of zero.
func (p *part) inverse(n float64) float64 {
	root := math.Sqrt(max(0, p.from*p.from+2*p.slope()*n))
	if p.from+root == 0 {
		return 0
	}
	return 2 * n / (p.from + root)
}

func isFigure(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }
