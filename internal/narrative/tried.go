package narrative

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// Variant is one way to run a server that was tried, the first as it is.
type Variant struct {
	Service   string // its name in the summary
	Label     string // "GOMAXPROCS=1", "without the CPU limit"
	Limits    string // "a limit of 500m CPU"; "": none
	Unlimited bool   // it ran once without the CPU limit
	Replicas  int    // above 1: so many, each under the limit
	NoEffect  string // why the setting changes nothing, and was not measured; "": it was
	Advice    string // sentences of the table of runtimes
}

// comparable reports whether it is a way to run the server at the one limit.
func (v *Variant) comparable() bool { return !v.Unlimited && v.Replicas < 2 }

// Variants are the settings of the one server that a record is about, with the limits
// that the record has.
func Variants(s *analysis.Summary) []Variant {
	var all []Variant
	limited := false
	for _, one := range s.Experiment.Server.Settings {
		v := Variant{Service: one.Service, Label: display.Plain(one.Label), NoEffect: display.Plain(one.NoEffect), Advice: display.Plain(one.Advice)}
		if c := cellOfVariant(s, v); c != nil {
			v.Limits, v.Replicas = limitWords(&c.Limits), c.Limits.Replicas
			if one.UnknownLimits {
				v.Limits = "limits that are not known"
			}
			limited = limited || c.Limits.CPUMillis != nil
			v.Unlimited = limited && c.Limits.CPUMillis == nil
		}
		all = append(all, v)
	}
	return all
}

// limitWords are limits as a user writes them: "a limit of 500m CPU and 256Mi of memory";
// "": none.
func limitWords(l *analysis.LimitsSummary) string {
	var parts []string
	if l.CPUMillis != nil {
		parts = append(parts, "a limit of "+CPUQuantity(*l.CPUMillis)+" CPU")
	}
	if l.MemoryBytes != nil {
		parts = append(parts, memoryQuantity(*l.MemoryBytes)+" of memory")
	}
	return strings.Join(parts, " and ")
}

// CPUQuantity writes a CPU limit as a quantity: "500m", "2".
func CPUQuantity(millis int64) string {
	if millis%1000 == 0 {
		return strconv.FormatInt(millis/1000, 10)
	}
	return strconv.FormatInt(millis, 10) + "m"
}

func memoryQuantity(bytes int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "Gi"}, {1 << 20, "Mi"}, {1 << 10, "Ki"}} {
		if bytes%unit.size == 0 {
			return strconv.FormatInt(bytes/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// Tried is the answer of a record about one server in several settings, as that of
// `millicore try`: where the server breaks, why, what each setting holds, which of them
// lower p99, by how much, and how certain that is. The first of its texts is where it
// breaks. Latencies are those of the second part, at one common load.
func Tried(s *analysis.Summary) []string {
	t := tried{name: display.Plain(s.Experiment.Server.Name), variants: Variants(s), found: s, level: s.Common}
	sentences := []string{t.where(), t.recovery(), t.tested(), t.why(), t.tail(), t.unlimited(), t.throughput(), t.undetermined(),
		t.latency(), t.ineffective(), t.variants[0].Advice, t.replicated(), t.doubts()}
	if groups := t.byLimit(); len(groups) > 1 {
		sentences = t.sizing(groups)
	}
	return slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
}

type tried struct {
	name         string
	variants     []Variant
	found, level *analysis.Summary
	under        string // one of several limits, that all variants have; "": there is one limit only
}

// cellOfVariant finds the cell of a variant; nil: the summary has none.
func cellOfVariant(s *analysis.Summary, v Variant) *analysis.CellSummary {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Cells, func(c analysis.CellSummary) bool { return c.Service == v.Service })
	if i < 0 {
		return nil
	}
	return &s.Cells[i]
}

// breaking is the breaking point of a variant; nil: it was not searched.
func (t *tried) breaking(v Variant) *analysis.BreakingPoint {
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
		return fmt.Sprintf("No breaking point of %s was found under %s: %s.", t.name, limits, t.because(asIs))
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
	if b.LimitedBy == analysis.ByHost && !b.AtLeast && v.Label != t.variants[0].Label {
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
	if b := t.explained(); b != nil {
		return LimitedBy(b)
	}
	return ""
}

// explained is the breaking point of the server as it is, with what limits it as far as
// the run without the limit agrees.
func (t *tried) explained() *analysis.BreakingPoint {
	b := t.breaking(t.variants[0])
	for _, v := range t.variants {
		if v.Unlimited {
			b = b.WithoutLimit(t.breaking(v))
		}
	}
	return b
}

// tail is how much of the slow tail is throttling.
func (t *tried) tail() string {
	c := cellOfVariant(t.found, t.variants[0])
	if c == nil || c.Causes == nil || c.GeneratorsTail() {
		return ""
	}
	if b := t.explained(); b != nil && b.Contradiction != "" {
		return "" // it names the share
	}
	return fmt.Sprintf("%s of its slow tail there (from %s on) is throttling.", display.Share(c.Causes.Throttling), QuantileName(c.Causes.Quantile))
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
	var parts []string
	var others []Variant
	for _, v := range t.variants {
		if !v.comparable() || !t.holds(v) {
			continue
		}
		if parts = append(parts, v.Label+" "+t.load(v)); v.Service != t.variants[0].Service {
			others = append(others, v)
		}
	}
	if len(parts) < 2 {
		return ""
	}
	where, all := "For throughput", strings.Join(parts, ", ")
	if t.under != "" {
		where = "For throughput under " + t.under
	}
	switch needs := analysis.Needs(len(parts)); {
	case t.searches() >= needs && len(others) < len(parts):
		return fmt.Sprintf("%s (%s): %s; %s.", where, t.each(), all, t.ranked(others))
	case t.under != "":
		return fmt.Sprintf("%s the settings are not ranked (%s): %s.", where, t.each(), all)
	default:
		return fmt.Sprintf("%s the settings are not ranked (%s): %s. Ranking takes at least %d searches of each, as with --repeats 6.", where, t.each(), all, needs)
	}
}

// ranked compares what settings hold with what the server holds as it is.
func (t *tried) ranked(others []Variant) string {
	ranking, base := t.found.Rank(analysis.BreakingPointMetric), cellOfVariant(t.found, t.variants[0])
	var words []string
	for _, v := range others {
		e := ranking.Between(cellOfVariant(t.found, v), base)
		chance := "p " + display.Chance(e.PFamily)
		switch {
		case e.Basis == analysis.Untested:
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

// undetermined names the variants that were searched and have no breaking point. The
// server as it is and its replicas have sentences of their own.
func (t *tried) undetermined() string {
	var parts []string
	for _, v := range t.variants[1:] {
		if v.NoEffect != "" || v.Replicas > 1 || t.holds(v) {
			continue
		}
		with := "with " + v.Label
		if v.Unlimited {
			with = v.Label
		}
		if t.under != "" {
			with += " under " + t.under
		}
		parts = append(parts, fmt.Sprintf("No breaking point was found %s: %s.", with, t.because(v)))
	}
	return strings.Join(parts, " ")
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

// atLevel is the cell of the server as it is at the common load, and that load; nil
// if nothing is known of it.
func (t *tried) atLevel() (base *analysis.CellSummary, load string) {
	base = cellOfVariant(t.level, t.variants[0])
	if base == nil || base.LatencyMS == nil || base.Load.Rate == nil && base.Load.Users == nil {
		return nil, ""
	}
	if base.Load.Rate != nil {
		return base, display.Figure(*base.Load.Rate) + " requests/s"
	}
	return base, display.Users(*base.Load.Users)
}

// quantile names the latency quantile by which settings are compared at one load.
func (t *tried) quantile() string { return QuantileName(t.level.Quantile()) }

// latency compares the latency of each setting under the one limit, at a common load,
// with that of the server as it is.
func (t *tried) latency() string {
	base, load := t.atLevel()
	if base == nil {
		return t.notCompared()
	}
	labels := map[*analysis.CellSummary]string{}
	var cells []*analysis.CellSummary
	var absent []string
	for _, v := range t.variants[1:] {
		if !v.comparable() || v.NoEffect != "" {
			continue
		}
		c := cellOfVariant(t.level, v)
		if c == nil || c.LatencyMS == nil {
			absent = append(absent, v.Label)
			continue
		}
		labels[c], cells = v.Label, append(cells, c)
	}
	a := t.level.Against(base, cells)
	var sentences []string
	if len(cells) > 0 {
		sentences = append(sentences, fmt.Sprintf("%s %s.", t.at(load), rankedLatency(a, labels, t.quantile())))
	}
	if n := len(a.Untested); n > 0 && n < len(a.All) {
		var names []string
		for _, one := range a.Untested {
			names = append(names, labels[one.Cell])
		}
		sentences = append(sentences, fmt.Sprintf("%s was not tested: %s.", display.List(names), TestWords(&a.Untested[0])))
	}
	if len(absent) > 0 {
		sentences = append(sentences, fmt.Sprintf("No %s of %s was measured at %s.", t.quantile(), display.List(absent), load))
	}
	return strings.Join(sentences, " ")
}

// at begins a sentence about the common load.
func (t *tried) at(load string) string {
	if t.under != "" {
		return "Under " + t.under + ", at " + load
	}
	return "At " + load
}

// rankedLatency words the comparison of settings with the server as it is.
func rankedLatency(a analysis.AgainstBase, labels map[*analysis.CellSummary]string, quantile string) string {
	base := latency(a.Base.Figure.Value, a.Base.Figure.AtLeast)
	figures := func(one analysis.Placed) string {
		return fmt.Sprintf("%s against %s as it is%s", latency(one.Figure.Value, one.Figure.AtLeast), base, medians(a.Base))
	}
	lowest := a.All[0]
	switch {
	case len(a.Lower) > 0:
		var words []string
		for _, one := range a.Lower {
			words = append(words, fmt.Sprintf("%s lowers %s: %s (%s)", labels[one.Cell], quantile, figures(one), TestWords(&one)))
		}
		return strings.Join(words, "; ")
	case len(a.Untested) == len(a.All):
		var words []string
		for _, one := range a.All {
			words = append(words, fmt.Sprintf("%s (%s)", latency(one.Figure.Value, one.Figure.AtLeast), labels[one.Cell]))
		}
		return fmt.Sprintf("%s of the settings is not ranked: %s against %s as it is%s (%s)", quantile, display.List(words), base, medians(a.Base), TestWords(&lowest))
	case lowest.Figure.Value >= a.Base.Figure.Value:
		return fmt.Sprintf("no setting has a lower %s than the server as it is (%s%s)", quantile, base, medians(a.Base))
	}
	return fmt.Sprintf("no setting lowers %s significantly; the lowest is %s: %s (%s)", quantile, labels[lowest.Cell], figures(lowest), TestWords(&lowest))
}

// medians names what a figure is the median of; "" of one trial.
func medians(p analysis.Placed) string {
	if p.Figure.Trials < 2 {
		return ""
	}
	return fmt.Sprintf(", median of %d trials", p.Figure.Trials)
}

// TestWords are the figures of a test of latencies, or why there was none. The median of
// the pairwise differences is that which the interval is of; it is seldom exactly the
// difference of the medians.
func TestWords(p *analysis.Placed) string {
	if p.From.Basis == analysis.Untested {
		return gapText(p.From.Gap, min(p.From.Trials[0], p.From.Trials[1]), p.From.Cells, p.From.Quantile())
	}
	chance := "p " + display.Chance(p.From.PFamily)
	if p.Shift == nil {
		return chance
	}
	signed := func(v float64) string { return display.Signed(v, display.Decimals(v)) }
	return fmt.Sprintf("median of the pairwise differences %s ms, 95%% interval %s to %s, %s", signed(p.Shift.Shift), signed(p.Shift.Low), signed(p.Shift.High), chance)
}

// notCompared is why latency was not compared; "" if there was nothing to compare.
func (t *tried) notCompared() string {
	limited := 0
	var without []string
	for _, v := range t.variants {
		if v.NoEffect != "" {
			continue
		}
		if !v.Unlimited {
			limited++
		}
		if !t.holds(v) {
			without = append(without, v.Label)
		}
	}
	switch {
	case limited < 2:
		return ""
	case t.level == nil && len(without) > 0:
		return fmt.Sprintf("Latency of the settings was not compared at one load, because no breaking point was found for: %s.", strings.Join(without, ", "))
	case t.level == nil:
		return "Latency of the settings was not compared at one load."
	}
	return "Latency of the settings was not compared: none was measured for the server as it is at the common load."
}

// replicated is what more replicas hold. They have a limit each, so they are no
// setting at the one limit.
func (t *tried) replicated() string {
	i := slices.IndexFunc(t.variants, func(v Variant) bool { return v.Replicas > 1 })
	if i < 0 {
		return ""
	}
	v := t.variants[i]
	with := "With " + v.Label
	if v.Limits != "" {
		with += fmt.Sprintf(", each with %s (%d limits in total),", v.Limits, v.Replicas)
	}
	if !t.holds(v) {
		return fmt.Sprintf("%s no breaking point was found: %s.", with, t.because(v))
	}
	text := fmt.Sprintf("%s it %s", with, t.breaks(v))
	if t.holds(t.variants[0]) {
		text += fmt.Sprintf("; with one replica it %s (%s)", t.breaks(t.variants[0]), t.each())
	}
	base, load := t.atLevel()
	if c := cellOfVariant(t.level, v); base != nil && c != nil && c.LatencyMS != nil {
		if base.GeneratorsTail() || c.GeneratorsTail() {
			return text + fmt.Sprintf("; their %s at %s is not compared: it is mostly the generator's own delay.", t.quantile(), load)
		}
		one := t.level.Against(base, []*analysis.CellSummary{c})
		text += fmt.Sprintf("; its %s at %s is %s against %s as it is (%s)", t.quantile(), load, display.WithUnit(one.All[0].Figure.Value), display.WithUnit(one.Base.Figure.Value), TestWords(&one.All[0]))
	}
	return text + "."
}

// doubts names what disturbed the figures that the answer rests on: all searches,
// and the comparison at one load.
func (t *tried) doubts() string {
	var searching, comparing []*analysis.CellSummary
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
