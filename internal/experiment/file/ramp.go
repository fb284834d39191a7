package file

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/experiment"
)

const (
	// mostSteps is the largest number of levels that a ramp holds.
	mostSteps = 100
	// leastFrames is how many frames a level of a ramp lasts at least. A frame
	// that two levels share measures neither, so with fewer frames a level may
	// have no measurement.
	leastFrames = 2
)

// ramp raises a load in steps: the shape of published comparisons.
type ramp struct {
	optional
	From  varied[level, float64]          `yaml:"from,required" doc:"The first level; the warm-up runs at it."`
	To    varied[level, float64]          `yaml:"to,required" doc:"The last level. It is held even where the steps do not lead to it."`
	By    varied[level, float64]          `yaml:"by,one" doc:"How much each level is above the one before."`
	Times varied[level, float64]          `yaml:"times,one" doc:"How many times the one before each level is, above 1; users are rounded to whole ones."`
	Each  varied[duration, time.Duration] `yaml:"each,required" doc:"How long each level is held: at least 2 frames (measure.interval), best 10 or more."`
}

// readRamp resolves a ramp into stages: a jump to each level, and its hold.
func (c *cellReader) readRamp(r *ramp, what string, most float64) *experiment.Target {
	out := &experiment.Target{}
	step := &r.By
	if r.Times.given || r.Times.bad {
		step = &r.Times
	}
	from, to, size, each := need(c, &r.From), need(c, &r.To), need(c, step), need(c, &r.Each)
	if c.failed {
		return out
	}
	c.checkLevel(&r.From, from, what, most)
	c.checkLevel(&r.To, to, what, most)
	if step == &r.By {
		c.checkLevel(step, size, what, most)
	}
	c.checkRamp(r, what, from, to, each)
	switch {
	case step == &r.By && size == 0:
		c.wrong(&step.scalar, "steps of 0 lead nowhere")
	case step == &r.Times && size <= 1:
		c.wrong(&step.scalar, "a ramp goes up: multiply by more than 1, not by %s", number64(size))
	}
	if c.failed {
		return out
	}
	levels, err := rungs(from, to, func(i int) float64 {
		switch {
		case step == &r.By:
			return from + float64(i)*size
		case what == "users":
			return math.Round(from * math.Pow(size, float64(i)))
		}
		return from * math.Pow(size, float64(i))
	})
	if err != nil {
		c.conflict(step.path, []*scalar{&step.scalar, &r.From.scalar, &r.To.scalar}, "%v", err)
		return out
	}
	for _, value := range levels {
		out.Stages = append(out.Stages, experiment.Stage{Target: value}, experiment.Stage{Duration: each, Target: value})
	}
	return out
}

// checkRamp looks at what a ramp says whatever its steps.
func (c *cellReader) checkRamp(r *ramp, what string, from, to float64, each time.Duration) {
	switch {
	case from == 0:
		c.wrong(&r.From.scalar, "0 is no load; begin above it")
	case from >= to:
		c.conflict("load."+what+".ramp", []*scalar{&r.From.scalar, &r.To.scalar}, "a ramp goes up: from must be below to, and %s is not below %s", number64(from), number64(to))
	}
	if least := leastFrames * c.interval; each < least {
		c.wrong(&r.Each.scalar, "%s is less than the %d frames (measure.interval) that measure a level; hold each for %s or longer, or shorten the frames", short(each), leastFrames, short(least))
	}
}

// rungs are the levels of a ramp, upwards: from, rung(1), rung(2) and so on
// below to, and to. It is an error if there are more than mostSteps, or if a
// rung is not above the one before.
func rungs(from, to float64, rung func(i int) float64) ([]float64, error) {
	levels := []float64{from}
	for i := 1; ; i++ {
		before, next := levels[i-1], decimal(rung(i))
		switch {
		case len(levels) == mostSteps:
			return nil, fmt.Errorf("from %s to %s are more than %d steps; take larger ones", number64(from), number64(to), mostSteps)
		case next >= to:
			return append(levels, to), nil
		case next <= before:
			return nil, fmt.Errorf("the level after %s would be %s; begin higher, or take larger steps", number64(before), number64(next))
		}
		levels = append(levels, next)
	}
}

// decimal is the number that a file would have for v: with at most nine digits
// behind the point, as a level is written, so that 0.1 + 2 x 0.1 is 0.3.
func decimal(v float64) float64 {
	d, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 9, 64), 64)
	if err != nil { // infinite
		return v
	}
	return d
}
