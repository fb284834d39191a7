package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

func (b *Builder) findings(cells []summary.Cell) []summary.Finding {
	all := []summary.Finding{}
	for i := range cells {
		if b.cells[i].skipped != "" {
			continue
		}
		if f, ok := b.objectiveFinding(&cells[i]); ok {
			all = append(all, f)
		}
	}
	if f, ok := b.order(cells); ok {
		all = append(all, f)
	}
	for i := range cells {
		if f, ok := b.growth(&cells[i]); ok {
			all = append(all, f)
		}
	}
	all = append(all, b.skips()...)
	for i := range cells {
		all = append(all, b.failures(&cells[i])...)
	}
	return all
}

func (b *Builder) objectiveFinding(c *summary.Cell) (summary.Finding, bool) {
	if c.Objective == nil {
		return summary.Finding{}, false
	}
	if c.Breaking != nil && (c.Trials > 0 || c.Breaking.Load() != nil) {
		return b.breakingFinding(c), true
	}
	f := summary.Finding{Level: "result", Cell: &c.Cell, Title: "misses the objective", Searched: c.Breaking != nil && c.Load.Find,
		Text: fmt.Sprintf("objective: %s; measured: %s", c.Objective.Text, measuredText(b.exp.Objective, c.LatencyMS, c.OfAll, c.Availability, verdict.Together(c)))}
	if text := verdict.Outlying(c); text != "" {
		f.Text += "; " + text
	}
	if c.Objective.Missed != "" {
		f.Text += "; " + c.Objective.Missed
	}
	if near := verdict.NearObjective(c); near != nil {
		f.Text += "; not decided: " + near.Text()
	}
	switch {
	case c.Objective.Met == nil:
		f.Title = "unknown whether the objective was met"
	case *c.Objective.Met:
		f.Title = "meets the objective"
	}
	return f, true
}

// breakingFinding states up to which load a cell meets its objective, with the figures
// at that load. Figures over all loads would mean nothing, because the highest loads
// are meant to miss the objective.
func (b *Builder) breakingFinding(c *summary.Cell) summary.Finding {
	f := summary.Finding{Level: "result", Cell: &c.Cell, Title: "no load was seen to meet the objective", Text: "objective: " + c.Objective.Text, Searched: c.Load.Find}
	load := c.Breaking.Load()
	if load == nil {
		if metSomewhere(c.Steps) {
			f.Title = "unknown up to which load it meets the objective"
		}
		if c.Breaking.Reason != "" {
			f.Text += "; " + c.Breaking.Reason
		}
		return f
	}
	unit := "requests/s"
	if c.Breaking.Users != nil {
		unit = "users"
	}
	bound := ""
	if c.Breaking.AtLeast {
		bound = "at least "
	}
	verb := "meets the objective up to"
	if c.Breaking.Untested {
		verb = "untested: estimated to meet the objective up to"
	}
	f.Title = fmt.Sprintf("%s %s%s %s", verb, bound, digits.Three(*load), unit)
	held := c.Breaking.Held
	if !c.Load.Find { // the levels of a ramp are all tested
		if at := slices.IndexFunc(c.Steps, func(s summary.Step) bool { return s.Target == *load }); at >= 0 {
			held = &c.Steps[at]
		}
	}
	if held != nil && held.LatencyMS != nil {
		f.Text += fmt.Sprintf("; measured at %s: %s", digits.Three(held.Target), measuredText(b.exp.Objective, held.LatencyMS, held.OfAll, held.Availability, ""))
	}
	if missed := c.Breaking.Missed; missed != nil {
		f.Text += "; missed at " + digits.Three(missed.Target)
	}
	return f
}

// kinds names how attempts ended, worst first.
var kinds = []struct {
	state   State
	counted bool
	words   string
}{
	{Invalid, false, summary.InvalidWords},
	{Failed, false, "failed"},
	{Partial, true, "cut off before the end"},
	{Partial, false, "cut off before the end, and left out"},
}

// failures reports the cell's attempts that failed or were cut off. There is one finding
// for each kind, with the reasons. Those that were disturbed are in the cell's
// Disturbance.
func (b *Builder) failures(c *summary.Cell) []summary.Finding {
	var all []summary.Finding
	for _, kind := range kinds {
		var trials, reasons []string
		for _, a := range b.attempts {
			if a.Cell != c.Cell || a.State != kind.state || b.counted[a.Trial] != kind.counted {
				continue
			}
			trials = append(trials, fmt.Sprint(a.Trial))
			if !slices.Contains(reasons, a.Why) {
				reasons = append(reasons, a.Why)
			}
		}
		if len(trials) == 0 {
			continue
		}
		f := summary.Finding{Level: "warning", Cell: &c.Cell, Title: phrase.Plural(len(trials), "trial") + " " + kind.words}
		f.Text = strings.TrimPrefix(phrase.Plural(len(trials), "trial"), fmt.Sprint(len(trials), " ")) + " " + strings.Join(trials, ", ") + ": " + strings.Join(reasons[:min(len(reasons), 3)], "; ")
		if more := len(reasons) - 3; more > 0 {
			f.Text += fmt.Sprintf("; and %d more like these", more)
		}
		all = append(all, f)
	}
	return all
}

// skips reports each service that was skipped, once for all its cells.
func (b *Builder) skips() []summary.Finding {
	var all []summary.Finding
	var reported []string
	for _, c := range b.cells {
		name := c.plan.Service.Name
		if c.skipped == "" || slices.Contains(reported, name) {
			continue
		}
		reported = append(reported, name)
		all = append(all, summary.Finding{Level: "warning", Title: "service " + name + " was skipped", Text: c.skipped})
	}
	return all
}
