package sample

import "github.com/millicore/millicore/internal/analysis/summary"

// Small builders, so that a case says only what it is about.

// Change is what a case is about.
type Change func(*summary.Cell)

// CellOf is a cell that answered 400 requests/s, all of them well, without
// latency, limits or trials.
func CellOf(service string, changes ...Change) summary.Cell {
	c := summary.Cell{Service: service, Label: service, RateRPS: ptr(400.0), Availability: ptr(100.0), Requests: 8000,
		Load: summary.Load{Kind: "closed", Users: ptr(50.0)}, Vary: map[string]*string{}, Intervals: map[string][2]float64{}}
	for _, apply := range changes {
		apply(&c)
	}
	return c
}

// ProcsCell makes a cell of the service go with a number of procs.
func ProcsCell(n string, changes ...Change) summary.Cell {
	return CellOf("go", append([]Change{func(c *summary.Cell) {
		c.Vary["procs"], c.Label = &n, "go procs="+n
	}}, changes...)...)
}

// P99At sets the p99, and half of it as the median.
func P99At(ms float64) Change {
	return func(c *summary.Cell) { c.LatencyMS = &summary.Quantiles{P50: ms / 2, P99: ms} }
}

// Within sets the 95% interval of the p99, and six trials that give it.
func Within(low, high float64) Change {
	return func(c *summary.Cell) {
		c.Intervals["latency_ms.p99"] = [2]float64{low, high}
		EachTrial(c, low, c.LatencyMS.P99, high, func(t *summary.TrialFigures, v float64) { t.P99 = &v })
	}
}

// EachTrial sets a figure of six trials between two ends, with a median.
func EachTrial(c *summary.Cell, low, median, high float64, set func(*summary.TrialFigures, float64)) {
	if len(c.PerTrial) == 0 {
		c.PerTrial = make([]summary.TrialFigures, 6)
	}
	for i, v := range []float64{low, (low + median) / 2, median, median, (median + high) / 2, high} {
		set(&c.PerTrial[i], v)
	}
}

// OfFrames says that the interval is that of the frames of few trials.
func OfFrames(c *summary.Cell) {
	c.IntervalsOf = "frames"
	if c.Trials == 0 {
		c.PerTrial = nil
	}
}

// TrialsAt sets the trials' own p99.
func TrialsAt(p99s ...float64) Change {
	return func(c *summary.Cell) {
		c.Trials, c.PerTrial = len(p99s), nil
		for _, v := range p99s {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{P99: ptr(v)})
		}
	}
}

// BreaksBetween gives a cell a breaking point in requests/s, of six searches.
func BreaksBetween(low, rps, high float64, by string) Change {
	return func(c *summary.Cell) {
		c.Load = summary.Load{Kind: "open"}
		c.Breaking = &summary.BreakingPoint{RateRPS: &rps, Low: &low, High: &high, LimitedBy: by, Searches: 6}
		EachTrial(c, low, rps, high, func(t *summary.TrialFigures, v float64) { t.Breaking = &v })
	}
}

// SearchesOf sets how many searches, or ramps, a breaking point rests on.
func SearchesOf(n int) Change {
	return func(c *summary.Cell) {
		c.Breaking.Searches, c.PerTrial = n, c.PerTrial[:min(n, len(c.PerTrial))]
	}
}

// Staged says that the breaking point was read from ramps.
func Staged(c *summary.Cell) {
	c.Load.Stages = true
	for i := range c.PerTrial {
		c.PerTrial[i].Breaking, c.PerTrial[i].BreakingFrom, c.PerTrial[i].BreakingTo = nil, c.Breaking.Low, c.Breaking.High
	}
}

// NoPoint gives a cell a search without an answer.
func NoPoint(reason string) Change {
	return func(c *summary.Cell) {
		c.RateRPS, c.Availability, c.LatencyMS, c.Requests = nil, nil, nil, 0
		c.Breaking = &summary.BreakingPoint{Reason: reason}
	}
}
