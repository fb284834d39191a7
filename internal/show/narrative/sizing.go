package narrative

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
)

// settingNames name the cells of one server by their settings, and by their CPU limits if
// there are several.
func settingNames(s *summary.Summary) []string {
	variants := Variants(s)
	several := len((&tried{variants: variants, found: s}).byLimit()) > 1
	names := make([]string, len(s.Cells))
	for i := range s.Cells {
		c := &s.Cells[i]
		names[i] = display.Plain(c.Label)
		if at := slices.IndexFunc(variants, func(v Variant) bool { return v.Service == c.Service }); at >= 0 {
			names[i] = variants[at].Label
			if several && c.Limits.CPUMillis != nil {
				names[i] += " (" + experiment.CPUQuantity(*c.Limits.CPUMillis) + ")"
			}
		}
	}
	return names
}

// byLimit parts the variants by their CPU limits, in the order of the record. Those
// without a limit, those that were not measured, and replicas belong to none.
func (t *tried) byLimit() []tried {
	var groups []tried
	for _, v := range t.variants {
		c := cellOfVariant(t.found, v)
		if c == nil || !v.comparable() || c.Limits.CPUMillis == nil {
			continue
		}
		under := cpuText(*c.Limits.CPUMillis)
		i := slices.IndexFunc(groups, func(g tried) bool { return g.under == under })
		if i < 0 {
			i = len(groups)
			groups = append(groups, tried{name: t.name, found: t.found, level: t.level, under: under})
		}
		groups[i].variants = append(groups[i].variants, v)
	}
	return groups
}

// sizing is the answer about several CPU limits: where the server breaks under each of
// them, what limits it there, its latency at a load that all of them hold, and what the
// settings change under a limit. Breaking points are not ranked: each is of one search.
func (t *tried) sizing(groups []tried) []string {
	where, who := t.breaksByLimit(groups), ""
	if where == "" {
		who = " of " + t.name
	}
	sentences := []string{where, t.undeterminedByLimit(groups, who), t.limitedByLimit(groups), t.freely(), t.latencyByLimit(groups)}
	sentences = append(sentences, t.settingsByLimit(groups)...)
	sentences = append(sentences, t.slowStarts(), t.ineffective())
	for _, v := range t.variants {
		if v.Advice != "" && !slices.Contains(sentences, v.Advice) {
			sentences = append(sentences, v.Advice)
		}
	}
	return append(sentences, t.doubts())
}

// settingsByLimit is what the settings change under each limit. The limits under which
// nothing was found share a sentence without figures: the table has these.
func (t *tried) settingsByLimit(groups []tried) (sentences []string) {
	var unranked, same []string
	load := ""
	for i := range groups {
		g := &groups[i]
		if len(g.variants) < 2 {
			continue
		}
		if words := g.ranks(); words != "" {
			sentences = append(sentences, words)
		} else if len(g.holding()) > 1 {
			unranked = append(unranked, g.under)
		}
		if base, at := g.atLevel(); base != nil && g.nothingLower(base) {
			same, load = append(same, g.under), at
		} else if base != nil {
			sentences = append(sentences, g.latency())
		}
	}
	if len(unranked) > 0 {
		sentences = append(sentences, fmt.Sprintf("For throughput the settings are not ranked under %s (%s).", phrase.List(unranked), t.each()))
	}
	if len(same) > 0 {
		sentences = append(sentences, fmt.Sprintf("At %s no setting lowers %s significantly under %s.", load, t.quantile(), phrase.List(same)))
	}
	return sentences
}

// breaksByLimit is where the server as it is breaks under each limit.
func (t *tried) breaksByLimit(groups []tried) string {
	var where []string
	verb, objective := "", ""
	for _, g := range groups {
		asIs := g.variants[0]
		c := cellOfVariant(t.found, asIs)
		if !t.holds(asIs) {
			continue
		}
		part := t.load(asIs) + " under " + g.under
		switch own := breaksAt(c.Breaking); {
		case own != verb:
			part, verb = own+" "+part, own
		case strings.HasPrefix(own, "breaks "):
			part = strings.TrimPrefix(own, "breaks ") + " " + part
		}
		where = append(where, part)
		if c.Objective != nil {
			objective = "; the objective is " + display.Plain(c.Objective.Text)
		}
	}
	if len(where) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s (%s)%s.", t.name, phrase.List(where), t.each(), objective)
}

// limitedByLimit is what limits the server as it is under each limit.
func (t *tried) limitedByLimit(groups []tried) string {
	var phrases []string
	under := map[string][]string{}
	for _, g := range groups {
		b := t.breaking(g.variants[0])
		if b == nil || b.LimitedBy == "" || b.AtLeast || b.Load() == nil {
			continue
		}
		words := LimitPhrase(b.LimitedBy)
		if under[words] == nil {
			phrases = append(phrases, words)
		}
		under[words] = append(under[words], g.under)
	}
	var parts []string
	for _, words := range phrases {
		parts = append(parts, fmt.Sprintf("by %s under %s", words, phrase.List(under[words])))
	}
	if len(parts) == 0 {
		return ""
	}
	return "It is limited " + strings.Join(parts, "; ") + "."
}

// freely is where the server breaks without the CPU limit.
func (t *tried) freely() string {
	var parts []string
	for _, v := range t.variants {
		switch {
		case !v.Unlimited || !t.holds(v):
		case t.breaking(v).AtLeast:
			parts = append(parts, fmt.Sprintf("Without the limit it %s: %s.", t.breaks(v), BoundReason(t.breaking(v))))
		default:
			parts = append(parts, fmt.Sprintf("Without the limit it %s.", t.breaks(v)))
		}
	}
	return strings.Join(parts, " ")
}

// latencyByLimit is the latency of the server as it is under each limit, at the common
// load.
func (t *tried) latencyByLimit(groups []tried) string {
	base, load := groups[0].atLevel()
	if base == nil {
		return "Latency under the limits was not compared at one load."
	}
	var parts []string
	for _, g := range groups {
		c := cellOfVariant(t.level, g.variants[0])
		if c == nil || c.LatencyMS == nil {
			continue
		}
		if f, ok := verdict.FigureOf(c, t.level.Quantile()); ok {
			parts = append(parts, latency(f.Value, f.AtLeast)+" under "+g.under)
		}
	}
	for _, v := range t.variants {
		c := cellOfVariant(t.level, v)
		if !v.Unlimited || c == nil || c.LatencyMS == nil {
			continue
		}
		if f, ok := verdict.FigureOf(c, t.level.Quantile()); ok {
			parts = append(parts, latency(f.Value, f.AtLeast)+" without a limit")
		}
	}
	return fmt.Sprintf("At %s its %s is %s.", load, t.quantile(), phrase.List(parts))
}
