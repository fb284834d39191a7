package try

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// Verdict is the answer in one paragraph of plain words: where it breaks, why, what
// each setting holds at this limit, which of them lower p99, by how much, and how
// sure that is. found is the summary of the search; level, which
// may be nil, that of all variants at one common rate.
func Verdict(name string, variants []Variant, found, level *analysis.Summary) string {
	v := verdict{name: name, variants: variants, found: byService(found), unit: "requests/s"}
	if c := v.cell(variants[0]); c != nil && c.Load.Kind == "closed" {
		v.unit = "users"
	}
	sentences := []string{v.where(), v.why(), v.tail(), v.unlimited(), v.throughput(), v.undetermined(), v.latency(level), v.ineffective(), v.advice(), v.replicated(level), v.doubts(level)}
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

func (v *verdict) why() string {
	b := v.breaking(v.variants[0])
	if b == nil {
		return ""
	}
	return narrative.LimitedBy(b)
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
	return fmt.Sprintf("Of the time of its slowest requests there (from %s on), %s is throttling.", c.Causes.Quantile, display.Share(c.Causes.Throttling))
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
	}
	return fmt.Sprintf("Without the limit it breaks at %s, against %s under it (%s).", v.rate(free), v.atLeast(limited), oneEach)
}

// limited are the settings under the one limit for which a load was found.
func (v *verdict) limited() []Variant {
	return slices.DeleteFunc(slices.Clone(v.variants), func(x Variant) bool {
		b := v.breaking(x)
		return !x.comparable() || b == nil || b.Load() == nil
	})
}

// oneEach is why no two breaking points are ranked: each was searched on one start.
const oneEach = "one search of one start each, and starts differ"

// throughput says what each setting holds, and ranks none: it takes several
// searches of each to know how starts differ.
func (v *verdict) throughput() string {
	all := v.limited()
	if len(all) < 2 {
		return ""
	}
	var parts []string
	for _, x := range all {
		parts = append(parts, fmt.Sprintf("%s %s", x.Label, v.atLeast(v.breaking(x))))
	}
	return fmt.Sprintf("For throughput the settings are not ranked (%s): %s. Ranking takes at least %d searches of each: "+
		"save the experiment with --save and run it with --set measure.repeats=6.", oneEach, strings.Join(parts, ", "), stats.TrialsNeeded(len(all)-1))
}

// atLeast is a breaking point with its interval; a lower bound is called one.
func (v *verdict) atLeast(b *analysis.BreakingPoint) string {
	if b.AtLeast {
		return "at least " + v.rate(b)
	}
	return v.rate(b)
}

// undetermined names what was searched and gave no breaking point, with the reason:
// what is said of the others does not hold for it. Of the server as it is, and of
// replicas, their own sentences say so.
func (v *verdict) undetermined() string {
	var parts []string
	for _, x := range v.variants[1:] {
		b := v.breaking(x)
		if x.NoEffect != "" || x.Replicas > 1 || b != nil && b.Load() != nil {
			continue
		}
		why := "no search was made"
		if b != nil && b.Reason != "" {
			why = strings.TrimSuffix(b.Reason, ".")
		}
		with := "with " + x.Label
		if x.Unlimited {
			with = x.Label
		}
		parts = append(parts, fmt.Sprintf("No breaking point was found %s: %s.", with, why))
	}
	return strings.Join(parts, " ")
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
	if one != nil && one.Load() != nil {
		text += fmt.Sprintf(", one at %s (%s)", v.atLeast(one), oneEach)
	}
	if at := v.compared(level); at != nil {
		if c := at.cells[x.Service]; c != nil && c.LatencyMS != nil {
			text += fmt.Sprintf("; its p99 at %s is %s (%s)", at.load, at.figures(c), sureness(at.against(c)))
		}
	}
	return text + "."
}
