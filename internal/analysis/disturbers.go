package analysis

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
)

// disturbedBy names who took CPU in windows of the cell's searches, or at the levels
// that left the breaking point of its ramps unknown.
func (c *cell) disturbedBy() []string {
	by := c.ramps().Sources()
	for _, t := range c.trials {
		if t.search != nil {
			by |= t.search.Sources()
		}
	}
	return sourceWords(by)
}

func sourceWords(by finding.Source) (words []string) {
	for _, one := range []struct {
		source finding.Source
		word   string
	}{{finding.Neighbour, summary.Neighbours}, {finding.Hypervisor, summary.Hypervisor}, {finding.Agent, summary.Waiting}, {finding.Stop, summary.Stops}} {
		if by&one.source != 0 {
			words = append(words, one.word)
		}
	}
	return words
}

// WhyDisturbed returns why a trial of an experiment is to be repeated, by what was not the
// service's in it; empty: it is not.
func WhyDisturbed(e *experiment.Experiment, n *disturbance.Noise) []finding.Finding {
	return n.Disturbed(objective.Goal{Objective: e.Objective}.Late())
}

// disturbance is nil if no trial ran to its end.
func (c *cell) disturbance() *summary.Disturbance {
	d := &summary.Disturbance{By: []string{}, Quantile: c.goal.Quantile()}
	var by finding.Source
	if c.plan.Load.Benchmark {
		d.Quantile = ""
	}
	if c.plan.Load.Find {
		for _, t := range c.trials {
			n, disturbed, who := t.search.Disturbed()
			nameNeighbours(d, t, who)
			d.Trials, d.Disturbed, by = d.Trials+n, d.Disturbed+disturbed, by|who
		}
	} else {
		for _, t := range append(slices.Clone(c.trials), c.repeated...) {
			if t.attempt.State > Disturbed {
				continue
			}
			who := t.all.Noise.Disturbing(c.goal.Late())
			if who != 0 || t.attempt.State == Disturbed {
				d.Why = append(d.Why, finding.Finding{Kind: finding.TrialDisturbed, N: t.attempt.Trial, Text: t.attempt.Why, Because: t.all.Noise.Disturbed(c.goal.Late())})
			}
			addTrial(d, t, who)
			nameNeighbours(d, t, who)
			by |= who
		}
	}
	d.By = append(d.By, sourceWords(by)...)
	switch {
	case d.Trials == 0:
		return nil
	case d.Disturbed == 0:
		d.Quiet = nil
	}
	return d
}

// nameNeighbours keeps the neighbours of a trial that they disturbed, if they used more
// than those of the trials before.
func nameNeighbours(d *summary.Disturbance, t *trial, by finding.Source) {
	if by&finding.Neighbour != 0 {
		d.Neighbours = disturbance.Busier(d.Neighbours, t.attempt.Neighbours)
	}
}

func addTrial(d *summary.Disturbance, t *trial, by finding.Source) {
	values := &d.Quiet
	d.Trials++
	if by != 0 || t.attempt.State == Disturbed {
		values = &d.Noisy
		d.Disturbed++
		if !t.repeated {
			d.Kept++
		}
	}
	if t.attempt.cut() {
		return // its figures are of another length
	}
	if v, ok := t.figures()["latency_ms."+d.Quantile]; ok {
		*values = append(*values, v)
	}
}
