package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit"
)

// An objective that lies within the interval of a cell is not shown to be met or missed.
func TestAnObjectiveWithinAnIntervalIsNotDecided(t *testing.T) {
	judged := func(met bool, changes ...func(*summary.Cell)) *summary.Cell {
		c := p99s("x", 60, 80, 85, 90, 95, 97)
		c.LatencyMS = &summary.Quantiles{P99: 87.5}
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
	uses := func(share float64) func(*summary.Cell) {
		return func(c *summary.Cell) { c.CPU.OfLimit = &share }
	}
	atMost := func(share float64) func(*summary.Cell) {
		return func(c *summary.Cell) { c.Objective.LateAtMost = share }
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
		"late ones come in bursts, 1.2% at most":        {judged(true, atMost(0.012)), "p99"},
		"late ones come in bursts, 0.9% at most":        {judged(true, atMost(0.009)), ""},
		"p99 doubles if a request needs 4% more":        {judged(true, uses(0.925)), "p99"},
		"p99 grows by a twentieth if it needs 4% more":  {judged(true, uses(0.5)), "p99"},
		"likewise, far from the objective":              {judged(true, uses(0.5), limit(110)), ""},
		"users wait, whatever they use":                 {judged(true, uses(0.98), func(c *summary.Cell) { c.Load.Users = new(8.0) }), ""},
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

// A service whose true p99, or availability, is exactly the objective is said to meet it, or
// to miss it, in at most 5% of the records each. Starts differ by a standard deviation of 5%.
// docs/statistics.md has the table.
func TestFalseOutcomesAreBounded(t *testing.T) {
	runs := testkit.Samples(50, 200, 2000)
	within := func(t *testing.T, got map[summary.Outcome]int) {
		t.Logf("met %d, missed %d of %d", got[summary.Met], got[summary.Missed], runs)
		if most := 0.05*float64(runs) + 3*math.Sqrt(0.0475*float64(runs)); float64(max(got[summary.Met], got[summary.Missed])) > most {
			t.Error("more than 5%")
		}
	}
	for _, trials := range []int{2, 4, 6, 20} {
		r, got := rand.New(rand.NewPCG(11, uint64(trials))), map[summary.Outcome]int{}
		for range runs {
			got[OutcomeOf(drawnCell(r, trials, 2000, 0.05))]++
		}
		within(t, got)
	}
	for _, requests := range []int{2000, 12000, 60000} {
		r, got := rand.New(rand.NewPCG(12, uint64(requests))), map[summary.Outcome]int{}
		for range runs {
			failed := 0.0
			for at := r.ExpFloat64(); at < 1e-4*float64(requests); at += r.ExpFloat64() {
				failed++
			}
			c := &summary.Cell{Requests: int64(requests), Availability: new(100 * (1 - failed/float64(requests)))}
			c.Objective = &summary.Objective{Availability: new(99.99), Met: new(failed <= 1e-4*float64(requests))}
			got[OutcomeOf(c)]++
		}
		within(t, got)
	}
}

// drawnCell is a cell of exponential latencies with a true p99 of 100 ms, its objective.
func drawnCell(r *rand.Rand, trials, requests int, sd float64) *summary.Cell {
	c := &summary.Cell{Requests: int64(trials * requests), Availability: new(100.0)}
	late := func(v []float64, of int) float64 {
		slices.Sort(v)
		return v[len(v)-1-of+int(math.Round(0.99*float64(of)))]
	}
	var all []float64
	for i := range trials {
		level, one := 100/math.Log(100)*math.Exp(sd*r.NormFloat64()), []float64(nil)
		for range requests {
			if v := r.ExpFloat64(); v > 3 { // only the highest 5% matter
				one = append(one, level*v)
			}
		}
		c.PerTrial = append(c.PerTrial, summary.TrialFigures{Trial: i + 1, P99: new(late(one, requests)), Availability: new(100.0)})
		all = append(all, one...)
	}
	c.LatencyMS = &summary.Quantiles{P99: late(all, trials*requests)}
	c.Objective = &summary.Objective{Quantile: "p99", LatencyMS: new(100.0), Met: new(c.LatencyMS.P99 <= 100)}
	return c
}

// Failures of one trial say little about the next one: they count as fewer.
func TestFailuresInOneTrialCountAsFewer(t *testing.T) {
	for name, c := range map[string]struct {
		failed []float64 // of 1,000 requests of each trial, of which 0.05% may fail
		want   summary.Outcome
	}{
		"in one trial":    {[]float64{12, 0, 0, 0, 0, 0}, summary.TooClose},
		"over the trials": {[]float64{2, 2, 2, 2, 2, 2}, summary.Missed},
	} {
		cell := &summary.Cell{Requests: 6000, Availability: new(99.8), Objective: &summary.Objective{Availability: new(99.95), Met: new(false)}}
		for _, k := range c.failed {
			cell.PerTrial = append(cell.PerTrial, summary.TrialFigures{Availability: new(100 * (1 - k/1000))})
		}
		if got := OutcomeOf(cell); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
