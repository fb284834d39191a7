package narrative

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
)

// staged reports whether every cell that answered rose through levels: its
// figures over the whole ramp then describe no load.
func (a *answer) staged() bool {
	for _, i := range a.good {
		if c := &a.s.Cells[i]; !c.Load.Stages || len(c.Steps) == 0 {
			return false
		}
	}
	return true
}

// level writes a target with its unit: "200 users", "2,000 requests/s".
func level(l *summary.Load, target float64) string {
	if l.Kind == "open" {
		return display.Figure(target) + " requests/s"
	}
	return display.Users(target)
}

// stagedComparison compares at the highest common level at which at least one
// cell still answers. Levels have no intervals, and the answer states this.
func (a *answer) stagedComparison() []string {
	var cells []*summary.Cell
	for _, i := range a.good {
		cells = append(cells, &a.s.Cells[i])
	}
	target, common, answered := verdict.CommonLevel(cells)
	if !common {
		return []string{"The cells held no level of load in common: see each level's figures."}
	}
	at := level(&a.s.Cells[a.good[0]].Load, target)
	if !answered {
		return []string{fmt.Sprintf("No cell answered %d%% of its requests at any level.", verdict.EnoughAnswers)}
	}
	var all []verdict.Contender
	var short []string
	for _, i := range a.good {
		step := a.s.Cells[i].StepAt(target)
		if !verdict.Answers(step) {
			short = append(short, fmt.Sprintf("%s answered only %s", a.names[i], display.Percent(*step.Availability)))
		} else if v := a.latencyOf(step.LatencyMS); v != nil {
			all = append(all, verdict.Contender{Cell: &a.s.Cells[i], Name: a.names[i], Value: *v})
		}
	}
	all = verdict.Sorted(all)
	var text string
	switch {
	case len(all) == 0:
		text = fmt.Sprintf("At %s latency was not measured", at)
	case len(all) == 1 && len(short) > 0:
		text = fmt.Sprintf("At %s only %s still answers, with a %s of %s", at, all[0].Name, a.quantile(), display.WithUnit(all[0].Value))
	case len(all) == 1:
		text = fmt.Sprintf("At %s %s has a %s of %s", at, all[0].Name, a.quantile(), display.WithUnit(all[0].Value))
	default:
		text = a.atLevel(at, all)
	}
	if len(short) > fewNames {
		text += fmt.Sprintf("; %d cells answered less than %d%% of their requests without error", len(short), verdict.EnoughAnswers)
	} else if len(short) > 0 {
		text += "; " + strings.Join(short, ", ") + " of its requests without error"
	}
	sentences := []string{text + "."}
	if len(all) > 1 {
		sentences = append(sentences, "Differences at one level are not tested.")
	}
	return sentences
}

// atLevel gives the latency of cells at one level, the lowest first.
func (a *answer) atLevel(at string, all []verdict.Contender) string {
	r := ranking{figure: func(c verdict.Contender) string { return display.WithUnit(c.Value) }}
	if len(all) > fewNames {
		return fmt.Sprintf("At %s the %s of %d cells is %s", at, a.quantile(), len(all), r.fromTo(all))
	}
	names, figures := r.namesAndFigures(all)
	return fmt.Sprintf("At %s the %s of %s is %s", at, a.quantile(), names, figures)
}

// stagedSingle states what one cell held.
func (a *answer) stagedSingle(i int) string {
	c := &a.s.Cells[i]
	held := verdict.HighestHeld(c)
	if held == nil {
		return fmt.Sprintf("%s did not answer %d%% of its requests at any level.", a.names[i], verdict.EnoughAnswers)
	}
	var figures []string
	if v := a.latencyOf(held.LatencyMS); v != nil {
		figures = append(figures, a.quantile()+" "+display.WithUnit(*v))
	} else {
		figures = append(figures, "latency not measured")
	}
	if held.Availability != nil {
		figures = append(figures, display.Percent(*held.Availability)+" available")
	}
	if held.Throttled != nil {
		figures = append(figures, "throttled in "+display.Share(*held.Throttled)+" of its periods")
	}
	return fmt.Sprintf("%s holds %s: %s.", a.names[i], level(&c.Load, held.Target), strings.Join(figures, ", "))
}
