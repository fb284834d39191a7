package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// rampCell is a cell whose breaking point lies between two levels of ramps; high 0: a
// lower bound.
func rampCell(label string, ramps int, low, high float64) summary.Cell {
	c := summary.Cell{Label: label, Trials: ramps, Load: summary.Load{Kind: "open", Stages: true},
		Breaking: &summary.BreakingPoint{RateRPS: &low, Low: &low, High: &high, Searches: ramps}}
	if high == 0 {
		c.Breaking.High, c.Breaking.AtLeast, c.Breaking.Reason = nil, true, "every level met the objective; raise the load further"
	}
	return bySearches(c, ramps)
}

func TestABreakingPointOfOneRampIsABracket(t *testing.T) {
	const one = "; from one ramp, with steps of 1,000 requests/s; the spread between runs is unknown"
	const few = ": too few to show how starts differ; a comparison needs at least 4 per cell (measure.repeats)"
	above := func(bound float64) experiment.Claim {
		return experiment.Claim{Metric: BreakingPointMetric, Of: selector(0), Above: &bound}
	}
	over := func(bound float64) experiment.Claim {
		return experiment.Claim{Metric: BreakingPointMetric, Of: selector(0), Over: selector(1), Above: &bound}
	}
	inOrder := experiment.Claim{Metric: BreakingPointMetric, Order: []experiment.Selector{*selector(0), *selector(1)}}
	upset := rampCell("go", 1, 3000, 0)
	upset.Breaking.Reason = fixture.Besides(4000)
	users := rampCell("go", 1, 10, 20)
	users.Breaking.Users, users.Breaking.RateRPS = users.Breaking.RateRPS, nil
	for _, c := range []struct {
		name    string
		claim   experiment.Claim
		cells   []summary.Cell
		verdict summary.Verdict
		reason  string
	}{
		{"above a bound", above(3000), []summary.Cell{rampCell("go", 1, 4000, 5000)}, summary.Reproduced, "the range between the levels lies above 3,000 requests/s" + one},
		{"a bound between the levels", above(4500), []summary.Cell{rampCell("go", 1, 4000, 5000)}, summary.Inconclusive, "the range between the levels contains 4,500 requests/s" + one},
		{"users", above(20), []summary.Cell{users}, summary.NotReproduced,
			"the range between the levels lies below 20 users; from one ramp, with steps of 10 users; the spread between runs is unknown"},
		{"a ratio of one ramp each", over(1.2), []summary.Cell{rampCell("go", 1, 6000, 7000), rampCell("bun", 1, 3000, 4000)}, summary.Inconclusive, "1 ramp of go" + few},
		{"an order of one ramp each", inOrder, []summary.Cell{rampCell("bun", 1, 3000, 4000), rampCell("go", 1, 6000, 7000)}, summary.Inconclusive, "1 ramp of bun" + few},
		{"the other way round", inOrder, []summary.Cell{rampCell("bun", 1, 6000, 7000), rampCell("go", 1, 3000, 4000)}, summary.Inconclusive, "1 ramp of bun" + few},
		{"an order of three ramps each", inOrder, []summary.Cell{rampCell("bun", 3, 3000, 4000), rampCell("go", 3, 6000, 7000)}, summary.Inconclusive, "3 ramps of bun" + few},
		{"an order of four ramps each", inOrder, []summary.Cell{rampCell("bun", 4, 3000, 4000), rampCell("go", 4, 6000, 7000)}, summary.Reproduced,
			"each lies below the next one (p at most 0.029, corrected over all pairs)"},
		{"that touch", inOrder, []summary.Cell{rampCell("bun", 4, 3000, 4000), rampCell("go", 4, 4000, 5000)}, summary.Reproduced,
			"each lies below the next one (p at most 0.029, corrected over all pairs)"},
		{"of the same levels", inOrder, []summary.Cell{rampCell("bun", 4, 3000, 4000), rampCell("go", 4, 3000, 4000)}, summary.Inconclusive,
			"bun and go do not differ significantly (p 1, corrected over all pairs)"},
		{"four ramps each, the other way round", inOrder, []summary.Cell{rampCell("bun", 4, 6000, 7000), rampCell("go", 4, 3000, 4000)}, summary.NotReproduced,
			"bun lies above go (p 0.029, corrected over all pairs)"},
		{"a lower bound, as a neighbour took CPU where it misses", above(3500), []summary.Cell{flagged(upset, "search_disturbed")}, summary.Inconclusive,
			"the figure is a lower bound only, and that bound lies below 3,500 requests/s; from one ramp; the spread between runs is unknown; only a lower bound is known for go: " + fixture.Besides(4000)},
		{"two lower bounds have no ratio", over(1), []summary.Cell{bySearches(upset, 6), rampCell("bun", 6, 3000, 0)}, summary.Inconclusive,
			"both are lower bounds; only a lower bound is known for go: " + fixture.Besides(4000) + "; only a lower bound is known for bun: every level met the objective; raise the load further"},
		{"nothing but the reason where one is missing", inOrder, []summary.Cell{upset, {Label: "bun"}}, summary.Inconclusive, "nothing was measured for bun"},
		{"which is enough for what lies below it", above(2000), []summary.Cell{upset}, summary.Reproduced,
			"the range between the levels lies above 2,000 requests/s; from one ramp; the spread between runs is unknown; only a lower bound is known for go: " + fixture.Besides(4000)},
		{"a lower bound below another is no order", inOrder, []summary.Cell{bySearches(upset, 6), rampCell("bun", 6, 6000, 7000)}, summary.Inconclusive,
			"go and bun cannot be distinguished: the figure of go is a lower bound; only a lower bound is known for go: " + fixture.Besides(4000)},
		{"a neighbour elsewhere", above(3000), []summary.Cell{flagged(rampCell("go", 1, 4000, 5000), "busy_neighbour")}, summary.Reproduced,
			"the range between the levels lies above 3,000 requests/s" + one + "; other processes took CPU during the trials of go"},
		{"three ramps have a range", above(3000), []summary.Cell{rampCell("go", 3, 4000, 6000)}, summary.Reproduced,
			"the range of 3 trials, too few for a 95% interval, lies above 3,000 requests/s"},
		{"six an interval", above(3000), []summary.Cell{rampCell("go", 6, 4000, 6000)}, summary.Reproduced, "the 95% interval lies above 3,000 requests/s"},
		{"six ramps over one", over(1.2), []summary.Cell{rampCell("go", 6, 6000, 7000), rampCell("bun", 1, 3000, 4000)}, summary.Inconclusive, "1 ramp of bun" + few},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := (&Claims{Experiment: &experiment.Experiment{}, Cells: c.cells}).Judge(&c.claim)
			if d := cmp.Diff([]string{string(c.verdict), c.reason}, []string{string(got.Verdict), got.Reason}); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestWhatHappenedIsJudgedTrialByTrial(t *testing.T) {
	killed := func(kills ...float64) summary.Cell {
		c := claimCell(0, "go", kills...)
		for i := range c.PerTrial {
			c.PerTrial[i].OOMKills, c.PerTrial[i].Restarts = new(kills[i]), new(kills[i])
		}
		return c
	}
	above, below := func(v float64) experiment.Claim {
		return experiment.Claim{Metric: oomKillsMetric, Of: selector(0), Above: &v}
	}, func(v float64) experiment.Claim {
		return experiment.Claim{Metric: oomKillsMetric, Of: selector(0), Below: &v}
	}
	restarts := above(0)
	restarts.Metric = restartsMetric
	for _, c := range []struct {
		name    string
		claim   experiment.Claim
		cell    summary.Cell
		verdict summary.Verdict
		reason  string
	}{
		{"in each trial", above(0), killed(2, 1, 4), summary.Reproduced, "at least one OOM kill in 3 of 3 trials"},
		{"in none", above(0), killed(0, 0, 0), summary.NotReproduced, "at least one OOM kill in 0 of 3 trials"},
		{"in some", above(0), killed(0, 1, 0), summary.Inconclusive, "at least one OOM kill in 1 of 3 trials"},
		{"in some of ten, where a median would be sure", above(0), killed(0, 1, 1, 1, 1, 1, 1, 1, 1, 1), summary.Inconclusive, "at least one OOM kill in 9 of 10 trials"},
		{"in the only trial", above(0), killed(3), summary.Reproduced, "at least one OOM kill in 1 of 1 trial"},
		{"not in the only trial", above(0), killed(0), summary.NotReproduced, "at least one OOM kill in 0 of 1 trial"},
		{"several times", above(2), killed(3, 4), summary.Reproduced, "at least 3 OOM kills in 2 of 2 trials"},
		{"as often as it is said to be exceeded", above(2), killed(2, 2), summary.NotReproduced, "at least 3 OOM kills in 0 of 2 trials"},
		{"never, it is said", below(1), killed(0, 0), summary.Reproduced, "at least one OOM kill in 0 of 2 trials"},
		{"never, and it did", below(1), killed(1), summary.NotReproduced, "at least one OOM kill in 1 of 1 trial"},
		{"never, in one trial", below(1), killed(0), summary.Inconclusive, "at least one OOM kill in 0 of 1 trial, and one trial without it is no proof; repeat it"},
		{"restarts", restarts, killed(1), summary.Reproduced, "at least one restart in 1 of 1 trial"},
		{"not measured", above(0), claimCell(0, "go", 1, 2), summary.Inconclusive, "not measured for go: OOM kills"},
		{"beside a neighbour", above(0), flagged(killed(2), "busy_neighbour"), summary.Inconclusive, "other processes took CPU while go was measured"},
		{"under all that the generator can send", above(0), limited(killed(0, 0)), summary.Inconclusive,
			"at least one OOM kill in 0 of 2 trials; the generator was the limit, and under more load there may be more"},
		{"under less than it takes", above(0), limited(killed(1, 2)), summary.Reproduced, "at least one OOM kill in 2 of 2 trials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := (&Claims{Experiment: &experiment.Experiment{}, Cells: []summary.Cell{c.cell}}).Judge(&c.claim)
			if got.Verdict != c.verdict || got.Reason != c.reason {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Reason, c.verdict, c.reason)
			}
		})
	}
}

func TestAVerdictSaysWhatWasNotAsWritten(t *testing.T) {
	six100, six400 := []float64{98, 99, 100, 100, 101, 102}, []float64{390, 395, 400, 400, 405, 410}
	cells := []summary.Cell{claimCell(0, "node", six400...), claimCell(1, "go", six100...)}
	const over, of = "the 95% interval lies above 2", "the 95% interval lies above 2 ms"
	const grew = "; not restarted between runs: later runs include what grew in earlier ones"
	for _, c := range []struct {
		name  string
		kept  bool
		claim experiment.Claim
		want  string
	}{
		{"restarted for each trial", false, experiment.Claim{Metric: "p99", Of: selector(0), Over: selector(1)}, over},
		{"kept up", true, experiment.Claim{Metric: "p99", Of: selector(0), Over: selector(1)}, over + grew},
		{"kept up, and one cell", true, experiment.Claim{Metric: "p99", Of: selector(0)}, of},
		{"set", false, experiment.Claim{Metric: "p99", Of: selector(0), Set: []string{"limits"}}, of + "; with limits as set on the command line"},
		{"set, and kept up", true, experiment.Claim{Metric: "p99", Of: selector(0), Over: selector(1), Set: []string{"limits", "load", "the service"}},
			over + grew + "; with limits, load and the service as set on the command line"},
		{"kept up, and a cell is missing", true, experiment.Claim{Metric: "p99", Of: selector(0), Over: selector(experiment.NoCell), Set: []string{"limits"}},
			"this run has no cell go; with limits as set on the command line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.claim.Above = new(2.0)
			j := Claims{Experiment: &experiment.Experiment{Measure: experiment.Measure{Kept: c.kept}}, Cells: cells}
			if got := j.Judge(&c.claim).Reason; got != c.want {
				t.Errorf("%q\nwant %q", got, c.want)
			}
		})
	}
}
