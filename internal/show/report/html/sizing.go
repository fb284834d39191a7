package html

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/show/narrative"
	"github.com/millicore/millicore/internal/show/report"
)

// sizing is the chart of breaking points against CPU limits: a point with its interval
// for each cell with a limit, and a line across for one without. Lengths are CSS pixels.
type sizing struct {
	Unit   string // of the breaking points
	X, Y   []sizingTick
	Points []sizingPoint
	Line   string // through the first cell of each limit, as the points of a polyline
	Free   []sizingPoint
	Label  string // for those who cannot see it
}

type sizingTick struct {
	At    float64
	Label string
}

type sizingPoint struct {
	mark
	X, Y       float64
	Top, Foot  float64 // of the interval
	Open       bool    // a lower bound: it has no upper end
	Name, Says string
}

// The plot within the drawing, which is 640 by 300.
const (
	sizingLeft, sizingRight = 64.0, 624.0
	sizingTop, sizingFoot   = 14.0, 252.0
	besideOne               = 7.0 // between points of one limit
)

// newSizing returns the chart; nil: the record has not searched under several limits.
func newSizing(s *summary.Summary, names []string) *sizing {
	units := narrative.LoadUnits(s)
	millis, cells := limitsSearched(s)
	if len(millis) < 2 || len(units) != 1 {
		return nil
	}
	top := 0.0
	for _, i := range cells {
		b := s.Cells[i].Breaking
		top = max(top, *b.Load())
		if b.High != nil && summary.Finite(b.High) != nil {
			top = max(top, *b.High)
		}
	}
	top = report.Round(top, 1, 1.5, 2, 3, 4, 6, 8)
	most := float64(millis[len(millis)-1]) * 1.08
	x := func(m int64) float64 {
		return rounded(sizingLeft + float64(m)/most*(sizingRight-sizingLeft))
	}
	y := func(v float64) float64 {
		return rounded(sizingFoot - min(v, top)/top*(sizingFoot-sizingTop))
	}
	c := &sizing{Unit: units[0]}
	for _, m := range millis {
		c.X = append(c.X, sizingTick{x(m), experiment.CPUQuantity(m)})
	}
	for k := range 5 {
		v := top * float64(k) / 4
		c.Y = append(c.Y, sizingTick{y(v), display.Figure(v)})
	}
	var line, words []string
	at := map[int64]int{} // points of a limit so far
	for _, i := range cells {
		cell := &s.Cells[i]
		b := cell.Breaking
		p := sizingPoint{mark: markOf(i), Y: y(*b.Load()), Name: names[i], Says: narrative.BreakLine(cell), Open: b.High == nil}
		p.Top, p.Foot = p.Y, p.Y
		if b.Low != nil {
			p.Foot = y(*b.Low)
		}
		if b.High != nil {
			p.Top = y(*b.High)
		}
		words = append(words, names[i]+": "+p.Says)
		if cell.Limits.CPUMillis == nil {
			c.Free = append(c.Free, p)
			continue
		}
		m := *cell.Limits.CPUMillis
		p.X = x(m) + besideOne*float64(at[m])
		if at[m]++; at[m] == 1 {
			line = append(line, fmt.Sprintf("%g,%g", p.X, p.Y))
		}
		c.Points = append(c.Points, p)
	}
	c.Line, c.Label = strings.Join(line, " "), strings.Join(words, "; ")
	return c
}

// limitsSearched are the CPU limits under which breaking points were found, ascending,
// and the cells of these and without a limit, by their limits. Replicas have more than
// one limit, and are left out.
func limitsSearched(s *summary.Summary) (millis []int64, cells []int) {
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Breaking == nil || summary.Finite(c.Breaking.Load()) == nil || c.Limits.Replicas > 1 {
			continue
		}
		cells = append(cells, i)
		if m := c.Limits.CPUMillis; m != nil && !slices.Contains(millis, *m) {
			millis = append(millis, *m)
		}
	}
	slices.Sort(millis)
	limit := func(i int) int64 {
		if m := s.Cells[i].Limits.CPUMillis; m != nil {
			return *m
		}
		return math.MaxInt64
	}
	slices.SortStableFunc(cells, func(a, b int) int { return int(min(1, max(-1, limit(a)-limit(b)))) })
	return millis, cells
}

func rounded(v float64) float64 { return math.Round(10*v) / 10 }
