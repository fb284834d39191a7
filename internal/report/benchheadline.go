package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// benchmarks say for each benchmark which cells do best, by the first figure that
// it prints, its time in most cases.
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
				sentences = append(sentences, a.benchmark(c.Benchmarks[k].Path()))
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
		sentences = append(sentences, list(without[:min(len(without), fewNames)])+" gave no result.")
	}
	return append(sentences, a.disturbed()...)
}

// benchmark words one figure over all cells that have it.
func (a *answer) benchmark(path string) string {
	all, what := a.benchContenders(path)
	times, unit := benchUnit(what.Unit, all[0].value)
	figure := func(c contender) string { return display.Figure(c.value*times) + " " + unit }
	name := display.Plain(what.Name)
	if len(all) == 1 {
		r := benchRow{cell: all[0].cell, of: what}
		text := r.sentence()
		if len(a.s.Cells) > 1 {
			text = all[0].name + ": " + text
		}
		if t := a.throttling(all, true); t != "" {
			text += "; " + strings.Replace(t, all[0].name, "it", 1)
		}
		return text + "."
	}
	best := all[0]
	var with, against []string // the best and those that cannot be told from it; the others
	tied := []contender{best}
	for _, c := range all[1:] {
		if a.apart(best, c) {
			against = append(against, fmt.Sprintf("%s (%s)", figure(c), c.name))
			continue
		}
		tied = append(tied, c)
	}
	for _, c := range tied {
		with = append(with, fmt.Sprintf("%s (%s)", figure(c), c.name))
	}
	doubtful := doubt(all)
	text := ""
	switch {
	case len(against) == 0:
		text = fmt.Sprintf("%s does not tell the cells apart: %s, %s", name, benchList(with), overlap(all))
	case len(tied) == 1:
		text = fmt.Sprintf("%s does best with %s%s: %s against %s", name, best.name, doubtful, figure(best), benchList(against))
	default:
		text = fmt.Sprintf("%s does best with %s, which cannot be told apart, against %s", name, benchList(with), benchList(against))
	}
	if t := a.throttling(all, len(tied) == 1); t != "" {
		text += "; " + t
	}
	return text + "."
}

// benchList names a few, and of many the ends.
func benchList(words []string) string {
	if len(words) <= fewNames {
		return list(words)
	}
	return words[0] + " to " + words[len(words)-1]
}

// benchContenders are the cells that have a figure, the best first: the lowest,
// but of a rate, as B/s, the highest.
func (a *answer) benchContenders(path string) ([]contender, *analysis.BenchmarkSummary) {
	var all []contender
	var what *analysis.BenchmarkSummary
	for _, r := range benchRows(a.s) {
		if r.of == nil || r.of.Path() != path {
			continue
		}
		if what == nil {
			what = r.of
		}
		one := contender{cell: r.cell, name: a.names[r.index], value: r.of.Median, metric: path}
		one.low, one.high, one.sure = r.ends()
		all = append(all, one)
	}
	byValue(all)
	if strings.HasSuffix(what.Unit, "/s") {
		slices.Reverse(all)
	}
	return all, what
}
