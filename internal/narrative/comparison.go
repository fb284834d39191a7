package narrative

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/results"
)

// comparison ranks the cells that answered: by p99 where it was measured, else
// by requests/s; staged loads at the highest level that they have in common.
func (a *answer) comparison() []string {
	if a.staged() {
		return a.stagedComparison()
	}
	healthy, short := a.byAvailability()
	all := a.contenders(healthy, "latency_ms.p99",
		func(c *analysis.CellSummary) *float64 { return p99(c.LatencyMS) },
		func(t *analysis.TrialFigures) *float64 { return t.P99 })
	var sentences []string
	if len(all) > 1 {
		sentences = a.ranked(all)
	} else {
		sentences = []string{a.mostRequests(healthy)}
	}
	for _, i := range short {
		sentences = append(sentences, fmt.Sprintf("%s answers only %s of its requests well.",
			a.names[i], display.Percent(*a.s.Cells[i].Availability)))
	}
	return sentences
}

// byAvailability parts the cells that answered into those whose latency may be
// ranked and those that failed too many requests. Where no cell answers enough,
// there is nobody to prefer, and all are ranked.
func (a *answer) byAvailability() (healthy, short []int) {
	for _, i := range a.good {
		if v := a.s.Cells[i].Availability; v != nil && *v < analysis.EnoughAnswers {
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

// ranked words a comparison by p99, with throttling, and with the requests/s
// where another cell serves more.
func (a *answer) ranked(all []analysis.Contender) []string {
	inPlan := all
	all, basis := settle(inPlan, false)
	figure, best := "p99"+basis, all[0]
	level := analysis.Tied(best, all[1:], a.s.Below)
	var text string
	switch {
	case len(level) == 0:
		text = fmt.Sprintf("%s has the lowest %s%s%s: %s against %s", best.Name, figure, among(all), doubt(all),
			display.WithUnit(best.Value), others(inPlan, all, best))
	case len(level) == len(all)-1:
		text = a.indistinct(all, figure)
	default:
		text = leading(inPlan, append([]analysis.Contender{best}, level...), figure)
	}
	if t := a.throttling(all, len(level) == 0); t != "" {
		text += "; " + t
	}
	sentences := []string{text + "."}
	if basis != "" {
		sentences = append(sentences, "The table's p99, over all requests, puts another cell first: a single trial can decide it.")
	}
	if len(level) == 0 {
		if t := a.servesMore(best); t != "" {
			sentences = append(sentences, t)
		}
	}
	if t := caveat(all); t != "" {
		sentences = append(sentences, t)
	}
	return sentences
}

// among says how many were compared, where the sentence will not name them all.
func among(all []analysis.Contender) string {
	if len(all) <= fewNames {
		return ""
	}
	return fmt.Sprintf(" of %d cells", len(all))
}

// others lists what best is held against: every cell in the plan's order where
// they are few, else the next and the last.
func others(inPlan, ranked []analysis.Contender, best analysis.Contender) string {
	named := func(c analysis.Contender) string { return fmt.Sprintf("%s (%s)", display.WithUnit(c.Value), c.Name) }
	if len(ranked) > fewNames {
		return named(ranked[1]) + " to " + named(ranked[len(ranked)-1])
	}
	var words []string
	for _, c := range inPlan {
		if c.Cell != best.Cell {
			words = append(words, named(c))
		}
	}
	return display.List(words)
}

// indistinct words the case that no cell is clearly ahead.
func (a *answer) indistinct(ranked []analysis.Contender, figure string) string {
	if len(ranked) > fewNames {
		return fmt.Sprintf("No cell of %d has clearly the lowest %s: %s, %s", len(ranked), figure, fromTo(ranked), overlap(ranked))
	}
	names, figures := namesAndFigures(ranked)
	if !analysis.EveryPairTied(ranked, a.s.Below) {
		return fmt.Sprintf("None of %s has clearly the lowest %s: %s, %s", display.List(names), figure, together(figures), overlap(ranked))
	}
	return fmt.Sprintf("%s does not distinguish %s: %s, %s", figure, display.List(names), together(figures), overlap(ranked))
}

// leading words the case that several cells share the lowest p99, before the
// others.
func leading(inPlan, first []analysis.Contender, figure string) string {
	names, figures := namesAndFigures(first)
	rest := analysis.Besides(inPlan, first)
	analysis.SortByValue(rest)
	var against string
	if len(rest) > fewNames {
		against = fmt.Sprintf("%s for the other %d cells", fromTo(rest), len(rest))
	} else {
		var words []string
		for _, c := range rest {
			words = append(words, fmt.Sprintf("%s (%s)", display.WithUnit(c.Value), c.Name))
		}
		against = display.List(words)
	}
	if len(first) > fewNames {
		return fmt.Sprintf("%d cells share the lowest %s: %s against %s; among them %s", len(first), figure, fromTo(first), against, overlap(first))
	}
	return fmt.Sprintf("%s have the lowest %s, %s against %s, and cannot be distinguished: %s",
		display.List(names), figure, together(figures), against, overlap(first))
}

// fromTo gives the lowest and the highest of the figures.
func fromTo(all []analysis.Contender) string {
	byFigure := func(x, y analysis.Contender) int { return cmp.Compare(x.Value, y.Value) }
	low, high := display.WithUnit(slices.MinFunc(all, byFigure).Value), display.WithUnit(slices.MaxFunc(all, byFigure).Value)
	if low == high {
		return low + " each"
	}
	return low + " to " + high
}

// together joins figures that belong to names in the same order; one that all
// of them share is said once.
func together(figures []string) string {
	if len(slices.Compact(slices.Clone(figures))) == 1 {
		return figures[0] + " each"
	}
	return display.List(figures)
}

func namesAndFigures(all []analysis.Contender) (names, figures []string) {
	for _, c := range all {
		names = append(names, c.Name)
		figures = append(figures, display.WithUnit(c.Value))
	}
	return names, figures
}

// overlap says what overlaps where figures cannot be distinguished.
func overlap(all []analysis.Contender) string {
	weakest := analysis.IntervalOfTrials
	for _, c := range all {
		weakest = min(weakest, c.Sure)
	}
	if weakest >= analysis.RangeOfTrials && slices.ContainsFunc(all[1:], func(c analysis.Contender) bool { return analysis.Disjoint(all[0], c) }) {
		return "over their trials the difference may be chance"
	}
	switch weakest {
	case analysis.IntervalOfTrials:
		return "their 95% intervals overlap"
	case analysis.RangeOfTrials:
		return "their trials overlap"
	case analysis.IntervalOfFrames:
		return "their intervals by frames overlap"
	}
	return "the same figure"
}

// doubt is said with a winner that no intervals stand for.
func doubt(all []analysis.Contender) string {
	if caveat(all) == "" {
		return ""
	}
	return ", though not for certain"
}

// caveat says how little a difference means without intervals.
func caveat(all []analysis.Contender) string {
	weakest := analysis.IntervalOfTrials
	for _, c := range all {
		weakest = min(weakest, c.Sure)
	}
	switch weakest {
	case analysis.NoEnds, analysis.IntervalOfFrames:
		return "Not every cell has two trials: a difference may be chance."
	case analysis.RangeOfTrials:
		return "Too few trials for 95% intervals: a difference may be chance."
	}
	return ""
}

// throttling says which of the cells is throttled most, and how much the best
// is, where there is a best.
func (a *answer) throttling(ranked []analysis.Contender, hasBest bool) string {
	var most analysis.Contender
	top, known, alike := -1.0, 0, true
	for _, c := range ranked {
		if part := results.ThrottledShare(c.Cell); part != nil {
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
		if part := results.ThrottledShare(best.Cell); part != nil {
			text += ", " + best.Name + " in " + display.Share(*part)
		}
	}
	return text
}

// servesMore names the cell that serves the most requests/s, where it is not
// the one with the lowest p99, under one closed load, and by intervals that do
// not overlap: the best throughput and the best p99 are often not at the same
// setting.
func (a *answer) servesMore(best analysis.Contender) string {
	healthy, _ := a.byAvailability()
	top, own, pooled, ok := a.s.MoreServed(best.Cell, a.rates(healthy))
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s serves more: %s requests/s against %s%s.", top.Name, display.Figure(top.Value), display.Figure(own.Value),
		basisOf([]analysis.Contender{top, own}, pooled))
}

func (a *answer) rates(cells []int) []analysis.Contender {
	return a.contenders(cells, "rate_rps",
		func(c *analysis.CellSummary) *float64 { return c.RateRPS },
		func(t *analysis.TrialFigures) *float64 { return t.RateRPS })
}

// mostRequests ranks by requests/s, for records without latency.
func (a *answer) mostRequests(cells []int) string {
	all := a.rates(cells)
	if len(all) == 1 {
		return fmt.Sprintf("%s: %s requests/s.", all[0].Name, display.Figure(all[0].Value))
	}
	inPlan := all
	all, basis := settle(inPlan, true)
	slices.Reverse(all)
	best, next := all[0], all[1]
	rate, why := "requests/s"+basis, a.noLatency()+"."
	if level := analysis.Tied(best, all[1:], a.s.Above); len(level) > 0 {
		next = level[0]
		return fmt.Sprintf("%s do not distinguish %s and %s (%s and %s, %s); %s", display.Capital(rate), best.Name, next.Name,
			display.Figure(best.Value), display.Figure(next.Value), overlap([]analysis.Contender{best, next}), why)
	}
	if len(all) > fewNames {
		return fmt.Sprintf("%s serves the most of %d cells: %s %s against %s (%s) down to %s (%s); %s", best.Name, len(all),
			display.Figure(best.Value), rate, display.Figure(next.Value), next.Name, display.Figure(all[len(all)-1].Value), all[len(all)-1].Name, why)
	}
	var words []string
	for _, c := range inPlan {
		if c.Cell != best.Cell {
			words = append(words, fmt.Sprintf("%s (%s)", display.Figure(c.Value), c.Name))
		}
	}
	return fmt.Sprintf("%s serves the most: %s %s against %s; %s", best.Name, display.Figure(best.Value), rate, display.List(words), why)
}

// noLatency says why there is no percentile.
func (a *answer) noLatency() string {
	for _, i := range a.good {
		if !a.s.Cells[i].Load.Stages {
			return "latency was not measured"
		}
	}
	return "the load held no level, so no percentile describes it"
}

// p99 of a distribution that may not have been measured.
func p99(q *analysis.Quantiles) *float64 {
	if q == nil {
		return nil
	}
	return &q.P99
}
