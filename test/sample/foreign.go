package sample

import (
	"fmt"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
)

// Foreign puts a text wherever a record has foreign text.
func Foreign(d results.Results, text string) results.Results {
	s := d.Summary
	s.Experiment.Name, s.Experiment.About, s.Experiment.Started, s.Experiment.Platform = text, text, text, text
	s.Host = record.Host{OS: text, Arch: text, Kernel: text, CPUModel: text, Cgroup: text, Runtimes: map[string]string{text: text}}
	s.Findings = []summary.Finding{{Level: "warning", Cell: ptr(1), Title: text, Text: text}}
	for i := range s.Cells {
		foreignCell(&s.Cells[i], text, fmt.Sprint(text, i))
	}
	for i := range s.Comparisons {
		s.Comparisons[i].Metric = text
	}
	for i := range s.Claims {
		c := &s.Claims[i]
		c.Says, c.Published, c.Metric, c.Unit, c.Reason, c.Verdict = text, text, text, text, text, summary.Verdict(text)
		for k := range c.Cells {
			c.Cells[k].Label = text
		}
	}
	return d
}

func foreignCell(c *summary.Cell, text, value string) {
	c.Service, c.Label, c.Flags = text, text, summary.Flags{summary.Flag("f" + text)}
	c.Vary = map[string]*string{"v" + text: &value}
	if c.Objective != nil {
		c.Objective.Text = text
	}
	c.Load.Kind = text
	c.Errors.Status = map[string]int64{"s" + text: 1}
	c.Dependencies = []summary.Dependency{{Name: text}}
	if c.Profile != nil {
		p := GoProfile()
		p.Top[0].Name, p.Top[0].File, p.Files, p.Notes = text, text, []string{text}, []string{text}
		c.Profile = p
	}
	if b := c.Breaking; b != nil {
		b.LimitedBy, b.Evidence, b.Reason = text, text, "r"+text
		c.Knee.Quantile, c.Causes.Quantile = "p"+text, "p"+text
		for k := range c.Causes.Slowest {
			for w := range c.Causes.Slowest[k].Windows {
				c.Causes.Slowest[k].Windows[w].Kind = text
			}
		}
	}
}
