package narrative

import (
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
)

// comparison ranks the cells that answered: by the quantile of the objective where
// latency was measured, else by requests/s; staged loads at the highest level that they have in common.
func (a *answer) comparison() []string {
	if a.staged() {
		return a.stagedComparison()
	}
	healthy, short := a.byAvailability()
	healthy = slices.DeleteFunc(slices.Clone(healthy), func(i int) bool { return causes.GeneratorsTail(&a.s.Cells[i]) })
	if len(healthy) < 2 && len(a.good) > 1 && len(healthy)+len(short) < len(a.good) {
		return a.unranked(healthy)
	}
	all := a.contenders(healthy, a.s.Quantile())
	var sentences []string
	if len(all) > 1 {
		sentences = a.ranked(all)
	} else {
		sentences = []string{a.mostRequests(healthy)}
	}
	for _, i := range short {
		sentences = append(sentences, fmt.Sprintf("%s answered only %s of its requests without error.",
			a.names[i], display.Percent(*a.s.Cells[i].Availability)))
	}
	return sentences
}

// unranked states the figures of cells beside which no other can be ranked, because the
// generator made their slow tails.
func (a *answer) unranked(cells []int) []string {
	if len(cells) == 0 {
		return []string{"No cell is ranked by " + a.quantile() + "."}
	}
	return []string{a.constantSingle(cells[0])}
}

// quantile names the quantile by which cells are ranked.
func (a *answer) quantile() string { return QuantileName(a.s.Quantile()) }

// byAvailability parts the cells that answered into those whose latency may be
// ranked and those that failed too many requests. Where no cell answers enough,
// all are ranked.
func (a *answer) byAvailability() (healthy, short []int) {
	for _, i := range a.good {
		if v := a.s.Cells[i].Availability; v != nil && *v < verdict.EnoughAnswers {
			short = append(short, i)
		} else {
			healthy = append(healthy, i)
		}
	}
	if len(healthy) == 0 {
		return a.good, short
	}
	return healthy, short
}

// ranked words a comparison by latency, with throttling, and with the requests/s
// where another cell serves more.
func (a *answer) ranked(inPlan []verdict.Contender) []string {
	all := verdict.Sorted(inPlan)
	tests := verdict.Rank(a.s, summary.LatencyPath(a.s.Quantile()))
	text, alone := ranking{inPlan, all, tests, "lowest", a.quantile(), func(c verdict.Contender) string {
		return latency(c.Value, c.AtLeast)
	}}.text("")
	for _, c := range tests.ByFailures(all[0], all[1:]) {
		text += fmt.Sprintf("; %s is behind only because %s of its requests failed, which count as infinitely late", c.Name, display.Share(1-*c.Cell.Availability/100))
	}
	if t := a.throttling(all, alone); t != "" {
		text += "; " + t
	}
	sentences := []string{text + "."}
	if t := a.servesMore(all[0]); alone && t != "" {
		sentences = append(sentences, t)
	}
	return sentences
}

// throttling names the cell that is throttled most, and the share of the best one if
// there is one.
func (a *answer) throttling(ranked []verdict.Contender, hasBest bool) string {
	var most verdict.Contender
	top, known, alike := -1.0, 0, true
	for _, c := range ranked {
		if part := c.Cell.ThrottledShare(); part != nil {
			alike = alike && (known == 0 || display.Share(*part) == display.Share(top))
			known++
			if *part > top {
				most, top = c, *part
			}
		}
	}
	switch {
	case known == 0:
		return ""
	case top < worthSaying && known == len(ranked) && known == 2:
		return "neither is throttled"
	case top < worthSaying && known == len(ranked):
		return "none is throttled"
	case top < worthSaying:
		return ""
	case alike && known == len(ranked):
		return "each is throttled in " + display.Share(top) + " of its periods"
	}
	text := most.Name + " is throttled in " + display.Share(top) + " of its periods"
	if best := ranked[0]; hasBest && best.Cell != most.Cell {
		if part := best.Cell.ThrottledShare(); part != nil {
			text += ", " + best.Name + " in " + display.Share(*part)
		}
	}
	return text
}

// servesMore names the cell that serves the most requests/s, where it is not
// the one with the lowest latency, under one closed load: the best throughput and the
// best latency are often not at the same setting.
func (a *answer) servesMore(best verdict.Contender) string {
	healthy, _ := a.byAvailability()
	top, own, ok := verdict.MoreServed(a.s, best.Cell, a.rates(healthy))
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s serves more: %s requests/s against %s.", top.Name, display.Figure(top.Value), display.Figure(own.Value))
}

func (a *answer) rates(cells []int) []verdict.Contender { return a.contenders(cells, "rate") }

// mostRequests ranks by requests/s, for records without latency.
func (a *answer) mostRequests(cells []int) string {
	inPlan := a.rates(cells)
	if len(inPlan) == 1 {
		return fmt.Sprintf("%s: %s requests/s.", inPlan[0].Name, display.Figure(inPlan[0].Value))
	}
	all := verdict.Sorted(inPlan)
	slices.Reverse(all)
	text, _ := ranking{inPlan, all, verdict.Rank(a.s, "rate_rps"), "highest", "rate", func(c verdict.Contender) string {
		return display.Figure(c.Value) + " requests/s"
	}}.text("")
	return text + "; " + a.noLatency() + "."
}

// noLatency is why there is no percentile.
func (a *answer) noLatency() string {
	for _, i := range a.good {
		if !a.s.Cells[i].Load.Stages {
			return "latency was not measured"
		}
	}
	return "the load held no level, so no percentile describes it"
}

// latencyOf is the ranked quantile of a distribution; nil: it was not measured.
func (a *answer) latencyOf(q *summary.Quantiles) *float64 {
	if q == nil {
		return nil
	}
	v := q.Named(a.s.Quantile())
	return &v
}
