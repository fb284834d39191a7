package facts

import (
	"fmt"
	"math"
)

// tryBreaks checks the breaking point of the service that a sentence is about.
func (k *check) tryBreaks(service string) error {
	c := k.named(service)
	if c == nil {
		return fmt.Errorf("no service %q", service)
	}
	return k.breaksAt(c, k.m["load"], k.m["low"], k.m["high"])
}

// settings are the labels under which the paragraph of try names the services of the
// record: the first is the server as it is.
func (k *check) setting(label string) *cell {
	for i, v := range k.variants {
		if v.Label == label {
			return k.named(k.variants[i].Service)
		}
	}
	return nil
}

const loadOf = `(?P<load>[\d,.]*\d) <unit>(?: \((?P<low>[\d,.]+)–(?P<high>[\d,.]+)\))?`

var triedPatterns = []pattern{
	{"try", `Under <any:limit> the server breaks at (?:an estimated )?` + loadOf, func(k *check) error { return k.tryBreaks(k.variants[0].Service) }},
	{"try", `Under <any:limit> the server (?:holds|is estimated to hold) at least (?P<load>[\d,.]+) <unit>: <any:reason>`, func(k *check) error {
		return k.holdsAtLeast(k.named(k.variants[0].Service), k.m["load"])
	}},
	{"try", `the objective is <any:objective>`, nil},
	{"try", `No breaking point of the server was found under <any:limit>: <any:reason>`, nil},
	{"try", `It is limited by (?P<by>its CPU limit|throttling|its own parallelism|the host's CPUs|its memory limit|its errors|its dependency|the service itself)(?:, before its CPU limit is used up)?(?:: <any:evidence>)?`, func(k *check) error {
		k.about = k.named(k.variants[0].Service)
		return k.limitIs(phrases[k.m["by"]])
	}},
	{"try", `(?:The generator|The host) was the limit, not the service(?:: <any:evidence>)?`, nil},
	{"try", `it used (?:<pct:used> of its CPU limit|<n:cores> cores)`, nil},
	{"try", `(?P<share>\S+%) of its slow tail there \(from (?P<q>\S+) on\) is throttling`, func(k *check) error {
		return k.shareIs(k.named(k.variants[0].Service), "throttling", k.m["share"])
	}},
	{"try", `Without the limit it (?:breaks at|holds|is estimated to hold) (?:at least |an estimated )?` + loadOf + `(?:, limited by the host's CPUs)?(?:, against .+ under it \(one search each)?`, nil},
	{"try", `results differ from start to start\)`, nil},
	{"try", `For throughput the settings are not ranked \([^)]*\): (?P<points>.+)`, nil},
	{"try", `Ranking takes at least <n:n> searches of each: save the experiment with --save and run it with --set measure\.repeats=6`, nil},
	{"try", `No breaking point was found with (?P<label>[^:]+): <any:reason>`, nil},
	{"try", `(?:At (?P<at>[\d,.]+ (?:requests/s|users)) )?(?P<label>[A-Z]\S*=\S+) lowers p99: <ms:figure> against <ms:than> as it is(?:, median of <n:n> trials)? \(shift <n:shift> ms, 95% interval \S+ to \S+, p (?P<p>\S+), Holm-corrected\)`, func(k *check) error {
		c, base := k.setting(k.m["label"]), k.named(k.variants[0].Service)
		if c == nil {
			return fmt.Errorf("no setting %q", k.m["label"])
		}
		return first(c.shows("p99", k.m["figure"]), base.shows("p99", k.m["than"]),
			is("the shift", k.m["shift"], hodgesLehmann(base.values(quantileOf("p99")), c.values(quantileOf("p99")))), k.ahead(c, base, "p99", false))
	}},
	{"try", `they were not tested against one another`, nil},
	{"try", `At (?P<at>[\d,.]+ (?:requests/s|users)) no setting (?:has a lower p99 than the server as it is \(<ms:than>(?:, median of <n:n> trials)?\)|lowers p99 significantly)`, func(k *check) error {
		base := k.named(k.variants[0].Service)
		n := len(k.withTrials())
		tests := n * (n - 1) // every pair, at half of the level: closed testing is no stricter
		for _, v := range k.variants[1:] {
			if c := k.named(v.Service); c != nil {
				if lower, _, p := differs(c, base, quantileOf("p99"), tests); lower {
					return fmt.Errorf("%s is significantly lower: p %.3g", v.Label, p)
				}
			}
		}
		if k.has("than") {
			return base.shows("p99", k.m["than"])
		}
		return nil
	}},
	{"try", `the lowest is (?P<label>\S+): <ms:figure> against <ms:than> as it is(?:, median of <n:n> trials)? \(<any:test>\)`, func(k *check) error {
		lowest := math.Inf(1)
		for _, v := range k.variants[1:] {
			if c := k.named(v.Service); c != nil {
				if v, hidden := c.value("p99"); !hidden {
					lowest = min(lowest, v)
				}
			}
		}
		return is("the lowest p99", k.m["figure"], lowest)
	}},
	{"try", `<any:labels> had too few trials to test`, nil},
	{"try", `Latency of the settings was not compared<any:why>`, nil},
	{"try", `[Ww]hile (?:breaking points were searched|latency was compared), <any:who>(?:: repeat it on a quiet host)?`, nil},
	{"try", noneOf + `: its own parallelism, locks or queues`, nil},
}
