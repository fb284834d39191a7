package verdict

import (
	"math"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// p99s is a cell with the p99 of each trial.
func p99s(label string, values ...float64) summary.Cell {
	c := summary.Cell{Label: label, LatencyMS: &summary.Quantiles{P99: values[0]}}
	for i := range values {
		c.PerTrial = append(c.PerTrial, summary.TrialFigures{P99: &values[i]})
	}
	return c
}

// unanswered is a trial in which every request failed.
var unanswered = summary.TrialFigures{Availability: new(0.0), OfAll: &summary.AllRequests{}}

// around are six values near one.
func around(v float64) []float64 { return []float64{v, v + 0.1, v + 0.2, v + 0.3, v + 0.4, v + 0.5} }

// broken is a cell with what is known of the breaking point of each trial: a value, a
// lower bound (from), an upper bound (to), or a bracket.
func broken(label string, trials ...summary.TrialFigures) summary.Cell {
	return summary.Cell{Label: label, PerTrial: trials}
}

func broke(load float64) summary.TrialFigures { return summary.TrialFigures{Breaking: &load} }

func heldTo(load float64) summary.TrialFigures { return summary.TrialFigures{BreakingFrom: &load} }

func missedAt(load float64) summary.TrialFigures { return summary.TrialFigures{BreakingTo: &load} }

func bracketed(from, to float64) summary.TrialFigures {
	return summary.TrialFigures{BreakingFrom: &from, BreakingTo: &to}
}

func times(n int, t summary.TrialFigures) (all []summary.TrialFigures) {
	for range n {
		all = append(all, t)
	}
	return all
}

// Breaking points are compared from four searches per cell on. Three and five would
// have an interval, too, but three starts are too few.
func TestBreakingPointsAreTestedFromFourSearchesOn(t *testing.T) {
	for _, c := range []struct {
		searches [2]int
		tests    int
	}{{[2]int{1, 1}, 0}, {[2]int{3, 5}, 0}, {[2]int{5, 3}, 0}, {[2]int{4, 4}, 1}} {
		s := &summary.Summary{}
		for cell, n := range c.searches {
			one := broken("")
			one.Cell = cell
			for i := range n {
				one.PerTrial = append(one.PerTrial, broke(float64(300+100*cell+i)))
			}
			s.Cells = append(s.Cells, one)
		}
		if got, _ := Tests(s, BreakingPointMetric); len(got) != c.tests {
			t.Errorf("%v searches: %d tests, want %d", c.searches, len(got), c.tests)
		} else if c.tests > 0 && (got[0].Metric != BreakingPointMetric || got[0].Shift != 100 || !got[0].Significant) {
			t.Errorf("%v searches: %+v", c.searches, got[0])
		}
	}
}

func TestEvidence(t *testing.T) {
	kept, few, infinite := p99s("kept", around(100)...), p99s("few", around(100)...), p99s("refuses", around(10)...)
	kept.Kept, few.Requests = true, 999
	for i := range infinite.PerTrial {
		infinite.PerTrial[i].Availability = new(98.0)
	}
	disturbed, half, ramp := p99s("disturbed", around(100)...), p99s("half", around(100)...), broken("ramp", times(4, bracketed(200, 300))...)
	disturbed.Disturbance, half.Disturbance, ramp.Disturbance = &summary.Disturbance{Kept: 4}, &summary.Disturbance{Kept: 3}, &summary.Disturbance{Kept: 4}
	late := p99s("late", around(100)...)
	late.Causes = &summary.Causes{Quantile: "p99", Generator: 0.3, GeneratorQueue: 0.3, Rest: 0.4}
	for i := range late.PerTrial {
		late.PerTrial[i].P50 = late.PerTrial[i].P99
	}
	fast := p99s("fast", around(50)...)
	for i := range fast.PerTrial {
		fast.PerTrial[i].P50 = fast.PerTrial[i].P99
	}
	dead, deadOnly := p99s("one of six was dead", around(100)...), p99s("dead", around(100)...)
	dead.PerTrial[2] = unanswered
	for i := range deadOnly.PerTrial {
		deadOnly.PerTrial[i] = unanswered
	}
	limited := summary.Cell{Label: "limited", Generator: summary.Generator{Limited: true}}
	slow := summary.Cell{Label: "slow"}
	for _, v := range around(100) {
		limited.PerTrial = append(limited.PerTrial, summary.TrialFigures{RateRPS: new(v)})
		slow.PerTrial = append(slow.PerTrial, summary.TrialFigures{RateRPS: new(v + 50)})
	}
	for _, c := range []struct {
		name  string
		path  string
		x, y  summary.Cell
		sign  int
		basis summary.Basis
		gap   summary.Gap
	}{
		{"below", "latency_ms.p99", p99s("x", around(100)...), p99s("y", around(200)...), -1, summary.OverTrials, ""},
		{"above", "latency_ms.p99", p99s("x", around(200)...), p99s("y", around(100)...), 1, summary.OverTrials, ""},
		{"alike", "latency_ms.p99", p99s("x", around(100)...), p99s("y", around(100.05)...), 0, summary.OverTrials, ""},
		{"four trials without overlap", "latency_ms.p99", p99s("x", 1, 2, 3, 4), p99s("y", 5, 6, 7, 8), -1, summary.OverTrials, ""},
		{"three trials, whatever their ranges", "latency_ms.p99", p99s("x", 1, 1.1, 1.2), p99s("y", 900, 901, 902), 0, summary.Untested, summary.FewTrials},
		{"one trial each", "latency_ms.p99", p99s("x", 1), p99s("y", 900), 0, summary.Untested, summary.FewTrials},
		{"trials of one process", "latency_ms.p99", kept, p99s("y", around(200)...), 0, summary.Untested, summary.OneStart},
		{"a p99 of 999 requests", "latency_ms.p99", few, p99s("y", around(200)...), 0, summary.Untested, summary.FewRequests},
		{"not measured", "rate_rps", p99s("x", around(100)...), p99s("y", around(200)...), 0, summary.Untested, summary.NoFigure},
		{"refused requests are infinitely late", "latency_ms.p99", infinite, p99s("y", around(200)...), 1, summary.CensoredRanks, ""},
		{"four of six trials that others disturbed", "latency_ms.p99", disturbed, p99s("y", around(200)...), 0, summary.Untested, summary.DisturbedTrials},
		{"three of six", "latency_ms.p99", half, p99s("y", around(200)...), -1, summary.OverTrials, ""},
		{"the breaking point of disturbed ramps", BreakingPointMetric, ramp, broken("y", times(4, bracketed(300, 400))...), -1, summary.CensoredRanks, ""},
		{"a p99 that is the generator's", "latency_ms.p99", late, p99s("y", around(200)...), 0, summary.Untested, summary.GeneratorsDelay},
		{"the p50 of the same cell", "latency_ms.p50", late, fast, 1, summary.OverTrials, ""},
		{"one trial without an answer of six is infinitely late", "latency_ms.p99", dead, p99s("y", around(200)...), 0, summary.CensoredRanks, ""},
		{"no trial with an answer", "latency_ms.p99", deadOnly, p99s("y", around(200)...), 0, summary.Untested, summary.NoFigure},
		{"rates that the generator limited are lower bounds", "rate_rps", limited, slow, 0, summary.CensoredRanks, ""},
		{"four starts at 400 and two that died, against six at 300", BreakingPointMetric,
			broken("x", append(times(4, broke(400)), times(2, missedAt(50))...)...), broken("y", times(6, broke(300))...), 0, summary.CensoredRanks, ""},
		{"six that died against six at 300", BreakingPointMetric, broken("x", times(6, missedAt(50))...), broken("y", times(6, broke(300))...), -1, summary.CensoredRanks, ""},
		{"bounds of at least 500 against 300", BreakingPointMetric, broken("x", times(6, heldTo(500))...), broken("y", times(6, broke(300))...), 1, summary.CensoredRanks, ""},
		{"bounds of at least 500 against 600", BreakingPointMetric, broken("x", times(6, heldTo(500))...), broken("y", times(6, broke(600))...), 0, summary.CensoredRanks, ""},
		{"ramps", BreakingPointMetric, broken("x", times(4, bracketed(200, 300))...), broken("y", times(4, bracketed(300, 400))...), -1, summary.CensoredRanks, ""},
		{"ramps of one level", BreakingPointMetric, broken("x", times(4, bracketed(200, 300))...), broken("y", times(4, bracketed(200, 300))...), 0, summary.CensoredRanks, ""},
		{"two searches", BreakingPointMetric, broken("x", broke(100), broke(101)), broken("y", broke(200), broke(201)), 0, summary.Untested, summary.FewTrials},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &summary.Summary{Cells: []summary.Cell{c.x, c.y}}
			e, back := Rank(s, c.path).Between(&s.Cells[0], &s.Cells[1]), Rank(s, c.path).Between(&s.Cells[1], &s.Cells[0])
			if e.Sign != c.sign || back.Sign != -c.sign || e.Basis != c.basis || e.Gap != c.gap {
				t.Errorf("%+v, and the other way %+v", e, back)
			}
		})
	}
}

// A cell without enough trials does not keep the others from being ranked.
func TestCellsThatCannotBeTestedAreNamed(t *testing.T) {
	s := &summary.Summary{Cells: []summary.Cell{{Flags: summary.Flags{summary.FlagSkipped}}, p99s("a", around(100)...), p99s("b", 1), p99s("c", around(200)...)}}
	r := Rank(s, "latency_ms.p99")
	for i, want := range []summary.Gap{summary.NoFigure, "", summary.FewTrials, ""} {
		if got := r.Gap(&s.Cells[i]); got != want {
			t.Errorf("cell %d: %q, want %q", i, got, want)
		}
	}
	tests, _ := Tests(s, "latency_ms.p99")
	if len(tests) != 1 || tests[0].Metric != "latency_ms.p99" || tests[0].Shift != 100 || !tests[0].Significant {
		t.Errorf("a skipped first cell removes the tests: %+v", tests)
	}
}

// A trial without any answer is the highest of its cell in the test, the median and the
// interval.
func TestATrialWithoutAnswersIsTheHighest(t *testing.T) {
	s := &summary.Summary{Cells: []summary.Cell{p99s("a", around(200)...), p99s("b", around(100)...)}}
	b := &s.Cells[1]
	b.PerTrial[0] = unanswered
	e := Rank(s, "latency_ms.p99").Between(b, &s.Cells[0])
	if e.Trials != [2]int{6, 6} || math.Abs(e.P-98.0/924) > 1e-9 || e.Sign != 0 {
		t.Errorf("%+v, want six trials each and p 0.106", e)
	}
	if f, _ := FigureOf(b, "p99"); math.Abs(f.Value-100.35) > 1e-9 || f.AtLeast {
		t.Errorf("%+v, want the median of six, 100.35", f)
	}
	if _, _, sure := SpreadOf(b, "p99"); sure != NoEnds {
		t.Errorf("ends %v, want none: the upper one is infinite", sure)
	}
}

func TestTiedAreThoseThatTheBestIsNotBetterThan(t *testing.T) {
	s := &summary.Summary{Cells: []summary.Cell{p99s("a", around(100)...), p99s("b", around(100.05)...), p99s("c", around(200)...)}}
	var all []Contender
	for i := range s.Cells {
		one, ok := ContenderOf(&s.Cells[i], s.Cells[i].Label, "p99")
		if !ok {
			t.Fatal(i)
		}
		all = append(all, one)
	}
	r := Rank(s, "latency_ms.p99")
	tied := Tied(all[0], all[1:], r.Below)
	if len(tied) != 1 || tied[0].Name != "b" || len(Besides(all[1:], tied)) != 1 {
		t.Errorf("tied: %+v", tied)
	}
}

// One bad trial decides the p99 of all requests together, and not that of the cell.
func TestOneFigureStandsForACell(t *testing.T) {
	bad := p99s("bad trial", 98, 99, 100, 100, 101, 3000)
	failing := p99s("failing", 10, 11, 12, 13)
	for i := range failing.PerTrial {
		failing.PerTrial[i].Availability = new(98.0)
	}
	few := p99s("a few failures", 10, 10, 10, 10)
	for i := range few.PerTrial {
		few.PerTrial[i].Availability, few.PerTrial[i].OfAll = new(99.5), &summary.AllRequests{P99: new(40.0)}
	}
	one := p99s("one trial failed", 5, 10, 11, 12, 13)
	one.PerTrial[0].Availability = new(98.0)
	for _, c := range []struct {
		cell summary.Cell
		want Figure
	}{
		{one, Figure{12, false, 5}}, // a p99 of 5 ms of what was answered is the highest
		{bad, Figure{100, false, 6}},
		{failing, Figure{11.5, true, 4}},
		{few, Figure{40, false, 4}},
		{summary.Cell{LatencyMS: &summary.Quantiles{P99: 5}}, Figure{5, false, 0}},
	} {
		if got, ok := FigureOf(&c.cell, "p99"); !ok || got != c.want {
			t.Errorf("%s: %+v, want %+v", c.cell.Label, got, c.want)
		}
	}
}

func TestMoreIsServedOnlyUnderOneClosedLoad(t *testing.T) {
	users := 50.0
	closed := summary.Load{Kind: "closed", Users: &users}
	of := func(label string, rate float64) summary.Cell {
		c := summary.Cell{Label: label, Load: closed}
		for _, v := range around(rate) {
			c.PerTrial = append(c.PerTrial, summary.TrialFigures{RateRPS: &v})
		}
		return c
	}
	s := &summary.Summary{Cells: []summary.Cell{of("a", 100), of("b", 200)}}
	rates := func() (all []Contender) {
		for i := range s.Cells {
			one, _ := ContenderOf(&s.Cells[i], s.Cells[i].Label, "rate")
			all = append(all, one)
		}
		return all
	}
	if top, own, ok := MoreServed(s, &s.Cells[0], rates()); !ok || top.Name != "b" || own.Name != "a" {
		t.Errorf("%q serves more than %q: %v", top.Name, own.Name, ok)
	}
	if _, _, ok := MoreServed(s, &s.Cells[1], rates()); ok {
		t.Error("the cell that serves the most is beaten")
	}
	s.Cells[1].PerTrial = s.Cells[1].PerTrial[:3]
	if _, _, ok := MoreServed(s, &s.Cells[0], rates()); ok {
		t.Error("three trials are taken for proof")
	}
	s.Cells[1] = of("b", 200)
	s.Cells[1].Load.Kind = "open"
	if _, _, ok := MoreServed(s, &s.Cells[0], rates()); ok {
		t.Error("cells of different loads are compared")
	}
}

func TestSpreadIsOverTrialsWherePossible(t *testing.T) {
	p99 := func(values ...float64) (all []summary.TrialFigures) {
		for i := range values {
			all = append(all, summary.TrialFigures{P99: &values[i]})
		}
		return all
	}
	ends := map[string][2]float64{"latency_ms.p99": {90, 110}}
	failing := p99(90, 95, 96, 97, 98, 110)
	failing[0].Availability = new(98.0)
	for _, c := range []struct {
		name string
		cell summary.Cell
		low  float64
		high float64
		want Certainty
	}{
		{"an interval over trials", summary.Cell{PerTrial: p99(90, 95, 96, 97, 98, 110)}, 90, 110, IntervalOfTrials},
		{"few trials", summary.Cell{Intervals: ends, IntervalsOf: summary.OfFrames, PerTrial: p99(80, 120)}, 80, 120, RangeOfTrials},
		{"one trial", summary.Cell{Intervals: ends, IntervalsOf: summary.OfFrames, PerTrial: p99(100)}, 90, 110, IntervalOfFrames},
		{"one trial without errors", summary.Cell{Intervals: ends, IntervalsOf: summary.OfFrames, PerTrial: p99(100), LatencyMS: &summary.Quantiles{P99: 100}}, 90, 110, IntervalOfFrames},
		{"one trial, of whose requests many failed", summary.Cell{Intervals: ends, IntervalsOf: summary.OfFrames, PerTrial: p99(130), LatencyMS: &summary.Quantiles{P99: 100}}, 0, 0, NoEnds},
		{"nothing", summary.Cell{PerTrial: p99(100)}, 0, 0, NoEnds},
		{"an infinite end", summary.Cell{Intervals: ends, IntervalsOf: summary.OfTrials, PerTrial: failing}, 0, 0, NoEnds},
	} {
		t.Run(c.name, func(t *testing.T) {
			low, high, what := SpreadOf(&c.cell, "p99")
			if low != c.low || high != c.high || what != c.want {
				t.Errorf("%v to %v of kind %v, want %v to %v of kind %v", low, high, what, c.low, c.high, c.want)
			}
		})
	}
}

// A shift whose interval is not bounded on one side is not known: only the other end is.
func TestNoShiftBesideAnUnboundedInterval(t *testing.T) {
	of := func(failing int, p99s ...float64) *summary.Cell {
		c := &summary.Cell{Requests: 60_000}
		for i := range p99s {
			one := summary.TrialFigures{P99: &p99s[i]}
			if available := 50.0; i < failing {
				one.Availability = &available
			}
			c.PerTrial = append(c.PerTrial, one)
		}
		return c
	}
	m, _ := MetricOf("p99")
	a := of(0, 10, 11, 12, 13, 14, 15)
	for failing, known := range map[int]bool{0: true, 2: false} {
		d := Differences(m, []PairOfCells{{a, of(failing, 20, 21, 22, 23, 24, 25)}})[0]
		if d.Verdict != Higher || d.Low == nil || (d.High != nil) != known || (d.Shift != nil) != known || (d.Percent != nil) != known {
			t.Errorf("%d of 6 trials fail: %+v", failing, d)
		}
	}
}

// Two cells, measured by turns while everything became slower, differ within their rounds.
func TestADriftIsTakenOutByRounds(t *testing.T) {
	cells := make([]summary.Cell, 2)
	for i := range 6 {
		for k := range cells {
			cells[k].Cell, cells[k].Trials = k, 6
			v := 100 + 20*float64(i) + 3*float64(k) + float64(i%3)/4*float64(k)
			cells[k].PerTrial = append(cells[k].PerTrial, summary.TrialFigures{Trial: 2*i + 1 + (i+k)%2, P99: &v}) // A B, B A, ...
		}
	}
	s := &summary.Summary{Cells: cells}
	e := Rank(s, "latency_ms.p99").Between(&cells[1], &cells[0])
	if e.Sign != 1 || math.Abs(e.P-2.0/64) > 1e-12 {
		t.Errorf("%+v, want the second above, p 0.031", e)
	}
	all, _ := Tests(s, "latency_ms.p99")
	if len(all) != 1 || all[0].Low != 3 || all[0].High != 3.5 || all[0].Shift != 3.25 || !all[0].Significant {
		t.Errorf("%+v, want a shift of 3.25, 3 to 3.5", all)
	}
	cells[1].PerTrial[5].Trial, cells[0].PerTrial[5].Trial = 13, 14
	if e := Rank(s, "latency_ms.p99").Between(&cells[1], &cells[0]); e.Sign != 1 {
		t.Errorf("%+v of a record with another cell", e)
	}
	cells[1].PerTrial[2].Trial = 7 // after the fourth of the other
	if e := Rank(s, "latency_ms.p99").Between(&cells[1], &cells[0]); e.Sign != 0 {
		t.Errorf("%+v of other rounds", e)
	}
}

// The evidence of many cells does not grow with the square of their number: each cell has it
// against the first, the lowest and the highest one.
func TestTheEvidenceOfManyCellsIsAgainstThree(t *testing.T) {
	const cells = 40
	s := &summary.Summary{}
	for i := range cells {
		one := p99s("", around(float64(100+i*7%cells))...) // the lowest is cell 0, the highest cell 17
		one.Cell = i
		s.Cells = append(s.Cells, one)
	}
	s.Cells[0], s.Cells[3] = s.Cells[3], s.Cells[0]
	s.Cells[0].Cell, s.Cells[3].Cell = 0, 3
	_, ranking := Tests(s, "latency_ms.p99")
	of, partners := map[int]int{}, map[int]map[int]bool{}
	for _, e := range ranking {
		for _, pair := range [][2]int{{e.Cell, e.Other}, {e.Other, e.Cell}} {
			of[pair[0]]++
			if partners[pair[0]] == nil {
				partners[pair[0]] = map[int]bool{}
			}
			partners[pair[0]][pair[1]] = true
		}
	}
	for i := range cells {
		want := 3
		if i == 0 || i == 3 || i == 17 {
			want = cells - 1
		}
		if of[i] != want || len(partners[i]) != want {
			t.Errorf("cell %d has evidence against %d cells, want %d", i, len(partners[i]), want)
		}
	}
}
