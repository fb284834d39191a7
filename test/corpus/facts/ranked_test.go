package facts

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// value is the figure that stands for a cell: the median over its trials. hidden: so many
// requests failed that the latency of all of them is infinite in at least half of the
// trials, and the value is that of the answered ones.
func (c *cell) value(what string) (v float64, hidden bool) {
	if what == "rate" {
		return median(c.values((*part).rate)), false
	}
	all := c.values(quantileOf(what))
	if v = median(all); !math.IsInf(v, 1) && !math.IsNaN(v) {
		return v, false
	}
	for i, p := range c.values(func(p *part) float64 { return p.ms(what) }) {
		if math.IsInf(all[i], 1) {
			all[i] = p
		}
	}
	return median(all), len(all) > 0
}

// shows checks a stated figure of a cell: "9.17 ms", "≥2.00 s".
func (c *cell) shows(what, stated string) error {
	v, hidden := c.value(what)
	if err := is(what+" of "+c.label(), stated, v); err != nil {
		return err
	}
	if bound := strings.HasPrefix(stated, "≥"); bound != hidden {
		return fmt.Errorf("%s of %s is stated as %s; failed requests hide it: %v", what, c.label(), stated, hidden)
	}
	return nil
}

// before orders two cells by a figure; one that failed requests hide comes last.
func (c *cell) before(other *cell, what string, higher bool) bool {
	a, hidden := c.value(what)
	b, hiddenB := other.value(what)
	switch {
	case hidden != hiddenB:
		return hiddenB
	case higher:
		return a >= b
	}
	return a <= b
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
	return func(p *part) float64 { return p.ofAll(what) }
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

var ofCell = regexp.MustCompile(`((?:> |≥)?[\d,.]*\d (?:ms|s|requests/s)) \(([^)]+)\)`)

// others are the figures and cells of "21.1 ms (v=B) and 30 ms (v=C)".
func (k *check) others(text string) (cells []*cell, figures []string) {
	for _, m := range ofCell.FindAllStringSubmatch(text, -1) {
		cells, figures = append(cells, k.named(m[2])), append(figures, m[1])
	}
	return cells, figures
}

// ranksByObjective checks that cells are ranked by the quantile of the objective.
func (k *check) ranksByObjective(what string) error {
	if what == "rate" {
		return nil
	}
	return k.ranksBy(k.Experiment.Cells[0], what)
}

// ranks checks that one cell is ahead of others: their figures, the order, the test, and
// what is known by construction.
func ranks(k *check) error {
	what := k.m["what"]
	if err := k.ranksByObjective(what); err != nil {
		return err
	}
	cells, figures := k.others(k.m["others"])
	first := k.named(k.m["cell"])
	if err := first.shows(what, k.m["figure"]); err != nil {
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
			if err := c.shows(what, figures[i]); err != nil {
				return err
			}
		}
		if !first.before(c, what, k.m["best"] == "highest") {
			return fmt.Errorf("%s is not ahead of %s", first.label(), c.label())
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
	what := k.m["what"]
	if err := k.ranksByObjective(what); err != nil {
		return err
	}
	all := k.cells(k.m["cells"])
	if !k.has("cells") {
		all = k.Experiment.Cells
	}
	if err := k.figuresOf(all, what); err != nil {
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
	if p, ok := strings.CutPrefix(k.m["why"], "p "); ok && len(all) == 2 && len(k.withTrials()) == 2 && !strings.HasPrefix(k.whole, "At ") {
		exact, _ := mannWhitney(all[0].values(quantileOf(what)), all[1].values(quantileOf(what)))
		if err := is("p", p, exact); err != nil {
			return err
		}
	}
	if err := k.chance(all, what, k.m["why"]); err != nil {
		return err
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
func (k *check) figuresOf(all []*cell, what string) error {
	text := k.m["figures"]
	if each, ok := strings.CutSuffix(text, " each"); ok {
		for _, c := range all {
			if err := c.shows(what, each); err != nil {
				return err
			}
		}
		return nil
	}
	if from, to, ok := strings.Cut(text, " to "); ok {
		order := slices.SortedFunc(slices.Values(all), func(a, b *cell) int {
			if a.before(b, what, false) {
				return -1
			}
			return 1
		})
		return first(order[0].shows(what, from), order[len(order)-1].shows(what, to))
	}
	figures := list(text)
	if len(figures) != len(all) {
		return fmt.Errorf("%d figures of %d cells", len(figures), len(all))
	}
	for i, c := range all {
		if err := c.shows(what, figures[i]); err != nil {
			return err
		}
	}
	return nil
}

// leads checks that several cells share the first place before others.
func leads(k *check) error {
	what := k.m["what"]
	if err := k.ranksByObjective(what); err != nil {
		return err
	}
	first := k.cells(k.m["cells"])
	if err := k.figuresOf(first, what); err != nil {
		return err
	}
	rest, figures := k.others(k.m["others"])
	best := first[0]
	for _, c := range first[1:] {
		if !best.before(c, what, false) {
			best = c
		}
	}
	for i, c := range rest {
		if err := c.shows(what, figures[i]); err != nil {
			return err
		}
		if err := k.ahead(best, c, what, strings.Contains(k.whole, "too few")); err != nil {
			return err
		}
	}
	return nil
}

var rankings = []pattern{
	{"headline", `<cell> has the (?P<best>lowest|highest) (?P<what>p[\d.]+|rate)(?: of (?P<of>\d+) cells)?(?: \(not tested\))?: (?P<figure>≥?[\d,.]+ (?:ms|s|requests/s)) against (?P<others>[^;]+)`, ranks},
	{"headline", `No significant difference in (?P<what>p[\d.]+) (?:between|among) <cells>: (?P<figures>[^()]+) \((?P<why>[^)]+)\)`, alike},
	{"headline", `Too few trials to test the difference in (?P<what>p[\d.]+) (?:between|among) <cells>: (?P<figures>[^()]+) \((?P<why>[^)]+)\)`, alike},
	{"headline", `None of <n:of> cells has a significantly lower (?P<what>p[\d.]+) than all others: (?P<figures>[^()]+) \((?P<why>[^)]+)\)`, alike},
	{"headline", `No cell has a significantly lower (?P<what>p[\d.]+) than all others: (?P<figures>[^()]+) for <cells> \((?P<why>[^)]+)\)`, alike},
	{"headline", `<cell> has a significantly lower (?P<what>p[\d.]+) than <cells> \(p (?:at most )?(?P<p>[<\d.]+)\)`, func(k *check) error {
		for _, c := range k.cells(k.m["cells"]) {
			if err := k.ahead(k.named(k.m["cell"]), c, k.m["what"], false); err != nil {
				return err
			}
		}
		v, _, err := figure(strings.TrimPrefix(k.m["p"], "<"))
		if err == nil && v > 0.05 {
			err = fmt.Errorf("p %s is not significant", k.m["p"])
		}
		return err
	}},
	{"headline", `<cell> is behind only because <pct:share> of its requests failed, which count as infinitely late`, func(k *check) error {
		c, what := k.named(k.m["cell"]), k.quantile()
		answered := median(c.values(func(p *part) float64 { return p.ms(what) }))
		if best := k.best(k.withTrials(), what); answered > median(best.values(quantileOf(what))) {
			return fmt.Errorf("the answered requests of %s have a %s of %.4g ms, above that of %s", c.label(), what, answered, best.label())
		}
		return is("the failed share", k.m["share"], 100*float64(c.all().bad())/float64(c.all().requests()))
	}},
	{"headline", `<n:n> of <n:of> pairs differ significantly`, func(k *check) error {
		all, n := k.withTrials(), 0
		what := quantileOf(k.quantile())
		for i, x := range all {
			for _, y := range all[:i] {
				if p, _ := mannWhitney(x.values(what), y.values(what)); p < 0.05 {
					n++
				}
			}
		}
		return first(is("the pairs", k.m["of"], float64(len(all)*(len(all)-1)/2)), within("those that differ", k.m["n"], 1, float64(n)))
	}},
	{"headline", `<cell> does not differ significantly from <cells> \((?:smallest )?p (?P<p>[<\d.]+)\)`, func(k *check) error {
		what, among := quantileOf(k.quantile()), float64(len(k.withTrials()))
		for _, c := range k.cells(k.m["cells"]) {
			p, _ := mannWhitney(k.named(k.m["cell"]).values(what), c.values(what))
			if corrected := p * among * (among - 1) / 2; corrected < 0.05 {
				return fmt.Errorf("it differs from %s: p %.3g after the correction", c.label(), corrected)
			}
		}
		v, _, err := figure(strings.TrimPrefix(k.m["p"], "<"))
		if err == nil && v <= 0.05 {
			err = fmt.Errorf("p %s is significant", k.m["p"])
		}
		return err
	}},
	{"headline", `<n:n> of <n:of> pairs of the two groups do not differ significantly`, func(k *check) error {
		n, _, err := figure(k.m["n"])
		of, _, errOf := figure(k.m["of"])
		all := len(k.withTrials())
		return first(err, errOf, need(n <= of && int(of) <= all*all/4, "%v of %v pairs of two groups of %d cells", n, of, all))
	}},
	{"headline", `Too few trials to test which cell has the (?:lowest|highest) (?P<what>p[\d.]+): (?P<figures>[^()]+?)(?: for <cells>)? \((?P<why>[^)]+)\)`, alike},
	{"headline", `<cells> have the lowest (?P<what>p[\d.]+) \((?P<figures>[^;]+); (?:no significant difference|too few trials to test): (?P<why>[^)]+)\) against (?P<others>[^;]+)`, leads},
	{"headline", `<cell> serves more: <n:rate> requests/s against <n:than>`, func(k *check) error {
		return k.about.shows("rate", k.m["rate"])
	}},
	{"headline", `(?:A cell has fewer than two trials, so the difference was not tested|Too few trials for 95% intervals, so the difference was not tested)`, func(k *check) error {
		for _, c := range k.Experiment.Cells {
			if len(c.trials) < 6 {
				return nil
			}
		}
		return fmt.Errorf("every cell has six trials")
	}},
	{"headline", `(?:At (?P<level>[\d,.]+ (?:requests/s|users)) )?(?P<what>p[\d.]+|rate) is (?P<others>≥?[\d,.]+ (?:ms|s|requests/s) \(.+\))`, func(k *check) error {
		cells, figures := k.others(k.m["others"])
		for i, c := range cells {
			if k.has("level") {
				continue
			}
			if err := c.shows(k.m["what"], figures[i]); err != nil {
				return err
			}
		}
		return nil
	}},
	{"headline", `(?P<what>p[\d.]+) is (?P<figures>[^()]+?) in <n:of> cells`, func(k *check) error {
		return first(is("the cells", k.m["of"], float64(len(k.withTrials()))), k.figuresOf(k.withTrials(), k.m["what"]))
	}},
	{"headline", `(?P<others>≥?[\d,.]+ (?:ms|s|requests/s) \(.+\)) not ranked: (?P<why>[^;]+)`, notRanked},
	{"headline", `not ranked: (?P<why>[^;]+)`, notRanked},
	{"headline", `The (?P<why>slow tail of <cells> is mostly the generator's own): not ranked`, func(k *check) error {
		return k.spoiled("the "+k.m["why"], nil)
	}},
	{"untested", `The differences in (?P<what>p[\d.]+|requests/s) were not tested: (?P<why>[^;]+)`, notRanked},
}

// notRanked checks why cells were not tested against one another.
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

func notRanked(k *check) error {
	why := k.m["why"]
	cells := k.withTrials()
	if k.has("others") {
		cells, _ = k.others(k.m["others"])
	}
	if m := gapOf.FindStringSubmatch(why); m != nil {
		fewest := slices.Min(counts(cells))
		of := len(k.withTrials())
		least := leastTrials(of)
		if fewest >= least {
			return fmt.Errorf("%d trials are enough for %d cells", fewest, of)
		}
		return first(is("the trials per cell", m[1], float64(fewest)), is("the trials that a ranking needs", m[2], float64(least)))
	}
	if m := requestsOf.FindStringSubmatch(why); m != nil {
		need := 10 / (1 - shareOf(m[1]))
		for _, c := range cells {
			if float64(c.all().requests()) < need-1e-6 {
				return is("the requests that a ranking needs", m[2], need)
			}
		}
		return fmt.Errorf("each cell has %.0f requests", need)
	}
	if strings.HasPrefix(why, "the services were not restarted between trials") {
		return nil
	}
	if spoiledOf.MatchString(why) {
		return k.spoiled(why, cells)
	}
	return fmt.Errorf("%q: %w", why, errUnknown)
}

var spoiledOf = regexp.MustCompile(`^(?:(?P<who>.+) disturbed most (?:of (?:its|their) trials|trials of (?P<of>.+))|(?:its|their|the) slow tail(?: of (?P<tail>.+))? is mostly the generator's own)$`)

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

// spoiled checks that figures of cells are not those of the services alone: most of their
// trials are marked as disturbed, by those that are named, or most of their slow tail is the
// generator's. cells are those that "its" and "their" mean.
func (k *check) spoiled(why string, cells []*cell) error {
	m := spoiledOf.FindStringSubmatch(why)
	if name := m[2] + m[3]; name != "" {
		cells = nil
		for _, one := range list(name) {
			switch {
			case k.pair != [2]int{} && one == "A":
				cells = append(cells, k.Experiment.Cells[k.pair[0]])
			case k.pair != [2]int{} && one == "B":
				cells = append(cells, k.Experiment.Cells[k.pair[1]])
			default:
				cells = append(cells, k.named(one))
			}
		}
	}
	for _, c := range cells {
		if m[1] == "" {
			s := c.tailOf(k.threshold(c))
			if share := max(s.before, s.stalled, s.lag+s.afterStalls) / s.latency; share < 0.5-slack {
				return fmt.Errorf("at most %.0f%% of the slow tail of %s is the generator's", 100*share, c.label())
			}
			continue
		}
		if !c.mostlyDisturbed() {
			return fmt.Errorf("at most half of the trials of %s were disturbed", c.label())
		}
		for _, who := range list(m[1]) {
			subject := map[string]string{"other processes": "Other processes", "steal time": "The hypervisor"}[who]
			if err := k.disturbedBy(subject, []*cell{c}); subject == "" || err != nil {
				return fmt.Errorf("%s disturbed %s: %w", who, c.label(), cmp.Or(err, errUnknown))
			}
		}
	}
	return nil
}

var requestsOf = regexp.MustCompile(`^a (p[\d.]+) needs ([\d,]+) requests of each cell$`)

var gapOf = regexp.MustCompile(`^(\d+) trials? per cell, and a ranking needs at least (\d+)$`)

func counts(cells []*cell) (all []int) {
	for _, c := range cells {
		all = append(all, len(c.trials))
	}
	return all
}
