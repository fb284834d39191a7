package analysis

import (
	"fmt"
	"strings"
)

// Summarize puts together what a record says.
func (b *Builder) Summarize(about SummaryExperiment, host any) *Summary {
	about.Name, about.About = b.exp.Name, b.exp.About
	s := &Summary{Experiment: about, Host: host, Cells: b.Cells()}
	s.Findings = b.findings(s.Cells)
	return s
}

// Missed reports whether any cell missed its objective.
func (s *Summary) Missed() bool {
	for _, c := range s.Cells {
		if c.Objective != nil && c.Objective.Met != nil && !*c.Objective.Met {
			return true
		}
	}
	return false
}

func (b *Builder) findings(cells []CellSummary) []Finding {
	all := []Finding{}
	for i := range cells {
		if f, ok := objectiveFinding(&cells[i]); ok {
			all = append(all, f)
		}
	}
	for i := range cells {
		all = append(all, b.failures(&cells[i])...)
	}
	return all
}

func objectiveFinding(c *CellSummary) (Finding, bool) {
	if c.Objective == nil {
		return Finding{}, false
	}
	f := Finding{Level: "result", Cell: &c.Cell}
	got := fmt.Sprintf("asked: %s; seen: p99 %s ms, availability %s%%", c.Objective.Text, figure(p99(c)), figure(c.Availability))
	switch {
	case c.Objective.Met == nil:
		f.Title, f.Text = c.Label+": whether the objective was met cannot be told", got
	case *c.Objective.Met:
		f.Title, f.Text = c.Label+" meets the objective", got
	default:
		f.Title, f.Text = c.Label+" misses the objective", got
	}
	return f, true
}

// failures tells of attempts that failed or were disturbed, once a reason.
func (b *Builder) failures(c *CellSummary) []Finding {
	var all []Finding
	seen := map[string]int{}
	for _, a := range b.attempts {
		if a.Cell != c.Cell || a.Why == "" || a.State == Complete {
			continue
		}
		title := c.Label + ": a trial failed"
		switch a.State {
		case Disturbed:
			title = c.Label + ": a trial was disturbed"
		case Partial:
			title = c.Label + ": a trial did not run to its end"
		}
		reason, _, _ := strings.Cut(a.Why, "\n")
		if i, ok := seen[title+reason]; ok {
			all[i].Text += fmt.Sprintf(", %d", a.Trial)
			continue
		}
		seen[title+reason] = len(all)
		all = append(all, Finding{Level: "warning", Cell: &c.Cell, Title: title, Text: fmt.Sprintf("%s; trials %d", a.Why, a.Trial)})
	}
	return all
}

func p99(c *CellSummary) *float64 {
	if c.LatencyMS == nil {
		return nil
	}
	return &c.LatencyMS.P99
}

func figure(v *float64) string {
	if v == nil {
		return "not measured"
	}
	return fmt.Sprintf("%.5g", *v)
}
