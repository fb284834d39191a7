package answer_test

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/internal/show/answer"
)

// kindsOf are three kinds of requests; the first costs 9.1 ms with an interval of these ends and
// has a share of the CPU time.
func kindsOf(low, high, share float64) change {
	kind := func(name string, low, each, high, share float64) summary.KindFigures {
		return summary.KindFigures{Name: name, CPUMS: &each, CPULow: &low, CPUHigh: &high, ShareOfCPU: &share}
	}
	return func(c *summary.Cell) {
		c.Kinds = []summary.KindFigures{kind("POST /orders", low, 9.1, high, share), kind("GET /orders/:id", 1.9, 2, 2.1, 0.25), kind("GET /", 0, 0.1, 0.3, 0.04)}
	}
}

func firstToBreak(name string) change {
	return func(c *summary.Cell) { c.Breaking.FirstKind, c.Breaking.FirstKindShare = name, 0.996 }
}

// missesInBursts and lateAtAnyLoad are searches that found no load that meets the objective.
func missesInBursts(c *summary.Cell) {
	why := finding.Finding{Kind: finding.MissesInBursts, Load: 64, Share: 0.03, Allowed: 0.01}
	c.Breaking = &summary.BreakingPoint{Ended: string(search.Lowest), Why: []finding.Finding{why}}
}

func lateAtAnyLoad(c *summary.Cell) {
	missesInBursts(c)
	c.Breaking.Why[0].Kind = finding.LateAtAnyLoad
}

// besideLimit is that late requests of a service did not all wait for its CPU limit.
func besideLimit(c *summary.Cell) {
	b := c.Breaking
	b.LimitedBy = ""
	b.Refuted = finding.Finding{Kind: finding.LateBesideLimit, Share: 0.64, Text: b.FirstKind, Because: []finding.Finding{{Kind: finding.LimitUsed, Use: finding.Use{OfLimit: new(0.97), Throttled: new(0.87)}}}}
	b.Contradiction = wording.Of(b.Refuted)
}

// What a request of the kind with most of the CPU time costs is part of an answer if its interval
// is narrow, no other kind has as much, and there is room.
func TestAnswersOfKindsOfRequests(t *testing.T) {
	breaks := breaksBetween(338, 352, 366, summary.ByCPULimit)
	got := map[string]string{}
	for name, cells := range map[string][]summary.Cell{
		"a constant load":                        {cellOf("api", p99At(113), rate(100, 99, 101), kindsOf(8.5, 9.7, 0.71))},
		"a wide interval":                        {cellOf("api", p99At(113), rate(100, 99, 101), kindsOf(6.5, 11.7, 0.71))},
		"another kind may have as much":          {cellOf("api", p99At(113), rate(100, 99, 101), kindsOf(8.5, 9.7, 0.27))},
		"a breaking point":                       {cellOf("api", breaks, kindsOf(8.5, 9.7, 0.71))},
		"it breaks first":                        {cellOf("api", breaks, kindsOf(8.5, 9.7, 0.71), firstToBreak("POST /orders"))},
		"another breaks first":                   {cellOf("api", breaks, kindsOf(8.5, 9.7, 0.71), firstToBreak("GET /"))},
		"one breaks first, and no cost is known": {cellOf("api", breaks, firstToBreak("GET /"))},
		"no breaking point, in bursts":           {cellOf("api", missesInBursts)},
		"no breaking point, in bursts of one":    {cellOf("api", missesInBursts, firstToBreak("GET /"))},
		"one is late at any load":                {cellOf("api", lateAtAnyLoad, firstToBreak("GET /"))},
		"the limit delays not all":               {cellOf("the service of a team", breaks, besideLimit)},
		"the limit delays not all of one":        {cellOf("the service of a team", breaks, firstToBreak("GET /"), besideLimit)},
		"several cells":                          {procs("1", breaks, kindsOf(8.5, 9.7, 0.71)), procs("2", breaks, kindsOf(8.5, 9.7, 0.71))},
	} {
		got[name] = text(&summary.Summary{Cells: numbered(cells...)})
	}
	sentences(t, "kinds.txt", got)
	cell := cellOf("api", p99At(113), rate(100, 99, 101), kindsOf(8.5, 9.7, 0.71))
	if of, want := answer.OfLoad(&cell, "api").What, answer.Of(&summary.Summary{Cells: numbered(cell)}).What; of != want {
		t.Errorf("of a load %q, of a record %q", of, want)
	}
}
