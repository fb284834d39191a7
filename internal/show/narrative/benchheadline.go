package narrative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// benchmarks rank the cells for each benchmark, by the first figure that it prints,
// which is its time in most cases.
func (a *answer) benchmarks() []string {
	var sentences []string
	var seen, without []string
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		if len(c.Benchmarks) == 0 {
			without = append(without, a.names[i])
		}
		for k := range c.Benchmarks {
			if name := c.Benchmarks[k].Name; !slices.Contains(seen, name) {
				seen = append(seen, name)
				sentences = append(sentences, a.benchmark(&c.Benchmarks[k]))
			}
		}
	}
	if len(seen) == 0 {
		return []string{"No benchmark gave a result: nothing was measured."}
	}
	if n := len(sentences); n > fewNames {
		sentences = append(sentences[:fewNames], fmt.Sprintf("And %d more benchmarks.", n-fewNames))
	}
	if len(without) > 0 {
		sentences = append(sentences, phrase.List(without[:min(len(without), fewNames)])+" gave no result.")
	}
	return append(sentences, a.disturbed()...)
}

// benchmark words one figure over all cells that have it.
func (a *answer) benchmark(what *summary.Benchmark) string {
	inPlan, all := verdict.BenchmarkContenders(a.s, what.Path(), a.names)
	if len(all) == 1 {
		r := BenchRow{Cell: all[0].Cell, Of: what}
		text := r.Sentence()
		if len(a.s.Cells) > 1 {
			text = all[0].Name + ": " + text
		}
		if t := a.throttling(all, true); t != "" {
			text += "; " + strings.Replace(t, all[0].Name, "it", 1)
		}
		return text + "."
	}
	best := "lowest"
	if what.HigherIsBetter() {
		best = "highest"
	}
	text, alone := ranking{inPlan, all, verdict.Rank(a.s, what.Path()), best, benchMeasure(what.Unit) + " in benchmark " + display.Plain(what.Name), func(c verdict.Contender) string {
		times, unit := BenchUnit(what.Unit, c.Value)
		return display.Figure(c.Value*times) + " " + unit
	}}.text("")
	if t := a.throttling(all, alone); t != "" {
		text += "; " + t
	}
	return text + "."
}

// benchMeasure is what a unit measures, for a sentence.
func benchMeasure(unit string) string {
	if unit == "sec/op" {
		return "time per op"
	}
	return display.Plain(unit)
}
