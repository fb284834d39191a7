package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
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
			a.names[i], percent(*a.s.Cells[i].Availability)))
	}
	return sentences
}

// byAvailability parts the cells that answered into those whose latency may be
// ranked and those that failed too many requests. Where no cell answers enough,
// there is nobody to prefer, and all are ranked.
func (a *answer) byAvailability() (healthy, short []int) {
	for _, i := range a.good {
		if v := a.s.Cells[i].Availability; v != nil && *v < enoughAnswers {
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
func (a *answer) ranked(all []contender) []string {
	inPlan := slices.Clone(all)
	byValue(all)
	best := all[0]
	var tied []contender
	for _, c := range all[1:] {
		if !a.apart(best, c) {
			tied = append(tied, c)
		}
	}
	var text string
	switch {
	case len(tied) == 0:
		text = fmt.Sprintf("%s has the lowest p99%s%s: %s against %s", best.name, among(all), doubt(all),
			milliseconds(best.value), others(inPlan, all, best))
	case len(tied) == len(all)-1:
		text = a.indistinct(all)
	default:
		text = leading(inPlan, append([]contender{best}, tied...))
	}
	if t := a.throttling(all, len(tied) == 0); t != "" {
		text += "; " + t
	}
	sentences := []string{text + "."}
	if len(tied) == 0 {
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
func among(all []contender) string {
	if len(all) <= fewNames {
		return ""
	}
	return fmt.Sprintf(" of %d cells", len(all))
}

// others lists what best is held against: every cell in the plan's order where
// they are few, else the next and the last.
func others(inPlan, ranked []contender, best contender) string {
	named := func(c contender) string { return fmt.Sprintf("%s (%s)", milliseconds(c.value), c.name) }
	if len(ranked) > fewNames {
		return named(ranked[1]) + " to " + named(ranked[len(ranked)-1])
	}
	var words []string
	for _, c := range inPlan {
		if c.cell != best.cell {
			words = append(words, named(c))
		}
	}
	return list(words)
}

// indistinct words the case that no cell is clearly ahead.
func (a *answer) indistinct(ranked []contender) string {
	if len(ranked) > fewNames {
		return fmt.Sprintf("No cell of %d has clearly the lowest p99: %s, %s", len(ranked), fromTo(ranked), overlap(ranked))
	}
	names, figures := namesAndFigures(ranked)
	everyPair := true
	for i, x := range ranked {
		for _, y := range ranked[i+1:] {
			everyPair = everyPair && !a.apart(x, y)
		}
	}
	if !everyPair {
		return fmt.Sprintf("None of %s has clearly the lowest p99: %s, %s", list(names), together(figures), overlap(ranked))
	}
	return fmt.Sprintf("p99 does not tell %s apart: %s, %s", list(names), together(figures), overlap(ranked))
}

// leading words the case that several cells share the lowest p99, before the
// others.
func leading(inPlan, first []contender) string {
	names, figures := namesAndFigures(first)
	var rest []contender
	for _, c := range inPlan {
		if !slices.ContainsFunc(first, func(f contender) bool { return f.cell == c.cell }) {
			rest = append(rest, c)
		}
	}
	byValue(rest)
	var against string
	if len(rest) > fewNames {
		against = fmt.Sprintf("%s for the other %d cells", fromTo(rest), len(rest))
	} else {
		var words []string
		for _, c := range rest {
			words = append(words, fmt.Sprintf("%s (%s)", milliseconds(c.value), c.name))
		}
		against = list(words)
	}
	if len(first) > fewNames {
		return fmt.Sprintf("%d cells share the lowest p99: %s against %s; among them %s", len(first), fromTo(first), against, overlap(first))
	}
	return fmt.Sprintf("%s have the lowest p99, %s against %s, and cannot be told apart: %s",
		list(names), together(figures), against, overlap(first))
}

// fromTo gives the ends of ranked figures.
func fromTo(ranked []contender) string {
	low, high := milliseconds(ranked[0].value), milliseconds(ranked[len(ranked)-1].value)
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
	return list(figures)
}

func namesAndFigures(all []contender) (names, figures []string) {
	for _, c := range all {
		names = append(names, c.name)
		figures = append(figures, milliseconds(c.value))
	}
	return names, figures
}

// overlap says what overlaps where figures cannot be told apart.
func overlap(all []contender) string {
	weakest := interval
	for _, c := range all {
		weakest = min(weakest, c.sure)
	}
	switch weakest {
	case interval:
		if slices.ContainsFunc(all[1:], func(c contender) bool { return apart(all[0], c) }) {
			return "over their trials the difference may be chance"
		}
		return "their 95% intervals overlap"
	case ranged:
		return "their trials overlap"
	case byFrames:
		return "their intervals by frames overlap"
	}
	return "the same figure"
}

// doubt is said with a winner that no intervals stand for.
func doubt(all []contender) string {
	if caveat(all) == "" {
		return ""
	}
	return ", though not for certain"
}

// caveat says how little a difference means without intervals.
func caveat(all []contender) string {
	weakest := interval
	for _, c := range all {
		weakest = min(weakest, c.sure)
	}
	switch weakest {
	case unknown, byFrames:
		return "Not every cell has two trials: a difference may be chance."
	case ranged:
		return "Too few trials for 95% intervals: a difference may be chance."
	}
	return ""
}

// throttling says which of the cells is throttled most, and how much the best
// is, where there is a best.
func (a *answer) throttling(ranked []contender, hasBest bool) string {
	var most contender
	top, known, alike := -1.0, 0, true
	for _, c := range ranked {
		if part := throttledShare(c.cell); part != nil {
			alike = alike && (known == 0 || share(*part) == share(top))
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
		return "each is throttled in " + share(top) + " of its periods"
	}
	text := most.name + " is throttled in " + share(top) + " of its periods"
	if best := ranked[0]; hasBest && best.cell != most.cell {
		if part := throttledShare(best.cell); part != nil {
			text += ", " + best.name + " in " + share(*part)
		}
	}
	return text
}

// servesMore names the cell that serves the most requests/s, where it is not
// the one with the lowest p99, under one closed load, and by intervals that do
// not overlap: the best throughput and the best p99 are often not at the same
// setting.
func (a *answer) servesMore(best contender) string {
	for i := range a.s.Cells {
		l := &a.s.Cells[i].Load
		if l.Kind != "closed" || !sameLoad(l, &a.s.Cells[0].Load) {
			return ""
		}
	}
	healthy, _ := a.byAvailability()
	all := a.rates(healthy)
	byValue(all)
	top := all[len(all)-1]
	for _, c := range all {
		if c.cell == best.cell && c.sure == interval && top.sure == interval && a.apart(c, top) {
			return fmt.Sprintf("%s serves more: %s requests/s against %s.", top.name, display.Figure(top.value), display.Figure(c.value))
		}
	}
	return ""
}

func sameLoad(a, b *analysis.LoadSummary) bool {
	same := func(x, y *float64) bool { return (x == nil) == (y == nil) && (x == nil || *x == *y) }
	return a.Kind == b.Kind && same(a.Users, b.Users) && same(a.Rate, b.Rate)
}

func (a *answer) rates(cells []int) []contender {
	return a.contenders(cells, "rate_rps",
		func(c *analysis.CellSummary) *float64 { return c.RateRPS },
		func(t *analysis.TrialFigures) *float64 { return t.RateRPS })
}

// mostRequests ranks by requests/s, for records without latency.
func (a *answer) mostRequests(cells []int) string {
	all := a.rates(cells)
	if len(all) == 1 {
		return fmt.Sprintf("%s: %s requests/s.", all[0].name, display.Figure(all[0].value))
	}
	inPlan := slices.Clone(all)
	byValue(all)
	slices.Reverse(all)
	best, next := all[0], all[1]
	why := a.noLatency() + "."
	if !a.apart(best, next) {
		return fmt.Sprintf("Requests/s do not tell %s and %s apart (%s and %s, %s); %s", best.name, next.name,
			display.Figure(best.value), display.Figure(next.value), overlap(all[:2]), why)
	}
	if len(all) > fewNames {
		return fmt.Sprintf("%s serves the most of %d cells: %s requests/s against %s (%s) down to %s (%s); %s", best.name, len(all),
			display.Figure(best.value), display.Figure(next.value), next.name, display.Figure(all[len(all)-1].value), all[len(all)-1].name, why)
	}
	var words []string
	for _, c := range inPlan {
		if c.cell != best.cell {
			words = append(words, fmt.Sprintf("%s (%s)", display.Figure(c.value), c.name))
		}
	}
	return strings.Join([]string{fmt.Sprintf("%s serves the most: %s requests/s against %s", best.name, display.Figure(best.value), list(words)), why}, "; ")
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
