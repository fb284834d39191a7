package live

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/display"
)

// gap stands between columns.
const gap = 2

// line is one line of the table: a figure of the last interval, the same figure so far,
// and its course over time.
type line struct {
	name, last, all string
	over            []float64 // drawn as a sparkline; nil: none
	top             float64   // of over
	merged          func([]float64) float64
	drawn           string
	note            string // behind it
	tone            display.Tone
	least           int // the lines with the highest value are left out first
}

// Minimum widths of columns, so that they do not move when figures grow.
const (
	figureWidth = 9
	sparkWidth  = 9  // minimum of a sparkline
	noteWidth   = 20 // minimum of a sparkline next to notes
)

// table has the figures in at most this number of lines.
func (p *drawing) table(most int) []string {
	all := p.figures()
	for len(all)+1 > most && len(all) > 1 {
		at := worst(all)
		all = slices.Delete(all, at, at+1)
	}
	if len(all)+1 > most {
		return nil
	}
	head := line{last: "last " + p.interval(), all: "so far", tone: display.Quiet}
	g := p.grid(append([]line{head}, all...))
	if g.spark > 0 && len(p.trend.rate) > 0 {
		head.drawn = "over time"
		by := ", by " + lasting(time.Duration(g.columns.values)*p.plan.Interval)
		if g.columns.values > 1 && len(head.drawn+by) <= p.out.Width-g.sparksAt() {
			head.drawn += by
		}
	}
	texts := []string{g.text(&head, p)}
	for i := range all {
		if l := &all[i]; l.over != nil && g.spark > 0 {
			l.drawn = spark(l.over, g.columns, l.top, l.merged)
		}
		texts = append(texts, g.text(&all[i], p))
	}
	return texts
}

// grid has the widths of the table's columns; 0: the column is left out.
type grid struct {
	name, last, all, spark, note int
	columns                      columns
}

func (p *drawing) grid(lines []line) grid {
	g := grid{last: figureWidth, all: figureWidth}
	for _, l := range lines {
		g.name, g.note = max(g.name, display.Width(l.name)), max(g.note, display.Width(l.note))
		g.last, g.all = max(g.last, display.Width(l.last)), max(g.all, display.Width(l.all))
	}
	width := p.out.Width - g.sparksAt()
	if room := width - gap - g.note; room >= noteWidth {
		width = room
	} else {
		g.note = 0
	}
	if width < sparkWidth {
		return g
	}
	seen, whole := len(p.trend.rate), 0
	if p.plan.Requests == 0 && p.plan.Interval > 0 { // the sparklines reach the end at the end of the run
		whole = int((p.plan.Length + p.plan.Interval - 1) / p.plan.Interval)
		g.columns = fitted(max(whole, seen), width)
	} else {
		g.columns = fitted(seen, width)
		g.columns.times = 1
	}
	g.spark = max(g.columns.width(max(whole, seen)), sparkWidth)
	return g
}

// sparksAt is the column at which the sparklines begin.
func (g grid) sparksAt() int { return g.name + g.last + g.all + 2*gap + (gap + 1) }

// text formats a line of the table.
func (g grid) text(l *line, p *drawing) string {
	text := l.name + spaces(g.name-display.Width(l.name)) + right(l.last, g.last+gap) + right(l.all, g.all+gap)
	if l.drawn != "" {
		text += spaces(gap+1) + l.drawn
	}
	text = p.out.Paint(text, l.tone)
	if l.note != "" && g.note > 0 {
		from := g.sparksAt() + g.spark + gap
		text += p.out.Paint(spaces(from-display.Width(text))+l.note, display.Quiet)
	}
	return p.fit(strings.TrimRight(text, " "))
}

// worst is the index of the least important line.
func worst(lines []line) int {
	at := 0
	for i := range lines {
		if lines[i].least >= lines[at].least {
			at = i
		}
	}
	return at
}

// interval is the length of the last interval.
func (p *drawing) interval() string {
	if p.last.seconds == 0 {
		return lasting(p.plan.Interval)
	}
	return lasting(time.Duration(p.last.seconds * float64(time.Second)))
}

// lasting formats a duration in seconds, with one decimal.
func lasting(d time.Duration) string {
	seconds := math.Round(d.Seconds()*10) / 10
	return strconv.FormatFloat(seconds, 'f', -1, 64) + " s"
}

func spaces(n int) string { return strings.Repeat(" ", max(0, n)) }

func right(text string, width int) string { return spaces(width-display.Width(text)) + text }
