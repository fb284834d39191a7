package lab

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/lab/requests"
)

// pace estimates the remaining time. The duration of a cell's trials is that of the plan
// until one has ended, and then their mean. The plan is corrected by the trials of all
// cells that have ended: a search mostly ends before its longest time.
type pace struct {
	planned []time.Duration // by cell
	taken   []time.Duration // by cell, summed
	trials  []int           // by cell
	after   time.Duration   // of the second part of the run
}

// overhead is the assumed duration of a trial beyond its load.
const overhead = 500 * time.Millisecond

func newPace(e *experiment.Experiment) *pace {
	n := len(e.Cells)
	p := &pace{planned: make([]time.Duration, n), taken: make([]time.Duration, n), trials: make([]int, n)}
	for i := range e.Cells {
		c := cut(e, &e.Cells[i])
		p.planned[i] = c.Warmup + c.Measure + overhead
		if e.Cells[i].Load.Find {
			p.planned[i] += capacity.LongestSearch(e, &e.Cells[i])
			_, varied := requests.Varied(e, &e.Cells[i], 0)
			p.planned[i] += varied / time.Duration(max(1, e.Measure.Repeats)) // only the first has it
		}
	}
	if common := e.CommonLoad(); common != nil {
		p.after = time.Duration(n*common.Repeats) * (common.Warmup + common.Duration + overhead)
	}
	return p
}

// took adds a trial that has ended.
func (p *pace) took(cell int, d time.Duration) {
	p.taken[cell] += d
	p.trials[cell]++
}

// each is the estimated duration of a trial of the cell.
func (p *pace) each(cell int) time.Duration {
	if p.trials[cell] > 0 {
		return p.taken[cell] / time.Duration(p.trials[cell])
	}
	var planned, taken time.Duration
	for i, n := range p.trials {
		planned += p.planned[i] * time.Duration(n)
		taken += p.taken[i]
	}
	if planned == 0 {
		return p.planned[cell]
	}
	return time.Duration(float64(p.planned[cell]) * float64(taken) / float64(planned))
}

// left is the remaining time of the current trial, which has run for sofar, of all that
// are waiting, and of the second part.
func (p *pace) left(cell int, sofar time.Duration, waiting []attempt) time.Duration {
	sum := p.after + max(0, p.each(cell)-sofar)
	for _, a := range waiting {
		sum += p.each(a.Cell)
	}
	return sum
}

// Estimate is the estimated duration of a run: that of its plan, in which each search
// takes its longest time.
func Estimate(e *experiment.Experiment) time.Duration {
	p := newPace(e)
	sum := p.after
	for _, one := range p.planned {
		sum += one * time.Duration(e.Measure.Repeats)
	}
	return sum
}
