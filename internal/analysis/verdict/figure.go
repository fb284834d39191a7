package verdict

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Figure is the one figure that stands for a cell in every table and sentence: the
// median over trials, which one bad trial cannot decide.
type Figure struct {
	Value float64
	// AtLeast: so many requests failed that the latency of all of them is infinite in at
	// least half of the trials. The value is that of the answered ones.
	AtLeast bool
	Trials  int // 0: no trial has it, and the value is that of all requests together
}

// FigureOf returns the cell's figure of a metric; false: it was not measured.
func FigureOf(c *summary.Cell, metric string) (Figure, bool) {
	m, ok := MetricOf(metric)
	if !ok {
		return Figure{}, false
	}
	if trials := m.Trials(c); len(trials) > 0 {
		fails := Fails(c, metric)
		if infinite(c, metric).N > 0 && !fails {
			trials = valuesOf(c, m)
		}
		return Figure{stats.Median(trials), fails, len(trials)}, true
	}
	switch {
	case metric == "rate" && c.RateRPS != nil:
		return Figure{Value: *c.RateRPS}, true
	case m.Unit == "ms" && c.LatencyMS != nil:
		for _, q := range c.LatencyMS.All() {
			if q.Name == metric {
				return Figure{Value: q.Value}, true
			}
		}
	}
	return Figure{}, false
}

// Fails reports whether so many requests of a cell failed that a latency of all of them is
// infinite in at least half of the trials.
func Fails(c *summary.Cell, metric string) bool {
	lost := infinite(c, metric)
	return lost.N > 0 && 2*lost.N >= lost.Of
}

// valuesOf returns a metric's value of each trial, as Trials does. A latency that failed
// requests make infinite is infinite.
func valuesOf(c *summary.Cell, m Metric) []float64 {
	var all []float64
	for i := range c.PerTrial {
		t := &c.PerTrial[i]
		switch v := m.Of(t); {
		case v != nil && Infinite(t, m.Name), m.unanswered(t):
			all = append(all, math.Inf(1))
		case v != nil:
			all = append(all, *v)
		}
	}
	return all
}

// Part is N of a number of trials.
type Part struct{ N, Of int }

// infinite counts the trials of a cell in which a latency of all requests is
// infinite; the figures are those of the answered ones.
func infinite(c *summary.Cell, metric string) Part {
	p := Part{Of: len(c.PerTrial)}
	for i := range c.PerTrial {
		if Infinite(&c.PerTrial[i], metric) {
			p.N++
		}
	}
	return p
}
