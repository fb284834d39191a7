package report

import (
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// spreads are the ends beside a figure of each cell, and the head that names
// them. Searched cells have none, because each of their trials has a load of its
// own.
func spreads(rows []*cellSummary, metric string) (head string, notes []string) {
	certainties := make([]verdict.Certainty, len(rows))
	notes = make([]string, len(rows))
	for i, c := range rows {
		if low, high, what := verdict.SpreadOf(c, metric); what != verdict.NoEnds && !c.Searched() {
			notes[i], certainties[i] = display.Figure(low)+"–"+display.Figure(high), what
		}
	}
	return endsOf(certainties, notes), notes
}

// endsOf is the head of a column of ends. If cells have ends of different kinds, it
// explains the marks that it adds to those that are not the surest.
func endsOf(certainties []verdict.Certainty, notes []string) (head string) {
	var seen [verdict.IntervalOfTrials + 1]bool
	surest := verdict.NoEnds
	for _, what := range certainties {
		seen[what], surest = true, max(surest, what)
	}
	for i, what := range certainties {
		switch what {
		case surest, verdict.NoEnds:
		case verdict.RangeOfTrials:
			notes[i] += "*"
		default:
			notes[i] += "†"
		}
	}
	switch {
	case surest == verdict.IntervalOfTrials && seen[verdict.RangeOfTrials] && seen[verdict.IntervalOfFrames]:
		return "95% (* range\n† by frames)"
	case surest == verdict.IntervalOfTrials && seen[verdict.RangeOfTrials]:
		return "95% (* range\nof trials)"
	case surest == verdict.IntervalOfTrials && seen[verdict.IntervalOfFrames]:
		return "95% (†\nby frames)"
	case surest == verdict.RangeOfTrials && seen[verdict.IntervalOfFrames]:
		return "range († 95%\nby frames)"
	case surest == verdict.RangeOfTrials:
		return "range of\nthe trials"
	case surest == verdict.IntervalOfFrames:
		return "95% by\nframes"
	}
	return "95%\ninterval"
}

// endsHead is the head of the ends of breaking points. From six starts on they are
// the 95% interval of a median; those of one search hold for its start, and one ramp
// shows only between which two levels the breaking point lies.
func endsHead(rows []*cellSummary) string {
	head := ""
	for _, c := range rows {
		one := "95% interval\n(1 search)"
		switch {
		case narrative.BreakInterval(c.Breaking) == "":
			continue
		case c.Breaking.OverStarts():
			one = "95%\ninterval"
		case c.Breaking.Searches > 1:
			one = "range of\nthe trials"
		case c.Load.Stages:
			one = "last met–\nfirst missed"
		}
		if head != "" && head != one {
			return "from\nto" // of several kinds
		}
		head = one
	}
	if head == "" {
		return "from\nto"
	}
	return head
}

// latencyScale holds a quantile of all cells and trials.
func latencyScale(rows []*cellSummary, quantile string) Scale {
	top := 0.0
	for _, c := range rows {
		if r := latencyRange(c, quantile); r != nil {
			top = slices.Max(append([]float64{top, *r.Value}, r.Points...))
			if r.High != nil {
				top = math.Max(top, *r.High)
			}
		}
	}
	return scaleTo(top, display.WithUnit)
}

// latencyRange shows how certain a quantile of a cell is; nil if it has none.
func latencyRange(c *cellSummary, quantile string) *Range {
	f, ok := verdict.FigureOf(c, quantile)
	if !ok {
		return nil
	}
	m, _ := verdict.MetricOf(quantile)
	r := &Range{Value: &f.Value, Label: narrative.QuantileName(quantile) + " " + display.WithUnit(f.Value), Points: m.Trials(c)}
	if low, high, what := verdict.SpreadOf(c, quantile); what != verdict.NoEnds {
		r.Low, r.High = &low, &high
		r.Label += ", trials or interval " + display.Figure(low) + " to " + display.WithUnit(high)
	}
	return r
}

// breakScale holds all breaking points; it has no extent if they are counted in
// different units.
func breakScale(s *summary.Summary) Scale {
	top := 0.0
	for i := range s.Cells {
		if b := s.Cells[i].Breaking; b != nil && summary.Finite(b.Load()) != nil {
			top = math.Max(top, *b.Load())
			if summary.Finite(b.High) != nil {
				top = math.Max(top, *b.High)
			}
		}
	}
	if len(narrative.LoadUnits(s)) > 1 {
		return Scale{}
	}
	return scaleTo(top, display.Figure)
}

// breakRange shows a breaking point with its interval; that of a lower bound has no
// upper end. It is nil if none was found.
func breakRange(c *cellSummary) *Range {
	b := c.Breaking
	if b == nil || summary.Finite(b.Load()) == nil {
		return nil
	}
	return &Range{Value: b.Load(), Low: summary.Finite(b.Low), High: summary.Finite(b.High), Label: narrative.BreakLine(c)}
}
