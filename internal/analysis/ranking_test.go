package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at is a contender with this figure in each of six trials, give or take a little.
func at(cell *CellSummary, figure float64) Contender {
	c := Contender{Cell: cell, Name: cell.Label, Value: figure, Pooled: figure, Low: figure - 1, High: figure + 1, Sure: IntervalOfTrials, Metric: "latency_ms.p99"}
	for i := range 6 {
		c.Trials = append(c.Trials, figure+float64(i)/10)
	}
	return c
}

func names(all []Contender) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Name)
	}
	return out
}

func TestBelowUsesTheTestFirst(t *testing.T) {
	low, high := at(&CellSummary{Cell: 0}, 100), at(&CellSummary{Cell: 1}, 200)
	test := func(cell, baseline int, shift float64, significant bool) *Summary {
		return &Summary{Comparisons: []Comparison{{Cell: cell, Baseline: baseline, Metric: "latency_ms.p99", Shift: shift, Significant: significant}}}
	}
	few := func(c Contender) Contender { c.Trials = c.Trials[:2]; return c }
	unsure := func(c Contender) Contender { c.Trials, c.Sure = nil, NoEnds; return c }
	other := test(1, 0, 100, false)
	other.Comparisons[0].Metric = "rate_rps"
	for _, c := range []struct {
		name  string
		s     *Summary
		x, y  Contender
		pairs int
		want  bool
	}{
		{"trials apart", &Summary{}, low, high, 1, true},
		{"the higher one", &Summary{}, high, low, 1, false},
		{"among too many pairs", &Summary{}, low, high, 100, false},
		{"the test of the two", test(1, 0, 100, true), low, high, 1, true},
		{"the test, from the other side", test(0, 1, -100, true), low, high, 1, true},
		{"a test that is not significant", test(1, 0, 100, false), low, high, 1, false},
		{"a test in the other direction", test(1, 0, -100, true), low, high, 1, false},
		{"a test of another figure", other, low, high, 1, true},
		{"few trials with disjoint ends", &Summary{}, few(low), few(high), 1, true},
		{"ends that overlap", &Summary{}, few(low), few(at(&CellSummary{Cell: 1}, 101)), 1, false},
		{"no ends", &Summary{}, unsure(low), unsure(high), 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.s.Below(c.x, c.y, c.pairs); got != c.want {
				t.Errorf("below = %v, want %v", got, c.want)
			}
			if got := c.s.Above(c.y, c.x, c.pairs); got != c.want {
				t.Errorf("above, the other way round = %v, want %v", got, c.want)
			}
		})
	}
}

// One start says nothing of how starts differ.
func TestBreakingPointsOfFewSearchesAreNotRanked(t *testing.T) {
	point := func(cell int, low, high float64, searches int) Contender {
		return Contender{Cell: &CellSummary{Cell: cell, Breaking: &BreakingPoint{Low: &low, High: &high, Searches: searches}}, Metric: BreakingPointMetric,
			Low: low, High: high, Sure: RangeOfTrials}
	}
	for searches, want := range map[int]bool{1: false, EnoughSearches - 1: false, EnoughSearches: true} {
		if got := new(Summary).Below(point(0, 100, 110, searches), point(1, 200, 210, searches), 1); got != want {
			t.Errorf("%d searches: below = %v, want %v", searches, got, want)
		}
	}
}

func TestTiedAreThoseThatTheBestIsNotBetterThan(t *testing.T) {
	s := &Summary{}
	a, b, c := at(&CellSummary{Cell: 0, Label: "a"}, 100), at(&CellSummary{Cell: 1, Label: "b"}, 100.1), at(&CellSummary{Cell: 2, Label: "c"}, 200)
	for _, one := range []struct {
		name string
		rest []Contender
		want []string
	}{
		{"none", []Contender{c}, nil},
		{"one of two", []Contender{b, c}, []string{"b"}},
		{"all", []Contender{b}, []string{"b"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			tied := Tied(a, one.rest, s.Below)
			if d := cmp.Diff(one.want, names(tied)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if got := len(Besides(one.rest, tied)); got != len(one.rest)-len(one.want) {
				t.Errorf("%d are besides them, want %d", got, len(one.rest)-len(one.want))
			}
		})
	}
	if !EveryPairTied([]Contender{a, b}, s.Below) || EveryPairTied([]Contender{a, b, c}, s.Below) {
		t.Error("a and b are the only pair that is tied")
	}
}

// The table shows the figure of all trials together; tests are about medians.
func TestSettleRanksMediansAndPrintsTheTableWhereItHasTheSameWinner(t *testing.T) {
	contender := func(name string, median, pooled float64) Contender {
		return Contender{Cell: &CellSummary{}, Name: name, Value: median, Pooled: pooled}
	}
	for _, c := range []struct {
		name    string
		inPlan  []Contender
		highest bool
		want    []string
		values  []float64
		pooled  bool
	}{
		{"the same order", []Contender{contender("b", 20, 25), contender("a", 10, 11)}, false, []string{"a", "b"}, []float64{11, 25}, true},
		{"another winner", []Contender{contender("b", 20, 25), contender("a", 10, 90)}, false, []string{"a", "b"}, []float64{10, 20}, false},
		{"another order behind it", []Contender{contender("a", 10, 11), contender("b", 20, 40), contender("c", 21, 30)}, false, []string{"a", "b", "c"}, []float64{11, 40, 30}, true},
		{"the highest wins", []Contender{contender("a", 10, 30), contender("b", 20, 25)}, true, []string{"a", "b"}, []float64{10, 20}, false},
		{"equal in both", []Contender{contender("b", 20, 25), contender("a", 20, 25)}, false, []string{"b", "a"}, []float64{25, 25}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranked, pooled := Settle(c.inPlan, c.highest)
			var values []float64
			for _, one := range ranked {
				values = append(values, one.Value)
			}
			if d := cmp.Diff(c.want, names(ranked)) + cmp.Diff(c.values, values); d != "" || pooled != c.pooled {
				t.Errorf("pooled %v, want %v; (-want +got):\n%s", pooled, c.pooled, d)
			}
		})
	}
}

func TestMoreIsServedOnlyUnderOneClosedLoad(t *testing.T) {
	users := 50.0
	closed := LoadSummary{Kind: "closed", Users: &users}
	s := &Summary{Cells: []CellSummary{{Cell: 0, Label: "a", Load: closed}, {Cell: 1, Label: "b", Load: closed}}}
	rates := func() []Contender { return []Contender{at(&s.Cells[0], 100), at(&s.Cells[1], 200)} }
	if top, own, pooled, ok := s.MoreServed(&s.Cells[0], rates()); !ok || !pooled || top.Name != "b" || own.Name != "a" {
		t.Errorf("%q serves more than %q: %v", top.Name, own.Name, ok)
	}
	if _, _, _, ok := s.MoreServed(&s.Cells[1], rates()); ok {
		t.Error("the cell that serves the most is beaten")
	}
	unsure := rates()
	unsure[1].Sure = RangeOfTrials
	if _, _, _, ok := s.MoreServed(&s.Cells[0], unsure); ok {
		t.Error("a range of few trials is taken for an interval")
	}
	s.Cells[1].Load.Kind = "open"
	if _, _, _, ok := s.MoreServed(&s.Cells[0], rates()); ok {
		t.Error("cells of different loads are compared")
	}
}

func TestSpreadIsOverTrialsWherePossible(t *testing.T) {
	p99 := func(values ...float64) (all []TrialFigures) {
		for i := range values {
			all = append(all, TrialFigures{P99: &values[i]})
		}
		return all
	}
	ends := map[string][2]float64{"latency_ms.p99": {90, 110}}
	for _, c := range []struct {
		name string
		cell CellSummary
		low  float64
		high float64
		want Certainty
	}{
		{"an interval over trials", CellSummary{Intervals: ends, PerTrial: p99(80, 120)}, 90, 110, IntervalOfTrials},
		{"few trials", CellSummary{Intervals: ends, IntervalsOf: ofFrames, PerTrial: p99(80, 120)}, 80, 120, RangeOfTrials},
		{"one trial", CellSummary{Intervals: ends, IntervalsOf: ofFrames, PerTrial: p99(100)}, 90, 110, IntervalOfFrames},
		{"nothing", CellSummary{PerTrial: p99(100)}, 0, 0, NoEnds},
	} {
		t.Run(c.name, func(t *testing.T) {
			low, high, what := SpreadOfP99(&c.cell)
			if low != c.low || high != c.high || what != c.want {
				t.Errorf("%v to %v of kind %v, want %v to %v of kind %v", low, high, what, c.low, c.high, c.want)
			}
		})
	}
}
