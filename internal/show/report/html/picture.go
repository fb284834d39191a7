package html

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/report"
)

// picture is a small drawing of a range on a scale: the figure as a tick, its
// interval as a bar behind it, the trials as dots, no difference or a claimed bound as a line.
// Lengths are CSS pixels.
type picture struct {
	Zero           float64 // where 0 is, if the scale does not begin there; 0: it does
	Dots           []float64
	Bar            float64 // length of a bar from 0 to the figure; 0: none
	Interval       bool
	Low, Long      float64
	Ticked         bool
	Tick           float64
	Bounded        bool
	Bound          float64
	Side, SideLong float64 // the claimed side
	High           string  // label of the end of the scale; "": the head of the column has it
	Label          string  // for those who cannot see it
}

const (
	pictureWidth  = 190.0
	pictureMargin = 6.0
)

// place is where a value stands on a scale.
func place(v float64, s report.Scale) float64 {
	return math.Round(10*(pictureMargin+(v-s.From)/(s.To-s.From)*(pictureWidth-2*pictureMargin))) / 10
}

func newPicture(r *report.Range, s report.Scale) picture {
	p := picture{Label: r.Label, Interval: r.Low != nil, Ticked: r.Value != nil}
	if s.From < 0 {
		p.Zero = place(0, s)
	}
	for _, v := range r.Points {
		p.Dots = append(p.Dots, place(v, s))
	}
	if r.Low != nil {
		high := s.To
		if r.High != nil {
			high = *r.High
		}
		p.Low = place(*r.Low, s)
		p.Long = math.Max(1, place(high, s)-p.Low)
	}
	if r.Value != nil {
		p.Tick = place(*r.Value, s)
	}
	if r.Bar && p.Ticked {
		p.Bar = p.Tick - pictureMargin
	}
	if b := r.Claimed; b != nil {
		p.Bounded, p.Bound, p.High = true, place(b.At, s), s.High
		p.Side, p.SideLong = place(s.From, s), p.Bound-place(s.From, s)
		if b.Above {
			p.Side, p.SideLong = p.Bound, place(s.To, s)-p.Bound
		}
	}
	return p
}

// claim is a published claim with its picture.
type claim struct {
	report.Claim
	Class   string
	Picture *picture
}

// verdictClasses are the classes of verdicts.
var verdictClasses = map[summary.Verdict]string{summary.Reproduced: "good", summary.NotReproduced: "bad", summary.Inconclusive: "open"}

func newClaim(c report.Claim) claim {
	out := claim{Claim: c, Class: verdictClasses[c.Verdict]}
	if c.Range != nil {
		p := newPicture(c.Range, c.Scale)
		out.Picture = &p
	}
	return out
}

func hueClass(cell int) string { return fmt.Sprintf("c%d", markOf(cell).Hue) }

// functionTip are the figures of a function, for its tip.
func functionTip(f report.Function) string {
	lines := []string{f.Package + f.Name}
	if f.File != "" {
		lines = append(lines, f.File)
	}
	return strings.Join(append(lines, fmt.Sprintf("%s of the CPU time in itself (%s), %s with what it calls",
		display.Share(f.Self), typeset(display.WithUnit(f.SelfMS)), display.Share(f.Cum))), "\n")
}

// bar is the length of a share in percent, for a style.
func bar(share float64) string { return decimal(100 * math.Max(0, math.Min(1, share))) }
