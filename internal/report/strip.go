package report

import (
	"math"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// A strip is a small picture of how sure a cell's p99 is: each trial's p99 as
// a dot, the interval as a bar, the figure over all trials as a tick. All
// cells share one scale, so the strips compare.

const (
	stripWidth  = 190.0 // CSS pixels
	stripMargin = 6.0
)

// stripScale maps milliseconds to places.
type stripScale struct {
	Max   float64 // the upper end, a round number; 0: nothing to draw
	Label string
	Half  string
}

type strip struct {
	Dots      []float64
	Low, Long float64 // the interval's start and length
	Interval  bool
	Tick      float64
	Label     string // for those who cannot see it
}

// newStripScale begins at 0, so that lengths compare, and ends at a round
// number at or above everything that is drawn.
func newStripScale(s *analysis.Summary) stripScale {
	top := 0.0
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.LatencyMS != nil {
			top = math.Max(top, c.LatencyMS.P99)
		}
		if _, high, what := analysis.SpreadOfP99(c); what != analysis.NoEnds {
			top = math.Max(top, high)
		}
		if _, high, n := analysis.TrialRange(c, trialP99); n > 0 {
			top = math.Max(top, high)
		}
	}
	if top <= 0 || math.IsInf(top, 0) || math.IsNaN(top) {
		return stripScale{}
	}
	m := roundUp(top)
	return stripScale{Max: m, Label: display.WithUnit(m), Half: display.WithUnit(m / 2)}
}

func trialP99(t *analysis.TrialFigures) *float64 { return t.P99 }

// roundUp gives the next of 1, 1.5, 2, 3, 4, 6, 8 times a power of ten.
func roundUp(v float64) float64 { return nextOf(v, 1, 1.5, 2, 3, 4, 6, 8) }

// nextOf gives the next of some numbers from 1 to 10, times a power of ten.
func nextOf(v float64, numbers ...float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range numbers {
		if v <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func (s stripScale) x(v float64) float64 {
	return math.Round(10*(stripMargin+v/s.Max*(stripWidth-2*stripMargin))) / 10
}

// strip draws a cell; nil where it has no p99.
func (s stripScale) strip(c *analysis.CellSummary) *strip {
	if s.Max == 0 || c.LatencyMS == nil {
		return nil
	}
	out := &strip{Tick: s.x(c.LatencyMS.P99), Label: "p99 " + display.WithUnit(c.LatencyMS.P99)}
	for i := range c.PerTrial {
		if v := c.PerTrial[i].P99; v != nil {
			out.Dots = append(out.Dots, s.x(*v))
		}
	}
	if low, high, what := analysis.SpreadOfP99(c); what != analysis.NoEnds {
		out.Interval = true
		out.Low, out.Long = s.x(low), math.Max(1, s.x(high)-s.x(low))
		out.Label += ", trials or interval " + display.Figure(low) + " to " + display.WithUnit(high)
	}
	return out
}

// newBreakScale is the scale of the breaking points, in the unit of the load.
func newBreakScale(s *analysis.Summary) stripScale {
	top := 0.0
	for i := range s.Cells {
		if b := s.Cells[i].Breaking; b != nil && results.Finite(b.Load()) != nil {
			top = math.Max(top, *b.Load())
			if results.Finite(b.High) != nil {
				top = math.Max(top, *b.High)
			}
		}
	}
	if top <= 0 || len(narrative.LoadUnits(s)) > 1 {
		return stripScale{}
	}
	m := roundUp(top)
	return stripScale{Max: m, Label: display.Figure(m), Half: display.Figure(m / 2)}
}

// breakStrip draws a cell's breaking point with its interval; that of a lower
// bound has no end. It is nil where none was found.
func (s stripScale) breakStrip(c *analysis.CellSummary) *strip {
	b := c.Breaking
	if s.Max == 0 || b == nil || results.Finite(b.Load()) == nil {
		return nil
	}
	out := &strip{Tick: s.x(*b.Load()), Label: narrative.BreakLine(c)}
	if results.Finite(b.Low) != nil {
		high := s.Max
		if results.Finite(b.High) != nil {
			high = *b.High
		}
		out.Interval = true
		out.Low, out.Long = s.x(*b.Low), math.Max(1, s.x(high)-s.x(*b.Low))
	}
	return out
}
