package analysis

import (
	"fmt"
	"slices"
	"strings"
)

// Summarize puts together what a record says.
func (b *Builder) Summarize(about SummaryExperiment, host any) *Summary {
	about.Name, about.About = b.exp.Name, b.exp.About
	s := &Summary{Experiment: about, Host: host, Cells: b.Cells()}
	s.Findings = b.findings(s.Cells)
	return s
}

// Missed reports whether any cell was not seen to meet its objective: it missed
// it, or, having failed to run, could not be judged.
func (s *Summary) Missed() bool {
	return slices.ContainsFunc(s.Cells, func(c CellSummary) bool {
		return c.Objective != nil && (c.Objective.Met == nil || !*c.Objective.Met)
	})
}

func (b *Builder) findings(cells []CellSummary) []Finding {
	all := []Finding{}
	for i := range cells {
		if f, ok := b.objectiveFinding(&cells[i]); ok {
			all = append(all, f)
		}
	}
	for i := range cells {
		all = append(all, b.failures(&cells[i])...)
	}
	return all
}

func (b *Builder) objectiveFinding(c *CellSummary) (Finding, bool) {
	if c.Objective == nil {
		return Finding{}, false
	}
	f := Finding{Level: "result", Cell: &c.Cell, Title: "misses the objective",
		Text: fmt.Sprintf("asked: %s; seen: %s", c.Objective.Text, seen(b.exp.Objective, c))}
	switch {
	case c.Objective.Met == nil:
		f.Title = "whether the objective was met cannot be told"
	case *c.Objective.Met:
		f.Title = "meets the objective"
	}
	return f, true
}

// kinds are the words for what became of attempts, worst first.
var kinds = []struct {
	state   State
	counted bool
	words   string
}{
	{Failed, false, "failed"},
	{Partial, true, "cut off before the end"},
	{Partial, false, "cut off before the end, and left out"},
	{Disturbed, true, "disturbed, and counted all the same"},
	{Disturbed, false, "disturbed, and repeated"},
}

// failures tells of the cell's attempts that failed or were disturbed: one
// finding a kind, with the reasons, since a busy host gives one to every trial.
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
