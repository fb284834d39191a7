package facts

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/signals"
)

// first joins checks: the first error counts.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// objectiveIs checks that a cell meets an objective, or misses it.
func (k *check) objectiveIs(c *cell, want bool) error {
	if len(c.staged()) > 0 || c.Load.Find {
		return nil // judged by level
	}
	met, known := c.all().meets(c.objective)
	if !known {
		return fmt.Errorf("nothing is known of %s", c.label())
	}
	if met != want {
		p := c.all()
		return fmt.Errorf("%s meets its objective: %v; %d of %d requests failed, %d were later than %v", c.label(), met, p.bad(), p.requests(), p.late(c.objective.Latency), c.objective.Latency)
	}
	return nil
}

// objectiveOf checks which cells meet it. Of others a sentence of its own may say that it is
// not decided.
func (k *check) objectiveOf(met []*cell) error {
	for _, c := range k.Experiment.Cells {
		if len(c.trials) == 0 || !slices.Contains(met, c) && c.undecided() {
			continue
		}
		if err := k.objectiveIs(c, slices.Contains(met, c)); err != nil {
			return err
		}
	}
	return nil
}

func (k *check) throttledIs(c *cell, text string) error {
	return is("the share of throttled periods of "+c.label(), text, 100*c.all().throttledShare())
}

// single checks the figures of one cell.
func single(k *check) error {
	c, p := k.about, k.about.all()
	err := c.shows("rate", k.m["rate"])
	if k.has("latency") {
		err = first(err, k.ranksBy(c, k.m["q"]), c.shows(k.m["q"], k.m["latency"]))
	}
	if k.has("low") {
		err = first(err, k.interval(c))
	}
	if k.has("avail") {
		err = first(err, available(k.m["avail"], p.availability()))
	}
	if k.has("throttled") {
		err = first(err, k.throttledIs(c, k.m["throttled"]))
	}
	return err
}

// ranksBy checks that a latency is the one by which cells are ranked: the objective's.
func (k *check) ranksBy(c *cell, name string) error {
	want := "p99"
	if o := c.objective; o != nil && o.Quantile != "" {
		want = o.Quantile
	}
	if shareOf(want) != shareOf(name) {
		return fmt.Errorf("%s is stated, and the objective's quantile is %s", name, want)
	}
	return nil
}

// interval checks the ends beside a latency. Both ends have one unit.
func (k *check) interval(c *cell) error {
	unit := k.m["high"][strings.LastIndex(k.m["high"], " "):]
	stated := k.m["low"]
	if !strings.HasSuffix(stated, "s") {
		stated += unit
	}
	low, high, ok := medianEnds(c.values(quantileOf(k.m["q"])))
	if strings.Contains(k.whole, "in this one trial") || !ok {
		low, high = c.all().ms(k.m["q"])/20, c.all().ms(k.m["q"])*20 // by frames: a bootstrap
		l, _, _ := figure(stated)
		h, _, _ := figure(k.m["high"])
		if v := c.all().ms(k.m["q"]); l > v*1.001 || h < v*0.999 {
			return fmt.Errorf("the interval %s to %s does not contain the %s, %.4g", stated, k.m["high"], k.m["q"], v)
		}
	}
	if !ok {
		return first(within("the lower end", stated, low, high), within("the higher end", k.m["high"], low, high))
	}
	return first(is("the lower end of the interval of "+k.m["q"], stated, low), is("its higher end", k.m["high"], high))
}

// lowerBound checks that a generator kept the load below what was asked for.
func lowerBound(k *check, cells ...*cell) error {
	for _, c := range cells {
		if !c.open() {
			continue
		}
		var due int64
		for _, t := range c.trials {
			for _, f := range t.frames {
				if f.Client != nil && f.Phase == signals.Measure {
					due += f.Client.Intended
				}
			}
		}
		p := c.all()
		if asked := float64(due) / p.seconds; p.rate() > 0.98*asked && c.Load.Rate != nil && !c.Load.Find {
			return fmt.Errorf("the rate of %s is no lower bound: %.4g/s were due, %.4g/s were answered", c.label(), asked, p.rate())
		}
	}
	return nil
}

// disturbed is who took CPU in a trial: "neighbours", "hypervisor".
func disturbed(p *part) (who []string) {
	least := max(0.2, 0.05*float64(p.cpus))
	if p.foreign/p.hostSeconds >= least {
		who = append(who, "neighbours")
	}
	if p.steal/p.hostSeconds >= least {
		who = append(who, "hypervisor")
	}
	return who
}

// disturbedBy checks that somebody disturbed cells.
func (k *check) disturbedBy(subject string, cells []*cell) error {
	want := map[string]string{"Other processes": "neighbours", "The hypervisor": "hypervisor", "Other processes and the hypervisor": "neighbours"}[subject]
	for _, c := range cells {
		seen := false
		parts := c.each()
		for _, h := range c.loads() {
			parts = append(parts, h.part)
		}
		for _, p := range parts {
			seen = seen || slices.Contains(disturbed(p), want)
		}
		seen = seen || slices.ContainsFunc(c.trials, (*trial).taken) // in a part of it
		if !seen && want != "" {
			return fmt.Errorf("nobody disturbed %s", c.label())
		}
	}
	return nil
}

// touched is in how many trials somebody took CPU in some frame.
func (k *check) touched() (n int) {
	for _, a := range k.attempts {
		if a.taken() {
			n++
		}
	}
	return n
}

// taken reports whether others took CPU in a frame.
func (t *trial) taken() bool {
	return slices.ContainsFunc(t.frames, func(f *signals.Frame) bool { return f.Host != nil && f.Host.Foreign+f.Host.Steal >= 0.2 })
}

// steps are all steps of searches.
func (k *check) steps() (all []signals.SearchStep) {
	for _, a := range k.attempts {
		all = append(all, a.steps...)
	}
	return all
}

// withTrials are the cells that have trials.
func (k *check) withTrials() (all []*cell) {
	for _, c := range k.Experiment.Cells {
		if len(c.trials) > 0 {
			all = append(all, c)
		}
	}
	return all
}

func (k *check) atLevel(c *cell, text string) (*part, error) {
	at, _, err := figure(strings.TrimSuffix(strings.TrimSuffix(text, " users"), " user"))
	if err != nil {
		return nil, err
	}
	p := newPart()
	for _, t := range c.trials {
		_ = t
	}
	for _, h := range c.loads() {
		if math.Abs(h.load-at) < 0.005*at {
			p.merge(h.part)
		}
	}
	if p.requests() == 0 {
		return nil, fmt.Errorf("%s did not hold %s", c.label(), text)
	}
	return p, nil
}

var constants = []pattern{
	{"headline", `<cell>: <n:rate> requests/s(?:, (?P<q>p[\d.]+) <ms:latency>(?: \(95% interval (?P<low>[\d,.]+(?: ms| s)?) to <ms:high>(?: in this one trial)?\))?)?(?:, <pct:avail> available)?(?:, throttled in <pct:throttled> of its periods)?`, single},
	{"headline", `<cell>: <n:rate> requests/s(?:, <pct:avail> available)?(?:, throttled in <pct:throttled> of its periods)?; latency was not measured`, single},
	{"headline", `It (?P<how>meets|misses) the objective <any:objective>`, func(k *check) error { return k.objectiveIs(k.about, k.m["how"] == "meets") }},
	{"headline", `All meet the objective <any:objective>`, func(k *check) error { return k.objectiveOf(k.withTrials()) }},
	{"headline", `None meets the objective <any:objective>`, func(k *check) error { return k.objectiveOf(nil) }},
	{"headline", `Only <cell> meets the objective <any:objective>`, func(k *check) error { return k.objectiveOf([]*cell{k.about}) }},
	{"headline", `<cells> meets? the objective <any:objective>`, func(k *check) error { return k.objectiveOf(k.cells(k.m["cells"])) }},
	{"headline", `<cells> miss(?:es)? the objective <any:objective>`, func(k *check) error {
		for _, c := range k.cells(k.m["cells"]) {
			if err := k.objectiveIs(c, false); err != nil {
				return err
			}
		}
		return nil
	}},
	{"headline", `Whether it meets the objective [^:]+ is not decided: <any:near>`, func(k *check) error { return k.near(k.m["near"]) }},
	{"headline", `Whether <cells> meets? (?:it|the objective [^:]+) is not decided: <any:near>`, func(k *check) error {
		cells := k.cells(k.m["cells"])
		for _, c := range cells {
			if !c.undecided() {
				return fmt.Errorf("the interval of %s does not contain the objective", c.label())
			}
		}
		if len(cells) > 1 {
			return need(k.m["near"] == "their intervals contain it", "%q: %w", k.m["near"], errUnknown)
		}
		k.about = cells[0]
		return k.near(k.m["near"])
	}},
	{"headline", `<n:met> of <n:of> cells meet the objective <any:objective>`, func(k *check) error {
		n := 0
		for _, c := range k.withTrials() {
			if met, _ := c.all().meets(c.objective); met {
				n++
			}
		}
		return is("the cells that meet it", k.m["met"], float64(n))
	}},
	{"headline", `The agent was the limit(?: throughout)?: the rates? (?:is a lower bound|are lower bounds)`, func(k *check) error { return lowerBound(k, k.withTrials()...) }},
	{"headline", `The agent was the limit for <cells>: (?:its|their) rates? (?:is a lower bound|are lower bounds)`, func(k *check) error { return lowerBound(k, k.cells(k.m["cells"])...) }},
	{"headline", `(?P<who>neither|none) is throttled`, func(k *check) error {
		for _, c := range k.withTrials() {
			if share := c.all().throttledShare(); share >= 0.01 {
				return fmt.Errorf("%s is throttled in %.2g%% of its periods", c.label(), 100*share)
			}
		}
		return nil
	}},
	{"headline", `each is throttled in <pct:share> of its periods`, func(k *check) error {
		for _, c := range k.withTrials() {
			if err := k.throttledIs(c, k.m["share"]); err != nil {
				return err
			}
		}
		return nil
	}},
	{"headline", `<cell> is throttled in <pct:share> of its periods(?:, <cell2> in <pct:share2>)?`, func(k *check) error {
		err := k.throttledIs(k.named(k.m["cell"]), k.m["share"])
		if k.has("cell2") {
			err = first(err, k.throttledIs(k.named(k.m["cell2"]), k.m["share2"]))
		}
		return err
	}},
	{"headline", `<cell> answered only <pct:share> of its requests without error`, func(k *check) error { return available(k.m["share"], k.about.all().availability()) }},
	{"headline", `<cells> gave no good answer`, func(k *check) error {
		for _, c := range k.cells(k.m["cells"]) {
			if n := c.all().good; n > 0 {
				return fmt.Errorf("%s gave %d good answers", c.label(), n)
			}
		}
		return nil
	}},
	{"headline", `<cells> had to be skipped`, func(k *check) error {
		for _, c := range k.cells(k.m["cells"]) {
			if len(k.Skipped) == 0 || len(c.trials) > 0 {
				return fmt.Errorf("%s was not skipped", c.label())
			}
		}
		return nil
	}},
	{"headline", `(?:<cell> never|None of the \d+ cells) gave a good answer(?:: <n:worst> of <n:of> requests <any:did>)?`, func(k *check) error {
		var good, requests int64
		for _, c := range k.withTrials() {
			good, requests = good+c.all().good, requests+c.all().requests()
		}
		if good > 0 {
			return fmt.Errorf("%d good answers", good)
		}
		if !k.has("of") {
			return nil
		}
		return is("the requests", k.m["of"], float64(requests))
	}},
	{"headline", `(?:(?P<none>No trial of (?:<cell>|the \d+ cells) was completed)|<cell> failed before a request ended|None of the \d+ cells got as far as an answer): nothing was measured`, func(k *check) error {
		if n := len(k.withTrials()); k.has("none") && n > 0 {
			return fmt.Errorf("%d cells have trials", n)
		}
		for _, c := range k.withTrials() {
			if n := c.all().requests(); n > 0 {
				return fmt.Errorf("%s: %d requests", c.label(), n)
			}
		}
		return nil
	}},
	{"headline", `<cells> froze and did not run until the end of a trial: the figures include that time`, func(*check) error {
		return fmt.Errorf("no case of the corpus has it")
	}},
	{"headline", `<cells> lost a replica, which was not back at the end of a trial`, func(k *check) error {
		for _, c := range k.cells(k.m["cells"]) {
			if !c.anyTrial(func(p *part) bool { return p.down }) {
				return fmt.Errorf("%s was up at the end of each trial", c.label())
			}
		}
		return nil
	}},
	{"headline", `Interrupted after <n:done> of <n:of> trials?`, func(k *check) error {
		n := 0
		for _, a := range k.attempts {
			if a.ended && a.outcome != "interrupted" {
				n++
			}
		}
		return first(is("the trials that ended", k.m["done"], float64(n)), is("those planned", k.m["of"], float64(len(k.Plan))))
	}},
	{"headline", `(?P<who>Other processes and the hypervisor|Other processes|The hypervisor) disturbed (?:the run|<n:many> cells|<cells>): repeat it (?:on a quiet host|where it takes less CPU)`, func(k *check) error {
		of := k.withTrials()
		if k.has("cells") {
			of = k.cells(k.m["cells"])
		}
		return k.disturbedBy(k.m["who"], of)
	}},
	{"headline", `<n:n> of <n:of> (?:trials|windows|search windows) (?:was|were) disturbed by (?P<who>steal time|other processes|other processes and steal time|steal time and other processes|[^;]+?)(?: \(<n:again> of them repeated\)|, of which <n:again> did not count and had to be repeated)?`, func(k *check) error {
		n, all := 0, 0
		for _, a := range k.attempts {
			if a.ended && len(k.steps()) == 0 {
				all++
				if a.outcome == "disturbed" {
					n++
				}
			}
		}
		if all == 0 {
			return nil
		}
		return first(is("the trials", k.m["of"], float64(all)), within("the disturbed ones", k.m["n"], float64(n), float64(k.touched())))
	}},
	{"headline", `(?P<share>\S+%) of (?:its slow tail|the slow tail of <cell>) is the generator's own, so it shows nothing about the service`, func(k *check) error {
		s := k.about.tailOf(k.threshold(k.about))
		low, high := s.lag/s.latency, max(s.before, s.stalled, s.lag+s.afterStalls)/s.latency
		return within("the generator's share", k.m["share"], 100*(low-slack), 100*(high+slack))
	}},
	{"headline", `Use a lower rate, fewer connections, or another machine`, nil},
	{"headline", `It is not known whether it meets the objective <any:objective>: only the generator's delay misses it: done − sent meets it`, func(k *check) error {
		p := k.about.all()
		if in := float64(p.service.Above(k.about.objective.Latency)); in > (1-shareOf(k.quantile()))*float64(p.requests()) {
			return fmt.Errorf("%.0f of %d service times miss it", in, p.requests())
		}
		return nil
	}},
	{"headline", `The generator sent <n:sent> of <n:of> requests/s: the rate is a lower bound`, func(k *check) error { return lowerBound(k, k.about) }},
	{"headline", `effect on (?P<q>p[\d.]+)(?: unknown|: <n:effect> ms \(95% interval <n:lo> to <n:hi>\))`, func(k *check) error {
		var all []float64 // differences within cells
		for _, c := range k.Experiment.Cells {
			var quiet, noisy []float64
			for _, a := range k.attempts {
				if a.cell != c.Index || a.outcome != "done" && a.outcome != "disturbed" {
					continue
				}
				v := sum([]*trial{a}, nil).ms(k.m["q"])
				if a.outcome == "disturbed" {
					noisy = append(noisy, v)
				} else {
					quiet = append(quiet, v)
				}
			}
			for _, x := range quiet {
				for _, y := range noisy {
					all = append(all, y-x)
				}
			}
		}
		if k.has("effect") {
			return is("the effect", k.m["effect"], median(all))
		}
		return nil
	}},
	{"headline", `The search for the breaking point was disturbed by <any:who>`, nil},
	{"headline", `a miss there does not count`, nil},
	{"headline", `<cell> holds <any:level>: (?:(?P<q>p[\d.]+) <ms:latency>|latency not measured)(?:, <pct:avail> available)?(?:, throttled in <pct:throttled> of its periods)?`, func(k *check) error {
		p, err := k.atLevel(k.about, k.m["level"])
		if err != nil {
			return err
		}
		err = available(k.m["avail"], p.availability())
		if k.has("latency") {
			err = first(err, k.ranksBy(k.about, k.m["q"]), is(k.m["q"], k.m["latency"], p.ms(k.m["q"])))
		}
		if k.has("throttled") {
			err = first(err, is("throttled", k.m["throttled"], 100*p.throttledShare()))
		}
		return err
	}},
	{"headline", `At (?P<level>[\d,.]+ (?:requests/s|users)) <cell> has the lowest (?P<what>p[\d.]+)(?: \([^)]*\))?: <ms:figure> against <any:others>`, func(k *check) error {
		p, err := k.atLevel(k.about, k.m["level"])
		if err != nil {
			return err
		}
		return is(k.m["what"], k.m["figure"], p.ms(k.m["what"]))
	}},
	{"headline", `At (?P<level>[\d,.]+ (?:requests/s|users)) [^:]+: (?P<figures>[^()]+?)(?: for <cells>)? \(<any:why>\)`, nil},
	{"headline", `At (?P<level>[\d,.]+ (?:requests/s|users)) (?:only )?<cell> (?:still answers, with|has) a p[\d.]+ of <ms:figure>`, nil},
	{"headline", `Differences at one level are not tested`, nil},
	{"headline", `the load held no level, so no percentile describes it`, nil},

	{"finding", `(?P<how>meets|misses) the objective: objective: [^;]+; measured: <any:measured>`, func(k *check) error {
		return first(k.objectiveIs(k.about, k.m["how"] == "meets"), k.measured(k.about.all(), k.m["measured"]))
	}},
	{"finding", `unknown whether the objective was met: objective: [^;]+; measured: <any:measured>`, nil},
	{"finding", `<n:n> trials? failed: trials? (?P<trials>[\d, ]+): <any:why>`, func(k *check) error { return k.trialsAre("failed") }},
	{"finding", `<n:n> trials? invalid, and left out: trials? (?P<trials>[\d, ]+): a limit of \S+ did not hold: <any:why>`, func(k *check) error { return k.trialsAre("invalid") }},
	{"finding", `<n:n> trials? disturbed and (?:kept \(retry limit reached\)|repeated): trials? (?P<trials>[\d, ]+): <any:why>`, func(k *check) error { return k.trialsAre("disturbed") }},
	{"finding", `<n:n> trials? cut off before the end(?:, and left out)?: trials? (?P<trials>[\d, ]+): <any:why>`, func(k *check) error { return k.trialsAre("started interrupted") }},
	{"finding", `service (?P<service>\S+) was skipped: <any:why>`, func(k *check) error {
		if len(k.Skipped) == 0 || k.Skipped[0].Service != k.m["service"] {
			return fmt.Errorf("it was not skipped")
		}
		return nil
	}},
	{"finding", `memory grows in every trial: <any:text>`, nil},
	{"finding", `(?P<title>order of failure as the load rises|load at which each cell failed): <any:text>`, failing},
}

// trialsAre checks the numbers of the trials of a finding: all of the cell with an
// outcome.
func (k *check) trialsAre(outcomes string) error {
	var want []string
	for _, a := range k.attempts {
		if a.cell == k.about.Index && strings.Contains(outcomes, a.outcome) {
			want = append(want, strconv.Itoa(a.number))
		}
	}
	if got := k.m["trials"]; got != strings.Join(want, ", ") {
		return fmt.Errorf("trials %s; the record has %s", got, strings.Join(want, ", "))
	}
	return is("the trials", k.m["n"], float64(len(want)))
}

// measured checks "p99 9.167 ms, availability 99.5%; 90% of the requests failed, and …".
func (k *check) measured(p *part, text string) error {
	figures, further, _ := strings.Cut(text, "; ")
	if several := len(k.about.trials) > 1; several && k.about.objective.Latency > 0 && !k.about.Load.Find && len(k.about.staged()) == 0 && strings.Contains(figures, " ms") != strings.Contains(figures, " ms of all requests together") {
		return fmt.Errorf("%q does not label a latency of several trials", figures)
	}
	figures = strings.Replace(figures, " of all requests together", "", 1)
	for _, one := range strings.Split(figures, ", ") {
		name, figure, _ := strings.Cut(one, " ")
		var err error
		switch {
		case name == "no":
		case name == "availability":
			err = is(name, figure, p.availability())
		case math.IsInf(p.ofAll(name), 1) != strings.HasPrefix(figure, "≥"):
			err = fmt.Errorf("%s is stated as %s, that of all requests is %.5g", name, figure, p.ofAll(name))
		case strings.HasPrefix(figure, "≥"):
			err = is(name+" of the answered requests", figure, p.ms(name))
		default:
			err = is(name, figure, p.ofAll(name))
		}
		if err != nil {
			return err
		}
	}
	for _, clause := range strings.Split(further, "; ") {
		if err := k.beside(p, clause); clause != "" && err != nil {
			return err
		}
	}
	return nil
}

// beside checks a clause behind the figures of an objective.
func (k *check) beside(p *part, clause string) error {
	if share, _, ok := strings.Cut(clause, " of the requests failed"); ok {
		return is("the failed requests", share, 100*float64(p.bad())/float64(p.requests()))
	}
	if share, _, ok := strings.Cut(clause, " of the requests were later"); ok {
		return is("the late requests", share, 100*float64(p.late(k.about.objective.Latency))/float64(p.requests()))
	}
	if ends, ok := strings.CutPrefix(clause, "not decided: "); ok {
		return k.near(ends)
	}
	return k.outlying(clause)
}

var outlyingOf = regexp.MustCompile(`^the median over (\d+) trials is (\S+ ms): (\d+) of them miss(?:es)? the objective, and their highest (p[\d.]+) is (?:(\S+ ms)|infinite, as too many requests failed)$`)

// outlying checks why the verdict on all requests of a cell is not that on its median.
func (k *check) outlying(text string) error {
	m := outlyingOf.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%q: %w", text, errUnknown)
	}
	n, highest := 0, 0.0
	values := k.about.values(quantileOf(m[4]))
	limit := float64(k.about.objective.Latency) / 1e6
	for _, v := range values {
		if highest = max(highest, v); v > limit {
			n++
		}
	}
	if all := k.about.all().ofAll(m[4]); (all > limit) == (median(values) > limit) {
		return fmt.Errorf("the median and all requests agree: %.4g ms and %.4g ms", median(values), all)
	}
	err := first(is("the trials", m[1], float64(len(values))), is("the median", m[2], median(values)), is("those that miss", m[3], float64(n)))
	switch {
	case err != nil:
		return err
	case m[5] == "" != math.IsInf(highest, 1):
		return fmt.Errorf("the highest %s is %.4g ms", m[4], highest)
	case m[5] != "":
		return is("the highest", m[5], highest)
	}
	return nil
}

// failing checks at which level each cell of a ramp misses its objective first.
func failing(k *check) error {
	text, _, _ := strings.Cut(k.m["text"], "; not ranked")
	for _, group := range strings.Split(strings.NewReplacer(", then ", "|", "; ", "|").Replace(text), "|") {
		names, at, ok := strings.Cut(group, " at ")
		if !ok {
			continue
		}
		load, _, err := figure(strings.TrimSuffix(at, " users"))
		if err != nil {
			return err
		}
		for _, c := range k.cells(names) {
			if got := c.missesFirst(); got != load {
				return fmt.Errorf("%s misses the objective first at %g, not at %g", c.label(), got, load)
			}
		}
	}
	return nil
}

// missesFirst is the lowest level at which the trials of a ramp together miss the
// objective.
func (c *cell) missesFirst() float64 {
	for _, l := range c.staged() {
		p := newPart()
		for _, h := range c.loads() {
			if h.load == l.target {
				p.merge(h.part)
			}
		}
		if met, known := p.meets(c.objective); known && !met {
			return l.target
		}
	}
	return math.Inf(1)
}

func (p *part) merge(o *part) {
	p.good += o.good
	p.timeouts += o.timeouts
	p.refused += o.refused
	p.cut += o.cut
	p.malformed += o.malformed
	p.failed += o.failed
	p.status += o.status
	p.dropped += o.dropped
	p.latency.Merge(o.latency)
	p.service.Merge(o.service)
	p.lag.Merge(o.lag)
	p.seconds += o.seconds
	p.answers += o.carriedToo()
	p.limit = max(p.limit, o.limit)
	p.cpu += o.cpu
	p.cpuSeconds += o.cpuSeconds
	p.periods += o.periods
	p.throttled += o.throttled
	p.stopped += o.stopped
	p.kills += o.kills
	p.restarts += o.restarts
	p.memory = max(p.memory, o.memory)
	p.hostSeconds += o.hostSeconds
	p.idle += o.idle
	p.foreign += o.foreign
	p.steal += o.steal
	p.cpus = max(p.cpus, o.cpus)
}
