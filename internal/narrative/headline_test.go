package narrative

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/report/sample"
)

func ptr[T any](v T) *T { return &v }

// change is what a case is about; package sample has the builders.
type change = sample.Change

var (
	cellOf        = sample.CellOf
	procs         = sample.ProcsCell
	p99At         = sample.P99At
	within        = sample.Within
	frames        = sample.OfFrames
	trials        = sample.TrialsAt
	breaksBetween = sample.BreaksBetween
	searches      = sample.SearchesOf
	staged        = sample.Staged
)

func throttled(hit, of int64) change {
	return func(c *analysis.CellSummary) { c.CPU.ThrottledPeriods, c.CPU.Periods = &hit, &of }
}

func rate(rps, low, high float64) change {
	return func(c *analysis.CellSummary) {
		c.RateRPS, c.Intervals["rate_rps"] = &rps, [2]float64{low, high}
	}
}

func available(percent float64) change {
	return func(c *analysis.CellSummary) { c.Availability = &percent }
}

func asked(text string, met *bool) change {
	return func(c *analysis.CellSummary) { c.Objective = &analysis.ObjectiveSummary{Text: text, Met: met} }
}

// beside lets another process disturb trials of a cell, and others not.
func beside(noisy, quiet []float64, kept int) change {
	return func(c *analysis.CellSummary) {
		c.Disturbance = &analysis.Disturbance{By: []string{analysis.Neighbours}, Trials: len(noisy) + len(quiet), Disturbed: len(noisy), Kept: kept,
			Quantile: "p99", Noisy: noisy, Quiet: quiet}
	}
}

func agentLimited(c *analysis.CellSummary) { c.Generator.Limited = true }

func causesOf(v analysis.Causes) func(*analysis.CellSummary) {
	return func(c *analysis.CellSummary) {
		v.Quantile = "p99"
		c.Causes = &v
	}
}

// silent makes a cell fail: nothing it measured remains.
func silent(c *analysis.CellSummary) {
	c.RateRPS, c.Availability, c.LatencyMS, c.Requests = nil, nil, nil, 0
}

func open(rps float64) change {
	return func(c *analysis.CellSummary) { c.Load = analysis.LoadSummary{Kind: "open", Rate: &rps} }
}

// held adds a level of a staged open loop.
func held(target, p99, available float64) change {
	return func(c *analysis.CellSummary) {
		c.Load = analysis.LoadSummary{Kind: "open", Rate: &target, Stages: true}
		c.LatencyMS = nil
		c.Steps = append(c.Steps, analysis.Step{Target: target, RateRPS: target, Availability: &available,
			LatencyMS: &analysis.Quantiles{P99: p99}, Throttled: ptr(0.4)})
	}
}

func TestHeadline(t *testing.T) {
	six := []float64{1, 1, 1, 1, 1, 1}
	got := map[string]string{}
	for name, c := range map[string]struct {
		cells       []analysis.CellSummary
		interrupted bool
	}{
		"no cells": {},
		"one clear winner": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(145, 155), throttled(1, 28)),
				procs("2", p99At(560), within(530, 600), throttled(29, 32)),
				procs("6", p99At(419), within(400, 450), throttled(26, 31)),
			},
		},
		"two cells whose intervals overlap": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(140, 170)),
				procs("2", p99At(160), within(150, 180)),
			},
		},
		"intervals that touch overlap": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(140, 155)),
				procs("2", p99At(160), within(155, 180)),
			},
		},
		"two lead together": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(140, 160)),
				procs("2", p99At(560), within(530, 600)),
				procs("6", p99At(152), within(145, 165)),
			},
		},
		"the lowest overlaps all others, which are apart": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(100, 600)),
				procs("2", p99At(160), within(155, 165)),
				procs("6", p99At(530), within(500, 560)),
			},
		},
		"the same figure everywhere": {
			cells: []analysis.CellSummary{procs("1", p99At(2)), procs("2", p99At(2))},
		},
		"few trials that do not overlap": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), trials(148, 152)),
				procs("2", p99At(560), trials(540, 570)),
			},
		},
		"few trials that overlap": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), trials(100, 200)),
				procs("2", p99At(160), trials(150, 170)),
			},
		},
		"an interval against few trials is only as sure as the trials": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(145, 155), trials(six...)),
				procs("2", p99At(560), trials(540, 570)),
			},
		},
		"one trial each": {
			cells: []analysis.CellSummary{procs("1", p99At(150)), procs("2", p99At(1460))},
		},
		"one trial each, with intervals by frames that overlap": {
			cells: []analysis.CellSummary{procs("1", p99At(150), within(140, 165), frames), procs("2", p99At(160), within(150, 170), frames)},
		},
		"one trial each, with intervals by frames that do not overlap, which says nothing of another start": {
			cells: []analysis.CellSummary{procs("1", p99At(150), within(145, 155), frames), procs("2", p99At(160), within(158, 163), frames)},
		},
		"two trials that are close to one another by chance": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(130, 168), trials(150, 151), frames),
				procs("2", p99At(160), within(150, 170), trials(160, 161), frames),
			},
		},
		"a cell alone, with one trial": {
			cells: []analysis.CellSummary{cellOf("go", p99At(150), within(145, 155), frames)},
		},
		"nothing is throttled": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(2), within(1.9, 2.1), throttled(0, 200)),
				cellOf("bun", p99At(10), within(9, 11), throttled(1, 200)),
			},
		},
		"all are throttled alike": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(2), within(1.9, 2.1), throttled(100, 200)),
				cellOf("bun", p99At(10), within(9, 11), throttled(101, 201)),
			},
		},
		"without limits throttling is not mentioned": {
			cells: []analysis.CellSummary{cellOf("go", p99At(2), within(1.9, 2.1)), cellOf("bun", p99At(10), within(9, 11))},
		},
		"the best is the one that is throttled": {
			cells: []analysis.CellSummary{
				procs("1", p99At(60), within(55, 65), throttled(0, 100)),
				procs("2", p99At(30), within(28, 32), throttled(28, 100)),
			},
		},
		"another cell serves more": {
			cells: []analysis.CellSummary{
				procs("1", p99At(205), within(200, 210), rate(262, 260, 264)),
				procs("3", p99At(513), within(500, 520), rate(276, 274, 280)),
			},
		},
		"rates that overlap are not ranked": {
			cells: []analysis.CellSummary{
				procs("1", p99At(205), within(200, 210), rate(262, 250, 275)),
				procs("3", p99At(513), within(500, 520), rate(276, 270, 280)),
			},
		},
		"in an open loop the rate is no merit": {
			cells: []analysis.CellSummary{
				procs("1", p99At(205), within(200, 210), rate(262, 260, 264), open(300)),
				procs("3", p99At(513), within(500, 520), rate(276, 274, 280), open(300)),
			},
		},
		"a cell that refuses its requests does not win": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(20), within(19, 21)),
				cellOf("bun", p99At(1), within(0.9, 1.1), available(12)),
				cellOf("node", p99At(40), within(39, 41)),
			},
		},
		"where all refuse, all are ranked, and it is said": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(20), within(19, 21), available(50)),
				cellOf("bun", p99At(1), within(0.9, 1.1), available(12)),
			},
		},
		"a cell failed": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(145, 155)),
				procs("2", p99At(560), within(530, 600)),
				procs("6", silent),
			},
		},
		"all but one failed": {
			cells: []analysis.CellSummary{procs("1", p99At(150), within(145, 155)), procs("2", silent)},
		},
		"one failed and one was skipped": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(150), within(145, 155)), cellOf("node", silent),
				cellOf("bun", silent, func(c *analysis.CellSummary) { c.Flags = analysis.Flags{"skipped"} }),
			},
		},
		"what was skipped is not asked about the objective": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(150), within(145, 155), asked("p99 <= 250ms", ptr(true))), cellOf("node", p99At(200), within(190, 210), asked("p99 <= 250ms", ptr(true))),
				cellOf("bun", silent, warned("skipped"), asked("p99 <= 250ms", nil)),
			},
		},
		"one was tried, and the other skipped": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(150), within(145, 155), asked("p99 <= 250ms", ptr(true))), cellOf("bun", silent, warned("skipped"), asked("p99 <= 250ms", nil)),
			},
		},
		"every cell failed before a request": {
			cells: []analysis.CellSummary{procs("1", silent), procs("2", silent)},
		},
		"every cell refused": {
			cells: []analysis.CellSummary{
				procs("1", silent, func(c *analysis.CellSummary) { c.Requests, c.Errors.Refused = 600, 590 }),
				procs("2", silent, func(c *analysis.CellSummary) { c.Requests, c.Errors.Refused = 600, 598 }),
			},
		},
		"the only cell answered with errors": {
			cells: []analysis.CellSummary{cellOf("api", silent, func(c *analysis.CellSummary) {
				c.Requests, c.Errors.Status = 90, map[string]int64{"500": 50, "503": 40}
			})},
		},
		"the only cell failed before a request": {
			cells: []analysis.CellSummary{cellOf("api", silent)},
		},
		"a single cell states its figures": {
			cells: []analysis.CellSummary{procs("2", p99At(560), within(530, 600), throttled(29, 32), available(99.9996))},
		},
		"a single cell with its objective and a slow agent": {
			cells: []analysis.CellSummary{cellOf("go", p99At(2), asked("p99 <= 5ms", ptr(true)), agentLimited)},
		},
		"a single cell without latency": {
			cells: []analysis.CellSummary{cellOf("go")},
		},
		"without latency the rates are compared": {
			cells: []analysis.CellSummary{procs("1", rate(373, 370, 375)), procs("2", rate(381, 379, 384)), procs("6", rate(360, 355, 365))},
		},
		"without latency rates that overlap are not ranked": {
			cells: []analysis.CellSummary{procs("1", rate(373, 370, 380)), procs("2", rate(381, 379, 384))},
		},
		"the objective is met by one": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(145, 155), asked("p99 <= 250ms", ptr(true))),
				procs("2", p99At(560), within(530, 600), asked("p99 <= 250ms", ptr(false))),
			},
		},
		"the objective is met by none, and one is not known": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(145, 155), asked("p99 <= 100ms", ptr(false))),
				procs("2", p99At(560), within(530, 600), asked("p99 <= 100ms", ptr(false))),
				procs("6", silent, asked("p99 <= 100ms", nil)),
			},
		},
		"the agent was the limit for one": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(2), within(1.9, 2.1)),
				cellOf("bun", p99At(10), within(9, 11), agentLimited),
			},
		},
		"the slow tail is the generator's": {
			cells: []analysis.CellSummary{cellOf("go", p99At(52), within(48, 54), causesOf(analysis.Causes{Generator: 0.7, GeneratorQueue: 0.1, Rest: 0.2}))},
		},
		"the slow tail of one is the generator's": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(52), within(48, 54), causesOf(analysis.Causes{Generator: 0.5, GeneratorQueue: 0.1, Rest: 0.4})),
				cellOf("bun", p99At(10), within(9, 11), causesOf(analysis.Causes{Rest: 1})),
			},
		},
		"the slow tail of all is the generator's": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(52), within(48, 54), causesOf(analysis.Causes{Generator: 0.5, GeneratorQueue: 0.1, Rest: 0.4})),
				cellOf("bun", p99At(10), within(9, 11), causesOf(analysis.Causes{Generator: 1})),
			},
		},
		"a neighbour disturbed one cell": {
			cells: []analysis.CellSummary{
				cellOf("go", p99At(2), within(1.9, 2.1), beside([]float64{9, 8, 7}, []float64{2, 3, 2.5, 2.2, 1.5}, 1)),
				cellOf("bun", p99At(10), within(9, 11)),
			},
		},
		"a neighbour disturbed the only cell": {
			cells: []analysis.CellSummary{cellOf("go", p99At(2), beside([]float64{9}, nil, 1))},
		},
		"interrupted": {
			cells:       []analysis.CellSummary{procs("1", p99At(150), within(145, 155)), procs("2", p99At(560), within(530, 600))},
			interrupted: true,
		},
		"interrupted before anything": {
			cells:       []analysis.CellSummary{procs("1", silent), procs("2", silent)},
			interrupted: true,
		},
		"many cells name the ends only": {
			cells: []analysis.CellSummary{
				procs("1", p99At(10), within(9, 11)), procs("2", p99At(20), within(19, 21)), procs("3", p99At(50), within(49, 51)),
				procs("4", p99At(30), within(29, 31)), procs("5", p99At(40), within(39, 41)),
			},
		},
		"many cells that overlap": {
			cells: []analysis.CellSummary{
				procs("1", p99At(10), within(5, 15)), procs("2", p99At(11), within(5, 15)), procs("3", p99At(12), within(5, 15)),
				procs("4", p99At(13), within(5, 15)), procs("5", p99At(14), within(5, 15)),
			},
		},
		"stages: one still answers at the highest common level": {
			cells: []analysis.CellSummary{
				cellOf("go", held(1000, 2, 100), held(2000, 9, 60), held(3000, 9, 20)),
				cellOf("bun", held(1000, 3, 100), held(2000, 12, 100)),
			},
		},
		"stages: both answer": {
			cells: []analysis.CellSummary{
				cellOf("go", held(1000, 2, 100), held(2000, 9, 100)),
				cellOf("bun", held(1000, 3, 100), held(2000, 12, 100)),
			},
		},
		"stages: nobody answers anywhere": {
			cells: []analysis.CellSummary{cellOf("go", held(1000, 2, 40)), cellOf("bun", held(1000, 3, 50))},
		},
		"stages: no level in common": {
			cells: []analysis.CellSummary{cellOf("go", held(1000, 2, 100)), cellOf("bun", held(1500, 3, 100))},
		},
		"stages: a single cell says what it held": {
			cells: []analysis.CellSummary{cellOf("go", held(1000, 2, 100), held(3000, 9, 20), held(2000, 4, 99.95))},
		},
		"stages that hold nothing": {
			cells: []analysis.CellSummary{
				cellOf("go", rate(500, 490, 510), func(c *analysis.CellSummary) { c.Load.Stages = true }),
				cellOf("bun", rate(700, 690, 710), func(c *analysis.CellSummary) { c.Load.Stages = true }),
			},
		},
		"an unset setting is named": {
			cells: []analysis.CellSummary{
				procs("1", p99At(150), within(145, 155)),
				cellOf("go", p99At(560), within(530, 600), func(c *analysis.CellSummary) { c.Vary["procs"] = nil }),
			},
		},
	} {
		s := &analysis.Summary{Cells: c.cells}
		s.Experiment.Interrupted, s.Experiment.TrialsDone, s.Experiment.TrialsPlanned = c.interrupted, 7, 18
		got[name] = HeadlineOf(s).String()
	}
	sentences(t, "headlines.txt", got)
}

func TestHeadlineIsOneLineWithoutEscapes(t *testing.T) {
	got := HeadlineOf(&analysis.Summary{Cells: []analysis.CellSummary{cellOf("a\x1b[31m\nb"), cellOf("c\u202ed")}}).String()
	if strings.ContainsAny(got, "\n\x1b\u202e") {
		t.Errorf("foreign text reached the headline as it is: %q", got)
	}
}

// TestATestOfAnotherQuantileIsNoTestOfP99: where the objective is p99.9, that is
// what the cells' test is about, and the ranking by p99 rests on p99 alone.
func TestATestOfAnotherQuantileIsNoTestOfP99(t *testing.T) {
	cells := numbered(
		cellOf("A", p99At(10.2), within(10, 10.5), trials(10, 10.1, 10.2, 10.3, 10.4, 10.5)),
		cellOf("B", p99At(20.2), within(20, 20.5), trials(20, 20.1, 20.2, 20.3, 20.4, 20.5)),
	)
	for metric, want := range map[string]string{
		"latency_ms.p999": "A has the lowest p99: 10.2 ms against 20.2 ms (B).",
		"latency_ms.p99":  "No significant difference in p99 between A and B: 10.2 ms and 20.2 ms (tested over their trials).",
	} {
		tests := []analysis.Comparison{{Cell: 1, Metric: metric, Shift: 10, PHolm: 0.4}}
		if got := HeadlineOf(&analysis.Summary{Cells: cells, Comparisons: tests}).String(); got != want {
			t.Errorf("a test of %s:\n got %s\nwant %s", metric, got, want)
		}
	}
}

// compared gives a summary the tests of its cells against the first one, as
// analysis makes them.
func compared(cells ...analysis.CellSummary) *analysis.Summary {
	s := &analysis.Summary{Cells: numbered(cells...)}
	of := func(c *analysis.CellSummary) (all []float64) {
		for i := range c.PerTrial {
			all = append(all, *c.PerTrial[i].P99)
		}
		return all
	}
	var values [][]float64
	for i := range s.Cells {
		values = append(values, of(&s.Cells[i]))
	}
	for i, c := range stats.Against(values[0], values[1:]) {
		s.Comparisons = append(s.Comparisons, analysis.Comparison{Cell: i + 1, Metric: "latency_ms.p99", Base: c.Base, Value: c.Value, Shift: c.Shift,
			Low: c.Interval.Low, High: c.Interval.High, P: c.P, PHolm: c.PHolm, Significant: c.Significant, Trials: c.Trials})
	}
	return s
}

// ranging sets the trials' own p99 and the interval that they give.
func ranging(p99s ...float64) change {
	return func(c *analysis.CellSummary) {
		trials(p99s...)(c)
		within(slices.Min(p99s), slices.Max(p99s))(c)
	}
}

// TestTheWinnerIsTheOneThatTheTestNames: one trial of A decides the p99 of all its
// requests together, and not what the test says.
func TestTheWinnerIsTheOneThatTheTestNames(t *testing.T) {
	a := cellOf("A", p99At(3000), ranging(98, 99, 100, 100, 101, 3000))
	b := cellOf("B", p99At(204), ranging(198, 199, 200, 200, 201, 4000))
	for name, c := range map[string]struct {
		s    *analysis.Summary
		want string
	}{
		"the p99 of all requests together puts another cell first": {
			compared(a, b),
			"A has the lowest p99 (median of 6 trials): 100 ms against 200 ms (B). Over all requests, another cell has the lowest p99 (see the table); the ranking uses medians, which a single trial cannot decide.",
		},
		"the baseline is the higher one": {
			compared(b, a),
			"A has the lowest p99 (median of 6 trials): 100 ms against 200 ms (B). Over all requests, another cell has the lowest p99 (see the table); the ranking uses medians, which a single trial cannot decide.",
		},
		"neither is the baseline": {
			compared(cellOf("C", p99At(5100), ranging(5000, 5010, 5020, 5030, 5040, 5100)), a, b),
			"A has the lowest p99 (median of 6 trials): 100 ms against 5.03 s (C) and 200 ms (B). Over all requests, another cell has the lowest p99 (see the table); the ranking uses medians, which a single trial cannot decide.",
		},
		"in the same order, and the figures are those of the table": {
			compared(cellOf("A", p99At(110), ranging(98, 99, 100, 101, 102, 150)), cellOf("B", p99At(204), ranging(198, 199, 200, 201, 202, 210))),
			"A has the lowest p99: 110 ms against 204 ms (B).",
		},
		"only the cells behind the winner are in another order": {
			compared(cellOf("A", p99At(101), ranging(98, 99, 100, 101, 102, 103)), cellOf("B", p99At(290), ranging(198, 199, 200, 201, 202, 300)),
				cellOf("C", p99At(205), ranging(201, 202, 204, 205, 206, 207))),
			"A has the lowest p99: 101 ms against 290 ms (B) and 205 ms (C).",
		},
		"trials that differ, and no test shows it": {
			compared(cellOf("A", p99At(400), ranging(90, 95, 100, 105, 300, 400)), cellOf("B", p99At(120), ranging(91, 96, 101, 106, 110, 120))),
			"No significant difference in p99 (median of 6 trials) between A and B: 103 ms and 104 ms (their 95% intervals overlap). Over all requests, another cell has the lowest p99 (see the table); the ranking uses medians, which a single trial cannot decide.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := HeadlineOf(c.s).String(); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestASignificantShiftTheOtherWayIsNoProof: a test is two-sided.
func TestASignificantShiftTheOtherWayIsNoProof(t *testing.T) {
	s := &analysis.Summary{Cells: numbered(cellOf("A", p99At(100), within(90, 110)), cellOf("B", p99At(200), within(190, 210)))}
	for shift, want := range map[float64]string{
		100:  "A has the lowest p99: 100 ms against 200 ms (B).",
		-100: "No significant difference in p99 between A and B: 100 ms and 200 ms (tested over their trials).",
	} {
		s.Comparisons = []analysis.Comparison{{Cell: 1, Metric: "latency_ms.p99", Shift: shift, Significant: true}}
		if got := HeadlineOf(s).String(); got != want {
			t.Errorf("a shift of %+g ms:\n got %s\nwant %s", shift, got, want)
		}
	}
}

// TestIdenticalCellsAreSeldomRanked: cells that are alike, with trials as uneven
// as those of a throttled service. Placing any of them behind the best is a
// false claim, and so is a winner.
func TestIdenticalCellsAreSeldomRanked(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	const records = 400
	for _, cells := range []int{2, 3, 7, 12} {
		winners, behind := 0, 0
		for range records {
			var all []analysis.CellSummary
			for i := range cells {
				var p99s []float64
				for range 6 {
					p99s = append(p99s, 100*math.Exp(random.NormFloat64()))
				}
				all = append(all, cellOf(fmt.Sprint("cell", i), p99At(slices.Max(p99s)), ranging(p99s...)))
			}
			s := compared(all...)
			a := newAnswer(s)
			ranked, _ := settle(a.byP99(a.good), false)
			switch tied := analysis.Tied(ranked[0], ranked[1:], s.Below); {
			case len(tied) == 0:
				winners, behind = winners+1, behind+1
			case len(tied) < cells-1:
				behind++
			}
		}
		t.Logf("%d cells: in %d of %d records a winner, in %d a cell behind", cells, winners, records, behind)
		if most := records * 8 / 100; winners > most || behind > most { // 5%, and three standard deviations
			t.Errorf("%d cells: in %d of %d records a winner, in %d a cell behind", cells, winners, records, behind)
		}
	}
}
