package charts

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/narrative"
)

// chartObjective is the line that latency is held against.
type chartObjective struct {
	Quantile string  `json:"quantile"`
	MS       float64 `json:"ms"`
}

// chartBreaking is a breaking point on the curve; the text is for its tip.
type chartBreaking struct {
	At      float64  `json:"at"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"` // null: a lower bound
	AtLeast bool     `json:"at_least"`
	Label   string   `json:"label"`
	Text    string   `json:"text"`
}

type chartKnee struct {
	At       float64 `json:"at"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	FloorMS  float64 `json:"floor_ms"`
	Quantile string  `json:"quantile"`
	Text     string  `json:"text"`
}

// chartStep is one load that was held, in the curves.
type chartStep struct {
	Target    float64  `json:"target"`
	Rate      float64  `json:"rate"`
	P50       *float64 `json:"p50"`
	P99       *float64 `json:"p99"`
	P999      *float64 `json:"p999"`
	Throttled *float64 `json:"throttled"`
	Met       *bool    `json:"met"` // the objective; null: none, or not known
}

// chartSteps are a cell's held loads upwards, so that a line through them runs
// one way.
func chartSteps(c *summary.Cell) []chartStep {
	out := []chartStep{}
	for i := range c.Steps {
		s := &c.Steps[i]
		one := chartStep{Target: s.Target, Rate: s.RateRPS, Throttled: summary.Finite(s.Throttled), Met: s.Met}
		if q := s.LatencyMS; q != nil {
			one.P50, one.P99, one.P999 = summary.Finite(&q.P50), summary.Finite(&q.P99), summary.Finite(&q.P999)
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b chartStep) int {
		switch {
		case a.Target < b.Target:
			return -1
		case a.Target > b.Target:
			return 1
		}
		return 0
	})
	return out
}

// newChartBreaking is nil where no breaking point was found.
func newChartBreaking(c *summary.Cell) *chartBreaking {
	b := c.Breaking
	if b == nil || summary.Finite(b.Load()) == nil {
		return nil
	}
	out := &chartBreaking{At: *b.Load(), Low: summary.Finite(b.Low), High: summary.Finite(b.High), AtLeast: b.AtLeast, Label: narrative.BreaksAt(c), Text: narrative.BreakLine(c)}
	switch {
	case b.AtLeast:
		out.Text += ": " + narrative.BoundReason(b)
	case b.LimitedBy != "":
		out.Text += ", limited by " + narrative.LimitPhrase(b.LimitedBy)
	}
	return out
}

func newChartKnee(c *summary.Cell) *chartKnee {
	k := c.Knee
	if k == nil || summary.Finite(&k.Load) == nil || summary.Finite(&k.FloorMS) == nil || summary.Finite(&k.Low) == nil || summary.Finite(&k.High) == nil {
		return nil
	}
	return &chartKnee{At: k.Load, Low: k.Low, High: k.High, FloorMS: k.FloorMS, Quantile: k.Quantile, Text: narrative.KneeText(c)}
}

// chartObjectiveOf is the latency that every cell was held against; nil: none,
// or not the same one.
func chartObjectiveOf(s *summary.Summary) *chartObjective {
	var all []chartObjective
	for i := range s.Cells {
		wanted := goalOf(s.Cells[i].Objective)
		if wanted.Quantile == "" {
			return nil
		}
		all = append(all, chartObjective{wanted.Quantile, wanted.MS})
	}
	if len(slices.Compact(all)) != 1 {
		return nil
	}
	return &all[0]
}
