package narrative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
)

// Tried is the answer of a record about one server in several settings, as that of
// `millicore try`: where the server breaks, why, what each setting holds, which of them
// lower p99, by how much, and how certain that is. The first of its texts is where it
// breaks. Latencies are those of the second part, at one common load.
func Tried(s *summary.Summary) []string {
	t := tried{name: display.Plain(s.Experiment.Server.Name), variants: Variants(s), found: s, level: s.Common}
	sentences := []string{t.where(), t.recovery(), t.tested(), t.why(), t.tail(), t.unlimited(), t.throughput(), t.undetermined(),
		t.latency(), t.freeLatency(), t.slowStarts(), t.ineffective(), t.variants[0].Advice, t.replicated(), t.doubts()}
	if groups := t.byLimit(); len(groups) > 1 {
		sentences = t.sizing(groups)
	}
	return slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
}

type tried struct {
	name         string
	variants     []Variant
	found, level *summary.Summary
	under        string // one of several limits, that all variants have; "": there is one limit only
}

// cellOfVariant finds the cell of a variant; nil: the summary has none.
func cellOfVariant(s *summary.Summary, v Variant) *summary.Cell {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Cells, func(c summary.Cell) bool { return c.Service == v.Service })
	if i < 0 {
		return nil
	}
	return &s.Cells[i]
}

// breaking is the breaking point of a variant; nil: it was not searched.
func (t *tried) breaking(v Variant) *summary.BreakingPoint {
	if c := cellOfVariant(t.found, v); c != nil {
		return c.Breaking
	}
	return nil
}

// holds reports whether a load was found that the variant holds.
func (t *tried) holds(v Variant) bool {
	b := t.breaking(v)
	return b != nil && b.Load() != nil
}

// load is what a variant holds: "352 requests/s (338–366)", "at least 900 requests/s".
func (t *tried) load(v Variant) string {
	c := cellOfVariant(t.found, v)
	text := LoadFigure(c.Breaking, *c.Breaking.Load()) + " " + LoadUnit(c)
	if c.Breaking.AtLeast {
		return "at least " + text
	}
	if ends := BreakInterval(c.Breaking); ends != "" {
		text += " (" + ends + ")"
	}
	return text
}

// because is why a variant has no breaking point.
func (t *tried) because(v Variant) string {
	if b := t.breaking(v); b != nil && b.Reason != "" {
		return Reason(b)
	}
	return "no search was made"
}

func (t *tried) where() string {
	asIs := t.variants[0]
	limits := asIs.Limits
	if limits == "" {
		limits = "no limit"
	}
	b := t.breaking(asIs)
	switch {
	case b == nil:
		return fmt.Sprintf("The breaking point of %s is not known: no search was made.", t.name)
	case b.Load() == nil:
		return t.nowhere(limits)
	case b.AtLeast:
		return fmt.Sprintf("Under %s %s %s: %s.", limits, t.name, t.breaks(asIs), BoundReason(b))
	}
	text := fmt.Sprintf("Under %s %s %s", limits, t.name, t.breaks(asIs))
	if o := cellOfVariant(t.found, asIs).Objective; o != nil {
		text += "; the objective is " + display.Plain(o.Text)
	}
	return text + "."
}

// breaks is where a variant breaks: "breaks at 352 requests/s (338–366)". If the host is
// what broke it, it may hold more on a larger one.
func (t *tried) breaks(v Variant) string {
	b := t.breaking(v)
	text := breaksAt(b) + " " + t.load(v)
	if b.LimitedBy == summary.ByHost && !b.AtLeast && v.Label != t.variants[0].Label {
		text += ", limited by " + LimitPhrase(b.LimitedBy)
	}
	return text
}

// recovery names the variants that do not recover from an overload near the load that
// they held before.
func (t *tried) recovery() string {
	var parts []string
	for i, v := range t.variants {
		if !t.holds(v) {
			continue
		}
		clause := recoveryClause(cellOfVariant(t.found, v))
		if i > 0 && clause != "" {
			clause = v.Label + ": " + clause
		}
		if clause != "" {
			parts = append(parts, sentence(clause))
		}
	}
	return strings.Join(parts, " ")
}

// tested is what was tested of the breaking point of the server as it is.
func (t *tried) tested() string {
	if !t.holds(t.variants[0]) {
		return ""
	}
	return testedSentence(cellOfVariant(t.found, t.variants[0]))
}

func (t *tried) why() string {
	if b := t.breaking(t.variants[0]); b != nil {
		return LimitedBy(b)
	}
	return ""
}

// tail is how much of the slow tail is throttling, at the load of that tail.
func (t *tried) tail() string {
	c := cellOfVariant(t.found, t.variants[0])
	if c == nil || c.Causes == nil || !c.Causes.Divided() || causes.GeneratorsTail(c) {
		return ""
	}
	if withheld(c) {
		return "" // it names the share, or shows that the limit costs no load
	}
	return fmt.Sprintf("%s of its slow tail %s (%s) is throttling.", display.Share(c.Causes.Throttling), TailLoad(c), tailFrom(c.Causes, "from %s on"))
}

// searches is the lowest number of searches of a variant that has a breaking point.
func (t *tried) searches() int {
	fewest := 0
	for _, v := range t.variants {
		if c := cellOfVariant(t.found, v); c != nil && t.holds(v) && (fewest == 0 || c.Trials < fewest) {
			fewest = c.Trials
		}
	}
	return max(1, fewest)
}

// each is on how many searches breaking points rest: with one each they are not ranked.
func (t *tried) each() string {
	if n := t.searches(); n > 1 {
		return fmt.Sprintf("%d searches each", n)
	}
	return "one search each; results differ from start to start"
}

func (t *tried) unlimited() string {
	i := slices.IndexFunc(t.variants, func(v Variant) bool { return v.Unlimited })
	if i < 0 || !t.holds(t.variants[i]) {
		return ""
	}
	free, asIs := t.variants[i], t.variants[0]
	switch {
	case t.breaking(free).AtLeast:
		return fmt.Sprintf("Without the limit it %s: %s.", t.breaks(free), BoundReason(t.breaking(free)))
	case !t.holds(asIs):
		return fmt.Sprintf("Without the limit it %s.", t.breaks(free))
	}
	return fmt.Sprintf("Without the limit it %s, against %s under it (%s).", t.breaks(free), t.load(asIs), t.each())
}

// throughput is what each setting holds. They are ranked by enough searches only: one does
// not show how starts differ.
func (t *tried) throughput() string {
	holding := t.holding()
	if len(holding) < 2 {
		return ""
	}
	if words := t.ranks(); words != "" {
		return words
	}
	return fmt.Sprintf("For throughput the settings are not ranked (%s): %s. Ranking takes at least %d searches of each, as with --repeats 6.",
		t.each(), t.loads(holding), verdict.Needs(len(holding)))
}

// holding are the settings at the one limit for which a load was found that they hold.
func (t *tried) holding() (all []Variant) {
	for _, v := range t.variants {
		if v.comparable() && t.holds(v) {
			all = append(all, v)
		}
	}
	return all
}

// loads is what each of several settings holds.
func (t *tried) loads(of []Variant) string {
	var parts []string
	for _, v := range of {
		parts = append(parts, v.Label+" "+t.load(v))
	}
	return strings.Join(parts, ", ")
}

// ranks ranks the settings by what they hold; "": too few searches, or nothing to compare
// with the server as it is.
func (t *tried) ranks() string {
	holding := t.holding()
	if len(holding) < 2 || t.searches() < verdict.Needs(len(holding)) || holding[0].Service != t.variants[0].Service {
		return ""
	}
	where := "For throughput"
	if t.under != "" {
		where += " under " + t.under
	}
	return fmt.Sprintf("%s (%s): %s; %s.", where, t.each(), t.loads(holding), t.ranked(holding[1:]))
}

// ranked compares what settings hold with what the server holds as it is.
func (t *tried) ranked(others []Variant) string {
	ranking, base := verdict.Rank(t.found, verdict.BreakingPointMetric), cellOfVariant(t.found, t.variants[0])
	var words []string
	for _, v := range others {
		e := ranking.Between(cellOfVariant(t.found, v), base)
		chance := "p " + display.Chance(e.PFamily)
		switch {
		case e.Basis == summary.Untested:
			words = append(words, v.Label+" was not tested against it as it is")
		case e.Sign > 0:
			words = append(words, fmt.Sprintf("%s holds more than it does as it is (%s)", v.Label, chance))
		case e.Sign < 0:
			words = append(words, fmt.Sprintf("%s holds less than it does as it is (%s)", v.Label, chance))
		default:
			words = append(words, fmt.Sprintf("%s does not differ significantly from it as it is (%s)", v.Label, chance))
		}
	}
	return strings.Join(words, ", ")
}

// ineffective names the settings that change nothing.
func (t *tried) ineffective() string {
	var parts []string
	for _, v := range t.variants {
		if v.NoEffect != "" {
			parts = append(parts, fmt.Sprintf("%s has no effect and was not searched: %s.", v.Label, v.NoEffect))
		}
	}
	return strings.Join(parts, " ")
}

// replicated is what more replicas hold. They have a limit each, so they are no
// setting at the one limit.
func (t *tried) replicated() string {
	i := slices.IndexFunc(t.variants, func(v Variant) bool { return v.Replicas > 1 })
	if i < 0 {
		return ""
	}
	v := t.variants[i]
	if slices.ContainsFunc(t.unfound(), func(u unfound) bool { return u.has(v) && len(u.variants) > 1 }) {
		return "" // named with the others
	}
	with := "With " + v.Label
	if v.Limits != "" {
		with += fmt.Sprintf(", each with %s (%d limits in total),", v.Limits, v.Replicas)
	}
	if !t.holds(v) {
		return fmt.Sprintf("%s no breaking point was found: %s.", with, t.because(v))
	}
	text := fmt.Sprintf("%s it %s", with, t.breaks(v))
	if t.holds(t.variants[0]) {
		text += fmt.Sprintf(", against %s with one (%s)", t.load(t.variants[0]), t.each())
	}
	base, load := t.atLevel()
	if c := cellOfVariant(t.level, v); base != nil && c != nil && c.LatencyMS != nil {
		if causes.GeneratorsTail(base) || causes.GeneratorsTail(c) {
			return text + fmt.Sprintf("; their %s at %s is not compared: it is mostly the generator's own delay.", t.quantile(), load)
		}
		one := verdict.Against(t.level, base, []*summary.Cell{c})
		text += fmt.Sprintf("; its %s at %s is %s against %s as it is (%s)", t.quantile(), load, display.WithUnit(one.All[0].Figure.Value), display.WithUnit(one.Base.Figure.Value), TestWords(&one.All[0]))
	}
	return text + "."
}

// doubts names what disturbed the figures that the answer rests on: all searches,
// and the comparison at one load.
func (t *tried) doubts() string {
	var searching, comparing []*summary.Cell
	for _, v := range t.variants {
		if c := cellOfVariant(t.found, v); c != nil {
			searching = append(searching, c)
		}
		if c := cellOfVariant(t.level, v); c != nil && !v.Unlimited {
			comparing = append(comparing, c)
		}
	}
	var parts []string
	if text := Disturbed(searching); text != "" {
		parts = append(parts, "while breaking points were searched, "+text)
	}
	if text := Disturbed(comparing); text != "" {
		parts = append(parts, "while latency was compared, "+text)
	}
	if len(parts) == 0 {
		return ""
	}
	return sentence(strings.Join(parts, "; "))
}
