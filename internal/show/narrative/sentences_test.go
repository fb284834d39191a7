package narrative

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// The table of sentences: each kind of statement, made from constructed values in which
// no two figures are alike, so that a sentence with the figure of another cell, or of the
// other side, differs. It goes on in differences_test.go and record_test.go.
// TestEachTemplateIsRendered fails for words that none of these files has.

func TestSentencesOfABreakingPoint(t *testing.T) {
	got := map[string]string{}
	limit := breaksBetween(338, 352, 366, summary.ByCPULimit)
	evidence := func(text string, at ...float64) change {
		return func(c *summary.Cell) { c.Breaking.Evidence, c.Breaking.EvidenceAt = text, at }
	}
	set := func(of func(*summary.BreakingPoint)) change { return func(c *summary.Cell) { of(c.Breaking) } }
	recovery := func(r summary.Recovery) change {
		return set(func(b *summary.BreakingPoint) { b.Recovery = &r })
	}
	users := func(c *summary.Cell) {
		c.Breaking = &summary.BreakingPoint{Users: ptr(20.0), Low: ptr(18.0), High: ptr(23.0), LimitedBy: summary.ByMemory, Searches: 1, TrafficS: 54}
	}
	for name, c := range map[string]summary.Cell{
		"with its evidence":         cellOf("go", limit, evidence("it used 99% of its CPU limit", 421, 500), testedAt(351, 380, false), kneeAt(144, ptr(0.41))),
		"with evidence at one load": cellOf("go", limit, evidence("it used 99% of its CPU limit", 421, 421), kneeAt(144, nil)),
		"with evidence of its load": cellOf("go", limit, evidence("at 421 requests/s it used 1.01 CPUs", 421, 500)),
		"with evidence of a rate":   cellOf("go", limit, evidence("of 421 requests/s it answered 402 with 1.01 CPUs", 421, 500)),
		"in users":                  cellOf("go", users, evidence("3 OOM kills", 24, 31)),
		"without a load":            cellOf("go", noPoint("it always fails"), evidence("12% of the requests failed", 24, 31), set(func(b *summary.BreakingPoint) { b.LimitedBy = summary.ByErrors })),
		"only a reason":             cellOf("go", noPoint("it died at start.")),
		"contradicted": cellOf("go", limit, set(func(b *summary.BreakingPoint) {
			b.Contradiction, b.LimitedBy = "it used 99% of its CPU limit; but without it it holds no more", ""
		})),
		"untested":                   cellOf("go", limit, testedAt(201, 390, true)),
		"with few requests":          cellOf("go", limit, testedAt(60, 80, false)),
		"that no window confirms":    cellOf("go", limit, testedAt(0, 390, true)),
		"a note":                     cellOf("go", limit, set(func(b *summary.BreakingPoint) { b.Reason, b.TrafficS, b.Searches = "3 windows were disturbed.", 130, 6 })),
		"a bound":                    cellOf("go", holds(40000, "", "every level met the objective"), testedAt(39000, 0, false)),
		"a bound, untested":          cellOf("go", holds(40000, "", "every level met the objective"), testedAt(39000, 0, true)),
		"held without draining":      cellOf("go", limit, recovery(summary.Recovery{Sustained: ptr(true), SustainedAt: ptr(341.0), Reason: "no load was seen to break the service"})),
		"not held without draining":  cellOf("go", limit, recovery(summary.Recovery{Sustained: ptr(false), SustainedAt: ptr(341.0), Reason: "no load was seen to break the service"})),
		"no clear result":            cellOf("go", limit, recovery(summary.Recovery{SustainedAt: ptr(341.0), Reason: "no load was seen to break the service"})),
		"recovers at once":           cellOf("go", limit, recoversAt(333, 0, "")),
		"recovers below":             cellOf("go", limit, recoversAt(160, 196, "")),
		"recovers below, in some":    cellOf("go", limit, recoversAt(160, 196, ""), set(func(b *summary.BreakingPoint) { b.Recovery.Searches = [2]int{2, 6} })),
		"does not recover":           cellOf("go", limit, recoversAt(0, 71, "")),
		"is lost":                    cellOf("go", limit, recoversAt(0, 0, "it died")),
		"of a tail that it withheld": cellOf("go", limit, tailOf(0.9, 0.1), set(func(b *summary.BreakingPoint) { b.Contradiction = "no" })),
	} {
		text := "line: " + BreakLine(&c) + "\ntable: " + BreaksAt(&c)
		if c.Breaking.Load() != nil {
			text += "\nfigure: " + BreakFigure(c.Breaking)
		}
		for _, f := range Explained(&c) {
			text += "\n" + f.Name + ": " + f.Text
		}
		got[name] = text
	}
	for _, by := range []string{summary.ByCPULimit, summary.ByThrottling, summary.ByMemory, summary.ByAcceptQueue, summary.ByDelayedAck, summary.ByErrors, summary.ByDependency, summary.ByParallelism,
		summary.ByService, summary.ByGenerator, summary.ByHost, ""} {
		bound := cellOf("go", holds(400, by, ""))
		got["a bound by "+by] = BoundReason(bound.Breaking) + "\n" + LimitPhrase(by) + "\n" + LimitWord(by)
	}
	for _, ended := range []search.Ended{search.Time, search.Most, search.Limited} {
		c := cellOf("go", holds(400, "", "so it is"), endedBy(ended))
		got["ended by "+string(ended)] = BoundReason(c.Breaking)
	}
	sentences(t, "breakingpoint.txt", got)
}

func TestSentencesOfSlowTails(t *testing.T) {
	got := map[string]string{}
	all := summary.Causes{Quantile: "p99", FromMS: 201, Requests: 300, MeanMS: 243, Generator: 0.02, GeneratorQueue: 0.03, Throttling: 0.4, ThrottledDirectly: 0.31,
		Dependency: 0.15, Restart: 0.12, Neighbours: 0.11, NeighboursGenerator: 0.08, Rest: 0.17, Trials: 6, MostIn: 2}
	few, plain := all, all
	few.Requests, plain.MostIn, plain.ThrottledDirectly, plain.NeighboursGenerator = 7, 5, 0, 0
	for name, causes := range map[string]*summary.Causes{"all causes": &all, "few requests": &few, "of most trials": &plain} {
		c := cellOf("go", func(c *summary.Cell) { c.Causes = causes })
		got[name] = strings.Join([]string{CausesLine(&c), TailBasis(causes)}, "\n")
	}
	for _, of := range Causes {
		share := summary.Causes{Quantile: "p999", FromMS: 201, Requests: 300, Rest: 0.4}
		switch of.Name {
		case "generator":
			share.Generator = 0.6
		case "generator_queue":
			share.GeneratorQueue = 0.6
		case "throttling":
			share.Throttling = 0.6
		case "dependency":
			share.Dependency = 0.6
		case "restart":
			share.Restart = 0.6
		case "neighbours":
			share.Neighbours = 0.6
		case "rest":
			share.Rest = 1
		}
		one := cellOf("go", func(c *summary.Cell) { c.Causes = &share })
		got["only "+of.Name] = of.Short + "\n" + CausesLine(&one)
	}
	for name, change := range map[string]change{"a search": searches(1), "searches": searches(6), "a ramp": staged} {
		c := cellOf("go", breaksBetween(338, 352, 366, ""), testedAt(351, 380, false), change)
		got["the load of "+name] = TailLoad(&c)
	}
	sentences(t, "tails.txt", got)
}
