package html

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// tailRow is one cell's slow tail as a stacked bar in the HTML.
type tailRow struct {
	Mark  mark
	Index int
	Name  string
	Label string // for those who cannot see the bar
	Basis string
	Parts []tailPart
}

// tailPart is one segment. Its figures are written here, so that a number never
// becomes something else within a style.
type tailPart struct {
	Class string // a name of causes, or "other"
	Grow  string // its share, or the most that it may be
	Sure  string // the part of throttling's that is certain, percent; "": of others
	Text  string // "92%"; the style leaves it out where there is no room
	Tip   string
}

// tailKey explains one colour.
type tailKey struct{ Class, Text string }

// newTails gives the bars of all cells whose tail was divided, and the key of
// the causes that occur.
func newTails(s *summary.Summary, names []string) (rows []tailRow, keys []tailKey) {
	for i := range s.Cells {
		c := s.Cells[i].Causes
		if c == nil || len(narrative.Parts(c)) == 0 {
			continue
		}
		row := tailRow{Mark: markOf(i), Index: i, Name: names[i], Basis: typeset(tailBasis(&s.Cells[i]))}
		var words []string
		row.Parts = newTailParts(c)
		for _, p := range narrative.Parts(c) {
			words = append(words, p.Text()+" "+p.Long)
		}
		row.Label = strings.Join(words, ", ")
		rows = append(rows, row)
	}
	for _, k := range narrative.Causes {
		if slices.ContainsFunc(rows, func(r tailRow) bool {
			return slices.ContainsFunc(r.Parts, func(p tailPart) bool { return p.Class == k.Name })
		}) {
			keys = append(keys, tailKey{k.Name, k.Long})
		}
	}
	return rows, keys
}

// tailBasis is what the division of a cell's slow tail rests on, and at which load.
func tailBasis(c *summary.Cell) string {
	if load := narrative.TailLoad(c); load != "" {
		return load + ": " + narrative.TailBasis(c.Causes)
	}
	return narrative.TailBasis(c.Causes)
}

// newTailParts are the segments of a slow tail.
func newTailParts(c *summary.Causes) []tailPart {
	var all []tailPart
	for _, p := range narrative.Parts(c) {
		all = append(all, newTailPart(c, p))
	}
	return all
}

func newTailPart(c *summary.Causes, p narrative.Part) tailPart {
	out := tailPart{Class: "other", Grow: decimal(p.Value), Text: p.Text(), Tip: p.Long + "\n" + p.Text() + " of the slow tail"}
	if slices.ContainsFunc(narrative.Causes, func(k narrative.Cause) bool { return k.Name == p.Name }) {
		out.Class = p.Name
	}
	switch p.Name {
	case "throttling":
		out.Grow, out.Sure = decimal(p.High), decimal(100*p.Low/p.High)
	case "rest":
		out.Grow = decimal(p.Low)
	}
	if c.MeanMS > 0 && p.Low == p.High {
		out.Tip += "\n" + typeset(display.WithUnit(p.Value*c.MeanMS)) + " of a slow request’s " + typeset(display.WithUnit(c.MeanMS))
	}
	return out
}

// decimal writes a number for a style: plain digits, four of them at most.
func decimal(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
}
