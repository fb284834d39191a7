package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// claimCell is a cell with one p99 per trial.
func claimCell(cell int, label string, p99 ...float64) summary.Cell {
	c := summary.Cell{Cell: cell, Label: label, Trials: len(p99)}
	for i, v := range p99 {
		c.PerTrial = append(c.PerTrial, summary.TrialFigures{Trial: 2*i + cell + 1, P99: new(v), RateRPS: new(v), Throttled: new(v / 1000), MemoryPeak: new(v)})
	}
	return c
}

// breakCell is a cell whose breaking point was searched six times; high 0: a lower
// bound.
func breakCell(cell int, label string, low, at, high float64) summary.Cell {
	c := summary.Cell{Cell: cell, Label: label, Trials: 1, Load: summary.Load{Find: true}, Breaking: &summary.BreakingPoint{RateRPS: &at, Low: &low, High: &high, Searches: 6}}
	if high == 0 {
		c.Breaking.High, c.Breaking.AtLeast = nil, true
	}
	return bySearches(c, 6)
}

// bySearches sets how many searches, or ramps, a breaking point rests on.
func bySearches(c summary.Cell, n int) summary.Cell {
	b := *c.Breaking
	b.Searches = n
	c.Trials, c.Breaking, c.PerTrial = n, &b, nil
	for i := range n {
		switch {
		case c.Load.Stages || b.AtLeast:
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{BreakingFrom: b.Low, BreakingTo: b.High})
		default: // evenly between the ends
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{Breaking: new(*b.Low + (*b.High-*b.Low)*float64(i)/float64(max(1, n-1)))})
		}
	}
	return c
}

func kept(c summary.Cell) summary.Cell {
	c.Kept = true
	return c
}

func selector(cell int) *experiment.Selector {
	return &experiment.Selector{Service: "go", Cell: cell}
}

// flagged adds a flag to a cell.
func flagged(c summary.Cell, flag summary.Flag) summary.Cell {
	c.Flags = append(c.Flags, flag)
	return c
}

// failing sets the percentage of good answers in one trial of a cell.
func failing(c summary.Cell, availability float64) summary.Cell {
	c.PerTrial = slices.Clone(c.PerTrial)
	c.PerTrial[0].Availability = &availability
	return c
}

func limited(c summary.Cell) summary.Cell {
	c.Generator.Limited = true
	return c
}

var (
	six100 = []float64{98, 99, 100, 100, 101, 102}
	six400 = []float64{390, 395, 400, 400, 405, 410}
)

func TestClaimsAreJudgedByWholeIntervals(t *testing.T) {
	above := func(v float64) experiment.Claim {
		return experiment.Claim{Metric: "p99", Of: selector(0), Above: &v}
	}
	below := func(v float64) experiment.Claim {
		return experiment.Claim{Metric: "p99", Of: selector(0), Below: &v}
	}
	over := func(v float64) experiment.Claim {
		return experiment.Claim{Metric: "p99", Of: selector(0), Over: selector(1), Above: &v}
	}
	of := func(c experiment.Claim, metric string) experiment.Claim { c.Metric = metric; return c }
	on := func(c experiment.Claim, cpus int) experiment.Claim { c.CPUs = cpus; return c }
	fast, slow := claimCell(0, "fast", six100...), claimCell(1, "slow", six400...)
	for _, c := range []struct {
		name    string
		claim   experiment.Claim
		cells   []summary.Cell
		verdict summary.Verdict
		reason  string
		low     float64 // -1: none
		value   float64
		high    float64
	}{
		{"six trials above", above(97), []summary.Cell{fast}, summary.Reproduced, "the 95% interval lies above 97 ms", 98, 100, 102},
		{"six trials below", above(102), []summary.Cell{fast}, summary.NotReproduced, "the 95% interval lies below 102 ms", 98, 100, 102},
		{"six trials on both sides", above(100), []summary.Cell{fast}, summary.Inconclusive, "the 95% interval contains 100 ms", 98, 100, 102},
		{"the bound is not above itself", above(98), []summary.Cell{fast}, summary.Inconclusive, "the 95% interval contains 98 ms", 98, 100, 102},
		{"below", below(103), []summary.Cell{fast}, summary.Reproduced, "the 95% interval lies below 103 ms", 98, 100, 102},
		{"not below", below(98), []summary.Cell{fast}, summary.NotReproduced, "the 95% interval lies above 98 ms", 98, 100, 102},
		{"a share is worded in percent", of(below(0.103), "throttled"), []summary.Cell{fast}, summary.Reproduced, "the 95% interval lies below 10.3%", 0.098, 0.1, 0.102},
		{"three trials have a range", above(97), []summary.Cell{claimCell(0, "fast", 98, 100, 102)}, summary.Reproduced,
			"the range of 3 trials, too few for a 95% interval, lies above 97 ms", 98, 100, 102},
		{"one trial is not enough", above(1), []summary.Cell{claimCell(0, "fast", 100)}, summary.Inconclusive,
			"one trial of fast gives no interval; repeat it, ideally six times", -1, 100, -1},
		{"no trial", above(1), []summary.Cell{claimCell(0, "fast")}, summary.Inconclusive, "nothing was measured for fast: node is not installed", -1, -1, -1},
		{"not measured", of(above(1), "insert_p99"), []summary.Cell{fast}, summary.Inconclusive, "not measured for fast: p99 of waiting for the dependency", -1, -1, -1},
		{"a cell that --set left out", experiment.Claim{Metric: "p99", Of: &experiment.Selector{Service: "bun", Cell: experiment.NoCell}, Above: new(1.0)},
			[]summary.Cell{fast}, summary.Inconclusive, "this run has no cell bun", -1, -1, -1},
		{"a small host", on(above(97), 6), []summary.Cell{fast}, summary.Inconclusive, "it needs a host with 6 CPUs, and this one has 2", 98, 100, 102},
		{"a host just large enough", on(above(97), 2), []summary.Cell{fast}, summary.Reproduced, "the 95% interval lies above 97 ms", 98, 100, 102},
		{"a busy neighbour", above(97), []summary.Cell{flagged(fast, "busy_neighbour")}, summary.Inconclusive,
			"other processes took CPU while fast was measured", 98, 100, 102},
		{"which hardly touches memory", of(above(97), "memory_peak"), []summary.Cell{flagged(fast, "busy_neighbour")}, summary.Reproduced,
			"the 95% interval lies above 0.00009251 MiB", 98, 100, 102},
		{"stolen CPU is said", above(97), []summary.Cell{flagged(fast, "cpu_stolen")}, summary.Reproduced,
			"the 95% interval lies above 97 ms; the hypervisor took some CPU during the trials of fast", 98, 100, 102},
		{"much of it", above(97), []summary.Cell{flagged(flagged(fast, "cpu_stolen"), "busy_hypervisor")}, summary.Inconclusive,
			"the hypervisor took CPU while fast was measured", 98, 100, 102},
		{"both", above(97), []summary.Cell{flagged(flagged(fast, "busy_neighbour"), "busy_hypervisor")}, summary.Inconclusive,
			"other processes and the hypervisor took CPU while fast was measured", 98, 100, 102},
		{"an agent that waited", above(97), []summary.Cell{flagged(fast, "agent_waited")}, summary.Inconclusive,
			"the agent waited for a CPU while fast was measured, so part of the latency is the agent's", 98, 100, 102},
		{"a rate that the generator limited may be higher", of(above(99), "rate"), []summary.Cell{limited(fast)}, summary.Inconclusive,
			"the figure is a lower bound only, and that bound lies below 99 requests/s", 98, 100, -1},
		{"and is above what it is above", of(above(97), "rate"), []summary.Cell{limited(fast)}, summary.Reproduced,
			"the 95% interval lies above 97 requests/s", 98, 100, -1},
		{"a latency that the generator limited", above(97), []summary.Cell{limited(fast)}, summary.Inconclusive,
			"the generator was the limit of fast, not the service", 98, 100, 102},
		{"memory under a load that the generator limited may be more", of(above(99), "memory_peak"), []summary.Cell{limited(fast)}, summary.Inconclusive,
			"the figure is a lower bound only, and that bound lies below 0.00009441 MiB", 98, 100, -1},
		{"a latency of few answered requests has no upper end", below(103), []summary.Cell{failing(fast, 98.9)}, summary.Inconclusive,
			"the figure is a lower bound only, and that bound lies below 103 ms; only a lower bound is known for fast: too many of its requests failed, and a failed request counts as infinitely late", 98, 100, -1},
		{"and is above what it is above", above(97), []summary.Cell{failing(fast, 50)}, summary.Reproduced,
			"the 95% interval lies above 97 ms; only a lower bound is known for fast: too many of its requests failed, and a failed request counts as infinitely late", 98, 100, -1},
		{"as many failed as a p99 allows", below(103), []summary.Cell{failing(fast, 99)}, summary.Reproduced, "the 95% interval lies below 103 ms", 98, 100, 102},
		{"a rate of few answered requests", of(below(103), "rate"), []summary.Cell{failing(fast, 50)}, summary.Reproduced, "the 95% interval lies below 103 requests/s", 98, 100, 102},
		{"a ratio", over(3.8), []summary.Cell{claimCell(0, "slow", six400...), claimCell(1, "fast", six100...)}, summary.Reproduced,
			"the 95% interval lies above 3.8", 390.0 / 102, 4, 410.0 / 98},
		{"a ratio with a range on one side", over(3.8), []summary.Cell{claimCell(0, "slow", six400...), claimCell(1, "fast", 98, 100, 100, 102)}, summary.Reproduced,
			"the range of 4 trials, too few for a 95% interval, lies above 3.8", 390.0 / 102, 4, 410.0 / 98},
		{"a ratio to two trials", over(3.8), []summary.Cell{claimCell(0, "slow", six400...), claimCell(1, "fast", 98, 102)}, summary.Inconclusive,
			"2 trials of fast: too few to show how starts differ; a comparison needs at least 4 per cell (measure.repeats)", 390.0 / 102, 4, 410.0 / 98},
		{"a ratio the other way", over(1), []summary.Cell{fast, slow}, summary.NotReproduced, "the 95% interval lies below 1", 98.0 / 410, 0.25, 102.0 / 390},
		{"a ratio to one trial", over(1), []summary.Cell{fast, claimCell(1, "slow", 400)}, summary.Inconclusive,
			"one trial of slow gives no interval; repeat it, ideally six times", -1, 0.25, -1},
		{"a ratio to nothing", over(1), []summary.Cell{fast, claimCell(1, "none", 0, 0, 0, 0)}, summary.Inconclusive,
			"none is 0, and a ratio to 0 is not defined", -1, -1, -1},
		{"a ratio to what may be nothing", over(4), []summary.Cell{fast, claimCell(1, "few", 0, 0, 0, 10)}, summary.Reproduced,
			"the range of 4 trials, too few for a 95% interval, lies above 4", 9.8, -1, -1},
		{"nothing of nothing", over(4), []summary.Cell{claimCell(0, "zero", 0, 0, 0, 0), claimCell(1, "few", 0, 0, 0, 10)}, summary.NotReproduced,
			"the range of 4 trials, too few for a 95% interval, lies below 4", 0, -1, 0},
		{"six searches", of(above(300), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 350)}, summary.Reproduced,
			"the 95% interval lies above 300 requests/s", 310, 330, 350},
		{"three searches", of(above(300), "breaking_point"), []summary.Cell{bySearches(breakCell(0, "go", 310, 330, 350), 3)}, summary.Reproduced,
			"the range of 3 trials, too few for a 95% interval, lies above 300 requests/s", 310, 330, 350},
		{"one search, and one cell", of(above(300), "breaking_point"), []summary.Cell{bySearches(breakCell(0, "go", 310, 330, 350), 1)}, summary.Reproduced,
			"the 95% interval of one search lies above 300 requests/s; from one search; the spread between runs is unknown", 310, 330, 350},
		{"a ratio of one search each", of(over(1.1), "breaking_point"), []summary.Cell{bySearches(breakCell(0, "go", 298, 304, 310), 1), bySearches(breakCell(1, "bun", 200, 210, 220), 1)}, summary.Inconclusive,
			"1 search of go: too few to show how starts differ; a comparison needs at least 4 per cell (measure.repeats)", -1, 304.0 / 210, -1},
		{"a ratio of three searches to six", of(over(1.1), "breaking_point"), []summary.Cell{breakCell(0, "go", 298, 304, 310), bySearches(breakCell(1, "bun", 200, 210, 220), 3)}, summary.Inconclusive,
			"3 searches of bun: too few to show how starts differ; a comparison needs at least 4 per cell (measure.repeats)", -1, 304.0 / 210, -1},
		{"a ratio of four searches each", of(over(1.1), "breaking_point"), []summary.Cell{bySearches(breakCell(0, "go", 298, 304, 310), 4), bySearches(breakCell(1, "bun", 200, 210, 220), 4)}, summary.Reproduced,
			"the range of 4 trials, too few for a 95% interval, lies above 1.1", 298.0 / 220, 304.0 / 210, 310.0 / 200},
		{"a lower bound above it", of(above(300), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 0)}, summary.Reproduced,
			"the 95% interval lies above 300 requests/s", 310, 330, -1},
		{"a lower bound below it", of(above(400), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 0)}, summary.Inconclusive,
			"the figure is a lower bound only, and that bound lies below 400 requests/s", 310, 330, -1},
		{"a ratio to a lower bound", of(over(2), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 350), breakCell(1, "bun", 100, 110, 0)}, summary.Inconclusive,
			"the 95% interval contains 2", 0, 3, 3.5},
		{"no search", of(above(1), "breaking_point"), []summary.Cell{fast}, summary.Inconclusive, "the breaking point of fast was not searched for", -1, -1, -1},
		{"a search that found none", of(above(1), "breaking_point"),
			[]summary.Cell{{Label: "go", Trials: 1, Breaking: &summary.BreakingPoint{Reason: "the service died"}}}, summary.Inconclusive,
			"no breaking point of go was found: the service died", -1, -1, -1},
		{"growth of a restarted service", of(above(1), "memory_growth"), []summary.Cell{fast}, summary.Inconclusive,
			"fast was restarted for each trial, so nothing can grow from one trial to the next (measure.kept)", -1, -1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := Claims{Experiment: &experiment.Experiment{}, Cells: c.cells, Absent: []string{"node is not installed", ""}, CPUs: 2}
			got := j.Judge(&c.claim)
			if got.Verdict != c.verdict || got.Reason != c.reason {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Reason, c.verdict, c.reason)
			}
			for name, of := range map[string]struct {
				got  *float64
				want float64
			}{"low": {got.Low, c.low}, "value": {got.Value, c.value}, "high": {got.High, c.high}} {
				if of.want < 0 != (of.got == nil) || of.got != nil && math.Abs(*of.got-of.want) > 1e-9 {
					t.Errorf("%s: %v, want %v", name, show(of.got), of.want)
				}
			}
		})
	}
}

func show(v *float64) any {
	if v == nil {
		return "none"
	}
	return *v
}

func TestAnOrderIsJudgedByWholeIntervals(t *testing.T) {
	cells := func(all ...summary.Cell) []summary.Cell {
		for i := range all {
			all[i].Cell = i
		}
		return all
	}
	node, goes, bun := breakCell(0, "node", 90, 100, 110), breakCell(0, "go", 120, 130, 140), breakCell(0, "bun", 150, 160, 170)
	for _, c := range []struct {
		name    string
		metric  string
		cells   []summary.Cell
		verdict summary.Verdict
		reason  string
	}{
		{"one after the other, from one search each", "breaking_point", cells(bySearches(node, 1), bySearches(goes, 1), bySearches(bun, 1)), summary.Inconclusive,
			"1 search of node: too few to show how starts differ; a comparison needs at least 4 per cell (measure.repeats)"},
		{"the other way round, from one search of one of them", "breaking_point", cells(bun, bySearches(goes, 1)), summary.Inconclusive,
			"1 search of go: too few to show how starts differ; a comparison needs at least 4 per cell (measure.repeats)"},
		{"one after the other, from four searches each", "breaking_point", cells(bySearches(node, 4), bySearches(goes, 4)), summary.Reproduced,
			"each lies below the next one (p at most 0.029, corrected over all pairs)"},
		{"one after the other", "breaking_point", cells(node, goes, bun), summary.Reproduced, "each lies below the next one (p at most 0.0022, corrected over all pairs)"},
		{"two of them overlap", "breaking_point", cells(node, goes, breakCell(0, "bun", 122, 130, 150)), summary.Inconclusive, "go and bun do not differ significantly (p 0.39, corrected over all pairs)"},
		{"two the other way round", "breaking_point", cells(node, bun, goes), summary.NotReproduced, "bun lies above go (p 0.0022, corrected over all pairs)"},
		{"the first above the last", "breaking_point", cells(bun, breakCell(0, "wide", 100, 155, 200), node), summary.NotReproduced, "bun lies above node (p 0.0048, corrected over all pairs)"},
		{"a lower bound at the end", "breaking_point", cells(node, breakCell(0, "go", 120, 130, 0)), summary.Reproduced, "each lies below the next one (p at most 0.0022, corrected over all pairs)"},
		{"a lower bound before the end", "breaking_point", cells(breakCell(0, "node", 90, 100, 0), goes), summary.Inconclusive,
			"node and go cannot be distinguished: the figure of node is a lower bound"},
		{"one that is not there", "breaking_point", cells(node, summary.Cell{Label: "go"}, bun), summary.Inconclusive, "nothing was measured for go"},
		{"one that is not there, and two the other way round", "breaking_point", cells(goes, summary.Cell{Label: "bun"}, node), summary.NotReproduced, "go lies above node (p 0.0022, corrected over all pairs)"},
		{"ranges of few trials", "p99", cells(claimCell(0, "a", 1, 2), claimCell(0, "b", 3, 4, 5)), summary.Inconclusive,
			"2 trials of a: too few to show how starts differ; a comparison needs at least 4 per cell (measure.repeats)"},
		{"four trials", "p99", cells(claimCell(0, "a", 1, 2, 1, 2), claimCell(0, "b", 3, 4, 5, 6)), summary.Reproduced,
			"each lies below the next one (p at most 0.029, corrected over all pairs)"},
		{"trials of one process", "p99", cells(kept(claimCell(0, "a", 1, 2, 1, 2)), claimCell(0, "b", 3, 4, 5, 6)), summary.Inconclusive,
			"a was not restarted between its trials (restart: false), so they show one start only, and starts differ"},
		{"a search beside a neighbour says so", "breaking_point", cells(flagged(node, "search_disturbed"), goes), summary.Reproduced,
			"each lies below the next one (p at most 0.0022, corrected over all pairs); other processes or the hypervisor took CPU during the search for the breaking point of node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := experiment.Claim{Metric: c.metric}
			for i := range c.cells {
				claim.Order = append(claim.Order, *selector(i))
			}
			got := (&Claims{Experiment: &experiment.Experiment{}, Cells: c.cells}).Judge(&claim)
			if got.Verdict != c.verdict || got.Reason != c.reason {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Reason, c.verdict, c.reason)
			}
			if got.Value != nil || len(got.Cells) != len(c.cells) {
				t.Errorf("an order has a figure a cell, not one of its own: %+v", got)
			}
		})
	}
}

// The published figures: 0.5, 0.9, 1.4% of the host's memory.
func TestGrowthIsMeasuredFromRunToRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		peaks   []float64
		verdict summary.Verdict
		reason  string
		ends    [2]float64
	}{
		{"three runs that grow", []float64{0.5, 0.9, 1.4}, summary.Reproduced, "the range of its 2 steps lies above 1.5", [2]float64{math.Pow(1.4/0.9, 2), 1.8 * 1.8}},
		{"three runs that do not", []float64{1, 1.01, 1}, summary.NotReproduced, "the range of its 2 steps lies below 1.5", [2]float64{math.Pow(1/1.01, 2), 1.01 * 1.01}},
		{"one step among two", []float64{1, 1, 2}, summary.Inconclusive, "the range of its 2 steps contains 1.5", [2]float64{1, 4}},
		{"two runs", []float64{1, 2}, summary.Inconclusive, "two trials of go show one step of growth, and no interval; repeat it", [2]float64{}},
		{"one run", []float64{1}, summary.Inconclusive, "one trial of go shows no growth; repeat it", [2]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := claimCell(0, "go", c.peaks...)
			slices.Reverse(cell.PerTrial) // the order of the trials counts, not that of the list
			j := Claims{Experiment: &experiment.Experiment{Measure: experiment.Measure{Kept: true}}, Cells: []summary.Cell{cell}}
			got := j.Judge(&experiment.Claim{Metric: "memory_growth", Of: selector(0), Above: new(1.5)})
			if got.Verdict != c.verdict || got.Reason != c.reason {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Reason, c.verdict, c.reason)
			}
			if got.Low != nil && (math.Abs(*got.Low-c.ends[0]) > 1e-9 || math.Abs(*got.High-c.ends[1]) > 1e-9) {
				t.Errorf("from %v to %v, want %v", *got.Low, *got.High, c.ends)
			}
		})
	}
}

// TestAFalseClaimIsSeldomCalledReproduced draws trials of two cells whose ratio is
// exactly the bound of the claim. Such a claim is false, and no false claim is closer
// to being true. The test checks the error rate that docs/statistics.md states.
func TestAFalseClaimIsSeldomCalledReproduced(t *testing.T) {
	const runs = 4000
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, middle float64) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = middle * math.Exp(0.2*random.NormFloat64())
		}
		return all
	}
	for _, c := range []struct {
		name          string
		trials        int
		over          bool
		truth         float64 // of the bound
		least, atMost float64 // shares of the runs that are called reproduced
	}{
		{"one cell, six trials", 6, false, 1, 0.005, 0.025},
		{"one cell, ten trials", 10, false, 1, 0, 0.025},
		{"one cell, three trials: a range is no 95% interval", 3, false, 1, 0.10, 0.15},
		{"a ratio, six trials", 6, true, 1, 0, 0.005},
		{"a ratio, ten trials", 10, true, 1, 0, 0.01},
		{"a ratio, four trials", 4, true, 1, 0.005, 0.025},
		{"a ratio, three trials: no verdict", 3, true, 1, 0, 0},
		{"a true claim by a third, six trials", 6, true, 4. / 3, 0.05, 0.6},
		{"a true claim by twice, six trials", 6, true, 2, 0.75, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := experiment.Claim{Metric: "p99", Of: selector(0), Above: new(100.0)}
			if c.over {
				claim.Over, claim.Above = selector(1), new(1.0)
			}
			reproduced := 0
			for range runs {
				j := Claims{Experiment: &experiment.Experiment{}, Cells: []summary.Cell{claimCell(0, "a", draw(c.trials, 100*c.truth)...), claimCell(1, "b", draw(c.trials, 100)...)}}
				if j.Judge(&claim).Verdict == summary.Reproduced {
					reproduced++
				}
			}
			got := float64(reproduced) / runs
			t.Logf("%.2f%% are called reproduced", 100*got)
			if got < c.least || got > c.atMost {
				t.Errorf("%.2f%% are called reproduced, want %.1f to %.1f%%", 100*got, 100*c.least, 100*c.atMost)
			}
		})
	}
}

// TestEveryClaimsMetricIsKnown compares the experiment's metrics with the list here.
func TestEveryClaimsMetricIsKnown(t *testing.T) {
	var names []string
	for _, m := range metrics {
		names = append(names, m.Name)
	}
	if diff := cmp.Diff(experiment.ClaimMetrics, names); diff != "" {
		t.Errorf("the metrics of experiments and those of analysis (-want +got):\n%s", diff)
	}
}
