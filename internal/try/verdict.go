package try

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// Verdict is the answer in one paragraph of plain words: where it breaks, why,
// which setting is best at this limit for throughput and which for p99, by how
// much, and how sure that is. found is the summary of the search; level, which
// may be nil, that of all variants at one common rate.
func Verdict(name string, variants []Variant, found, level *analysis.Summary) string {
	v := verdict{name: name, variants: variants, found: byService(found), unit: "requests/s"}
	if c := v.cell(variants[0]); c != nil && c.Load.Kind == "closed" {
		v.unit = "users"
	}
	sentences := []string{v.where(), v.why(), v.tail(), v.unlimited(), v.throughput(), v.latency(level), v.ineffective(), v.advice(), v.replicated(level), v.doubts(level)}
	sentences = slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
	return strings.Join(sentences, " ")
}

type verdict struct {
	name     string
	variants []Variant
	found    map[string]*analysis.CellSummary
	unit     string
}

func byService(s *analysis.Summary) map[string]*analysis.CellSummary {
	cells := map[string]*analysis.CellSummary{}
	for i := range s.Cells {
		cells[s.Cells[i].Service] = &s.Cells[i]
	}
	return cells
}

func (v *verdict) cell(of Variant) *analysis.CellSummary { return v.found[of.Service] }

func (v *verdict) breaking(of Variant) *analysis.BreakingPoint {
	if c := v.cell(of); c != nil {
		return c.Breaking
	}
	return nil
}

func (v *verdict) where() string {
	asIs := v.variants[0]
	b := v.breaking(asIs)
	switch {
	case b == nil:
		return fmt.Sprintf("Where %s breaks is not known: no search was made.", v.name)
	case b.Load() == nil:
		return fmt.Sprintf("No breaking point of %s was found under %s: %s.", v.name, asIs.Limits, strings.TrimSuffix(b.Reason, "."))
	case b.AtLeast:
		return fmt.Sprintf("Under %s %s was not seen to break: it holds at least %s%s.", asIs.Limits, v.name, v.rate(b), because(b.Reason))
	}
	return fmt.Sprintf("Under %s %s breaks at %s%s.", asIs.Limits, v.name, v.rate(b), v.asked(asIs))
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ", as " + strings.TrimSuffix(reason, ".")
}

func (v *verdict) asked(of Variant) string {
	if c := v.cell(of); c != nil && c.Objective != nil {
		return "; above that it misses " + c.Objective.Text
	}
	return ""
}

// rate is a breaking point with its interval: "352 requests/s (338 to 366)".
func (v *verdict) rate(b *analysis.BreakingPoint) string {
	text := fmt.Sprintf("%s %s", display.Figure(*b.Load()), v.unit)
	if b.Low != nil && b.High != nil {
		text += fmt.Sprintf(" (%s to %s)", display.Figure(*b.Low), display.Figure(*b.High))
	}
	return text
}

// reasons words limited_by.
var reasons = map[string]string{
	analysis.ByCPULimit:   "It is its CPU limit that breaks it",
	analysis.ByThrottling: "It is throttling that breaks it, before its CPU limit is used up",
	analysis.ByMemory:     "It is its memory that breaks it",
	analysis.ByErrors:     "It is errors that break it",
	analysis.ByDependency: "It is what it depends on that breaks it",
	analysis.ByService:    "What breaks it lies in the service itself",
	analysis.ByGenerator:  "The generator was the limit, not the service",
	analysis.ByHost:       "This machine was the limit, not the service",
}

func (v *verdict) why() string {
	b := v.breaking(v.variants[0])
	if b == nil || b.LimitedBy == "" {
		return ""
	}
	return reasons[b.LimitedBy] + ": " + b.Evidence + "."
}

// tail says how much of the slow tail is throttling.
func (v *verdict) tail() string {
	c := v.cell(v.variants[0])
	if c == nil || c.Causes == nil {
		return ""
	}
	if c.Causes.Throttling == 0 {
		return "None of the time of its slowest requests there is throttling."
	}
	return fmt.Sprintf("Of the time of its slowest requests there (from %s on), %.0f%% is throttling.", c.Causes.Quantile, 100*c.Causes.Throttling)
}

func (v *verdict) unlimited() string {
	i := slices.IndexFunc(v.variants, func(x Variant) bool { return x.Unlimited })
	if i < 0 {
		return ""
	}
	free, limited := v.breaking(v.variants[i]), v.breaking(v.variants[0])
	switch {
	case free == nil || free.Load() == nil:
		return ""
	case limited == nil || limited.Load() == nil:
		return fmt.Sprintf("Without the limit it holds %s.", v.rate(free))
	case free.AtLeast:
		return fmt.Sprintf("Without the limit it holds at least %s: more could not be sent or served on this machine.", v.rate(free))
	case free.Against(limited) > 0:
		return fmt.Sprintf("Without the limit it breaks at %s, %s times as much.", v.rate(free), display.Figure(*free.Load() / *limited.Load()))
	}
	return fmt.Sprintf("Without the limit it breaks at %s: the limit costs it no throughput that can be told.", v.rate(free))
}

// limited are the settings under the one limit for which a load was found, those
// that hold most first.
func (v *verdict) limited() []Variant {
	var all []Variant
	for _, x := range v.variants {
		if b := v.breaking(x); x.comparable() && b != nil && b.Load() != nil {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b Variant) int {
		return cmp.Compare(*v.breaking(b).Load(), *v.breaking(a).Load())
	})
	return all
}

// oneEach is how sure a difference of breaking points is at most: their intervals
// hold for the one start that was searched.
const oneEach = "that is one search of one start each, and a restart may come out elsewhere"

func (v *verdict) throughput() string {
	all := v.limited()
	asIs := v.variants[0]
	if len(all) < 2 {
		return ""
	}
	if !slices.ContainsFunc(all, func(x Variant) bool { return !v.breaking(x).AtLeast }) {
		return "Which setting is best for throughput cannot be told: none was seen to break."
	}
	best := all[0]
	base := v.breaking(asIs)
	if base == nil || base.Load() == nil {
		return fmt.Sprintf("For throughput %s is best at this limit: %s.", best.Label, v.rate(v.breaking(best)))
	}
	for _, x := range all {
		if b := v.breaking(x); b.AtLeast && x.Service != best.Service && v.breaking(best).Against(b) <= 0 {
			return fmt.Sprintf("Which setting is best for throughput cannot be told: %s was only seen to hold %s, not to break.", x.Label, v.rate(b))
		}
	}
	if best.Service == asIs.Service {
		next := all[1]
		if base.Against(v.breaking(next)) > 0 {
			return fmt.Sprintf("For throughput it is best as it is: %s, the next, holds %s; the 95%% intervals do not overlap, but %s.", next.Label, v.rate(v.breaking(next)), oneEach)
		}
		return fmt.Sprintf("For throughput no setting beats it as it is (%s, the next, holds %s; the intervals overlap).", next.Label, v.rate(v.breaking(next)))
	}
	b := v.breaking(best)
	more := 100 * (*b.Load() / *base.Load() - 1)
	if b.Against(base) > 0 {
		return fmt.Sprintf("For throughput %s is best at this limit: %s, %.0f%% more than as it is; the 95%% intervals do not overlap, but %s.", best.Label, v.rate(b), more, oneEach)
	}
	return fmt.Sprintf("For throughput no setting is surely better than as it is: %s held most, %s (%+.0f%%), but the intervals overlap.", best.Label, v.rate(b), more)
}

// ineffective names the settings that were seen to change nothing.
func (v *verdict) ineffective() string {
	var parts []string
	for _, x := range v.variants {
		if x.NoEffect != "" {
			parts = append(parts, fmt.Sprintf("%s has no effect: %s, so it was not searched.", x.Label, x.NoEffect))
		}
	}
	return strings.Join(parts, " ")
}

// advice passes on what the table of runtimes says where there is no setting.
func (v *verdict) advice() string {
	return v.variants[0].Advice
}

// replicated says what more replicas make of it. They have a limit each, so they
// are no setting at the one limit, and stand beside it.
func (v *verdict) replicated(level *analysis.Summary) string {
	i := slices.IndexFunc(v.variants, func(x Variant) bool { return x.Replicas > 1 })
	if i < 0 {
		return ""
	}
	x := v.variants[i]
	with := "With " + x.Label
	if x.Limits != noLimitWords {
		with += fmt.Sprintf(", each with %s (so %d limits),", strings.TrimSuffix(x.Limits, " each"), x.Replicas)
	}
	more, one := v.breaking(x), v.breaking(v.variants[0])
	if more == nil || more.Load() == nil {
		why := "no search was made"
		if more != nil && more.Reason != "" {
			why = strings.TrimSuffix(more.Reason, ".")
		}
		return fmt.Sprintf("%s no breaking point was found: %s.", with, why)
	}
	text := fmt.Sprintf("%s it breaks at %s", with, v.rate(more))
	if more.AtLeast {
		text = fmt.Sprintf("%s it holds at least %s", with, v.rate(more))
	}
	switch {
	case one == nil || one.Load() == nil:
	case more.Against(one) > 0:
		text += fmt.Sprintf(", %s times as much as one (%s)", display.Figure(*more.Load() / *one.Load()), oneEach)
	case !more.AtLeast:
		text += ", which cannot be told from one"
	}
	if at := v.compared(level); at != nil {
		if c := at.cells[x.Service]; c != nil && c.LatencyMS != nil {
			text += fmt.Sprintf("; its p99 at %s is %s (%s)", at.load, at.figures(c), sureness(at.against(c)))
		}
	}
	return text + "."
}
