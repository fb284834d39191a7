package verdict

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// An objective that lies within the interval of a cell is not shown to be met or missed.
func TestAnObjectiveWithinAnIntervalIsNotDecided(t *testing.T) {
	judged := func(met bool, changes ...func(*summary.Cell)) *summary.Cell {
		c := p99s("x", 60, 80, 85, 90, 95, 97)
		c.LatencyMS = &summary.Quantiles{P99: 94}
		c.Requests, c.Availability = 6000, new(100.0)
		c.Objective = &summary.Objective{Quantile: "p99", LatencyMS: new(100.0), Met: &met}
		for _, change := range changes {
			change(&c)
		}
		return &c
	}
	last := func(v float64) func(*summary.Cell) {
		return func(c *summary.Cell) { c.PerTrial[5].P99 = &v }
	}
	available := func(failed float64, objective float64) func(*summary.Cell) {
		return func(c *summary.Cell) {
			c.Availability, c.Objective.Availability = new(100*(1-failed/float64(c.Requests))), &objective
		}
	}
	limit := func(ms float64) func(*summary.Cell) {
		return func(c *summary.Cell) { c.Objective.LatencyMS = &ms }
	}
	for name, c := range map[string]struct {
		cell *summary.Cell
		want string // the metric; "": decided
	}{
		"the interval is below":                         {judged(true), ""},
		"its end meets the objective":                   {judged(true, last(100)), ""},
		"its end does not":                              {judged(true, last(101)), "p99"},
		"that is a miss by all requests together":       {judged(false, last(130)), "p99"},
		"its lower end meets it":                        {judged(false, limit(60)), "p99"},
		"the interval is above":                         {judged(false, limit(59)), ""},
		"the end is infinite":                           {judged(true, func(c *summary.Cell) { c.PerTrial[5] = unanswered }), "p99"},
		"far more fail than may be late":                {judged(false, available(300, 90), func(c *summary.Cell) { c.PerTrial[5] = unanswered }), ""},
		"three trials":                                  {judged(true, last(101), func(c *summary.Cell) { c.PerTrial = c.PerTrial[3:] }), "p99"},
		"one trial":                                     {judged(true, func(c *summary.Cell) { c.PerTrial = c.PerTrial[:1] }), ""},
		"none of 6,000 failed, 0.01% may":               {judged(true, available(0, 99.99)), "availability"},
		"one of 6,000 failed, 0.01% may":                {judged(false, available(1, 99.99)), "availability"},
		"none of 6,000 failed, 0.1% may":                {judged(true, available(0, 99.9)), ""},
		"20 of 6,000 failed, 0.1% may":                  {judged(false, available(20, 99.9)), ""},
		"none may fail":                                 {judged(true, available(0, 100)), ""},
		"the latency is certainly missed":               {judged(false, limit(50), available(1, 99.99)), ""},
		"a search":                                      {judged(true, last(101), func(c *summary.Cell) { c.Load.Find = true }), ""},
		"several levels":                                {judged(true, last(101), func(c *summary.Cell) { c.Steps = make([]summary.Step, 2) }), ""},
		"it is not known whether the objective was met": {judged(true, last(101), func(c *summary.Cell) { c.Objective.Met = nil }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			near := NearObjective(c.cell)
			got := near.Text
			if near.Kind == finding.NearAvailability {
				got = "availability"
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
