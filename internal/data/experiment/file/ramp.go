package file

import (
	"fmt"
	"math"
	"strconv"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

const (
	// mostSteps is the largest number of levels that a ramp holds.
	mostSteps = 100
	// leastFrames is how many frames a level of a ramp lasts at least. A frame
	// that two levels share measures neither, so with fewer frames a level may
	// have no measurement.
	leastFrames = 2
)

// readRamp resolves a ramp into stages: a jump to each level, and its hold.
func (d *decoder) readRamp(r *ramp, n *node, what string, most float64) *experiment.Target {
	from, to, by, times := n.child("from"), n.child("to"), n.child("by"), n.child("times")
	step := by
	if times.given() {
		step = times
	}
	d.checkLevel(from, r.From, what, most)
	d.checkLevel(to, r.To, what, most)
	if step == by {
		d.checkLevel(by, r.By, what, most)
	}
	switch {
	case r.From == 0:
		d.wrong(from, "0 is not a load; start above 0")
	case r.From >= r.To:
		d.conflict(n.path, []*node{from, to}, "a ramp goes up: from must be below to, and %s is not below %s", number64(r.From), number64(r.To))
	}
	if least := leastFrames * d.cell.interval; r.Each < least {
		d.wrong(n.child("each"), "%s is less than the %d frames (measure.interval) that measure a level; hold each for %s or longer, or shorten the frames", span.Text(r.Each), leastFrames, span.Text(least))
	}
	switch {
	case step == by && r.By == 0:
		d.wrong(by, "a step must be above 0")
	case step == times && r.Times <= 1:
		d.wrong(times, "a ramp goes up: multiply by more than 1, not by %s", number64(r.Times))
	}
	out := &experiment.Target{}
	if d.failed {
		return out
	}
	levels, err := levelsOf(r.From, r.To, func(i int) float64 {
		if step == by {
			return r.From + float64(i)*r.By
		}
		next := r.From * math.Pow(r.Times, float64(i))
		if what == "users" {
			return math.Round(next)
		}
		return next
	})
	if err != nil {
		d.conflict(step.path, []*node{step, from, to}, "%v", err)
		return out
	}
	for _, value := range levels {
		out.Stages = append(out.Stages, experiment.Stage{Target: value}, experiment.Stage{Duration: r.Each, Target: value})
	}
	return out
}

// levelsOf are the levels of a ramp in rising order: from, then level(1), level(2)
// and so on below to, and to. More than mostSteps levels are an error, and so is a
// level that is not above the one before.
func levelsOf(from, to float64, level func(i int) float64) ([]float64, error) {
	levels := []float64{from}
	for i := 1; ; i++ {
		before, next := levels[i-1], decimal(level(i))
		switch {
		case len(levels) == mostSteps:
			return nil, fmt.Errorf("from %s to %s are more than %d steps; use larger steps", number64(from), number64(to), mostSteps)
		case next >= to:
			return append(levels, to), nil
		case next <= before:
			return nil, fmt.Errorf("the level after %s would be %s; start higher, or use larger steps", number64(before), number64(next))
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
