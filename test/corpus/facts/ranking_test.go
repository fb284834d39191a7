package facts

import (
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/front/compare"
)

// values is a figure of each trial.
func (c *cell) values(of func(*part) float64) (all []float64) {
	for _, p := range c.each() {
		if p.seconds > 0 {
			all = append(all, of(p))
		}
	}
	return all
}

// quantileOf is a latency of all requests, of which the failed ones are infinitely late.
func quantileOf(what string) func(*part) float64 {
	return func(p *part) float64 { return p.ofAll(what) }
}

// searchedFor reports whether breaking points were looked for, by searches or ramps with
// an objective.
func (r *recorded) searchedFor() bool {
	return slices.ContainsFunc(r.Experiment.Cells, func(c *cell) bool { return c.Load.Find || len(c.staged()) > 1 && c.objective != nil })
}

// broke are the breaking points of the searches of a cell: those of the program, because a
// search is no simple computation.
func (e *examined) broke(c *cell) (all []float64, bounds bool) {
	for _, t := range e.summary.Cells[c.Index].PerTrial {
		if t.Breaking == nil {
			bounds = true
			continue
		}
		all = append(all, *t.Breaking)
	}
	return all, bounds
}

// sampled is what each cell is ranked by; known is false for a cell that cannot be, with
// the gap that the summary has to give.
func (e *examined) sampled(c *cell, metric string) (values []float64, gap summary.Gap, known bool) {
	if e.searchedFor() {
		values, bounds := e.broke(c)
		if bounds || len(c.staged()) > 1 { // ranked by their bounds
			return nil, "", false
		}
		if len(values) < 4 {
			gap = summary.FewTrials
		}
		return values, gap, true
	}
	quantile := strings.TrimPrefix(metric, summary.LatencyPrefix)
	values = c.values(quantileOf(quantile))
	s := c.tailOf(c.all().ms(quantile))
	switch {
	case len(values) == 0:
		return values, summary.NoFigure, true
	case e.Experiment.Measure.Kept && len(values) > 1:
		return values, summary.OneStart, true
	case float64(c.all().requests())*(1-shareOf(quantile)) < 10-1e-6:
		return values, summary.FewRequests, true
	case len(values) < 4:
		return values, summary.FewTrials, true
	case c.mostlyDisturbed():
		return values, summary.DisturbedTrials, true
	case s.hasAny && (s.lag+s.afterStalls)/s.latency > 0.48: // bounds of the generator's share
		return values, "", false
	}
	return values, "", true
}

// mostlyDisturbed reports whether more than half of the trials that count are marked as
// disturbed.
func (c *cell) mostlyDisturbed() bool {
	n := 0
	for _, t := range c.trials {
		if t.outcome == "disturbed" {
			n++
		}
	}
	return 2*n > len(c.trials)
}

// ranking checks the evidence for each pair of cells, and the comparisons with a baseline:
// the tests, their correction, the order and what was not tested.
func (e *examined) ranking() {
	cells := e.Experiment.Cells
	ranked := [][]float64{}
	place := map[int]int{}
	for i, c := range cells {
		if len(e.summary.Ranking) == 0 {
			break
		}
		if values, gap, known := e.sampled(c, e.summary.Ranking[0].Metric); gap == "" && known {
			place[i] = len(ranked)
			ranked = append(ranked, values)
		} else if !known {
			place = nil
			break
		}
	}
	for i := range e.summary.Ranking {
		v := &e.summary.Ranking[i]
		x, y := cells[v.Cell], cells[v.Other]
		if v.Sign < 0 && !e.searchedFor() || v.Sign > 0 && e.searchedFor() {
			e.ahead(x, y)
		} else if v.Sign != 0 {
			e.ahead(y, x)
		}
		a, gapA, knownA := e.sampled(x, v.Metric)
		b, gapB, knownB := e.sampled(y, v.Metric)
		if !knownA || !knownB {
			continue
		}
		if v.Basis == summary.Untested {
			if gap := gapA; v.Gap != gap && v.Gap != gapB && v.Gap != summary.FewTrials || v.Sign != 0 {
				e.wrong(x, "%q against %s, by the record %q and %q", v.Gap, y.label(), gapA, gapB)
			}
			if gapA == "" && gapB == "" && min(len(a), len(b)) >= leastTrials(v.Cells) {
				e.wrong(x, "%d and %d trials against %s were not tested", len(a), len(b), y.label())
			}
			continue
		}
		if gapA != "" || gapB != "" {
			e.wrong(x, "it was tested against %s, by the record %q and %q", y.label(), gapA, gapB)
			continue
		}
		p, lower := differ(a, b)
		if own, drifts := signs(a, b); drifts && len(ranked) == 2 && len(a) == len(x.trials) && len(b) == len(y.trials) {
			e.is(x, "p by rounds against "+y.label(), &v.P, own)
			continue
		}
		e.isP(x, "p against "+y.label(), v.P, a, b)
		if want := map[bool]int{true: -1, false: 1}[lower]; v.Sign != 0 && v.Sign != want || (v.Sign != 0) != (v.PFamily < 0.05) {
			e.wrong(x, "direction %d against %s, p %.3g of the family; the record has %d", v.Sign, y.label(), v.PFamily, want)
		}
		switch {
		case place == nil:
		case len(ranked) == 2:
			e.isP(x, "p of two against "+y.label(), v.PFamily, a, b)
		case len(ranked) <= 6:
			own := closed(ranked, place[v.Cell], place[v.Other])
			noise := 10*math.Sqrt(own*(1-own)/draws) + 1e-3 // of two simulations, doubled by the level
			e.within(x, "p of the family against "+y.label(), v.PFamily, own-noise, own+noise)
		case v.PFamily < p:
			e.wrong(x, "p of the family, %.3g, is below that of one test, %.3g", v.PFamily, p)
		}
	}
	e.comparisons()
	e.leader()
}

// leastTrials are the trials of each that a ranking of so many cells takes.
func leastTrials(cells int) int {
	switch {
	case cells > 12:
		return 7
	case cells > 3:
		return 5
	}
	return 4
}

// isP checks the p of two samples: within chance if there are too many ways to deal them.
func (e *examined) isP(c *cell, what string, got float64, x, y []float64) {
	e.Helper()
	p, _ := differ(x, y)
	noise := 1e-6 * p
	if choose(len(x)+len(y), len(x)) > mostWays {
		noise = 5*math.Sqrt(p*(1-p)/draws) + 1e-3
	}
	e.within(c, what, got, p-noise, p+noise)
}

func (e *examined) comparisons() {
	var p []float64
	pairs := 0
	for i := range e.summary.Ranking {
		if e.summary.Ranking[i].Basis != summary.Untested {
			pairs++
		}
	}
	for i := range e.summary.Comparisons {
		v := &e.summary.Comparisons[i]
		p = append(p, v.P)
		a, _, knownA := e.sampled(e.Experiment.Cells[v.Baseline], v.Metric)
		b, _, knownB := e.sampled(e.Experiment.Cells[v.Cell], v.Metric)
		if !knownA || !knownB {
			continue
		}
		c := e.Experiment.Cells[v.Cell]
		e.is(c, "the median of the baseline", &v.Base, median(a))
		e.is(c, "the median", &v.Value, median(b))
		if own, drifts := signs(a, b); drifts && pairs == 1 && len(a) == len(b) && len(a) == len(c.trials) {
			e.is(c, "p of the comparison by rounds", &v.P, own)
		} else {
			e.is(c, "the shift", &v.Shift, hodgesLehmann(a, b))
			e.isP(c, "p of the comparison", v.P, a, b)
		}
		// Where values of both are equal, the test may exclude 0 itself and no shift beside it:
		// an end of the interval is 0.
		contains := v.Low <= 0 && v.High >= 0
		if slices.ContainsFunc(a, func(x float64) bool { return slices.Contains(b, x) }) {
			contains = v.Low < 0 && v.High > 0
		}
		if v.Significant != (v.PFamily < 0.05) || v.Low > v.Shift || v.High < v.Shift || v.Significant && contains {
			e.wrong(c, "shift %.4g (%.4g to %.4g), p %.3g, significant: %v", v.Shift, v.Low, v.High, v.PFamily, v.Significant)
		}
	}
	for i, corrected := range holm(p) {
		e.is(e.Experiment.Cells[e.summary.Comparisons[i].Cell], "p after Holm's correction", &e.summary.Comparisons[i].PHolm, corrected)
	}
}

// compared checks the comparison of the first two cells, as `millicore compare` makes it
// of two records.
func (e *examined) compared() {
	if len(e.Experiment.Cells) < 2 {
		return
	}
	r, err := compare.Compare([]compare.Match{{A: e.side(0), B: e.side(1)}}, true)
	if err != nil {
		e.Fatal(err)
	}
	x, y := e.Experiment.Cells[0], e.Experiment.Cells[1]
	for i := range r.Pairs[0].Rows {
		d := &r.Pairs[0].Rows[i]
		of, own := metrics[d.Metric]
		if !own || e.searchedFor() || len(x.staged()) > 0 || len(x.trials) == 0 || len(y.trials) == 0 {
			continue
		}
		a, b := x.values(of), y.values(of)
		if failing := func(v float64) bool { return math.IsInf(v, 1) || math.IsNaN(v) }; slices.ContainsFunc(a, failing) || slices.ContainsFunc(b, failing) {
			continue // their medians are of the answered requests
		}
		e.is(x, d.Metric+" of A", d.A, median(a))
		e.is(y, d.Metric+" of B", d.B, median(b))
		if d.P == nil {
			if len(a) >= 4 && len(b) >= 4 && d.Verdict != "not tested" && d.Gap != summary.OneStart {
				e.wrong(x, "%s was not tested: %s", d.Metric, d.Verdict)
			}
			continue
		}
		p, lower := differ(a, b)
		e.isP(x, "p of "+d.Metric, *d.P, a, b)
		e.is(x, "the shift of "+d.Metric, d.Shift, hodgesLehmann(a, b))
		want := "alike"
		if p < 0.05 && lower {
			want = "higher"
		} else if p < 0.05 {
			want = "lower"
		}
		if string(d.Verdict) != want {
			e.wrong(x, "%s is %s in %s, by the record %s", d.Metric, d.Verdict, y.label(), want)
		}
		if d.Metric == e.quantile() && p < 0.05 && lower {
			e.ahead(x, y)
		} else if d.Metric == e.quantile() && p < 0.05 {
			e.ahead(y, x)
		}
	}
}

func (e *examined) side(i int) compare.Cell {
	run := &e.results.Record.Run
	return compare.Cell{Run: run, Plan: &run.Experiment.Cells[i], Figures: &e.summary.Cells[i]}
}

// metrics are figures of trials that comparisons are about.
var metrics = map[string]func(*part) float64{"rate": (*part).rate, "availability": (*part).availability, "throttled": (*part).throttledShare,
	"p50": quantileOf("p50"), "p95": quantileOf("p95"), "p99": quantileOf("p99"), "p999": quantileOf("p999"), "cpu_of_limit": (*part).ofLimit,
	"cpu_per_request": func(p *part) float64 { return p.cores() / p.rate() * 1000 }}
