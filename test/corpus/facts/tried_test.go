package facts

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// tryBreaks checks the breaking point of the service that a sentence is about.
func (k *check) tryBreaks(service string) error {
	c := k.named(service)
	if c == nil {
		return fmt.Errorf("no service %q", service)
	}
	return k.breaksAt(c, k.m["load"], k.m["low"], k.m["high"])
}

// under is the cell of a setting under one of several limits: "500m CPU"; "" is the only
// limit.
func (k *check) under(label, limit string) *cell {
	for _, v := range k.variants {
		c := k.named(v.Service)
		if c != nil && v.Label == label && (limit == "" || limitText(c) == limit) {
			return c
		}
	}
	return nil
}

// free is the cell of the server without the limit; nil: none.
func (k *check) free() *cell {
	for _, v := range k.variants {
		if c := k.named(v.Service); c != nil && v.Unlimited {
			return c
		}
	}
	return nil
}

// limitText writes a CPU limit as the paragraph does: "500m CPU", "1 CPU", "1.5 CPUs".
func limitText(c *cell) string {
	switch m := c.Limits.CPUMillis; {
	case m < 1000:
		return fmt.Sprintf("%dm CPU", m)
	case m == 1000:
		return "1 CPU"
	default:
		return fmt.Sprintf("%v CPUs", float64(m)/1000)
	}
}

// underLimits finds the parts of a list: what is stated under which limit.
var (
	breaksUnder = regexp.MustCompile(`(?:(?:breaks )?at|holds|is estimated to hold) (?:an estimated |at least )?(?P<load>[\d,.]*\d) \S+?(?: \((?P<low>[\d,.]+)–(?P<high>[\d,.]+)\))? under (?P<limit>\S+ CPUs?)`)
	msUnder     = regexp.MustCompile(`(?P<ms>≥?[\d,.]*\d (?:ms|s)) under (?P<limit>\S+ CPUs?)`)
	limitsUnder = regexp.MustCompile(`\S+ CPUs?`)
)

// eachUnder checks the parts of a list about the server as it is under each limit.
func (k *check) eachUnder(part *regexp.Regexp, text string, of func(c *cell, m []string) error) error {
	all := part.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return fmt.Errorf("no limit in %q", text)
	}
	for _, m := range all {
		limit := m[max(0, part.SubexpIndex("limit"))]
		c := k.under("as it is", limit)
		if c == nil {
			return fmt.Errorf("no server as it is under %s", limit)
		}
		if err := of(c, m); err != nil {
			return fmt.Errorf("under %s: %w", limit, err)
		}
	}
	return nil
}

// medianOf checks a figure of the table against the median over trials, and its ends.
func medianOf(what string, of func(*part) float64) func(*check) error {
	return func(k *check) error {
		if k.m["v"] == "–" {
			return nil
		}
		var values []float64
		for _, p := range k.about.each() {
			values = append(values, of(p))
		}
		err := is(what, k.m["v"], median(values))
		if low, high, ok := medianEnds(values); ok && k.has("low") {
			err = first(err, is("the lower end", k.m["low"], low), is("the higher end", k.m["high"], high))
		}
		return err
	}
}

const withEnds = `(?P<v>[<>\d,.–]+)(?: \[95% interval (?P<low>[<\d.,]+)–(?P<high>[<\d.,]+)\])?`

const loadOf = `(?P<load>[\d,.]*\d) <unit>(?: \((?P<low>[\d,.]+)–(?P<high>[\d,.]+)\))?`

// atCommon begins a sentence about the common load, under one limit or one of several.
const atCommon = `(?:Under (?P<limit>\S+ CPUs?), at|At) (?P<at>[\d,.]+ (?:requests/s|users))`

var (
	settingHolds = regexp.MustCompile(`(as it is|\S+=\S+) (at least )?(?:an estimated )?([\d,.]*\d) requests/s(?: \(([\d,.]+)–([\d,.]+)\))?`)
	settingRank  = regexp.MustCompile(`(\S+=\S+) (holds more|holds less|does not differ)[^(]*\(p ([\d.<>e−-]+)\)`)
)

// settingsHold checks what each setting holds, and on how many searches this rests.
func settingsHold(k *check) error {
	all := settingHolds.FindAllStringSubmatch(k.m["points"], -1)
	if len(all) < 2 {
		return fmt.Errorf("fewer than two settings in %q", k.m["points"])
	}
	fewest := math.MaxInt
	for _, m := range all {
		c := k.under(m[1], k.m["limit"])
		if c == nil {
			return fmt.Errorf("no setting %q under %q", m[1], k.m["limit"])
		}
		fewest = min(fewest, len(c.trials))
		err := k.breaksAt(c, m[3], m[4], m[5])
		if m[2] != "" {
			err = k.holdsAtLeast(c, m[3])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m[1], err)
		}
	}
	if each := k.m["each"]; fewest > 1 != strings.HasPrefix(each, fmt.Sprintf("%d searches each", fewest)) {
		return fmt.Errorf("%q: the fewest searches of a setting are %d", each, fewest)
	}
	return nil
}

// settingsRank checks the comparison of each setting with the server as it is: the
// direction, and that p is no lower than that of one exact test, because it is corrected
// for the number of settings.
func settingsRank(k *check) error {
	base := k.breakingOf(k.under("as it is", ""))
	all := settingRank.FindAllStringSubmatch(k.m["ranks"], -1)
	if len(all) != strings.Count(k.m["ranks"], "(p ") {
		return fmt.Errorf("%d settings are understood of %q", len(all), k.m["ranks"])
	}
	for _, m := range all {
		c := k.under(m[1], "")
		if c == nil {
			return fmt.Errorf("no setting %q", m[1])
		}
		one, lower := mannWhitney(k.breakingOf(c), base)
		stated, half, err := figure(m[3])
		switch claimed := m[2] != "does not differ"; {
		case err != nil:
			return err
		case stated+half < one:
			return fmt.Errorf("%s: p %s, one exact test has %.3g", m[1], m[3], one)
		case claimed != (stated <= 0.05):
			return fmt.Errorf("%s %s, with p %s", m[1], m[2], m[3])
		case claimed && lower != (m[2] == "holds less"):
			return fmt.Errorf("%s %s: the other way round", m[1], m[2])
		}
	}
	return nil
}

// nothingLower checks that no setting under the limit of the server as it is has a
// significantly lower p99.
func (k *check) nothingLower(base *cell) error {
	n := len(k.withTrials())
	tests := n * (n - 1) // every pair, at half of the level: closed testing is no stricter
	others := 0
	for _, v := range k.variants {
		c := k.named(v.Service)
		if c == nil || c == base || limitText(c) != limitText(base) {
			continue
		}
		others++
		if lower, _, p := differs(c, base, quantileOf("p99"), tests); lower {
			return fmt.Errorf("%s is significantly lower: p %.3g", v.Label, p)
		}
	}
	if others == 0 {
		return errors.New("no other setting under the limit")
	}
	return nil
}

// significant checks that p99 of two cells differs significantly, in either direction, or
// that it does not, as is stated. n cells are n(n-1)/2 pairs, each tested on both sides.
func (k *check) significant(x, y *cell, stated bool) error {
	n := len(k.withTrials())
	atMost := func(tests int) bool {
		less, _, _ := differs(x, y, quantileOf("p99"), tests)
		more, _, _ := differs(y, x, quantileOf("p99"), tests)
		return less || more
	}
	switch {
	case stated && !atMost(1):
		return fmt.Errorf("%s and %s do not differ significantly", x.label(), y.label())
	case !stated && atMost(n*(n-1)):
		return fmt.Errorf("%s and %s differ significantly", x.label(), y.label())
	}
	return nil
}

var triedPatterns = []pattern{
	{"try", `Under <any:limit> the server breaks at (?:an estimated )?` + loadOf, func(k *check) error { return k.tryBreaks(k.variants[0].Service) }},
	{"try", `Under <any:limit> the server (?:holds|is estimated to hold) at least (?P<load>[\d,.]+) <unit>: <any:reason>`, func(k *check) error {
		return k.holdsAtLeast(k.named(k.variants[0].Service), k.m["load"])
	}},
	{"try", `the objective is <any:objective>`, nil},
	{"try", `It is limited by (?P<by>its CPU limit|throttling|its own parallelism|the host's CPUs|its memory limit|its errors|its dependency|the service itself)(?:, before its CPU limit is used up)?(?:: <any:evidence>)?`, func(k *check) error {
		k.about = k.named(k.variants[0].Service)
		return k.limitIs(phrases[k.m["by"]])
	}},
	{"try", `(?:The generator|The host) was the limit, not the service(?:: <any:evidence>)?`, nil},
	{"try", `it used (?:<pct:used> of its CPU limit|<n:cores> CPUs)`, nil},
	{"try", `(?P<share>\S+%) of its slow tail at (?:the breaking point|<n:load> <unit>) \(from (?P<q>p[\d.]+) on(?:, mostly of <n:few> of <n:of> trials)?\) is throttling`, func(k *check) error {
		k.about = k.named(k.variants[0].Service)
		err := k.shareIs(k.about, "throttling", k.m["share"])
		if k.has("load") {
			err = first(err, k.windowAt(k.m["load"], "", "", true))
		}
		if k.has("few") {
			err = first(err, k.mostIn(k.about))
		}
		return err
	}},
	{"try", `Without the limit it (?:breaks at|holds|is estimated to hold) (?P<bound>at least )?(?:an estimated )?` + loadOf +
		`(?:, limited by the host's CPUs)?(?:, against (?:an estimated )?(?P<than>[\d,.]*\d) <unit>(?: \((?P<above>[\d,.]+)–(?P<below>[\d,.]+)\))? under it \([^)]+\)|: <any:reason>)?`, func(k *check) error {
		c, base := k.free(), k.named(k.variants[0].Service)
		switch {
		case c == nil:
			return errors.New("no server without the limit")
		case k.m["bound"] != "":
			return k.holdsAtLeast(c, k.m["load"])
		case !k.has("than"):
			return k.breaksAt(c, k.m["load"], k.m["low"], k.m["high"])
		}
		return first(k.breaksAt(c, k.m["load"], k.m["low"], k.m["high"]), k.breaksAt(base, k.m["than"], k.m["above"], k.m["below"]))
	}},
	{"try", `results differ from start to start\)`, nil},
	{"try", `For throughput the settings are not ranked under (?P<list>[^(]+) \((?P<each>[^)]*)\)`, func(k *check) error {
		return k.eachUnder(limitsUnder, k.m["list"], func(c *cell, _ []string) error {
			searches := math.MaxInt
			for _, v := range k.variants {
				if of := k.named(v.Service); of != nil && limitText(of) == limitText(c) {
					searches = min(searches, len(of.trials))
				}
			}
			if fewest := leastTrials(2); searches >= fewest {
				return fmt.Errorf("%d searches each suffice", searches)
			}
			return nil
		})
	}},
	{"try", `For throughput(?: under (?P<limit>\S+ CPUs?))? the settings are not ranked \((?P<each>[^)]*)\): (?P<points>[^;]+)`, settingsHold},
	{"try", `For throughput(?: under (?P<limit>\S+ CPUs?))? \((?P<each>\d+ searches each)\): (?P<points>[^;]+)`, settingsHold},
	{"try", `(?P<ranks>\S+=\S+ (?:holds (?:more|less) than it does|does not differ significantly from it) as it is \(p .+\))`, settingsRank},
	{"try", `Ranking takes at least <n:n> searches of each, as with --repeats 6`, func(k *check) error {
		return is("the searches that a ranking takes", k.m["n"], float64(leastTrials(len(k.withTrials()))))
	}},
	{"try", `No breaking point(?: of the server)? was found (?:with|without|under) (?P<label>[^:]+): <any:reason>`, nil},
	{"try", `(?:` + atCommon + ` )?(?P<label>[A-Z]\S*=\S+) lowers p99: <ms:figure> against <ms:than> as it is(?:, median of <n:n> trials)? \(median of the pairwise differences <n:shift> ms, 95% interval \S+ to \S+, p (?:\S+, corrected over all pairs )?(?P<p>\S+)\)`, func(k *check) error {
		c, base := k.under(k.m["label"], k.m["limit"]), k.under("as it is", k.m["limit"])
		if c == nil {
			return fmt.Errorf("no setting %q", k.m["label"])
		}
		return first(c.shows("p99", k.m["figure"]), base.shows("p99", k.m["than"]),
			is("the shift", k.m["shift"], hodgesLehmann(base.values(quantileOf("p99")), c.values(quantileOf("p99")))), k.ahead(c, base, "p99", false))
	}},
	{"try", `At <n:at> <unit> p99 without the limit (?:is|(?P<alike>does not differ significantly:)) <ms:figure> against <ms:than> under it \((?:median of the pairwise differences <n:shift> ms, 95% interval \S+ to \S+, p (?:\S+, corrected over all pairs )?(?P<p>\S+)|<any:gap>)\)`, func(k *check) error {
		c, base := k.free(), k.named(k.variants[0].Service)
		if c == nil {
			return errors.New("no server without the limit")
		}
		err := first(c.shows("p99", k.m["figure"]), base.shows("p99", k.m["than"]))
		if k.has("shift") {
			err = first(err, is("the shift", k.m["shift"], hodgesLehmann(base.values(quantileOf("p99")), c.values(quantileOf("p99")))), k.significant(c, base, !k.has("alike")))
		}
		return err
	}},
	{"try", `At <n:at> <unit> the requests of all new starts together miss the objective below the breaking point: (?P<list>.+)`, func(k *check) error {
		for _, v := range k.variants {
			c := k.named(v.Service)
			named := slices.Contains(strings.Split(strings.ReplaceAll(k.m["list"], " and ", ", "), ", "), v.Label)
			if met, _ := c.all().meets(c.objective); met == named {
				return fmt.Errorf("%s meets the objective: %v", v.Label, met)
			}
		}
		return nil
	}},
	{"try", `A breaking point is that of a server that has been under load for as long as a search`, nil},
	{"try", `they were not tested against one another`, nil},
	{"try", atCommon + ` no setting lowers p99 significantly under (?P<list>.+)`, func(k *check) error {
		return k.eachUnder(limitsUnder, k.m["list"], func(c *cell, _ []string) error { return k.nothingLower(c) })
	}},
	{"try", atCommon + ` no setting (?:has a lower p99 than the server as it is \(<ms:than>(?:, median of <n:n> trials)?\)|lowers p99 significantly)`, func(k *check) error {
		base := k.under("as it is", k.m["limit"])
		err := k.nothingLower(base)
		if k.has("than") {
			err = first(err, base.shows("p99", k.m["than"]))
		}
		return err
	}},
	{"try", `the lowest is (?P<label>\S+): <ms:figure> against <ms:than> as it is(?:, median of <n:n> trials)? \(<any:test>\)`, func(k *check) error {
		if len(limitsUnder.FindString(k.whole)) > 0 {
			c := k.under(k.m["label"], limitsUnder.FindString(k.whole))
			return c.shows("p99", k.m["figure"])
		}
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
	{"try", `the server (?P<list>(?:breaks|holds|is estimated) .+ CPUs?) \(one search each; results differ from start to start\)`, func(k *check) error {
		return k.eachUnder(breaksUnder, k.m["list"], func(c *cell, m []string) error {
			if strings.Contains(m[0], "at least") {
				return k.holdsAtLeast(c, m[1])
			}
			return k.breaksAt(c, m[1], m[2], m[3])
		})
	}},
	{"try", `(?:It is limited )?by (?P<by>its CPU limit|throttling|its own parallelism|the host's CPUs|its memory limit|its errors|its dependency|the service itself) under (?P<list>\S+ CPUs?(?:, \S+ CPUs?)*(?: and \S+ CPUs?)?)`, func(k *check) error {
		return k.eachUnder(limitsUnder, k.m["list"], func(c *cell, _ []string) error {
			k.about = c
			return k.limitIs(phrases[k.m["by"]])
		})
	}},
	{"try", `At (?P<at>[\d,.]+ (?:requests/s|users)) its p99 is (?P<list>.+)`, func(k *check) error {
		return k.eachUnder(msUnder, k.m["list"], func(c *cell, m []string) error { return c.shows("p99", m[1]) })
	}},
	{"try", `Latency under the limits was not compared at one load`, nil},
	{"try-table", `(?:setting|CPU limit|limited by|slow tail|breaks at) [^:]*: <any:v>`, nil},
	{"try-table", `throttled % of periods: ` + withEnds, medianOf("throttled periods", func(p *part) float64 { return 100 * p.throttledShare() })},
	{"try-table", `CPU ms/request: ` + withEnds, medianOf("CPU per request", func(p *part) float64 { return 1000 * p.cores() / p.rate() })},
	{"try", noneOf + `: its own parallelism, locks or queues`, nil},
}
