package facts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// breaking checks where a cell breaks: the load lies between one that was held and one
// that was missed, the interval contains it, and it agrees with the truth.
func breaking(k *check) error { return k.breaksAt(k.about, k.m["load"], k.m["low"], k.m["high"]) }

func (k *check) breaksAt(c *cell, load, low, high string) error {
	v, _, err := figure(load)
	if err != nil {
		return err
	}
	if low != "" && high != "" {
		l, _, _ := figure(low)
		h, _, _ := figure(high)
		if v < l*0.995 || v > h*1.005 {
			return fmt.Errorf("%s to %s does not contain %s", low, high, load)
		}
		if err := k.truth.within(k.examined, c, load, l, h); err != nil {
			return err
		}
	}
	held, missed := math.Inf(1), 0.0 // the lowest load that was held, the highest that was missed
	for _, h := range c.loads() {
		met, known := h.meets(c.objective)
		switch {
		case !known:
			missed = max(missed, h.load)
		case met:
			held = min(held, h.load)
		default:
			missed = max(missed, h.load)
		}
	}
	for _, t := range c.trials {
		for _, s := range t.steps {
			if s.Gone != "" {
				missed = max(missed, s.Load)
			}
		}
	}
	if v < held*0.98 || v > missed*1.02 && missed > 0 {
		return fmt.Errorf("%s lies not between a load that was held (from %.4g) and one that was missed (to %.4g)", load, held, missed)
	}
	if missed == 0 {
		return fmt.Errorf("no load was missed")
	}
	return k.estimated(c, v)
}

// estimated checks that a breaking point is called an estimate if no test window near it
// met the objective, and only then.
func (k *check) estimated(c *cell, v float64) error {
	tested, searches := 0.0, 0
	for _, t := range c.trials {
		if len(t.steps) > 0 {
			searches++
		}
	}
	for _, h := range c.loads() {
		if met, _ := h.meets(c.objective); met && h.stage == "test" {
			tested = max(tested, h.load)
		}
	}
	switch {
	case searches == 0:
		return nil
	case tested < v*0.899 && !k.has("estimated") && !c.unconfirmed(k):
		return fmt.Errorf("%.4g is an estimate: the highest load that a test window held is %.4g", v, tested)
	case c.heldInTests(v*0.91) && searches == 1 && k.has("estimated"):
		return fmt.Errorf("%.4g is no estimate: test windows held %.4g", v, tested)
	}
	return nil
}

// heldInTests reports whether the test windows at some load from a least one on together met the
// objective.
func (c *cell) heldInTests(least float64) bool {
	byLoad := map[float64]*part{}
	for _, h := range c.loads() {
		if h.stage == "test" {
			if byLoad[h.load] == nil {
				byLoad[h.load] = newPart()
			}
			byLoad[h.load].merge(h.part)
		}
	}
	missed, held := math.Inf(1), []float64{}
	for load, p := range byLoad {
		if met, _ := p.meets(c.objective); met {
			held = append(held, load)
		} else {
			missed = min(missed, load)
		}
	}
	return slices.ContainsFunc(held, func(load float64) bool { return load >= least && load < missed })
}

// unconfirmed reports whether the record names the cell among those with an estimate, in a
// sentence of its own.
func (c *cell) unconfirmed(k *check) bool {
	b := k.summary.Cells[c.Index].Breaking
	return b != nil && b.Untested && len(k.Experiment.Cells) > 1
}

// most is the highest load that was held.
func (c *cell) most() (most float64) {
	for _, h := range c.loads() {
		if met, _ := h.meets(c.objective); met {
			most = max(most, h.load)
		}
	}
	return most
}

// atLeast checks a lower bound: that load, or more, was held.
func atLeast(k *check) error { return k.holdsAtLeast(k.about, k.m["load"]) }

func (k *check) holdsAtLeast(c *cell, load string) error {
	v, half, err := figure(load)
	if err != nil {
		return err
	}
	most := c.most()
	if v > most+half*1.01 {
		return fmt.Errorf("at least %s: the highest load that it held is %.4g", load, most)
	}
	if high := k.truth.Breaks[1]; high > 0 && v > high*1.1 {
		return fmt.Errorf("at least %s: by construction it breaks at %.4g", load, high)
	}
	return nil
}

// evidence checks a share against the windows near the breaking points of the searches.
func (k *check) evidence(what, stated string, of func(*part) float64) error {
	low, high, missed := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, h := range k.about.loads() {
		if met, _ := h.meets(k.about.objective); !met {
			missed = min(missed, h.load)
		}
	}
	for _, h := range k.about.loads() {
		if met, _ := h.meets(k.about.objective); met && h.stage != "test" && h.load < missed {
			continue
		}
		if v := of(h.part); !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if math.IsInf(low, 0) {
		return fmt.Errorf("%s: no load was missed", what)
	}
	return within(what, stated, low, high)
}

func usedOfLimit(p *part) float64 { return 100 * p.ofLimit() }
func throttledOf(p *part) float64 { return 100 * p.throttledShare() }

// limited checks a cause: what is known by construction, and its figures.
func limited(by string) func(*check) error {
	return func(k *check) error {
		var err error
		if k.has("used") {
			err = first(err, k.evidence("its CPU of the limit", k.m["used"], usedOfLimit))
		}
		if k.has("throttled") {
			err = first(err, k.evidence("its throttled periods", k.m["throttled"], throttledOf))
		}
		if k.has("cores") {
			err = first(err, k.evidence("its CPU", k.m["cores"], (*part).cores))
		}
		if k.has("stopped") {
			err = first(err, k.evidence("the time per throttled period", k.m["stopped"], func(p *part) float64 { return 1000 * p.stopped / float64(p.throttled) }))
		}
		return first(err, k.limitIs(by))
	}
}

// withoutLimit checks the two breaking points of a contradiction: that of the cell, and
// that of a cell without a CPU limit.
func withoutLimit(k *check) error {
	err := k.breaksAt(k.about, k.m["load"], "", "")
	for _, c := range k.withTrials() {
		if c != k.about && k.breaksAt(c, k.m["free"], "", "") == nil {
			return err
		}
	}
	return first(err, fmt.Errorf("no other cell breaks at %s", k.m["free"]))
}

// failedOf is the share of requests without a good answer, in percent, without timeouts.
func failedOf(p *part) float64 { return 100 * float64(p.bad()-p.timeouts) / float64(p.requests()) }

// failureKind is a number of failed requests: "214 were cut off".
var failureKind = regexp.MustCompile(`^(\d+) (.+)$`)

// failures checks the kinds of failed requests: no more than in all loads that were tried.
func (k *check) failures(text string) error {
	all := newPart()
	for _, h := range k.about.loads() {
		all.merge(h.part)
	}
	of := map[string]int64{"were refused": all.refused, "were cut off": all.cut, "got an answer that was not HTTP": all.malformed,
		"got an answer that failed a check": all.failed, "got an error status": all.status}
	for _, one := range strings.Split(text, ", ") {
		m := failureKind.FindStringSubmatch(one)
		if m == nil {
			return fmt.Errorf("no kind of failure: %q", one)
		}
		if err := within(m[2], m[1], 1, float64(of[m[2]])); err != nil {
			return err
		}
	}
	return nil
}

// limitIs compares a stated limit with that of the construction.
func (k *check) limitIs(by string) error {
	if k.has("failed") {
		if err := first(k.failures(k.m["kinds"]), k.evidence("the failed requests", k.m["failed"], failedOf)); err != nil {
			return err
		}
	}
	own := by == "parallelism" && slices.Contains(k.truth.Limits, "service") // a kind of it
	if want := k.truth.Limits; len(want) > 0 && !slices.Contains(want, by) && !own {
		return fmt.Errorf("limited by %q; by construction it is %q", by, strings.Join(want, " or "))
	}
	if by == "parallelism" {
		return k.busyThreads()
	}
	if by == "cpu limit" || by == "throttling" {
		for _, h := range k.about.loads() {
			if h.throttled > 0 {
				return nil
			}
		}
		return fmt.Errorf("its CPU limit limits it, but it was never throttled")
	}
	return nil
}

// busyThreads checks that the cell used a whole number of CPUs at a load that it missed,
// and was not throttled there.
func (k *check) busyThreads() error {
	var seen []string
	for _, h := range k.about.loads() {
		if met, _ := h.meets(k.about.objective); met {
			continue
		}
		cores := h.cores()
		whole := math.Round(cores)
		if whole >= 1 && math.Abs(cores-whole) < 0.1*whole && (h.periods == 0 || h.throttledShare() < 0.05) {
			return nil
		}
		seen = append(seen, fmt.Sprintf("%.2f cores at %.4g", cores, h.load))
	}
	return fmt.Errorf("no whole number of threads was busy at a load that was missed: %s", strings.Join(seen, ", "))
}

var phrases = map[string]string{"its CPU limit": "cpu limit", "throttling": "throttling", "its memory limit": "memory", "its errors": "errors",
	"its dependency": "dependency", "the service itself": "service", "the generator": "generator", "the host": "host",
	"its own parallelism": "parallelism", "the host's CPUs": "host", "the generator's own CPU": "generator"}

// times checks "1.3 times v=B (149)".
func times(k *check) error {
	subject := k.about
	for _, one := range strings.Split(strings.ReplaceAll(k.m["times"], " and ", ", "), ", ") {
		ratio, rest, _ := strings.Cut(one, " times ")
		m := timesOf.FindStringSubmatch(rest)
		if m == nil {
			continue
		}
		// the breaking points themselves are those of the statement before
		head, _, err := figure(firstFigure.FindString(k.whole[strings.Index(k.whole, "at ")+3:]))
		other, half, err2 := figure(m[2])
		if err != nil || err2 != nil {
			continue
		}
		if e := within("the ratio", strings.TrimPrefix(ratio, "at least "), (head-0.5)/(other+half), (head+0.5)/(other-half)); e != nil {
			return e
		}
		behind := k.named(m[1])
		if e := first(k.breaksAt(behind, m[2], "", ""), k.ranksBreaking(k.named(subjectName.FindString(k.whole)), behind)); e != nil {
			return e
		}
	}
	_ = subject
	return nil
}

// ranksBreaking checks that one cell breaks at a higher load than another, by the
// breaking points of its searches.
func (k *check) ranksBreaking(x, y *cell) error {
	if x == nil || y == nil {
		return nil
	}
	a, b := k.breakingOf(x), k.breakingOf(y)
	if len(a) >= 4 && len(b) >= 4 {
		if p, lower := mannWhitney(b, a); !lower || p >= 0.05 {
			return fmt.Errorf("%s against %s: no significant difference, p %.3g", x.label(), y.label(), p)
		}
	}
	return k.truth.ahead(k.examined, x, y)
}

// breakingOf are the breaking points of the searches of a cell: those of the program,
// because a search is no simple computation.
func (e *examined) breakingOf(c *cell) (all []float64) {
	for _, t := range e.summary.Cells[c.Index].PerTrial {
		if t.Breaking != nil {
			all = append(all, *t.Breaking)
		}
	}
	return all
}

func together(k *check) error {
	cells := k.cells(k.m["cells"])
	text, each := strings.CutPrefix(k.m["loads"], "each break at ")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "break at "), "hold ")
	return k.reach(cells, each, text)
}

// reach checks loads in the order of their cells; each: one that all of them share.
func (k *check) reach(cells []*cell, each bool, text string) error {
	for i, one := range splitFigures(text) {
		at, bound := strings.CutPrefix(one, "at least ")
		m := pointOf.FindStringSubmatch(at)
		if m == nil {
			return fmt.Errorf("no load: %q", one)
		}
		of := cells[min(i, len(cells)-1) : min(i, len(cells)-1)+1]
		if each {
			of = cells
		}
		for _, c := range of {
			err := k.breaksAt(c, m[1], m[2], m[3])
			if bound {
				err = k.holdsAtLeast(c, m[1])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// reached are cells with one verb: "go breaks at 400 (380–410)", "a and b break at 400
// (380–410) and 300 (290–310)".
var reached = regexp.MustCompile(`^(.+?) (each )?(?:breaks? at(?: an estimated)?|holds?|(?:is|are) estimated to hold) (.+)$`)

// eachReached checks cells of which some hold at least a load and others break at one.
func eachReached(k *check) error {
	parts := strings.Split(k.m["each"], ", and ")
	if len(parts) < 2 {
		return fmt.Errorf("no cells: %q", k.m["each"])
	}
	for _, part := range parts {
		m := reached.FindStringSubmatch(part)
		if m == nil || slices.Contains(k.cells(m[1]), nil) {
			return fmt.Errorf("no cell in %q", part)
		}
		if err := k.reach(k.cells(m[1]), m[2] != "", m[3]); err != nil {
			return err
		}
	}
	return nil
}

const point = `(?P<load>[\d,.]*\d) <unit>(?: \((?:(?P<low>[\d,.]+)–(?P<high>[\d,.]+)|from (?P<from>[\d,.]+))\))?`

// atLoads are the loads that a figure is from, and perPeriod for how long the kernel
// stopped the service.
const (
	atLoads   = `(?:, and at the lowest loads that missed the objective (?P<failed>\S+%) of the requests got no good answer \((?P<kinds>[^)]+)\))?(?:; at (?:a load of )?(?P<at>[\d,.]+(?: to [\d,.]+)?)(?: (?:requests/s|users?))?)?`
	perPeriod = `(?: \((?P<stopped>[\d.]+) ms per throttled period, summed over CPUs\))?`
)

// noneOf is what a service is not limited by: errors are not among it if the objective
// does not allow as many.
const noneOf = `neither its CPU limit(?:, nor memory, nor errors| nor memory)`

var searching = []pattern{
	{"headline", `<cell> breaks at (?P<estimated>an estimated )?` + point + `(?:, limited by (?P<by>[^;]+))?`, func(k *check) error {
		err := breaking(k)
		if k.has("by") {
			by, known := phrases[k.m["by"]]
			if !known {
				return fmt.Errorf("unknown limit %q", k.m["by"])
			}
			err = first(err, k.limitIs(by))
		}
		return err
	}},
	{"headline", `<cell> (?:holds|is estimated to hold) at least (?P<load>[\d,.]*\d) <unit>: <any:reason>`, func(k *check) error {
		return first(atLeast(k), k.reason(k.m["reason"]))
	}},
	{"headline", `(?P<times>(?:at least )?[\d.,]+ times .+)`, times},
	{"headline", `(?:No significant difference (?:between|among)|No significantly highest breaking point among) <cells>: they (?P<loads>.+) <unit> \((?P<why>[^()]+)\)`, together},
	{"headline", `No ranking: <cells> (?P<loads>(?:each )?(?:break at|hold) .+) <unit>, (?:measured by (?:as few as )?<n:n> (?:search|searches|ramp|ramps) per cell|and <any:bounds>)`, together},
	{"headline", `No ranking: (?P<each>.+ (?:breaks? at|holds?|estimated to hold) .+, and .+) <unit>, (?:measured by (?:as few as )?<n:n> (?:search|searches|ramp|ramps) per cell|and <any:bounds>)`, eachReached},
	{"headline", `(?P<rest>.+) breaks? at a lower load`, func(k *check) error { return nil }},
	{"headline", `the other <n:n> break at <n:load> and below`, nil},
	{"headline", `Results differ from start to start`, nil},
	{"headline", `a ranking needs at least <n:n> (?:searches|ramps) per cell \(measure\.repeats, <n:advised> advised\)`, nil},
	{"headline", `The order of <any:cells> is not significant(?:: their intervals overlap)?`, nil},
	{"headline", `Users and requests/s do not compare`, nil},
	{"headline", `No breaking point was found for (?P<who>any of the \d+ cells|\d+ of \d+ cells|<cells>)(?:: <any:reason>)?`, func(k *check) error {
		if k.has("reason") {
			return k.reason(k.m["reason"])
		}
		return nil
	}},
	{"headline", `(?:Its|<cell>'s) (?P<q>p[\d.]+) starts to rise at <n:load> <unit>(?:, at <pct:share> of the limit)?`, knee},

	{"fact", `limited by: cpu limit: it used <pct:used> of its CPU limit(?:, throttled in <pct:throttled> of the periods` + perPeriod + `)?` + atLoads, limited("cpu limit")},
	{"fact", `limited by: not known: above the breaking point it used <pct:used> of its CPU limit, throttled in <pct:throttled> of the periods` + perPeriod, limited("")},
	{"fact", `limited by: not known: above the breaking point it was throttled in <pct:throttled> of the periods` + perPeriod + `, though it used <pct:used> of its CPU limit on average`, limited("")},
	{"fact", `but without the limit it holds (?:no )?more(?:, within the intervals,)? \((?P<free>[\d,.]+) against (?P<load>[\d,.]+)\)`, withoutLimit},
	{"fact", `limited by: throttling: it was throttled in <pct:throttled> of the periods` + perPeriod + `, though it used <pct:used> of its CPU limit on average` + atLoads, limited("throttling")},
	{"fact", `limited by: service: ` + noneOf + `: its own parallelism, locks or queues`, func(k *check) error { return k.limitIs("service") }},
	{"fact", `it used <pct:used> of its CPU limit` + atLoads, func(k *check) error { return k.evidence("its CPU of the limit", k.m["used"], usedOfLimit) }},
	{"fact", `it used <n:cores> CPUs` + atLoads, func(k *check) error { return k.evidence("its CPU", k.m["cores"], (*part).cores) }},
	{"fact", `limited by: memory: <n:kills> OOM kills?(?: in the windows above it)?` + atLoads, func(k *check) error {
		return first(k.limitIs("memory"), within("the OOM kills", k.m["kills"], 1, float64(sum(k.about.trials, nil).kills)))
	}},
	{"fact", `limited by: errors: <pct:share> of the requests got no good answer \((?P<failures>[^)]+)\)` + atLoads, func(k *check) error {
		return first(k.limitIs("errors"), k.failures(k.m["failures"]), k.evidence("the failed requests", k.m["share"], failedOf))
	}},
	{"fact", `limited by: parallelism: at <n:load> <unit> it used <n:cores> CPUs, as (?:one busy thread does|<n:threads> busy threads do)(?:, throttled in <pct:throttled> of the periods)?` + atLoads, func(k *check) error {
		err := first(tried(k), k.evidence("its CPU", k.m["cores"], (*part).cores), k.limitIs("parallelism"))
		if k.has("throttled") {
			err = first(err, k.evidence("its throttled periods", k.m["throttled"], throttledOf))
		}
		return err
	}},
	{"fact", `limited by: service: ` + noneOf + `: of <n:load> <unit> it answered <n:answered> with <n:cores> CPUs, which is no whole number of busy threads: locks, queues, or workers that wait` + atLoads, func(k *check) error {
		return first(tried(k), k.evidence("its CPU", k.m["cores"], (*part).cores), k.evidence("its rate", k.m["answered"], (*part).rate), k.limitIs("service"))
	}},
	{"fact", `limited by: host: at <n:load> <unit> it used <n:cores> CPUs(?:, as (?:one busy thread does|\d+ busy threads do))?, and <n:busy> of the <n:cpus> CPUs were busy(?:: its parallelism may be the limit as well)?` + atLoads, func(k *check) error {
		return first(tried(k), k.limitIs("host"), k.evidence("its CPU", k.m["cores"], (*part).cores), k.evidence("the busy CPUs", k.m["busy"], func(p *part) float64 {
			return float64(p.cpus) - p.idle/p.hostSeconds
		}))
	}},
	{"fact", `limited by: dependency: <any:evidence>`, func(k *check) error { return k.limitIs("dependency") }},
	{"fact", `limited by: generator: 1% of the requests were sent more than <ms:lag> late` + atLoads, func(k *check) error {
		return first(k.limitIs("generator"), k.evidence("the send lag", k.m["lag"], func(p *part) float64 { return float64(p.lag.Quantile(0.99)) / 1e6 }))
	}},
	{"fact", `limited by: generator: <any:evidence>`, func(k *check) error { return k.limitIs("generator") }},
	{"fact", `limited by: host: <n:idle> of <n:cpus> CPUs were idle` + atLoads, func(k *check) error {
		return first(k.limitIs("host"), k.evidence("the idle CPU", k.m["idle"], func(p *part) float64 { return p.idle / p.hostSeconds }))
	}},
	{"fact", `(?:note|lower bound|not found): (?:because )?<any:reason>`, func(k *check) error { return k.reason(k.m["reason"]) }},
	{"fact", `knee: (?P<q>p[\d.]+) starts to rise at (?:<pct:share> of the limit(?: \([^)]*\))?: )?<n:load> <unit> \(<n:low>–<n:high>\), from a floor of <ms:floor>`, knee},
	{"fact", `search: (?:<n:n> search(?:es)?|no search found it)(?:, (?:up to )?(?P<traffic>[^,]+) of traffic(?: each)?)?`, func(k *check) error {
		if !k.has("n") {
			return nil
		}
		return within("the searches", k.m["n"], 1, float64(len(k.about.trials)))
	}},

	{"finding", `meets the objective up to (?P<bound>at least )?<n:load> <unit>: objective: [^;]+(?:; measured at that load: <any:measured>)?`, tested},
	{"headline fact try", `(?:Tested: it|tested:|The estimate is untested: it) held <n:load> <unit>(?: at <pct:used> of its CPU limit)?(?: \((?P<q>p[\d.]+) <ms:value>(?:, [^)]+)?\))?(?:,? and missed the objective at <n:missed>)?(?: \(the answer is untested\))?`, func(k *check) error {
		if k.where == "try" {
			k.about = k.named(k.variants[0].Service)
		}
		err := k.windowAt(k.m["load"], k.m["q"], k.m["value"], true)
		if k.has("missed") {
			err = first(err, k.windowAt(k.m["missed"], "", "", false))
		}
		return err
	}},
	{"finding", `(?P<bound>untested: estimated to meet|meets) the objective up to <n:up> <unit>: objective: [^;]+`, nil},
	{"finding", `measured at <n:load>: availability <pct:avail>`, func(k *check) error {
		return k.availableAt(k.m["load"], k.m["avail"])
	}},
	{"finding", `measured at <n:load>: (?P<q>p\d+) <ms:value>(?:, <any:more>)?`, func(k *check) error {
		return k.windowAt(k.m["load"], k.m["q"], k.m["value"], true)
	}},
	{"finding", `missed at <n:missed>`, func(k *check) error { return k.windowAt(k.m["missed"], "", "", false) }},
	{"finding", `(?:no load was seen to meet the objective|unknown up to which load it meets the objective): objective: [^;]+(?:; <any:reason>)?`, func(k *check) error {
		for _, h := range k.about.loads() {
			if met, _ := h.meets(k.about.objective); met && strings.HasPrefix(k.whole, "no load") {
				return fmt.Errorf("%.4g met it", h.load)
			}
		}
		if k.has("reason") {
			return k.reason(k.m["reason"])
		}
		return nil
	}},
}

// tested checks "meets the objective up to 201 requests/s; measured at that load: p99
// 45.85 ms": that load was held, and those are its figures.
func tested(k *check) error {
	if k.has("bound") {
		if err := atLeast(k); err != nil {
			return err
		}
	}
	if !k.has("measured") {
		return nil
	}
	v, _, err := figure(k.m["load"])
	if err != nil {
		return err
	}
	var closest []string
	p := newPart()
	for _, h := range k.about.loads() {
		if math.Abs(h.load-v) < 0.015*v {
			p.merge(h.part)
		}
		if math.Abs(h.load-v) < 0.3*v && h.stage != "recover" {
			closest = append(closest, fmt.Sprintf("%.4g (%s, %s %.4g ms)", h.load, h.stage, k.quantile(), h.ms(k.quantile())))
		}
	}
	if p.requests() == 0 {
		return fmt.Errorf("%s was not tested, only %s", k.m["load"], strings.Join(closest, ", "))
	}
	return nil
}

// windowAt checks that a window at a load met the objective, or missed it, and that a
// quantile is that of one window there, or of all that tested it.
func (k *check) windowAt(load, q, value string, met bool) error {
	v, half, err := figure(load)
	if err != nil {
		return err
	}
	found, judged, tests, all := false, false, newPart(), newPart()
	var values []string
	for _, h := range k.about.loads() {
		if math.Abs(h.load-v) > half+0.001*v {
			continue
		}
		found = true
		if is, _ := h.meets(k.about.objective); is == met {
			judged = true
		}
		if h.stage == "test" {
			tests.merge(h.part)
		}
		all.merge(h.part)
		if value != "" {
			if within(q, value, h.ms(q), h.ms(q)) == nil {
				return need(judged, "the window at %s does not meet the objective", load)
			}
			values = append(values, fmt.Sprintf("%.4g", h.ms(q)))
		}
	}
	if tests.requests() == 0 {
		tests = all
	}
	switch {
	case !found:
		return fmt.Errorf("no window at %s", load)
	case !judged:
		return fmt.Errorf("no window at %s with that outcome", load)
	case value != "" && (tests.requests() == 0 || within(q, value, tests.ms(q), tests.ms(q)) != nil):
		return fmt.Errorf("%s at %s is stated as %s, its windows have %s ms", q, load, value, strings.Join(values, ", "))
	}
	return nil
}

func (k *check) quantile() string {
	if o := k.about.objective; o != nil && o.Quantile != "" {
		return o.Quantile
	}
	return "p99"
}

// knee checks a knee: it lies between loads that were held, its CPU is that of the loads
// near it, and its floor that of the lowest loads.
func knee(k *check) error {
	v, _, err := figure(k.m["load"])
	if err != nil {
		return err
	}
	if k.truth.Flat {
		return fmt.Errorf("by construction latency does not depend on the load")
	}
	lowest, highest := math.Inf(1), 0.0
	shareLow, shareHigh := math.Inf(1), 0.0
	floor := math.Inf(1)
	for _, h := range k.about.loads() {
		if h.requests() == 0 {
			continue
		}
		lowest, highest = min(lowest, h.load), max(highest, h.load)
		if h.load < v*2 && h.load > v/2 && h.limit > 0 {
			share := 100 * h.ofLimit() / h.load * v
			shareLow, shareHigh = min(shareLow, share), max(shareHigh, share)
		}
		if h.latency.Count() > 0 {
			floor = min(floor, h.ms(k.m["q"]))
		}
	}
	if v < lowest*0.99 || v > highest*1.01 {
		return fmt.Errorf("%s lies outside of the loads that were held, %.4g to %.4g", k.m["load"], lowest, highest)
	}
	if k.has("share") && shareHigh > 0 {
		if err := within("its CPU of the limit at "+k.m["load"], k.m["share"], shareLow*0.9, shareHigh*1.1); err != nil {
			return err
		}
	}
	if k.has("floor") {
		return within("the floor", k.m["floor"], floor*0.8, math.Inf(1))
	}
	return nil
}

// reason checks the reason that a search gave: each of its parts must be known.
func (k *check) reason(text string) error {
	text = strings.TrimSuffix(text, ".")
	parts := clauses(text)
	for i := 0; i < len(parts); {
		n := len(parts)
		for ; n > i; n-- {
			p, m := k.patterns.find("reason", strings.ToLower(strings.Join(parts[i:n], "; ")))
			if p == nil {
				continue
			}
			if p.check != nil {
				c := *k
				c.m = m
				if c.about == nil && len(k.m["cells"]) > 0 {
					c.about = k.cells(k.m["cells"])[0]
				}
				if c.about == nil {
					c.about = k.Experiment.Cells[0]
				}
				if err := p.check(&c); err != nil {
					return err
				}
			}
			break
		}
		if n == i {
			return fmt.Errorf("the reason %q: %w", parts[i], errUnknown)
		}
		i = n
	}
	return nil
}

// tried checks that a load was tried.
func tried(k *check) error {
	v, half, err := figure(k.m["load"])
	if err != nil {
		return err
	}
	for _, t := range k.about.trials {
		for _, s := range t.steps {
			if math.Abs(s.Load-v) <= half+0.0005*v {
				return nil
			}
		}
	}
	for _, l := range k.about.staged() {
		if l.target == v {
			return nil
		}
	}
	return fmt.Errorf("no load of %s was tried", k.m["load"])
}

// unmet checks that no load was missed.
func unmet(k *check) error {
	for _, h := range k.about.loads() {
		if met, known := h.meets(k.about.objective); known && !met && h.stage != "recover" {
			return fmt.Errorf("a load of %.4g missed the objective", h.load)
		}
	}
	if k.m["load"] == "" {
		return nil
	}
	return tried(k)
}

// besideOthers checks that others took a CPU in most windows.
func besideOthers(k *check) error {
	disturbed, all := 0, k.about.loads()
	for _, l := range all {
		if l.foreign+l.steal > 0.25*l.hostSeconds {
			disturbed++
		}
	}
	return need(2*disturbed > len(all), "others took CPU in %d of %d windows", disturbed, len(all))
}

// keptBesideOthers checks the requests at the load that met the objective beside others. Ten
// of them beyond the quantile make a lower bound.
func keptBesideOthers(k *check) error {
	load, _, err := figure(k.m["load"])
	if err != nil {
		return err
	}
	requests := 0.0
	for _, l := range k.about.loads() {
		if met, _ := l.meets(k.about.objective); met && math.Abs(l.load-load) <= 0.005*load {
			requests += float64(l.requests())
		}
	}
	enough := requests*(1-shareOf(k.about.objective.Quantile)) >= 10
	// Requests at the edge of a window count to the one in which they were due.
	return first(within("the requests at "+k.m["load"], k.m["n"], 0.97*requests, 1.03*requests),
		need(enough != k.has("few"), "%.0f requests", requests))
}

// reasons are recognised in lower case.
var reasons = []pattern{
	{"reason", `the interval is wide: <n:traffic> s of traffic gave too few windows near <n:load>`, nil},
	{"reason", `give the search more time<any:how>`, nil},
	{"reason", `above <n:load> the generator or the host was the limit`, tried},
	{"reason", `(?:the service may handle more|the upper end of the interval is not known)`, nil},
	{"reason", `the generator or the host was the limit even at the lowest load tried, <n:load>: nothing is known about the service`, tried},
	{"reason", `(?:the generator|the host) was the limit`, func(k *check) error { return nil }},
	{"reason", `(?P<who>[a-z, ]+) took cpu (?:in most windows|for \S+ or more while the search doubled the load)(?:, where a miss does not count)?`, besideOthers},
	{"reason", `at <n:load> the objective was met(?: once)?, with <n:n> requests(?P<few>: too few for a lower bound)?`, keptBesideOthers},
	{"reason", `stop them and search again`, nil},
	{"reason", `it misses the objective even at the lowest load tried, <n:load>: <any:figures>`, tried},
	{"reason", `about <pct:share> of the requests have no good answer, whatever the load`, func(k *check) error {
		// The search left windows out, so that its share is only near that of all requests.
		all := k.about.all()
		share := 100 * float64(all.bad()) / float64(all.requests())
		return within("the share that failed", k.m["share"], 0.7*share, 1.3*share)
	}},
	{"reason", `the objective allows <pct:allowed>(?: and <any:more>)?`, nil},
	{"reason", `it misses the objective at every load tried, down to <n:load>, and the search time is used up: start lower`, tried},
	{"reason", `the search time was used up before any load missed the objective`, func(k *check) error { k.m["load"] = ""; return nil }},
	{"reason", `the time was used up before any load missed the objective`, unmet},
	{"reason", `start at a higher load, or give the search more time<any:how>`, nil},
	{"reason", `the highest load tried was <n:load>: start higher(?:, or give the search more time<any:how>)?`, unmet},
	{"reason", `the objective is still met at <n:load>, the highest load allowed`, unmet},
	{"reason", `(?:the search ended early because )?the service became unavailable at a load of <n:load>: <any:why>`, tried},
	{"reason", `it met the objective at every load`, nil},
	{"reason", `every level met the objective`, nil},
	{"reason", `raise the load further`, nil},
	{"reason", `start lower`, nil},
	{"reason", `the first level, <n:load>, already misses the objective`, tried},
	{"reason", `<n:none> of <n:of> searches found no breaking point: <any:why>`, nil},
	{"reason", `<n:bounds> of <n:of> searches gave only a lower bound, at least <n:load>, so some starts may handle more: <any:why>`, nil},
	{"reason", `each of the <n:of> searches gave only a lower bound, the highest at least <n:load>`, nil},
	{"reason", `<n:load> misses the objective and <any:others> meets? it again: the first miss counts`, tried},
	{"reason", `at <n:load> the (?:generator|host) was the limit(?:, not the service|, so nothing is known about the service)?`, tried},
	{"reason", `(?P<who>[a-z, ]+) took cpu in <n:n> of <n:of> windows, which are left out, so the interval is wider`, nil},
	{"reason", `no request ended in <n:n> windows at a load of <n:load>: the service does not answer, or too slowly to be judged`, tried},
	{"reason", `the search time, (?P<time>\S+), is too short for a result`, nil},
	{"reason", `<n:load> misses the objective while <any:who>`, tried},
	{"reason", `this miss does not count(?:\. repeat it on a quiet host)?`, nil},
	{"reason", `the service was skipped`, nil},
	{"reason", `no search was (?:possible|made)`, nil},
}
