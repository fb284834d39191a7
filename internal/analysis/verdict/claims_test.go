package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/finding"
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
		c.Breaking.High, c.Breaking.AtLeast, c.Breaking.Why = nil, true, []finding.Finding{{Kind: finding.NothingMissed}}
	}
	return bySearches(c, 6)
}

// rampCell is a cell whose breaking point lies between two levels of ramps; high 0: a
// lower bound.
func rampCell(cell int, label string, ramps int, low, high float64) summary.Cell {
	c := breakCell(cell, label, low, low, high)
	c.Load = summary.Load{Kind: "open", Stages: true}
	return bySearches(c, ramps)
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

// stopped sets in how many of a cell's trials a signal held the service.
func stopped(c summary.Cell, trials int) summary.Cell {
	c.Disturbance = &summary.Disturbance{By: []string{summary.Stops}, Trials: len(c.PerTrial), Disturbed: trials, Kept: trials}
	return c
}

// beside sets in how many of a cell's trials a neighbour took CPU.
func beside(c summary.Cell, trials int) summary.Cell {
	return flagged(stopped(c, trials), summary.FlagBusyNeighbour)
}

// failing sets the percentage of good answers in the first trials of a cell.
func failing(c summary.Cell, trials int, availability float64) summary.Cell {
	c.PerTrial = slices.Clone(c.PerTrial)
	for i := range trials {
		c.PerTrial[i].Availability = &availability
	}
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

// judged is the verdict on a claim, and the kinds of what it rests on and of what
// qualifies it.
func judged(c *Claims, claim *experiment.Claim) (summary.Claim, []finding.Kind) {
	if c.Experiment == nil {
		c.Experiment = &experiment.Experiment{}
	}
	got := c.Judge(claim)
	var kinds []finding.Kind
	for _, f := range got.Why {
		kinds = append(kinds, f.Kind)
	}
	return got, kinds
}

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
	const yes, no, unclear = summary.Reproduced, summary.NotReproduced, summary.Inconclusive
	const beyond, within, contains = finding.IntervalAbove, finding.IntervalBelow, finding.IntervalContains
	fast, slow := claimCell(0, "fast", six100...), claimCell(1, "slow", six400...)
	nine := claimCell(0, "fast", 98, 99, 100, 100, 101, 102, 103, 104, 105)
	for _, c := range []struct {
		name    string
		claim   experiment.Claim
		cells   []summary.Cell
		verdict summary.Verdict
		why     []finding.Kind
		ends    [3]float64 // low, value, high; -1: none
	}{
		{"six trials above", above(97), []summary.Cell{fast}, yes, []finding.Kind{beyond}, [3]float64{98, 100, 102}},
		{"six trials below", above(102), []summary.Cell{fast}, no, []finding.Kind{within}, [3]float64{98, 100, 102}},
		{"six trials on both sides", above(100), []summary.Cell{fast}, unclear, []finding.Kind{contains}, [3]float64{98, 100, 102}},
		{"the bound is not above itself", above(98), []summary.Cell{fast}, unclear, []finding.Kind{contains}, [3]float64{98, 100, 102}},
		{"below", below(103), []summary.Cell{fast}, yes, []finding.Kind{within}, [3]float64{98, 100, 102}},
		{"not below", below(98), []summary.Cell{fast}, no, []finding.Kind{beyond}, [3]float64{98, 100, 102}},
		{"a share", of(below(0.103), "throttled"), []summary.Cell{fast}, yes, []finding.Kind{within}, [3]float64{0.098, 0.1, 0.102}},
		{"three trials have a range", above(97), []summary.Cell{claimCell(0, "fast", 98, 100, 102)}, yes, []finding.Kind{beyond}, [3]float64{98, 100, 102}},
		{"one trial is not enough", above(1), []summary.Cell{claimCell(0, "fast", 100)}, unclear, []finding.Kind{finding.OneTrial}, [3]float64{-1, 100, -1}},
		{"no trial", above(1), []summary.Cell{claimCell(0, "fast")}, unclear, []finding.Kind{finding.NothingMeasured}, [3]float64{-1, -1, -1}},
		{"not measured", of(above(1), "insert_p99"), []summary.Cell{fast}, unclear, []finding.Kind{finding.MetricNotMeasured}, [3]float64{-1, -1, -1}},
		{"a cell that --set left out", experiment.Claim{Metric: "p99", Of: selector(experiment.NoCell), Above: new(1.0)}, []summary.Cell{fast},
			unclear, []finding.Kind{finding.NoSuchCell}, [3]float64{-1, -1, -1}},
		{"a small host", on(above(97), 6), []summary.Cell{fast}, unclear, []finding.Kind{finding.TooFewCPUs}, [3]float64{98, 100, 102}},
		{"a host just large enough", on(above(97), 2), []summary.Cell{fast}, yes, []finding.Kind{beyond}, [3]float64{98, 100, 102}},
		{"a neighbour in one trial", above(97), []summary.Cell{beside(fast, 1)}, unclear, []finding.Kind{finding.Disturbed}, [3]float64{98, 100, 102}},
		{"which hardly touches memory", of(above(97), "memory_peak"), []summary.Cell{beside(fast, 6)}, yes, []finding.Kind{beyond}, [3]float64{98, 100, 102}},
		{"stopped in most trials", above(97), []summary.Cell{stopped(fast, 4)}, unclear, []finding.Kind{finding.MostlyDisturbed}, [3]float64{98, 100, 102}},
		{"stopped in half of them", above(97), []summary.Cell{stopped(fast, 3)}, yes, []finding.Kind{beyond}, [3]float64{98, 100, 102}},
		{"a rate that the generator limited may be higher", of(above(99), "rate"), []summary.Cell{limited(fast)}, unclear, []finding.Kind{finding.LowerBoundBelow}, [3]float64{98, 100, -1}},
		{"and is above what it is above", of(above(97), "rate"), []summary.Cell{limited(fast)}, yes, []finding.Kind{beyond}, [3]float64{98, 100, -1}},
		{"a latency that the generator limited", above(97), []summary.Cell{limited(fast)}, unclear, []finding.Kind{finding.GeneratorWasLimit}, [3]float64{98, 100, 102}},
		{"memory under a load that the generator limited may be more", of(above(99), "memory_peak"), []summary.Cell{limited(fast)}, unclear, []finding.Kind{finding.LowerBoundBelow}, [3]float64{98, 100, -1}},
		{"a latency of few answered requests has no upper end", below(103), []summary.Cell{failing(fast, 1, 98.9)}, unclear,
			[]finding.Kind{finding.LowerBoundBelow, finding.LowerBoundByFailures}, [3]float64{99, 100.5, -1}},
		{"and is above what it is above", above(97), []summary.Cell{failing(fast, 1, 50)}, yes, []finding.Kind{beyond, finding.LowerBoundByFailures}, [3]float64{99, 100.5, -1}},
		{"of one in nine, its interval has an upper end", below(110), []summary.Cell{failing(nine, 1, 50)}, yes, []finding.Kind{within}, [3]float64{100, 102, 105}},
		{"and of two it has none", below(110), []summary.Cell{failing(nine, 2, 50)}, unclear,
			[]finding.Kind{finding.LowerBoundBelow, finding.LowerBoundByFailures}, [3]float64{100, 103, -1}},
		{"of all, it is above every bound", above(1e6), []summary.Cell{failing(fast, 6, 50)}, yes, []finding.Kind{beyond, finding.LowerBoundByFailures}, [3]float64{-1, 100, -1}},
		{"as many failed as a p99 allows", below(103), []summary.Cell{failing(fast, 1, 99)}, yes, []finding.Kind{within}, [3]float64{98, 100, 102}},
		{"a rate of few answered requests", of(below(103), "rate"), []summary.Cell{failing(fast, 1, 50)}, yes, []finding.Kind{within}, [3]float64{98, 100, 102}},
		{"six searches", of(above(300), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 350)}, yes, []finding.Kind{beyond}, [3]float64{310, 330, 350}},
		{"one search, and one cell", of(above(300), "breaking_point"), []summary.Cell{bySearches(breakCell(0, "go", 310, 330, 350), 1)}, yes,
			[]finding.Kind{beyond, finding.OneStart}, [3]float64{310, 330, 350}},
		{"one ramp", of(above(320), "breaking_point"), []summary.Cell{rampCell(0, "go", 1, 310, 350)}, unclear, []finding.Kind{contains, finding.OneStart}, [3]float64{310, 310, 350}},
		{"a lower bound above it", of(above(300), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 0)}, yes, []finding.Kind{beyond, finding.OnlyLowerBound}, [3]float64{310, 330, -1}},
		{"a lower bound below it", of(above(400), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 0)}, unclear,
			[]finding.Kind{finding.LowerBoundBelow, finding.OnlyLowerBound}, [3]float64{310, 330, -1}},
		{"no search", of(above(1), "breaking_point"), []summary.Cell{fast}, unclear, []finding.Kind{finding.NotSearched}, [3]float64{-1, -1, -1}},
		{"a search that found none", of(above(1), "breaking_point"), []summary.Cell{{Label: "go", Trials: 1, Breaking: &summary.BreakingPoint{}}}, unclear,
			[]finding.Kind{finding.NoneFound}, [3]float64{-1, -1, -1}},
		{"growth of a restarted service", of(above(1), "memory_growth"), []summary.Cell{fast}, unclear, []finding.Kind{finding.RestartedEachTrial}, [3]float64{-1, -1, -1}},

		{"a ratio", over(3.8), []summary.Cell{claimCell(0, "slow", six400...), claimCell(1, "fast", six100...)}, yes, []finding.Kind{beyond}, [3]float64{395.0 / 101, 4, 405.0 / 99}},
		{"a ratio the other way", over(1), []summary.Cell{fast, slow}, no, []finding.Kind{within}, [3]float64{99.0 / 405, 0.25, 101.0 / 395}},
		{"a ratio below", experiment.Claim{Metric: "p99", Of: selector(0), Over: selector(1), Below: new(0.26)}, []summary.Cell{fast, slow}, yes, []finding.Kind{within}, [3]float64{99.0 / 405, 0.25, 101.0 / 395}},
		{"a ratio that is exactly the bound in every trial", over(4), []summary.Cell{claimCell(0, "slow", 400, 400, 400, 400), claimCell(1, "fast", 100, 100, 100, 100)}, no,
			[]finding.Kind{within}, [3]float64{4, 4, 4}},
		{"a ratio to what failed in one trial", over(0.1), []summary.Cell{fast, failing(slow, 1, 50)}, unclear, []finding.Kind{contains, finding.LowerBoundByFailures}, [3]float64{0, 100 / 402.5, 100.0 / 395}},
		{"a ratio of memory that more load would raise", of(over(3.8), "memory_peak"), []summary.Cell{limited(claimCell(0, "slow", six400...)), claimCell(1, "fast", six100...)}, yes,
			[]finding.Kind{beyond}, [3]float64{395.0 / 101, 4, -1}},
		{"a ratio to such memory", of(over(3.8), "memory_peak"), []summary.Cell{claimCell(0, "slow", six400...), limited(claimCell(1, "fast", six100...))}, unclear,
			[]finding.Kind{contains}, [3]float64{0, 4, 405.0 / 99}},
		{"a ratio of four trials", over(3.8), []summary.Cell{claimCell(0, "slow", six400...), claimCell(1, "fast", 98, 100, 100, 102)}, yes, []finding.Kind{beyond}, [3]float64{3.891540640528445, 4, 4.111233666404326}},
		{"a ratio to two trials", over(3.8), []summary.Cell{claimCell(0, "slow", six400...), claimCell(1, "fast", 98, 102)}, unclear, []finding.Kind{finding.PairNotTested}, [3]float64{-1, 4, -1}},
		{"a ratio to trials of one process", over(3.8), []summary.Cell{claimCell(0, "slow", six400...), kept(claimCell(1, "fast", six100...))}, unclear,
			[]finding.Kind{finding.PairNotTested}, [3]float64{-1, 4, -1}},
		{"a ratio to one trial", over(1), []summary.Cell{fast, claimCell(1, "slow", 400)}, unclear, []finding.Kind{finding.OneTrial}, [3]float64{-1, 0.25, -1}},
		{"a ratio to nothing", over(1), []summary.Cell{fast, claimCell(1, "none", 0, 0, 0, 0)}, unclear, []finding.Kind{finding.RatioToZero}, [3]float64{-1, -1, -1}},
		{"a ratio to what is mostly nothing", over(4), []summary.Cell{fast, claimCell(1, "few", 0, 0, 0, 10)}, unclear, []finding.Kind{finding.RatioToZero}, [3]float64{-1, -1, -1}},
		{"a ratio to what was nothing once", over(4), []summary.Cell{fast, claimCell(1, "most", 0, 10, 10, 10)}, yes, []finding.Kind{beyond}, [3]float64{9.8, 10, -1}},
		{"of what was nothing once", over(4), []summary.Cell{claimCell(0, "most", 0, 10, 10, 10), claimCell(1, "most", 0, 10, 10, 10)}, unclear,
			[]finding.Kind{finding.LowerBoundBelow}, [3]float64{0, 1, -1}},
		{"a ratio beside others in one trial", over(3.8), []summary.Cell{beside(claimCell(0, "slow", six400...), 1), claimCell(1, "fast", six100...)}, unclear,
			[]finding.Kind{finding.Disturbed}, [3]float64{-1, 4, -1}},
		{"a ratio to what the generator limited", over(1), []summary.Cell{fast, limited(slow)}, unclear, []finding.Kind{finding.GeneratorWasLimit}, [3]float64{-1, 0.25, -1}},
		{"a ratio of one search each", of(over(1.1), "breaking_point"), []summary.Cell{bySearches(breakCell(0, "go", 298, 304, 310), 1), bySearches(breakCell(1, "bun", 200, 210, 220), 1)},
			unclear, []finding.Kind{finding.PairNotTested}, [3]float64{-1, 304.0 / 210, -1}},
		{"a ratio of four searches each", of(over(1.1), "breaking_point"), []summary.Cell{bySearches(breakCell(0, "go", 298, 304, 310), 4), bySearches(breakCell(1, "bun", 200, 210, 220), 4)},
			yes, []finding.Kind{beyond}, [3]float64{298.0 / 220, 304.0 / 210, 310.0 / 200}},
		{"a ratio to a lower bound", of(over(2), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 350), breakCell(1, "bun", 100, 110, 0)},
			unclear, []finding.Kind{contains, finding.OnlyLowerBound}, [3]float64{0, 3, 3.5}},
		{"two lower bounds have no ratio", of(over(1), "breaking_point"), []summary.Cell{breakCell(0, "go", 310, 330, 0), breakCell(1, "bun", 100, 110, 0)},
			unclear, []finding.Kind{finding.BothLowerBounds, finding.OnlyLowerBound, finding.OnlyLowerBound}, [3]float64{-1, -1, -1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := judged(&Claims{Cells: c.cells, Absent: []string{"node is not installed", ""}, CPUs: 2}, &c.claim)
			if d := cmp.Diff(c.why, why); d != "" || got.Verdict != c.verdict {
				t.Errorf("%s, want %s; by (-want +got):\n%s", got.Verdict, c.verdict, d)
			}
			for i, v := range []*float64{got.Low, got.Value, got.High} {
				if want := c.ends[i]; want < 0 != (v == nil) || v != nil && math.Abs(*v-want) > 1e-9 {
					t.Errorf("low, value or high %d is %v, want %v", i, show(v), want)
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

func TestAnOrderIsJudgedByTheRanking(t *testing.T) {
	const yes, no, unclear = summary.Reproduced, summary.NotReproduced, summary.Inconclusive
	node, goes, bun := breakCell(0, "node", 90, 100, 110), breakCell(0, "go", 120, 130, 140), breakCell(0, "bun", 150, 160, 170)
	for _, c := range []struct {
		name    string
		metric  string
		cells   []summary.Cell
		verdict summary.Verdict
		why     finding.Kind
	}{
		{"one after the other, from one search each", "breaking_point", []summary.Cell{bySearches(node, 1), bySearches(goes, 1)}, unclear, finding.PairNotTested},
		{"one after the other, from four searches each", "breaking_point", []summary.Cell{bySearches(node, 4), bySearches(goes, 4)}, yes, finding.InOrder},
		{"one after the other", "breaking_point", []summary.Cell{node, goes, bun}, yes, finding.InOrder},
		{"two of them overlap", "breaking_point", []summary.Cell{node, goes, breakCell(0, "bun", 122, 130, 150)}, unclear, finding.Alike},
		{"two the other way round", "breaking_point", []summary.Cell{node, bun, goes}, no, finding.LiesAbove},
		{"the first above the last", "breaking_point", []summary.Cell{bun, breakCell(0, "wide", 100, 155, 200), node}, no, finding.LiesAbove},
		{"a lower bound at the end", "breaking_point", []summary.Cell{node, breakCell(0, "go", 120, 130, 0)}, yes, finding.InOrder},
		{"a lower bound before the end", "breaking_point", []summary.Cell{breakCell(0, "node", 90, 100, 0), goes}, unclear, finding.AlikeByLowerBound},
		{"one that is not there", "breaking_point", []summary.Cell{node, {Label: "go"}, bun}, unclear, finding.NothingMeasured},
		{"one that is not there, and two the other way round", "breaking_point", []summary.Cell{goes, {Label: "bun"}, node}, no, finding.LiesAbove},
		{"ranges of few trials", "p99", []summary.Cell{claimCell(0, "a", 1, 2), claimCell(0, "b", 3, 4, 5)}, unclear, finding.PairNotTested},
		{"four trials", "p99", []summary.Cell{claimCell(0, "a", 1, 2, 1, 2), claimCell(0, "b", 3, 4, 5, 6)}, yes, finding.InOrder},
		{"trials of one process", "p99", []summary.Cell{kept(claimCell(0, "a", 1, 2, 1, 2)), claimCell(0, "b", 3, 4, 5, 6)}, unclear, finding.PairNotTested},
		{"three ramps each", "breaking_point", []summary.Cell{rampCell(0, "bun", 3, 3000, 4000), rampCell(0, "go", 3, 6000, 7000)}, unclear, finding.PairNotTested},
		{"four ramps each that touch", "breaking_point", []summary.Cell{rampCell(0, "bun", 4, 3000, 4000), rampCell(0, "go", 4, 4000, 5000)}, yes, finding.InOrder},
		{"of the same levels", "breaking_point", []summary.Cell{rampCell(0, "bun", 4, 3000, 4000), rampCell(0, "go", 4, 3000, 4000)}, unclear, finding.Alike},
		{"four ramps each, the other way round", "breaking_point", []summary.Cell{rampCell(0, "bun", 4, 6000, 7000), rampCell(0, "go", 4, 3000, 4000)}, no, finding.LiesAbove},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := experiment.Claim{Metric: c.metric}
			for i := range c.cells {
				c.cells[i].Cell = i
				claim.Order = append(claim.Order, *selector(i))
			}
			got, why := judged(&Claims{Cells: c.cells}, &claim)
			if got.Verdict != c.verdict || why[0] != c.why {
				t.Errorf("%s by %v, want %s by %v", got.Verdict, why, c.verdict, c.why)
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
		why     finding.Kind
		ends    [2]float64
	}{
		{"three runs that grow", []float64{0.5, 0.9, 1.4}, summary.Reproduced, finding.IntervalAbove, [2]float64{math.Pow(1.4/0.9, 2), 1.8 * 1.8}},
		{"three runs that do not", []float64{1, 1.01, 1}, summary.NotReproduced, finding.IntervalBelow, [2]float64{math.Pow(1/1.01, 2), 1.01 * 1.01}},
		{"one step among two", []float64{1, 1, 2}, summary.Inconclusive, finding.IntervalContains, [2]float64{1, 4}},
		{"two runs", []float64{1, 2}, summary.Inconclusive, finding.OneStepOfGrowth, [2]float64{}},
		{"one run", []float64{1}, summary.Inconclusive, finding.OneTrialNoGrowth, [2]float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := claimCell(0, "go", c.peaks...)
			slices.Reverse(cell.PerTrial) // the order of the trials counts, not that of the list
			j := &Claims{Experiment: &experiment.Experiment{Measure: experiment.Measure{Kept: true}}, Cells: []summary.Cell{cell}}
			got, why := judged(j, &experiment.Claim{Metric: memoryGrowthMetric, Of: selector(0), Above: new(1.5)})
			if got.Verdict != c.verdict || why[0] != c.why {
				t.Errorf("%s by %v, want %s by %v", got.Verdict, why, c.verdict, c.why)
			}
			if got.Low != nil && (math.Abs(*got.Low-c.ends[0]) > 1e-9 || math.Abs(*got.High-c.ends[1]) > 1e-9) {
				t.Errorf("from %v to %v, want %v", *got.Low, *got.High, c.ends)
			}
		})
	}
}

func TestTooFewStartsAreCountedAsWhatTheyAre(t *testing.T) {
	for want, cells := range map[string][]summary.Cell{
		"search": {bySearches(breakCell(0, "go", 298, 304, 310), 2), bySearches(breakCell(1, "bun", 200, 210, 220), 3)},
		"ramp":   {rampCell(0, "go", 2, 3000, 4000), rampCell(1, "bun", 3, 3000, 4000)},
	} {
		got, _ := judged(&Claims{Cells: cells}, &experiment.Claim{Metric: BreakingPointMetric, Of: selector(0), Over: selector(1), Above: new(1.0)})
		if why := got.Why[0]; why.Kind != finding.PairNotTested || why.Text != want || why.N != 2 || why.Of != MinRanked {
			t.Errorf("%+v, want 2 of %q", why, want)
		}
	}
}

func TestGrowthIsThatOfOneStart(t *testing.T) {
	j := &Claims{Experiment: &experiment.Experiment{Measure: experiment.Measure{Kept: true}},
		Cells: []summary.Cell{claimCell(0, "node", 1, 2, 4, 8, 16), claimCell(1, "go", 1, 1, 1, 1, 1)}}
	got, _ := judged(j, &experiment.Claim{Metric: memoryGrowthMetric, Of: selector(0), Over: selector(1), Above: new(2.0)})
	if why := got.Why[0]; got.Verdict != summary.Inconclusive || why.Kind != finding.PairNotTested || why.Gap != string(summary.OneStart) || got.Low != nil {
		t.Errorf("%s by %+v, from %v", got.Verdict, why, show(got.Low))
	}
}

func TestWhatHappenedIsJudgedTrialByTrial(t *testing.T) {
	const yes, no, unclear = summary.Reproduced, summary.NotReproduced, summary.Inconclusive
	killed := func(kills ...float64) summary.Cell {
		c := claimCell(0, "go", kills...)
		for i := range c.PerTrial {
			c.PerTrial[i].OOMKills = new(kills[i])
		}
		return c
	}
	above, below := func(v float64) experiment.Claim {
		return experiment.Claim{Metric: oomKillsMetric, Of: selector(0), Above: &v}
	}, func(v float64) experiment.Claim {
		return experiment.Claim{Metric: oomKillsMetric, Of: selector(0), Below: &v}
	}
	for _, c := range []struct {
		name    string
		claim   experiment.Claim
		cell    summary.Cell
		verdict summary.Verdict
		why     finding.Kind
		times   int // of the trials with enough events
	}{
		{"in each trial", above(0), killed(2, 1, 4), yes, finding.EventsInTrials, 3},
		{"in none", above(0), killed(0, 0, 0), no, finding.EventsInTrials, 0},
		{"in some", above(0), killed(0, 1, 0), unclear, finding.EventsInTrials, 1},
		{"in some of ten, where a median would be sure", above(0), killed(0, 1, 1, 1, 1, 1, 1, 1, 1, 1), unclear, finding.EventsInTrials, 9},
		{"in the only trial", above(0), killed(3), yes, finding.EventsInTrials, 1},
		{"not in the only trial", above(0), killed(0), no, finding.EventsInTrials, 0},
		{"several times", above(2), killed(3, 4), yes, finding.EventsInTrials, 2},
		{"as often as it is said to be exceeded", above(2), killed(2, 2), no, finding.EventsInTrials, 0},
		{"never, it is said", below(1), killed(0, 0), yes, finding.EventsInTrials, 0},
		{"never, and it did", below(1), killed(1), no, finding.EventsInTrials, 1},
		{"never, in one trial", below(1), killed(0), unclear, finding.NoEventInOneTrial, 0},
		{"not measured", above(0), claimCell(0, "go", 1, 2), unclear, finding.MetricNotMeasured, 0},
		{"beside a neighbour", above(0), beside(killed(2), 1), unclear, finding.Disturbed, 0},
		{"under all that the generator can send", above(0), limited(killed(0, 0)), unclear, finding.EventsUnderLessLoad, 0},
		{"under less than it takes", above(0), limited(killed(1, 2)), yes, finding.EventsInTrials, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := judged(&Claims{Cells: []summary.Cell{c.cell}}, &c.claim)
			if got.Verdict != c.verdict || why[0] != c.why || got.Why[0].N != c.times {
				t.Errorf("%s by %v %d, want %s by %v %d", got.Verdict, why, got.Why[0].N, c.verdict, c.why, c.times)
			}
		})
	}
}

func TestAVerdictSaysWhatWasNotAsWritten(t *testing.T) {
	cells := []summary.Cell{claimCell(0, "node", six400...), claimCell(1, "go", six100...)}
	for _, c := range []struct {
		name  string
		kept  bool
		claim experiment.Claim
		want  []finding.Kind
	}{
		{"restarted for each trial", false, experiment.Claim{Over: selector(1)}, nil},
		{"kept up", true, experiment.Claim{Over: selector(1)}, []finding.Kind{finding.NotRestarted}},
		{"kept up, and one cell", true, experiment.Claim{}, nil},
		{"set", false, experiment.Claim{Set: []string{"limits"}}, []finding.Kind{finding.SetOnCommandLine}},
		{"kept up, and a cell is missing", true, experiment.Claim{Over: selector(experiment.NoCell), Set: []string{"limits"}}, []finding.Kind{finding.SetOnCommandLine}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.claim.Metric, c.claim.Of, c.claim.Above = "p99", selector(0), new(2.0)
			_, why := judged(&Claims{Experiment: &experiment.Experiment{Measure: experiment.Measure{Kept: c.kept}}, Cells: cells}, &c.claim)
			if d := cmp.Diff(c.want, why[1:]); d != "" && len(c.want)+len(why) > 1 {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestAFalseClaimIsSeldomCalledReproduced draws trials of two cells whose ratio is
// exactly the bound of the claim. Such a claim is false, and no false claim is closer
// to being true. The test checks the error rates that docs/statistics.md states.
func TestAFalseClaimIsSeldomCalledReproduced(t *testing.T) {
	const runs = 4000
	random := rand.New(rand.NewPCG(1, 2))
	noisy := func(spread float64) func() float64 { return func() float64 { return spread * random.NormFloat64() } }
	twoModes := func() float64 { // one start of two is slow by half
		return 0.05*random.NormFloat64() + 0.4*float64(random.IntN(2))
	}
	draw := func(n int, middle float64, noise func() float64) []float64 {
		all := make([]float64, n)
		for i := range all {
			all[i] = middle * math.Exp(noise())
		}
		return all
	}
	alike := noisy(0.2)
	for _, c := range []struct {
		name          string
		trials        int
		over          float64 // the claimed ratio; 0: the claim is about one cell
		truth         float64 // of the bound
		noise, of     func() float64
		least, atMost float64 // shares of the runs that are called reproduced
	}{
		{"one cell, six trials", 6, 0, 1, alike, alike, 0.005, 0.025},
		{"one cell, ten trials", 10, 0, 1, alike, alike, 0, 0.025},
		{"one cell, three trials: a range is no 95% interval", 3, 0, 1, alike, alike, 0.10, 0.15},
		{"a ratio, six trials", 6, 1, 1, alike, alike, 0.01, 0.03},
		{"a ratio of three, six trials", 6, 3, 1, alike, alike, 0.01, 0.03},
		{"a ratio, ten trials", 10, 1, 1, alike, alike, 0.01, 0.03},
		{"a ratio, four trials", 4, 1, 1, alike, alike, 0.005, 0.025},
		{"a ratio, three trials: no verdict", 3, 1, 1, alike, alike, 0, 0},
		{"a ratio of starts of two kinds, six trials", 6, 1, 1, twoModes, twoModes, 0.01, 0.03},
		{"a ratio of a cell four times as noisy, four trials", 4, 1, 1, noisy(0.4), noisy(0.1), 0.01, 0.05},
		{"a ratio of a cell four times as noisy, six trials", 6, 1, 1, noisy(0.4), noisy(0.1), 0.01, 0.05},
		{"a ratio of a cell four times as noisy, ten trials", 10, 1, 1, noisy(0.4), noisy(0.1), 0.01, 0.05},
		{"a ratio to a cell four times as noisy, six trials", 6, 1, 1, noisy(0.1), noisy(0.4), 0.01, 0.05},
		{"a true claim by a third, six trials", 6, 1, 4. / 3, alike, alike, 0.4, 0.8},
		{"a true claim by twice, six trials", 6, 1, 2, alike, alike, 0.95, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := experiment.Claim{Metric: "p99", Of: selector(0), Above: new(100.0)}
			times := 1.0
			if c.over > 0 {
				claim.Over, claim.Above, times = selector(1), new(c.over), c.over
			}
			reproduced := 0
			for range runs {
				j := &Claims{Experiment: &experiment.Experiment{}, Cells: []summary.Cell{
					claimCell(0, "a", draw(c.trials, 100*c.truth*times, c.noise)...), claimCell(1, "b", draw(c.trials, 100, c.of)...)}}
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
