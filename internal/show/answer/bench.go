package answer

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// benchmarks is the answer about programs that measure themselves: the first figure of
// each of at most two benchmarks.
func (a *asked) benchmarks() Answer {
	var seen []string
	var all Answer
	for i := range a.s.Cells {
		for k := range a.s.Cells[i].Benchmarks {
			of := &a.s.Cells[i].Benchmarks[k]
			if slices.Contains(seen, of.Name) {
				continue
			}
			if seen = append(seen, of.Name); len(seen) > 2 {
				continue
			}
			one := a.benchmark(of)
			if len(seen) == 2 {
				all.What += " "
				if one.Do != all.Do {
					all.Do = ""
				}
				one.Why, one.Do = all.Why, all.Do
			}
			all.What, all.Why, all.Do = all.What+one.What, one.Why, one.Do
		}
	}
	if len(seen) == 0 {
		return Answer{What: "No benchmark gave a result: nothing was measured."}
	}
	return all
}

// benchmark is the answer about one figure over all cells that have it.
func (a *asked) benchmark(of *summary.Benchmark) Answer {
	inPlan, ranked := verdict.BenchmarkContenders(a.s, of.Path(), a.names)
	if len(ranked) == 1 {
		row := narrative.BenchRow{Cell: ranked[0].Cell, Of: of}
		return Answer{What: ranked[0].Name + ": " + row.Sentence() + "."}
	}
	r := ranking{a, inPlan, ranked, verdict.Rank(a.s, of.Path()), "lowest", display.Plain(of.Name), func(c verdict.Contender) string {
		times, unit := narrative.BenchUnit(of.Unit, c.Value)
		return display.Figure(c.Value*times) + " " + unit
	}, nil}
	if of.HigherIsBetter() {
		r.best = "highest"
	}
	return r.answer()
}
