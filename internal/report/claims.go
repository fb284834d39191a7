package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// claimRow is a claim in words.
type claimRow struct {
	Says      string
	Published string // "" where no figures were given
	Measured  string // the figure that the claim is about, with its ends
	Cells     string // of which cells; the whole of an order
	Verdict   string
	Class     string // of the verdict, in the page
	Reason    string
	Picture   *claimPicture // nil: no interval, or no bound
	tone      display.Tone
	mark      string
}

// verdictLooks are how the verdicts stand out.
var verdictLooks = map[analysis.Verdict]struct {
	mark, class string
	tone        display.Tone
}{
	analysis.Reproduced:    {"✓", "good", display.Good},
	analysis.NotReproduced: {"✗", "bad", display.Bad},
	analysis.Inconclusive:  {"?", "open", display.Normal},
}

// newClaims words the record's claims.
func newClaims(s *analysis.Summary, names []string) []claimRow {
	var all []claimRow
	for i := range s.Claims {
		c := &s.Claims[i]
		look := verdictLooks[c.Verdict]
		row := claimRow{Says: display.Plain(c.Says), Published: display.Plain(c.Published), Verdict: display.Plain(c.Verdict.String()),
			Reason: display.Plain(c.Reason), Class: look.class, tone: look.tone, mark: look.mark, Picture: newClaimPicture(c)}
		row.Cells = claimedCells(s, names, c)
		if c.Value != nil || c.Low != nil {
			row.Measured = claimFigure(c.Value, c.Low, c.High, c.IntervalOf, c.ValueUnit())
		}
		all = append(all, row)
	}
	return all
}

// claimedCells names what was measured: "p99 of procs=6", and where several
// cells take part what each of them shows.
func claimedCells(s *analysis.Summary, names []string, c *analysis.Claim) string {
	words := display.Plain(c.Metric)
	if m, ok := analysis.MetricOf(c.Metric); ok {
		words = m.Words
	}
	if at := results.Finite(c.At); at != nil {
		words += " at " + inUnit(*at, levelUnit(s, c))
	}
	var parts []string
	for i := range c.Cells {
		one := &c.Cells[i]
		name := display.Plain(one.Label)
		if one.Cell != nil {
			if at := results.CellAt(s, *one.Cell); at >= 0 {
				name = names[at]
			}
		}
		switch {
		case c.Ratio: // which has ends of its own
			name = display.Maybe(results.Finite(one.Value), func(v float64) string { return inUnit(v, c.Unit) }) + " (" + name + ")"
		case len(c.Cells) > 1:
			name += " " + claimFigure(one.Value, one.Low, one.High, one.IntervalOf, c.Unit)
		}
		parts = append(parts, name)
	}
	if c.Ratio {
		return words + " " + strings.Join(parts, " over ")
	}
	return words + " of " + display.List(parts)
}

// levelUnit is that of the level which a claim is about.
func levelUnit(s *analysis.Summary, c *analysis.Claim) string {
	for i := range c.Cells {
		if one := c.Cells[i].Cell; one != nil {
			if at := results.CellAt(s, *one); at >= 0 && s.Cells[at].Load.Kind == "closed" {
				return "users"
			}
		}
	}
	return "requests/s"
}

// claimFigure writes a figure with its ends: "2.79 times (95%: 2.50–3.10)". One
// without an upper end is "at least" its lower one.
func claimFigure(value, low, high *float64, of, unit string) string {
	low, high = results.Finite(low), results.Finite(high)
	if low != nil && high == nil {
		return "at least " + inUnit(*low, unit)
	}
	text := display.Maybe(results.Finite(value), func(v float64) string { return inUnit(v, unit) })
	if low == nil || high == nil {
		return text
	}
	from, to := inUnit(*low, unit), inUnit(*high, unit)
	if from == to && from == text {
		return text // the ends add nothing
	}
	if unit := strings.TrimLeft(to, "0123456789.,<>"); strings.HasSuffix(from, unit) {
		from = strings.TrimSuffix(from, unit)
		if unit != "%" && strings.HasSuffix(text, unit) {
			to = strings.TrimSuffix(to, unit)
		}
	}
	switch of {
	case analysis.ByRange:
		return text + " (range " + from + "–" + to + ")"
	case analysis.ByLevels:
		return text + " (between " + from + " and " + to + ")"
	}
	return text + " (95%: " + from + "–" + to + ")"
}

// inUnit writes a figure of a metric for a sentence.
func inUnit(v float64, unit string) string {
	switch unit {
	case "ms":
		return display.WithUnit(v)
	case "share":
		return display.Share(v)
	case "%":
		return display.Percent(v)
	case "bytes":
		return display.Bytes(v)
	case "cores":
		return display.Figure(v) + " CPUs"
	case "requests", "users", "kills", "restarts":
		if v != math.Trunc(v) { // a median between two
			break
		}
		return display.Grouped(int64(math.Round(v))) + " " + unit
	}
	return display.Figure(v) + " " + display.Plain(unit)
}

// claimCount says how many claims have which verdict.
func claimCount(s *analysis.Summary) string {
	var parts []string
	for _, v := range []analysis.Verdict{analysis.Reproduced, analysis.NotReproduced, analysis.Inconclusive} {
		n := 0
		for i := range s.Claims {
			if s.Claims[i].Verdict == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}

// claims writes the claims one after another: their words need the whole width.
func (t terminal) claims(s *analysis.Summary) string {
	if len(s.Claims) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + t.Paint("Published claims: "+claimCount(s), display.Strong) + "\n")
	for _, c := range newClaims(s, narrative.CellNames(s)) {
		says := strings.TrimPrefix(t.Wrap(c.Says, "  "), "  ")
		b.WriteString("\n" + t.Paint(c.mark, c.tone) + " " + says + "\n")
		if c.Published != "" {
			b.WriteString(t.fact("published", c.Published))
		}
		b.WriteString(t.fact("measured", joinedMeasure(c)))
		b.WriteString(t.fact("verdict", t.Paint(c.Verdict, c.tone)+": "+c.Reason))
	}
	return b.String()
}

// joinedMeasure is what was measured on one line.
func joinedMeasure(c claimRow) string {
	if c.Measured == "" {
		return c.Cells
	}
	return c.Measured + ": " + c.Cells
}

// markdownClaims writes the claims as a table.
func markdownClaims(s *analysis.Summary) string {
	if len(s.Claims) == 0 {
		return ""
	}
	heads := []string{"claim", "published", "measured", "verdict", "why"}
	cols := make([]display.Column, len(heads))
	for i, head := range heads {
		cols[i] = display.Column{Head: head, Left: true}
	}
	for _, c := range newClaims(s, narrative.CellNames(s)) {
		published := c.Published
		if published == "" {
			published = display.Absent
		}
		for i, text := range []string{c.Says, published, joinedMeasure(c), c.Verdict, c.Reason} {
			cols[i].Cells = append(cols[i].Cells, text)
		}
	}
	return "\nPublished claims: " + claimCount(s) + ".\n\n" + display.MarkdownTable(cols)
}
