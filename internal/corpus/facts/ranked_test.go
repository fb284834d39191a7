package facts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// value is a figure of a cell as a sentence means it: of all trials together, or the
// median over trials, which a sentence names.
func (c *cell) value(what string, overTrials bool) float64 {
	of := func(p *part) float64 {
		if what == "rate" {
			return p.rate()
		}
		return p.ms(what)
	}
	if !overTrials {
		return of(c.all())
	}
	return median(c.values(of))
}

// values is a figure of each trial.
func (c *cell) values(of func(*part) float64) (all []float64) {
	for _, p := range c.each() {
		if p.seconds > 0 {
			all = append(all, of(p))
		}
	}
	return all
}

func quantileOf(what string) func(*part) float64 {
	return func(p *part) float64 { return p.ms(what) }
}

// differs tests two cells by their trials: whether x is lower, by an exact test at 5%
// that is corrected for a number of tests. known is false if there are too few trials.
func differs(x, y *cell, of func(*part) float64, tests int) (lower, known bool, p float64) {
	a, b := x.values(of), y.values(of)
	if len(a) < 4 || len(b) < 4 {
		return false, false, math.NaN()
	}
	p, lower = mannWhitney(a, b)
	return lower && p*float64(tests) < 0.05, true, p
}

var ofCell = regexp.MustCompile(`((?:> )?[\d,.]*\d (?:ms|s|requests/s)) \(([^)]+)\)`)

// others are the figures and cells of "21.1 ms (v=B) and 30 ms (v=C)".
func (k *check) others(text string) (cells []*cell, figures []string) {
	for _, m := range ofCell.FindAllStringSubmatch(text, -1) {
		cells, figures = append(cells, k.named(m[2])), append(figures, m[1])
	}
	return cells, figures
}

// ranks checks that one cell is ahead of others: their figures, the order, the test, and
// what is known by construction.
func ranks(k *check) error {
	what, overTrials := k.m["what"], strings.Contains(k.m["basis"], "median")
	better := func(x, y float64) bool { return x <= y }
	if k.m["best"] == "highest" {
		better = func(x, y float64) bool { return x >= y }
	}
	cells, figures := k.others(k.m["others"])
	first := k.named(k.m["cell"])
	if err := is(what+" of "+first.label(), k.m["figure"], first.value(what, overTrials)); err != nil {
		return err
	}
	if k.has("of") { // all others are behind it; the sentence names two of them
		cells, figures = nil, nil
		for _, c := range k.Experiment.Cells {
			if c != first {
				cells, figures = append(cells, c), append(figures, "")
			}
		}
	}
	for i, c := range cells {
		if figures[i] != "" {
			if err := is(what+" of "+c.label(), figures[i], c.value(what, overTrials)); err != nil {
				return err
			}
		}
		if !better(first.value(what, overTrials), c.value(what, overTrials)) || !better(first.value(what, true), c.value(what, true)) {
			return fmt.Errorf("%s is not ahead of %s: medians %.4g and %.4g", first.label(), c.label(), first.value(what, true), c.value(what, true))
		}
		if err := k.ahead(first, c, what, strings.Contains(k.whole, "not tested") || strings.Contains(k.whole, "too few")); err != nil {
			return err
		}
	}
	return nil
}

// ahead checks a claim that x is better than y.
func (k *check) ahead(x, y *cell, what string, untested bool) error {
	if what != "rate" {
		share := func(c *cell) float64 { return float64(c.all().bad()-c.all().timeouts) / float64(c.all().requests()) }
		if share(x) > 1-shareOf(what) {
			return fmt.Errorf("%s fails %.3g%% of its requests, so its %s is infinite", x.label(), 100*share(x), what)
		}
		lower, known, p := differs(x, y, quantileOf(what), 1)
		if !untested && known && !lower {
			return fmt.Errorf("%s against %s: no significant difference, p %.3g", x.label(), y.label(), p)
		}
		if !untested && !known {
			return fmt.Errorf("%s against %s: too few trials for a test", x.label(), y.label())
		}
	}
	return k.truth.ahead(k.examined, x, y)
}

// alike checks that the difference of cells is not significant, and their figures.
func alike(k *check) error {
	what, overTrials := k.m["what"], strings.Contains(k.m["basis"], "median")
	all := k.cells(k.m["cells"])
	if !k.has("cells") {
		all = k.Experiment.Cells
	}
	if err := k.figuresOf(all, what, overTrials); err != nil {
		return err
	}
	least := 0.0
	for i, x := range all {
		for _, y := range all[i+1:] {
			p, _ := mannWhitney(x.values(quantileOf(what)), y.values(quantileOf(what)))
			least = max(least, -math.Log10(p*float64(len(all)*(len(all)-1)/2)))
		}
	}
	if strings.HasPrefix(strings.ToLower(k.whole), "no significant difference") && least > -math.Log10(0.05) && len(all) == 2 {
		return fmt.Errorf("the difference is significant: p %.3g", math.Pow(10, -least))
	}
	if strings.Contains(k.m["why"], "95% intervals overlap") {
		return overlapping(all, what)
	}
	return nil
}

// overlapping checks that the intervals of the medians of cells overlap.
func overlapping(all []*cell, what string) error {
	highest, lowest := math.Inf(-1), math.Inf(1)
	for _, c := range all {
		low, high, ok := medianEnds(c.values(quantileOf(what)))
		if !ok {
			return fmt.Errorf("%s has no 95%% interval of a median", c.label())
		}
		highest, lowest = max(highest, low), min(lowest, high)
	}
	if len(all) == 2 && highest > lowest {
		return fmt.Errorf("the intervals do not overlap: one ends at %.4g, the other begins at %.4g", lowest, highest)
	}
	return nil
}

// figuresOf checks "9.17 ms and 9.25 ms", "2.00 s each" and "8.49 ms to 9.63 ms".
func (k *check) figuresOf(all []*cell, what string, overTrials bool) error {
	text := k.m["figures"]
	if each, ok := strings.CutSuffix(text, " each"); ok {
		for _, c := range all {
			if err := is(what+" of "+c.label(), each, c.value(what, overTrials)); err != nil {
				return err
			}
		}
		return nil
	}
	if from, to, ok := strings.Cut(text, " to "); ok {
		var values []float64
		for _, c := range all {
			values = append(values, c.value(what, overTrials))
		}
		if err := is("the lowest "+what, from, slices.Min(values)); err != nil {
			return err
		}
		return is("the highest "+what, to, slices.Max(values))
	}
	figures := list(text)
	if len(figures) != len(all) {
		return fmt.Errorf("%d figures of %d cells", len(figures), len(all))
	}
	for i, c := range all {
		if err := is(what+" of "+c.label(), figures[i], c.value(what, overTrials)); err != nil {
			return err
		}
	}
	return nil
}

// leads checks that several cells share the first place before others.
func leads(k *check) error {
	what, overTrials := k.m["what"], strings.Contains(k.m["basis"], "median")
	first := k.cells(k.m["cells"])
	if err := k.figuresOf(first, what, overTrials); err != nil {
		return err
	}
	rest, figures := k.others(k.m["others"])
	best := slices.MinFunc(first, func(a, b *cell) int {
		return int(math.Copysign(1, a.value(what, true)-b.value(what, true)))
	})
	for i, c := range rest {
		if err := is(what+" of "+c.label(), figures[i], c.value(what, overTrials)); err != nil {
			return err
		}
		if err := k.ahead(best, c, what, strings.Contains(k.whole, "too few")); err != nil {
			return err
		}
	}
	return nil
}

var rankings = []pattern{
	{"headline", `<cell> has the (?P<best>lowest|highest) (?P<what>p[\d.]+|rate)(?P<basis> \(median[^)]*\))?(?: of (?P<of>\d+) cells)?(?: \(not tested\))?: (?P<figure>[\d,.]+ (?:ms|s|requests/s)) against <any:others>`, ranks},
	{"headline", `No significant difference in (?P<what>p[\d.]+)(?P<basis> \(median[^)]*\))? (?:between|among) <cells>: (?P<figures>[^()]+) \((?P<why>[^)]+)\)`, alike},
	{"headline", `Too few trials to test the difference in (?P<what>p[\d.]+)(?P<basis> \(median[^)]*\))? (?:between|among) <cells>: (?P<figures>[^()]+) \((?P<why>[^)]+)\)`, alike},
	{"headline", `None of <n:of> cells has a significantly lower (?P<what>p[\d.]+)(?P<basis> \(median[^)]*\))? than all others: (?P<figures>[^()]+) \((?P<why>[^)]+)\)`, alike},
	{"headline", `No cell has a significantly lower (?P<what>p[\d.]+)(?P<basis> \(median[^)]*\))? than all others: (?P<figures>[^()]+) for <cells> \((?P<why>[^)]+)\)`, alike},
	{"headline", `Too few trials to test which cell has the (?:lowest|highest) (?P<what>p[\d.]+)(?P<basis> \(median[^)]*\))?: (?P<figures>[^()]+?)(?: for <cells>)? \((?P<why>[^)]+)\)`, alike},
	{"headline", `<cells> have the lowest (?P<what>p[\d.]+)(?P<basis> \(median[^)]*\))? \((?P<figures>[^;]+); (?:no significant difference|too few trials to test): (?P<why>[^)]+)\) against <any:others>`, leads},
	{"headline", `Over all requests, another cell has the lowest p99 \(see the table\)`, func(k *check) error {
		lowest := func(overTrials bool) *cell {
			return slices.MinFunc(k.Experiment.Cells, func(a, b *cell) int {
				return int(math.Copysign(1, a.value("p99", overTrials)-b.value("p99", overTrials)))
			})
		}
		if lowest(true) == lowest(false) {
			return fmt.Errorf("%s has the lowest p99 by both", lowest(true).label())
		}
		return nil
	}},
	{"headline", `the ranking uses medians, which a single trial cannot decide`, nil},
	{"headline", `<cell> serves more: <n:rate> requests/s against <n:than>(?P<basis> \(median[^)]*\))?`, func(k *check) error {
		return is("rate", k.m["rate"], k.about.value("rate", k.has("basis")))
	}},
	{"headline", `(?:A cell has fewer than two trials, so the difference was not tested|Too few trials for 95% intervals, so the difference was not tested)`, func(k *check) error {
		for _, c := range k.Experiment.Cells {
			if len(c.trials) < 6 {
				return nil
			}
		}
		return fmt.Errorf("every cell has six trials")
	}},
	{"untested", `Too few (?:trials|searches|ramps) to test the (?:differences|breaking points): <n:have> per cell`, nil},
	{"untested", `<n:need> are needed \(measure\.repeats\)`, nil},
	{"untested", `at least <n:need> are needed, <n:advised> advised \(measure\.repeats\)`, nil},
}
