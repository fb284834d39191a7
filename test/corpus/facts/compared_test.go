package facts

import (
	"fmt"
	"math"
	"strings"
)

// metrics are the figures of a trial that are compared, by their words.
var metrics = map[string]func(*part) float64{
	"the rate": (*part).rate, "availability": (*part).availability, "the share of throttled periods": throttledOf,
	"p50": quantileOf("p50"), "p90": quantileOf("p90"), "p95": quantileOf("p95"), "p99": quantileOf("p99"), "p99.9": quantileOf("p99.9"),
	"good answers": func(p *part) float64 { return float64(p.good) }, "CPU of its limit": usedOfLimit,
}

// sides are the values of both sides of a comparison; nil: the metric has no check, or
// one of a search.
func (k *check) sides() (a, b []float64) {
	x, y := k.Experiment.Cells[k.pair[0]], k.Experiment.Cells[k.pair[1]]
	name := k.m["metric"]
	if strings.EqualFold(name, "the breaking point") {
		return k.breakingOf(x), k.breakingOf(y)
	}
	for words, of := range metrics {
		if strings.EqualFold(words, name) && !x.Load.Find && len(x.staged()) == 0 {
			return x.values(of), y.values(of)
		}
	}
	return nil, nil
}

// difference checks "p99 is 58% lower in B: shift …; medians … in A, … in B".
func difference(k *check) error {
	a, b := k.sides()
	if len(a) < 4 || len(b) < 4 {
		return nil
	}
	p, lower := mannWhitney(a, b) // whether A lies lower
	if p >= 0.05 {
		return fmt.Errorf("no significant difference: p %.3g", p)
	}
	if (k.m["way"] == "higher") != lower {
		return fmt.Errorf("%s in B: the trials of A lie %s", k.m["way"], map[bool]string{true: "lower", false: "higher"}[lower])
	}
	if k.has("shift") {
		if err := is("the shift", k.m["shift"], hodgesLehmann(a, b)); err != nil {
			return err
		}
	}
	x, y := k.Experiment.Cells[k.pair[0]], k.Experiment.Cells[k.pair[1]]
	if k.m["metric"] == "p99" && k.truth.Identical {
		k.tally.wrong(fmt.Sprintf("compare: p99 of %s and %s", x.label(), y.label()))
	}
	return k.mediansAre(a, b)
}

func (k *check) mediansAre(a, b []float64) error {
	if !k.has("a") || a == nil || strings.EqualFold(k.m["metric"], "the breaking point") {
		return nil
	}
	if strings.HasPrefix(k.m["metric"], "p") {
		x, y := k.Experiment.Cells[k.pair[0]], k.Experiment.Cells[k.pair[1]]
		return first(x.shows(k.m["metric"], k.m["a"]), y.shows(k.m["metric"], k.m["b"]))
	}
	return first(medianIs("A", k.m["metric"], k.m["a"], a), medianIs("B", k.m["metric"], k.m["b"], b))
}

func medianIs(side, metric, stated string, values []float64) error {
	v, half, err := figure(stated)
	if m := median(values); err == nil && math.Abs(v-m) > 1.01*half+1e-9*m {
		return fmt.Errorf("the median of %s in %s is stated as %s, the record has %.5g", metric, side, stated, m)
	}
	return err
}

const medians = `(?:medians )?(?P<a>[≥\d,.]+)%? ?(?P<ua>\S*) in A, (?P<b>[≥\d,.]+)%? ?\S* in B`

var compared = []pattern{
	{"compare", `No significant difference in (?P<metric>[^:]+): ` + medians + ` \((?:(?:95% interval of the shift \S+ to \S+ \S+, )?p (?P<p>[<\d.]+), <n:m> and <n:n> trials|the intervals of the breaking points overlap)\)`, func(k *check) error {
		a, b := k.sides()
		if k.has("p") && a != nil {
			p, _ := mannWhitney(a, b)
			if err := first(is("p", k.m["p"], p), is("the trials of A", k.m["m"], float64(len(a))), is("those of B", k.m["n"], float64(len(b)))); err != nil {
				return err
			}
			if p < 0.05 {
				return fmt.Errorf("the difference is significant: p %.3g", p)
			}
		}
		return k.mediansAre(a, b)
	}},
	{"compare", `(?P<metric>[^:]+?) is (?:at least )?(?P<size>[\d.,]+(?: times|%| points) )?(?P<way>higher|lower) in B: shift <n:shift> (?P<us>\S+) \(95% interval (?P<lo>\S+) to (?P<hi>\S+)\); ` + medians, difference},
	{"compare", `(?P<metric>[^:]+?) is (?:at least )?(?P<size>[\d.,]+(?: times|%| points) )?(?P<way>higher|lower) in B: (?:95% interval of the shift (?P<lo>\S+) to (?P<hi>\S+) (?P<us>\S+); )?` + medians, difference},
	{"compare", `(?P<metric>[^:]+?) is (?P<a>[≥\d,.]+)%? ?(?P<ua>\S*) in A and (?P<b>[≥\d,.]+)%? ?\S* in B \((?:too few trials to test|not tested)\): <any:need>`, func(k *check) error {
		if need := k.m["need"]; spoiledOf.MatchString(need) {
			if err := k.spoiled(need, nil); err != nil {
				return err
			}
		}
		a, b := k.sides()
		return k.mediansAre(a, b)
	}},
	{"compare", `(?P<metric>[^:]+?) is (?P<a>[≥\d,.]+)%? ?(?P<ua>\S*) in A and (?P<b>[≥\d,.]+)%? ?\S* in B \((?:too few trials to test|not tested)\): <n:m> and <n:n> trials(?:; <any:need>)?`, nil},
	{"compare", `(?P<metric>[^:]+?) was measured in (?P<side>A|B) only: <any:v>`, nil},
	{"compare", `No (?P<metric>.+) was measured on either side`, nil},
}
