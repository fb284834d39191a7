package answer

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// changed is the answer about a server that is held against the one before a change: which
// figures differ, by how much, and the setting that takes the difference back.
func (t *tried) changed(old int) Answer {
	now, before := t.cells[0], t.cells[old]
	switch known := func(c *summary.Cell) bool { return c != nil && c.Breaking != nil && c.Breaking.Load() != nil }; {
	case now == nil || now.Breaking == nil || before == nil || before.Breaking == nil:
		return Answer{What: fmt.Sprintf("What changed in %s is not known: one of the two was not searched.", t.server)}
	case !known(now) && !known(before):
		return t.notFound("the new "+t.server+" and the old one", []*summary.Cell{now, before})
	case !known(now):
		answer := t.notFound("the new "+t.server, []*summary.Cell{now})
		answer.What = strings.TrimSuffix(answer.What, ".") + fmt.Sprintf("; the old one %s.", breaks(before))
		return answer
	case !known(before):
		answer := t.notFound("the old one", []*summary.Cell{before})
		answer.What = fmt.Sprintf("The new %s %s. ", t.server, breaks(now)) + answer.What
		return answer
	}
	all := verdict.Changed(t.s, before.Service, now.Service)
	differ := significant(all)
	if len(differ) == 0 {
		return t.unchanged(all)
	}
	texts := make([]string, len(differ))
	better := 0
	for i := range differ {
		texts[i] = t.moved(&differ[i], len(differ) <= fewNames)
		if differ[i].Better() {
			better++
		}
	}
	answer := Answer{What: fmt.Sprintf("The new %s differs from the old one: %s.", t.server, phrase.List(texts)), Why: t.reason(now, differ)}
	if unreached(all) {
		answer.What += " " + noneBroke
	}
	restored, setting := t.restores(before, differ)
	switch {
	case better == len(differ):
		answer.Do = "use the new one."
	case len(restored) > 0:
		what, part := "these", ""
		if len(differ) == 1 {
			what = "this figure"
		}
		if better+len(restored) < len(differ) {
			what, part = phrase.List(restored), "a part is explained: "
		}
		answer.Why = fmt.Sprintf("%sits parallelism is %d, that of the old one %d.", part, t.parallelism(0), t.parallelism(old))
		answer.Do = fmt.Sprintf("set %s: with it no difference from the old one was shown in %s.", setting, what)
	case better == 0:
		answer.Do = "keep the old one, unless the change is worth it."
	default:
		answer.Do = "choose by the figure that matters to you: not all became better."
	}
	return answer
}

// old is the place of the variant before a change; 0: the record is not about one.
func (t *tried) old() int {
	against := t.s.Experiment.Server.Against()
	return max(0, slices.IndexFunc(t.variants, func(v narrative.Variant) bool { return against != "" && v.Service == against }))
}

// significant are the differences that were shown.
func significant(all []verdict.Difference) (differ []verdict.Difference) {
	for _, d := range all {
		if d.Significant() {
			differ = append(differ, d)
		}
	}
	return differ
}

// unchanged is the answer where no figure was shown to differ: how far each may still.
func (t *tried) unchanged(all []verdict.Difference) Answer {
	var tested []string
	beside := false
	for i := range all {
		d := &all[i]
		if d.Verdict != verdict.Alike || d.Metric == verdict.BreakingPointMetric && unreached(all) {
			continue
		}
		ends := changeEnds(d)
		if ends == "" {
			ends = "without bounds"
		}
		tested = append(tested, t.figure(d)+" "+ends)
		beside = beside || d.Low != nil && d.High != nil && *d.Low**d.High > 0
	}
	if len(tested) == 0 {
		return Answer{What: fmt.Sprintf("Whether the new %s differs from the old one was not tested.", t.server), Do: untested(all)}
	}
	though := ""
	if own, before := t.parallelism(0), t.parallelism(t.old()); own > 0 && before > 0 && own != before {
		though = fmt.Sprintf(", though its parallelism is %d, not %d", own, before)
	}
	answer := Answer{
		What: fmt.Sprintf("No difference was shown between the new %s and the old one%s. 95%% intervals of the change: %s.", t.server, though, strings.Join(tested, ", ")),
		Do:   "nothing; more --repeats show smaller changes.",
	}
	if t.s.Experiment.Interrupted {
		answer.Do = toTheEnd
	}
	if unreached(all) {
		answer.What += " " + noneBroke
		if now := t.cells[0].Breaking; !t.s.Experiment.Interrupted && search.Ended(now.Ended) == search.Time {
			answer.Do = fmt.Sprintf("to compare breaking points, set --traffic to %.0fs.", moreTraffic(now.TrafficS))
		}
	}
	if beside {
		answer.Why = fmt.Sprintf("among %d tests, an interval without 0 may be chance.", len(tested))
	}
	return answer
}

// noneBroke says why nothing is said about breaking points.
const noneBroke = "Neither was loaded until it broke."

// unreached reports whether the breaking points of both are only known to be above the highest
// load of their searches, which shows nothing about a change.
func unreached(all []verdict.Difference) bool {
	d := of(all, verdict.BreakingPointMetric)
	return d != nil && d.AtLeast == [2]bool{true, true} && !d.Significant()
}

// moreTraffic returns the seconds to give a search that used some: twice as many, in tens, and at
// least as many as it has by default.
func moreTraffic(used float64) float64 { return max(40, 10*math.Ceil(2*used/10)) }

// untested is what to do where no figure was tested.
func untested(all []verdict.Difference) string {
	for i := range all {
		if all[i].Gap == summary.DisturbedTrials {
			return "run it again on a quieter machine."
		}
	}
	return fmt.Sprintf("run it again with --repeats %d.", summary.EnoughTrials)
}

// figure names what a difference is of: "p99 at 941/s".
func (t *tried) figure(d *verdict.Difference) string {
	m, _ := verdict.MetricOf(d.Metric)
	if t.level != nil && strings.HasPrefix(d.Metric, "p") {
		return fmt.Sprintf("%s at %s", m.Words, narrative.CommonLoad(t.s))
	}
	return m.Words
}

// moved states a difference: "breaking point 12% lower (−16 to −8%)", or without the interval.
func (t *tried) moved(d *verdict.Difference, interval bool) string {
	text := t.figure(d) + " " + narrative.Difference{Difference: d}.HowMuch()
	if ends := changeEnds(d); interval && ends != "" {
		text += " (" + ends + ")"
	}
	return text
}

// changeEnds is the 95% interval of a change in percent: "−16 to −8%"; "" where an end is not
// bounded.
func changeEnds(d *verdict.Difference) string {
	if d.Low == nil || d.High == nil || d.A == nil || *d.A == 0 {
		return ""
	}
	low, high := 100**d.Low / *d.A, 100**d.High / *d.A
	places := 0
	if max(-low, low, -high, high) < 10 {
		places = 1
	}
	return display.Signed(low, places) + " to " + display.Signed(high, places) + "%"
}

// reason is why the new server differs, as far as the figures show: under the same CPU limit a
// request costs more or less, or what limits it now. A build changes many things at once, so that
// another parallelism is named, but is the cause only if taking it back was measured.
func (t *tried) reason(now *summary.Cell, differ []verdict.Difference) string {
	breaking, cost := of(differ, verdict.BreakingPointMetric), of(differ, "cpu_per_request")
	if own, before := t.parallelism(0), t.parallelism(t.old()); own > 0 && before > 0 && own != before {
		return fmt.Sprintf("not shown; its parallelism is %d, that of the old one %d.", own, before)
	}
	switch {
	case breaking == nil:
		return ""
	case cost != nil && cost.Verdict != breaking.Verdict && limitedByCPU(now):
		amount := "more"
		if cost.Verdict == verdict.Lower {
			amount = "less"
		}
		return "the CPU limit is the same, and a request uses " + amount + " CPU time."
	}
	return t.limit(now)
}

// parallelism is that of a variant, as it was seen; 0: not known.
func (t *tried) parallelism(variant int) int {
	return t.s.Experiment.Server.Settings[variant].Parallelism
}

// restores are the figures that became worse and that a setting of the new server takes back,
// and the setting: with it they differ from those of the new one as it is, and not from those of
// the old one.
func (t *tried) restores(before *summary.Cell, differ []verdict.Difference) (figures []string, setting string) {
	for _, i := range t.settings() {
		if t.cells[i] == before {
			continue
		}
		still := verdict.Changed(t.s, before.Service, t.cells[i].Service)
		back := verdict.Changed(t.s, t.cells[0].Service, t.cells[i].Service)
		for k := range differ {
			one, other := of(still, differ[k].Metric), of(back, differ[k].Metric)
			if !differ[k].Better() && one != nil && one.Verdict == verdict.Alike && other != nil && other.Significant() && other.Better() {
				figures = append(figures, t.figure(&differ[k]))
			}
		}
		if len(figures) > 0 {
			return figures, strings.TrimPrefix(t.variants[i].Label, t.variants[0].Label+", ")
		}
	}
	return nil, ""
}

// of finds the difference of a metric; nil: it was not compared.
func of(all []verdict.Difference, metric string) *verdict.Difference {
	for i := range all {
		if all[i].Metric == metric {
			return &all[i]
		}
	}
	return nil
}
