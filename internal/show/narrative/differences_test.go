package narrative

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/test/sample"
)

// moved is a difference of a metric between A and B, with a shift and its ends.
func moved(metric, unit string, a, b, shift, low, high, p float64, direction verdict.Direction) *verdict.Difference {
	percent := 100 * shift / a
	return &verdict.Difference{Metric: metric, Unit: unit, A: &a, B: &b, Shift: &shift, Percent: &percent, Low: &low, High: &high, P: &p, PHolm: &p,
		Verdict: direction, Trials: [2]int{6, 7}, Family: 1}
}

// sides is a difference of which only the sides are known.
func sides(metric, unit string, a, b *float64, direction verdict.Direction, gap summary.Gap) *verdict.Difference {
	return &verdict.Difference{Metric: metric, Unit: unit, A: a, B: b, Verdict: direction, Gap: gap, Trials: [2]int{2, 3}, Family: 1}
}

func TestSentencesOfDifferences(t *testing.T) {
	got := map[string]string{}
	lower := moved("p99", "ms", 1025, 421, -596, -1072, -313, 0.0021, verdict.Lower)
	higher := moved("rate", "requests/s", 100, 391, 290, 281, 299, 0.0043, verdict.Higher)
	alike := moved("availability", "%", 99.93, 99.95, 0.02, -0.03, 0.05, 0.41, verdict.Alike)
	noEnds := moved("p99", "ms", 52, 53, 1, 0, 0, 0.82, verdict.Alike)
	noEnds.Low, noEnds.High, noEnds.Shift = nil, nil, nil
	withheld := sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.Withheld, summary.DisturbedTrials)
	disturbed := cellOf("go", beside([]float64{9, 8, 7}, nil, 3))
	withheld.Spoiled[1] = &disturbed
	both := sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.Withheld, summary.GeneratorsDelay)
	both.Spoiled = [2]*summary.Cell{&disturbed, &disturbed}
	family := sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.TooFew, summary.FewTrials)
	family.Family = 4
	for name, d := range map[string]*verdict.Difference{
		"lower": lower, "higher": higher, "alike": alike, "alike, without ends": noEnds, "withheld": withheld, "withheld of both": both, "of a family": family,
		"points":             moved("throttled", "share", 0.41, 0.29, -0.12, -0.14, -0.09, 0.004, verdict.Lower),
		"from nothing":       moved("restarts", "restarts", 0, 3, 3, 2, 4, 0.03, verdict.Higher),
		"of breaking points": moved(verdict.BreakingPointMetric, "requests/s", 271, 352, 81, 60, 90, 0.002, verdict.Higher),
		"only A":             sides("p99", "ms", ptr(41.0), nil, verdict.OneSided, ""),
		"only B":             sides("p99", "ms", nil, ptr(73.0), verdict.OneSided, ""),
		"too few":            sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.TooFew, summary.FewTrials),
		"one start":          sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.TooFew, summary.OneStart),
		"few requests":       sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.TooFew, summary.FewRequests),
	} {
		one := Difference{d}
		word, _ := one.Word()
		got[name] = one.Sentence() + "\n" + Whole(Compared(d.Metric, []ComparedPair{{"go", d}})) + "\n" +
			strings.Join([]string{word, one.Left(), one.Right(), one.ShiftText(), one.PercentText(), one.Ends(), one.Chance(), one.Counts()}, " | ")
	}
	got["measured nowhere"] = Whole(Compared("p99", []ComparedPair{{"go", nil}}))
	mirrored := moved("p99", "ms", 421, 1025, 596, 313, 1072, 0.0022, verdict.Higher)
	few, none := sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.TooFew, summary.FewTrials), sides("p99", "ms", ptr(41.0), nil, verdict.OneSided, "")
	for name, pairs := range map[string][]ComparedPair{
		"pairs, all lower":       {{"go", lower}, {"bun", moved("p99", "ms", 200, 150, -50, -60, -40, 0.01, verdict.Lower)}},
		"pairs, all higher":      {{"go", mirrored}, {"bun", few}},
		"pairs, both ways":       {{"go", mirrored}, {"bun", lower}, {"node", noEnds}},
		"pairs, alike":           {{"go", noEnds}, {"bun", noEnds}},
		"pairs, alike or few":    {{"go", noEnds}, {"bun", few}},
		"pairs, none tested":     {{"go", few}, {"bun", none}},
		"pairs, on no two sides": {{"go", none}, {"bun", nil}},
	} {
		got[name] = Whole(Compared("p99", pairs))
	}
	failing := sides("p99", "ms", ptr(41.0), ptr(73.0), verdict.OneSided, "")
	failing.Infinite = [2]verdict.Part{{N: 2, Of: 6}, {N: 5, Of: 7}}
	for name, ground := range map[string]verdict.Ground{"not measured": verdict.NotMeasured, "not tested": verdict.NotTested, "by its interval": verdict.Interval,
		"not significant": verdict.NotSignificant, "included": verdict.Includes} {
		got["a bound, "+name] = Judged(verdict.Bound{Metric: "p99", Percent: true}, mirrored, verdict.Judgement{Ground: ground, Low: 74.3, High: 255})
	}
	got["a bound in ms, included"] = Judged(verdict.Bound{Metric: "p99"}, mirrored, verdict.Judgement{Ground: verdict.Includes, Low: 313, High: math.Inf(1)})
	for name, ground := range map[string]verdict.Ground{"of one side": verdict.Infinities, "of few": verdict.FewInfinities, "of some": verdict.SomeInfinities} {
		got["a bound, infinite "+name] = Judged(verdict.Bound{Metric: "p99"}, failing, verdict.Judgement{Ground: ground})
	}
	sentences(t, "differences.txt", got)
}

func TestSentencesOfTables(t *testing.T) {
	got := map[string]string{}
	s := &summary.Summary{Cells: numbered(procs("1", p99At(101), trials(101, 102)), procs("2", p99At(201), trials(201, 202, 203)))}
	for _, path := range []string{"latency_ms.p99", "service_ms.p999", "rate_rps", "availability", verdict.BreakingPointMetric, "benchmarks.Sort.sec/op"} {
		name, unit := Tested(path, s)
		got["the metric "+path] = name + " | " + unit + " | " + Against(name, "procs=1", "101", unit)
	}
	got["a comparison"] = Significance(&summary.Comparison{Significant: true}) + " | " + Significance(&summary.Comparison{})
	_, s.Ranking = verdict.Tests(s, "latency_ms.p99")
	got["untested for lack of trials"] = Untested(s)
	noisy := []float64{9, 8, 7, 6}
	s = &summary.Summary{Cells: numbered(procs("1", p99At(101), trials(98, 99, 100, 101, 102, 103)), procs("2", p99At(201), trials(198, 199, 200, 201, 202, 203), beside(noisy, []float64{1, 2}, 4)))}
	_, s.Ranking = verdict.Tests(s, "latency_ms.p99")
	got["untested beside others"] = Untested(s)
	s.Findings = []summary.Finding{{Level: "result", Title: "a result", Text: "with a text"}, {Level: "warning", Cell: ptr(1), Title: "a warning", Text: "one"}, {Level: "warning", Cell: ptr(1), Title: "a warning", Text: "two"}}
	s.Cells[1].Disturbance.Reasons = []string{"trial 3: others took 0.78 cores", "trial 5: others took 0.91 cores", "trial 6: others took 0.61 cores", "trial 7: others took 0.51 cores", "trial 8: others took 0.41 cores"}
	for i, f := range Findings(s, CellNames(s)) {
		got[fmt.Sprint("finding ", i)] = fmt.Sprint(f.Title, " | ", f.First(), " | warning: ", f.Warning)
	}
	refused := procs("1", p99At(101), trials(98, 99, 100))
	for i := range refused.PerTrial {
		refused.PerTrial[i].Availability = ptr(100 - 40*float64(i))
	}
	got["failed trials"] = FailedTrials(&refused, "p99")
	got["an objective that was met"] = ObjectiveFigures(&summary.Cell{Objective: sample.Objective("p99", 250, 99.9), LatencyMS: &summary.Quantiles{P99: 704}, Availability: ptr(99.97), Trials: 1})
	for name, met := range map[string]*bool{"met": ptr(true), "missed": ptr(false), "not known": nil} {
		c := cellOf("go", p99At(704), within(700, 708))
		c.Objective = sample.Objective("p99", 250, 0)
		c.Objective.Met, c.Objective.Outcome = met, map[string]summary.Outcome{"met": summary.Met, "missed": summary.Missed}[name]
		c.Objective.Missed = map[bool]string{true: "", false: "30% of the requests failed"}[name == "met"]
		got["an objective, "+name] = ObjectiveFigures(&c) + " | " + ObjectiveWord(&c)
	}
	near := cellOf("go", p99At(97), within(78, 114), below100(true))
	got["an objective, not decided"] = ObjectiveFigures(&near)
	skipped := cellOf("go", asked("p99 <= 250ms", nil), flagged(summary.FlagSkipped))
	got["an objective, skipped"] = ObjectiveFigures(&skipped)
	sentences(t, "tables.txt", got)
}

func TestSentencesOfClasked(t *testing.T) {
	got := map[string]string{}
	s := &summary.Summary{Cells: numbered(procs("1"), procs("6", open(100)))}
	figure := func(v, low, high float64, of string) summary.ClaimedCell {
		return summary.ClaimedCell{Label: "another", Value: &v, Low: &low, High: &high, IntervalOf: of}
	}
	of := func(i int, c summary.ClaimedCell) summary.ClaimedCell { c.Cell = &i; return c }
	a, b := of(0, figure(704, 690, 731, summary.ByTrials)), of(1, figure(252, 240, 261, summary.ByRange))
	for name, c := range map[string]summary.Claim{
		"a ratio":          {Metric: "p99", Unit: "ms", Ratio: true, Cells: []summary.ClaimedCell{a, b}},
		"an order":         {Metric: "p99", Unit: "ms", Cells: []summary.ClaimedCell{a, b}},
		"one cell":         {Metric: "throttled", Unit: "share", Cells: []summary.ClaimedCell{a}},
		"at a level":       {Metric: "p99", Unit: "ms", At: ptr(200.0), Cells: []summary.ClaimedCell{b}},
		"at users":         {Metric: "p99", Unit: "ms", At: ptr(200.0), Cells: []summary.ClaimedCell{a}},
		"of an absent one": {Metric: "of later", Unit: "ms", Cells: []summary.ClaimedCell{figure(1, 2, 3, "")}},
	} {
		got[name] = ClaimedCells(s, CellNames(s), &c)
	}
	for _, unit := range []string{"ms", "share", "%", "bytes", "cores", "requests", "users", "kills", "restarts", "times", "requests/s"} {
		got["in "+unit] = strings.Join([]string{ClaimFigure(ptr(0.5), ptr(0.25), ptr(0.75), summary.ByTrials, unit), ClaimFigure(ptr(3.0), ptr(2.0), ptr(4.0), summary.ByRange, unit),
			ClaimFigure(ptr(3.0), ptr(2.0), ptr(4.0), summary.ByLevels, unit), ClaimFigure(ptr(3.0), ptr(2.0), nil, summary.ByTrials, unit), ClaimFigure(ptr(3.0), nil, nil, "", unit), ClaimFigure(nil, nil, nil, "", unit)}, " | ")
	}
	s.Claims = []summary.Claim{{Verdict: summary.Reproduced}, {Verdict: summary.Inconclusive}, {Verdict: summary.NotReproduced}, {Verdict: summary.Reproduced}}
	got["verdicts"] = ClaimCount(s)
	sentences(t, "claims.txt", got)
}

// A latency that failed requests make infinite on one side is a lower bound there, and
// its distance from the other side is at least that of the bound.
func TestTheSizeOfADifferenceFromABoundIsABound(t *testing.T) {
	of := func(a, b float64, side int, direction verdict.Direction) Difference {
		d := &verdict.Difference{Metric: "p99", Unit: "ms", A: &a, B: &b, Verdict: direction, Censored: true}
		d.AtLeast[side] = true
		return Difference{d}
	}
	for want, d := range map[string]Difference{
		"P99 is at least 39% lower in B: ≥9.61 → 5.88 ms":         of(9.61, 5.88, 0, verdict.Lower),
		"P99 is lower in B: ≥9.07 → 9.21 ms":                      of(9.07, 9.21, 0, verdict.Lower),
		"P99 is higher in B: 9.21 → ≥9.07 ms":                     of(9.21, 9.07, 1, verdict.Higher),
		"P99 is at least 2.0 times as high in B: 9.00 → ≥18.0 ms": of(9, 18, 1, verdict.Higher),
	} {
		if got := d.Sentence(); !strings.EqualFold(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	d := of(9.61, 5.88, 0, verdict.Lower)
	high := -7.3
	want := "P99 is at least 76% lower in B: ≥9.61 → 5.88 ms (95% interval −∞ to −7.30)"
	if d.High = &high; !strings.EqualFold(d.Sentence(), want) || d.ShiftText() != display.Absent {
		t.Errorf("the shift is not known: %q, shift %s; want %q", d.Sentence(), d.ShiftText(), want)
	}
}
