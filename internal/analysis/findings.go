package analysis

import (
	"fmt"
	"slices"
	"strings"
)

// Summarize returns the summary of the record.
func (b *Builder) Summarize(about SummaryExperiment, host any) *Summary {
	about.Name, about.About, about.Kept = b.exp.Name, b.exp.About, b.exp.Measure.Kept
	s := &Summary{Experiment: about, Host: host, Cells: b.Cells()}
	s.Comparisons = append(b.comparisons(), b.benchmarkComparisons()...)
	s.Claims = b.claims(s.Cells)
	s.Findings = b.findings(s.Cells)
	return s
}

// Missed reports whether any cell did not show that it meets its objective: it missed
// it, or it could not be judged because it failed to run. Cells whose service was
// skipped do not count, since a missing program says nothing about the service; a
// finding and a flag report them. If all cells with an objective were skipped, nothing
// met it, and Missed is true.
func (s *Summary) Missed() bool {
	met, skipped := 0, 0
	for i := range s.Cells {
		c := &s.Cells[i]
		switch {
		case c.Objective == nil:
		case c.Skipped():
			skipped++
		case c.Objective.Met == nil || !*c.Objective.Met:
			return true
		default:
			met++
		}
	}
	return skipped > 0 && met == 0
}

func (b *Builder) findings(cells []CellSummary) []Finding {
	all := []Finding{}
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

func (b *Builder) objectiveFinding(c *CellSummary) (Finding, bool) {
	if c.Objective == nil {
		return Finding{}, false
	}
	if c.Breaking != nil && (c.Trials > 0 || c.Breaking.Load() != nil) {
		return b.breakingFinding(c), true
	}
	f := Finding{Level: "result", Cell: &c.Cell, Title: "misses the objective",
		Text: fmt.Sprintf("objective: %s; measured: %s", c.Objective.Text, measuredText(b.exp.Objective, c.LatencyMS, c.Availability))}
	if c.Objective.Missed != "" {
		f.Text += "; " + c.Objective.Missed
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
func (b *Builder) breakingFinding(c *CellSummary) Finding {
	f := Finding{Level: "result", Cell: &c.Cell, Title: "no load was seen to meet the objective", Text: "objective: " + c.Objective.Text}
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
	f.Title = fmt.Sprintf("meets the objective up to %s%s %s", bound, threeDigits(*load), unit)
	q, availability := c.LatencyMS, c.Availability // of the windows that tested the answer
	if !c.Load.Find {
		q, availability = nil, nil
		if at := slices.IndexFunc(c.Steps, func(s Step) bool { return s.Target == *load }); at >= 0 {
			q, availability = c.Steps[at].LatencyMS, c.Steps[at].Availability
		}
	}
	if q != nil {
		f.Text += "; measured at that load: " + measuredText(b.exp.Objective, q, availability)
	}
	return f
}

// threeDigits formats a load; from 100 on it is a whole number.
func threeDigits(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// kinds names how attempts ended, worst first.
var kinds = []struct {
	state   State
	counted bool
	words   string
}{
	{Failed, false, "failed"},
	{Partial, true, "cut off before the end"},
	{Partial, false, "cut off before the end, and left out"},
	{Disturbed, true, "disturbed, but counted"},
	{Disturbed, false, "disturbed, and repeated"},
}

// failures reports the cell's attempts that failed or were disturbed. There is one
// finding for each kind, with the reasons, since a busy host gives a reason in every
// trial.
func (b *Builder) failures(c *CellSummary) []Finding {
	var all []Finding
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
		f := Finding{Level: "warning", Cell: &c.Cell, Title: plural(len(trials), "trial") + " " + kind.words}
		f.Text = "trial " + strings.Join(trials, ", ") + ": " + strings.Join(reasons[:min(len(reasons), 3)], "; ")
		if more := len(reasons) - 3; more > 0 {
			f.Text += fmt.Sprintf("; and %d more like these", more)
		}
		all = append(all, f)
	}
	return all
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
