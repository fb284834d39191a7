package answer

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// staged is the answer about loads that rise through levels, without an objective: the
// latencies at the highest level that all cells held and one still answers. Levels have no
// intervals.
func (a *asked) staged() Answer {
	var cells []*summary.Cell
	for _, i := range a.good {
		if c := &a.s.Cells[i]; len(c.Steps) > 0 {
			cells = append(cells, c)
		}
	}
	if len(cells) < len(a.good) {
		return a.unleveled()
	}
	target, common, answered := verdict.CommonLevel(cells)
	switch {
	case !common:
		return Answer{What: "The cells held no level of load in common: see each level's figures."}
	case !answered:
		return Answer{What: fmt.Sprintf("No cell answered %d%% of its requests at any level.", verdict.EnoughAnswers)}
	}
	var figures, failing []string
	for _, c := range cells {
		step, name := c.StepAt(target), a.names[a.place(c)]
		switch {
		case !verdict.Answers(step):
			failing = append(failing, fmt.Sprintf("%s answers %s", name, display.Percent(*step.Availability)))
		case step.LatencyMS != nil:
			figures = append(figures, fmt.Sprintf("%s (%s)", display.WithUnit(step.LatencyMS.Named(a.s.Quantile())), name))
		}
	}
	text := fmt.Sprintf("At %s: %s %s", level(cells[0], target), a.quantile(), phrase.List(figures))
	if len(figures) > fewNames {
		text = fmt.Sprintf("At %s %d cells answer", level(cells[0], target), len(figures))
	}
	if len(failing) > 0 && len(failing) <= fewNames {
		text += "; " + strings.Join(failing, ", ")
	}
	answer := Answer{What: text + "."}
	if len(cells) > 1 {
		answer.Why = "levels have no intervals, so nothing is ranked."
	}
	return answer
}

// unleveled is the answer about a load that held no level.
func (a *asked) unleveled() Answer {
	var words []string
	for _, i := range a.good {
		if rate, ok := verdict.FigureOf(&a.s.Cells[i], "rate"); ok {
			words = append(words, fmt.Sprintf("%s (%s)", display.Figure(rate.Value), a.names[i]))
		}
	}
	if len(words) > fewNames {
		words = words[:fewNames]
	}
	return Answer{What: fmt.Sprintf("%s requests/s; the load held no level, so no percentile describes it.", phrase.List(words))}
}

// level writes a level of a load with its unit.
func level(c *summary.Cell, target float64) string {
	if narrative.LoadUnit(c) == "users" {
		return display.Users(target)
	}
	return display.Figure(target) + " requests/s"
}

// nothingAnswered is the answer if no cell gave a good answer: the most frequent error.
func (a *asked) nothingAnswered() Answer {
	var requests int64
	trials := 0
	all := summary.Cell{Errors: summary.ErrorCounts{Status: map[string]int64{}}}
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		requests, trials = requests+c.Requests, trials+c.Trials
		all.Errors.Add(&c.Errors)
	}
	who := a.names[0]
	if len(a.names) > 1 {
		who = fmt.Sprintf("any of %d cells", len(a.names))
	}
	switch {
	case trials == 0 && requests == 0:
		return Answer{What: fmt.Sprintf("No trial of %s was completed: nothing was measured.", who), Do: logAdvice}
	case requests == 0:
		return Answer{What: fmt.Sprintf("No request to %s ended: nothing was measured.", who), Do: logAdvice}
	}
	all.Requests = requests
	return Answer{What: fmt.Sprintf("No good answer of %s.", who), Why: worst(&all), Do: logAdvice}
}

// logAdvice is where a service says what it lacks.
const logAdvice = "read the log of the service, in the folder of the record."
