package answer_test

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/answer"
)

func TestAnswersOfCells(t *testing.T) {
	six := []float64{1, 1, 1, 1, 1, 1}
	got := map[string]string{}
	for name, c := range map[string]struct {
		cells       []summary.Cell
		interrupted bool
	}{
		"no cells": {},
		"one clear winner": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(145, 155), throttled(1, 28)),
				procs("2", p99At(560), within(530, 600), throttled(29, 32)),
				procs("6", p99At(419), within(400, 450), throttled(26, 31)),
			},
		},
		"two cells whose intervals overlap": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(140, 170)),
				procs("2", p99At(160), within(150, 180)),
			},
		},
		"a test decides where intervals touch": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(140, 155)),
				procs("2", p99At(160), within(155, 180)),
			},
		},
		"two lead together": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(140, 160)),
				procs("2", p99At(560), within(530, 600)),
				procs("6", p99At(152), within(145, 165)),
			},
		},
		"two lead together, and one of them is not ahead": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(140, 160)),
				procs("2", p99At(560), within(530, 600)),
				procs("6", p99At(200), within(120, 620)),
			},
		},
		"of two groups, some are not ahead": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(140, 160)),
				procs("2", p99At(200), within(120, 620)),
				procs("3", p99At(210), within(130, 620)),
				procs("4", p99At(560), within(530, 600)),
				procs("5", p99At(570), within(530, 600)),
				procs("6", p99At(580), within(530, 600)),
			},
		},
		"the lowest overlaps all others, which are apart": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(100, 600)),
				procs("2", p99At(160), within(155, 165)),
				procs("6", p99At(530), within(500, 560)),
			},
		},
		"the same figure everywhere": {
			cells: []summary.Cell{procs("1", p99At(2)), procs("2", p99At(2))},
		},
		"few trials that do not overlap": {
			cells: []summary.Cell{
				procs("1", p99At(150), trials(148, 152)),
				procs("2", p99At(560), trials(540, 570)),
			},
		},
		"few trials that overlap": {
			cells: []summary.Cell{
				procs("1", p99At(150), trials(100, 200)),
				procs("2", p99At(160), trials(150, 170)),
			},
		},
		"an interval against few trials is only as sure as the trials": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(145, 155), trials(six...)),
				procs("2", p99At(560), trials(540, 570)),
			},
		},
		"one trial each": {
			cells: []summary.Cell{procs("1", p99At(150)), procs("2", p99At(1460))},
		},
		"one trial each, with intervals by frames that overlap": {
			cells: []summary.Cell{procs("1", p99At(150), within(140, 165), frames), procs("2", p99At(160), within(150, 170), frames)},
		},
		"one trial each, with intervals by frames that do not overlap, which says nothing of another start": {
			cells: []summary.Cell{procs("1", p99At(150), within(145, 155), frames), procs("2", p99At(160), within(158, 163), frames)},
		},
		"two trials that are close to one another by chance": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(130, 168), trials(150, 151), frames),
				procs("2", p99At(160), within(150, 170), trials(160, 161), frames),
			},
		},
		"a cell alone, with one trial": {
			cells: []summary.Cell{cellOf("go", p99At(150), within(145, 155), frames)},
		},
		"nothing is throttled": {
			cells: []summary.Cell{
				cellOf("go", p99At(2), within(1.9, 2.1), throttled(0, 200)),
				cellOf("bun", p99At(10), within(9, 11), throttled(1, 200)),
			},
		},
		"all are throttled alike": {
			cells: []summary.Cell{
				cellOf("go", p99At(2), within(1.9, 2.1), throttled(100, 200)),
				cellOf("bun", p99At(10), within(9, 11), throttled(101, 201)),
			},
		},
		"without limits throttling is not mentioned": {
			cells: []summary.Cell{cellOf("go", p99At(2), within(1.9, 2.1)), cellOf("bun", p99At(10), within(9, 11))},
		},
		"the best is the one that is throttled": {
			cells: []summary.Cell{
				procs("1", p99At(60), within(55, 65), throttled(0, 100)),
				procs("2", p99At(30), within(28, 32), throttled(28, 100)),
			},
		},
		"another cell serves more": {
			cells: []summary.Cell{
				procs("1", p99At(205), within(200, 210), rate(262, 260, 264)),
				procs("3", p99At(513), within(500, 520), rate(276, 274, 280)),
			},
		},
		"rates that overlap are not ranked": {
			cells: []summary.Cell{
				procs("1", p99At(205), within(200, 210), rate(262, 250, 275)),
				procs("3", p99At(513), within(500, 520), rate(264, 249, 280)),
			},
		},
		"in an open loop the rate is no merit": {
			cells: []summary.Cell{
				procs("1", p99At(205), within(200, 210), rate(262, 260, 264), open(300)),
				procs("3", p99At(513), within(500, 520), rate(276, 274, 280), open(300)),
			},
		},
		"a cell that refuses its requests does not win": {
			cells: []summary.Cell{
				cellOf("go", p99At(20), within(19, 21)),
				cellOf("bun", p99At(1), within(0.9, 1.1), available(12)),
				cellOf("node", p99At(40), within(39, 41)),
			},
		},
		"where all refuse, all are ranked, and it is said": {
			cells: []summary.Cell{
				cellOf("go", p99At(20), within(19, 21), available(50)),
				cellOf("bun", p99At(1), within(0.9, 1.1), available(12)),
			},
		},
		"a cell failed": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(145, 155)),
				procs("2", p99At(560), within(530, 600)),
				procs("6", silent),
			},
		},
		"all but one failed": {
			cells: []summary.Cell{procs("1", p99At(150), within(145, 155)), procs("2", silent)},
		},
		"one failed and one was skipped": {
			cells: []summary.Cell{
				cellOf("go", p99At(150), within(145, 155)), cellOf("node", silent),
				cellOf("bun", silent, func(c *summary.Cell) { c.Flags = summary.Flags{"skipped"} }),
			},
		},
		"what was skipped is not asked about the objective": {
			cells: []summary.Cell{
				cellOf("go", p99At(150), within(145, 155), aims("p99 <= 250ms", ptr(true))), cellOf("node", p99At(200), within(190, 210), aims("p99 <= 250ms", ptr(true))),
				cellOf("bun", silent, warned("skipped"), aims("p99 <= 250ms", nil)),
			},
		},
		"one was tried, and the other skipped": {
			cells: []summary.Cell{
				cellOf("go", p99At(150), within(145, 155), aims("p99 <= 250ms", ptr(true))), cellOf("bun", silent, warned("skipped"), aims("p99 <= 250ms", nil)),
			},
		},
		"every cell failed before a request": {
			cells: []summary.Cell{procs("1", silent, completed), procs("2", silent, completed)},
		},
		"no trial of any cell was completed": {
			cells: []summary.Cell{procs("1", silent), procs("2", silent)},
		},
		"every cell refused": {
			cells: []summary.Cell{
				procs("1", silent, func(c *summary.Cell) { c.Requests, c.Errors.Refused = 600, 590 }),
				procs("2", silent, func(c *summary.Cell) { c.Requests, c.Errors.Refused = 600, 598 }),
			},
		},
		"the only cell answered with errors": {
			cells: []summary.Cell{cellOf("api", silent, func(c *summary.Cell) {
				c.Requests, c.Errors.Status = 90, map[string]int64{"500": 50, "503": 40}
			})},
		},
		"a service that froze": {
			cells: []summary.Cell{cellOf("go", p99At(2), flagged(summary.FlagFrozen))},
		},
		"services that died at the end": {
			cells: []summary.Cell{procs("1", p99At(2), flagged(summary.FlagDownAtEnd)), procs("2", p99At(3), flagged(summary.FlagDownAtEnd, summary.FlagRestarted)), procs("3", p99At(4), flagged(summary.FlagFrozen, summary.FlagDownAtEnd))},
		},
		"the only cell failed before a request": {
			cells: []summary.Cell{cellOf("api", silent, completed)},
		},
		"no trial of the only cell was completed": {
			cells: []summary.Cell{cellOf("api", silent)},
		},
		"a single cell states its figures": {
			cells: []summary.Cell{procs("2", p99At(560), within(530, 600), throttled(29, 32), available(99.9996))},
		},
		"a single cell with its objective and a slow agent": {
			cells: []summary.Cell{cellOf("go", p99At(2), aims("p99 <= 5ms", ptr(true)), agentLimited)},
		},
		"a single cell that uses its limit up": {
			cells: []summary.Cell{cellOf("go", p99At(500), throttled(100, 100), usesOfLimit(1))},
		},
		"a single cell that nearly uses its limit, and is seldom stopped": {
			cells: []summary.Cell{cellOf("go", p99At(500), throttled(40, 100), usesOfLimit(0.97))},
		},
		"a single cell without latency": {
			cells: []summary.Cell{cellOf("go")},
		},
		"without latency the rates are compared": {
			cells: []summary.Cell{procs("1", rate(373, 370, 375)), procs("2", rate(381, 379, 384)), procs("6", rate(360, 355, 365))},
		},
		"without latency rates that overlap are not ranked": {
			cells: []summary.Cell{procs("1", rate(373, 370, 380)), procs("2", rate(375, 369, 384))},
		},
		"the objective is met by one": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(145, 155), aims("p99 <= 250ms", ptr(true))),
				procs("2", p99At(560), within(530, 600), aims("p99 <= 250ms", ptr(false))),
			},
		},
		"the objective is met by none, and one is not known": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(145, 155), aims("p99 <= 100ms", ptr(false))),
				procs("2", p99At(560), within(530, 600), aims("p99 <= 100ms", ptr(false))),
				procs("6", silent, aims("p99 <= 100ms", nil)),
			},
		},
		"the agent was the limit for one": {
			cells: []summary.Cell{
				cellOf("go", p99At(2), within(1.9, 2.1)),
				cellOf("bun", p99At(10), within(9, 11), agentLimited),
			},
		},
		"the slow tail is the generator's": {
			cells: []summary.Cell{cellOf("go", p99At(52), within(48, 54), causesOf(summary.Causes{Generator: 0.7, GeneratorQueue: 0.1, Rest: 0.2}))},
		},
		"the slow tail is that of two trials": {
			cells: []summary.Cell{cellOf("go", p99At(6.58), within(6.1, 15.2), causesOf(summary.Causes{Throttling: 0.72, Rest: 0.28, Trials: 6, MostIn: 2}))},
		},
		"the slow tail of one is that of two trials": {
			cells: []summary.Cell{
				cellOf("go", p99At(6.58), within(6.1, 15.2), causesOf(summary.Causes{Throttling: 0.72, Rest: 0.28, Trials: 6, MostIn: 2})),
				cellOf("bun", p99At(10), within(9, 11), causesOf(summary.Causes{Rest: 1, Trials: 6, MostIn: 3})),
			},
		},
		"others used the CPU, and most of it was the generator": {
			cells: []summary.Cell{cellOf("go", p99At(52), within(48, 54), causesOf(summary.Causes{Neighbours: 0.6, NeighboursGenerator: 0.4, Rest: 0.4, Trials: 6, MostIn: 4}))},
		},
		"the slow tail of one is the generator's": {
			cells: []summary.Cell{
				cellOf("go", p99At(52), within(48, 54), causesOf(summary.Causes{Generator: 0.5, GeneratorQueue: 0.1, Rest: 0.4})),
				cellOf("bun", p99At(10), within(9, 11), causesOf(summary.Causes{Rest: 1})),
			},
		},
		"the slow tail of all is the generator's": {
			cells: []summary.Cell{
				cellOf("go", p99At(52), within(48, 54), causesOf(summary.Causes{Generator: 0.5, GeneratorQueue: 0.1, Rest: 0.4})),
				cellOf("bun", p99At(10), within(9, 11), causesOf(summary.Causes{Generator: 1})),
			},
		},
		"a neighbour disturbed one cell": {
			cells: []summary.Cell{
				cellOf("go", p99At(2), within(1.9, 2.1), beside([]float64{9, 8, 7}, []float64{2, 3, 2.5, 2.2, 1.5}, 1)),
				cellOf("bun", p99At(10), within(9, 11)),
			},
		},
		"a neighbour disturbed the only cell": {
			cells: []summary.Cell{cellOf("go", p99At(2), beside([]float64{9}, nil, 1))},
		},
		"interrupted": {
			cells:       []summary.Cell{procs("1", p99At(150), within(145, 155)), procs("2", p99At(560), within(530, 600))},
			interrupted: true,
		},
		"interrupted before anything": {
			cells:       []summary.Cell{procs("1", silent), procs("2", silent)},
			interrupted: true,
		},
		"many cells name the ends only": {
			cells: []summary.Cell{
				procs("1", p99At(10), within(9, 11)), procs("2", p99At(20), within(19, 21)), procs("3", p99At(50), within(49, 51)),
				procs("4", p99At(30), within(29, 31)), procs("5", p99At(40), within(39, 41)),
			},
		},
		"many cells that overlap": {
			cells: []summary.Cell{
				procs("1", p99At(10), within(5, 15)), procs("2", p99At(11), within(5, 15)), procs("3", p99At(12), within(5, 15)),
				procs("4", p99At(13), within(5, 15)), procs("5", p99At(14), within(5, 15)),
			},
		},
		"stages: one still answers at the highest common level": {
			cells: []summary.Cell{
				cellOf("go", held(1000, 2, 100), held(2000, 9, 60), held(3000, 9, 20)),
				cellOf("bun", held(1000, 3, 100), held(2000, 12, 100)),
			},
		},
		"stages: both answer": {
			cells: []summary.Cell{
				cellOf("go", held(1000, 2, 100), held(2000, 9, 100)),
				cellOf("bun", held(1000, 3, 100), held(2000, 12, 100)),
			},
		},
		"stages: nobody answers anywhere": {
			cells: []summary.Cell{cellOf("go", held(1000, 2, 40)), cellOf("bun", held(1000, 3, 50))},
		},
		"stages: no level in common": {
			cells: []summary.Cell{cellOf("go", held(1000, 2, 100)), cellOf("bun", held(1500, 3, 100))},
		},
		"stages: a single cell says what it held": {
			cells: []summary.Cell{cellOf("go", held(1000, 2, 100), held(3000, 9, 20), held(2000, 4, 99.95))},
		},
		"stages that hold nothing": {
			cells: []summary.Cell{
				cellOf("go", rate(500, 490, 510), func(c *summary.Cell) { c.Load.Stages = true }),
				cellOf("bun", rate(700, 690, 710), func(c *summary.Cell) { c.Load.Stages = true }),
			},
		},
		"an unset setting is named": {
			cells: []summary.Cell{
				procs("1", p99At(150), within(145, 155)),
				cellOf("go", p99At(560), within(530, 600), func(c *summary.Cell) { c.Vary["procs"] = nil }),
			},
		},
	} {
		s := &summary.Summary{Cells: c.cells}
		s.Experiment.Interrupted, s.Experiment.TrialsDone, s.Experiment.TrialsPlanned = c.interrupted, 7, 18
		got[name] = text(s)
	}
	sentences(t, "cells.txt", got)
}

func TestForeignTextIsPlain(t *testing.T) {
	got := answer.Of(&summary.Summary{Cells: []summary.Cell{cellOf("a\x1b[31m\nb"), cellOf("c\u202ed")}}).String()
	if strings.ContainsAny(got, "\n\x1b\u202e") {
		t.Errorf("foreign text reached the answer as it is: %q", got)
	}
}

// One trial of A decides the p99 of all its requests together, and not the answer.
func TestTheAnswerIsAboutWhatIsTested(t *testing.T) {
	a := cellOf("A", p99At(3000), trials(97, 98, 99, 100, 100, 101, 102, 3000))
	b := cellOf("B", p99At(204), trials(197, 198, 199, 200, 200, 201, 202, 4000))
	kept := func(c *summary.Cell) { c.Kept = true }
	noisy, quiet := []float64{1, 2, 3, 4}, []float64{1, 2}
	requests := func(n int64) change { return func(c *summary.Cell) { c.Requests = n } }
	got := map[string]string{}
	for name, c := range map[string]struct {
		cells []summary.Cell
	}{
		"the p99 of all requests together would put another cell first": {numbered(a, b)},
		"in the other order":   {numbered(b, a)},
		"with a third":         {numbered(cellOf("C", p99At(5100), trials(5000, 5010, 5020, 5030, 5040, 5100)), a, b)},
		"four trials of three": {numbered(cellOf("A", p99At(1), trials(1, 2, 3, 4)), cellOf("B", p99At(5), trials(5, 6, 7, 8)), cellOf("C", p99At(9), trials(9, 10, 11, 12)))},
		"four trials of four are too few": {numbered(cellOf("A", p99At(1), trials(1, 2, 3, 4)), cellOf("B", p99At(5), trials(5, 6, 7, 8)), cellOf("C", p99At(9), trials(9, 10, 11, 12)),
			cellOf("D", p99At(90), trials(90, 91, 92, 93)))},
		"trials that differ, and no test shows it": {numbered(cellOf("A", p99At(400), trials(90, 95, 100, 105, 300, 400)), cellOf("B", p99At(120), trials(91, 96, 101, 106, 110, 120)))},
		"one has too few trials":                   {numbered(a, b, cellOf("C", p99At(1), trials(1)))},
		"others disturbed most trials of one":      {numbered(a, b, cellOf("C", p99At(90), trials(90, 91, 92, 93, 94, 95), beside(noisy, quiet, 4)))},
		"of one of two":                            {numbered(a, cellOf("B", p99At(204), trials(198, 199, 200, 200, 201, 202), beside(noisy, quiet, 4)))},
		"of all":                                   {numbered(cellOf("A", p99At(99), trials(98, 99, 100, 100, 101, 102), beside(noisy, quiet, 4)), cellOf("B", p99At(204), trials(198, 199, 200, 200, 201, 202), beside(noisy, quiet, 4)))},
		"two cells that are not ranked, for different reasons": {numbered(a, b, cellOf("C", p99At(90), trials(90, 91, 92, 93, 94, 95), beside(noisy, quiet, 4)), cellOf("D", p99At(1), trials(1)))},
		"behind by failed requests alone": {numbered(cellOf("A", p99At(12.5), trials(13.7, 12.5, 12.5, 12.5, 12.5, 12.5), available(98.8), func(c *summary.Cell) {
			c.Availability, c.PerTrial[0].Availability = ptr(99.0), ptr(100.0)
		}), cellOf("B", p99At(13.6), trials(13.6, 13.6, 13.6, 13.6, 13.6, 13.6)))},
		"trials of one process": {numbered(cellOf("A", p99At(101), trials(101, 101, 101, 101, 101, 102), kept), cellOf("B", p99At(104), trials(104, 104, 104, 104, 104, 105), kept))},
		"a p99 of few requests": {numbered(cellOf("A", p99At(100), trials(98, 99, 100, 100, 101, 102), requests(360)), cellOf("B", p99At(204), trials(198, 199, 200, 200, 201, 202), requests(360)))},
	} {
		got[name] = text(&summary.Summary{Cells: c.cells})
	}
	sentences(t, "tested.txt", got)
}
