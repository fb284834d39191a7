package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// cause is how one share of the slow tail is shown. Its colour in the HTML is
// the class "k-" and its name.
type cause struct {
	name  string // as analysis has it
	short string // for a table
	long  string // for a legend
	fill  string // for a bar of text
}

// causes are in the order of precedence of analysis.
var causes = []cause{
	{"generator", "generator", "waiting in the generator", "▚"},
	{"throttling", "throttling", "throttling", "█"},
	{"dependency", "dependency", "the dependency", "▓"},
	{"restart", "restarts", "restarts and memory pressure", "▞"},
	{"neighbours", "CPU taken", "CPU that others took", "▒"},
	{"rest", "work, queues", "queueing and work", "░"},
}

// causeOf finds a cause by its name. One that this version does not know is
// shown by its name.
func causeOf(name string) cause {
	if i := slices.IndexFunc(causes, func(c cause) bool { return c.name == name }); i >= 0 {
		return causes[i]
	}
	return cause{name: name, short: display.Plain(name), long: display.Plain(name), fill: "?"}
}

// part is one cause's share of one cell's tail.
type part struct {
	cause
	Value float64 // 0..1
}

// Text is the share as percent.
func (p part) Text() string { return share(p.Value) }

// parts are a tail's shares in their order, without those that are nothing.
func parts(c *analysis.Causes) []part {
	var all []part
	for _, s := range c.Shares() {
		if s.Value > 0 && finite(&s.Value) != nil {
			all = append(all, part{causeOf(s.Name), s.Value})
		}
	}
	return all
}

// mainPart is the largest share of a tail; false: it is not divided.
func mainPart(c *analysis.Causes) (part, bool) {
	all := parts(c)
	if len(all) == 0 {
		return part{}, false
	}
	return slices.MaxFunc(all, func(a, b part) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	}), true
}

// tailWord is a cell's tail in a table: "92% throttling".
func tailWord(c *analysis.CellSummary) string {
	if c.Causes == nil {
		return display.Absent
	}
	if p, ok := mainPart(c.Causes); ok {
		return share(p.Value) + " " + p.short
	}
	return display.Absent
}

// tailTone sets off a tail that has a cause that can be mended.
func tailTone(c *analysis.CellSummary) display.Tone {
	if c.Causes == nil {
		return display.Normal
	}
	if p, ok := mainPart(c.Causes); ok && p.name != "rest" {
		return display.Warning
	}
	return display.Normal
}

// barWidth is how long a bar of text is.
const barWidth = 40

// textBar draws shares as a bar of characters, each cause with its own. Every
// cause that is there has at least one.
func textBar(all []part, wide int) string {
	widths := make([]int, len(all))
	left := wide
	for i, p := range all {
		widths[i] = max(1, int(math.Round(p.Value*float64(wide))))
		left -= widths[i]
	}
	if len(all) > 0 { // what rounding left or took is the widest one's
		widest := slices.Index(widths, slices.Max(widths))
		widths[widest] = max(1, widths[widest]+left)
	}
	var b strings.Builder
	for i, p := range all {
		b.WriteString(strings.Repeat(p.fill, widths[i]))
	}
	return b.String()
}

// barLegend says what a bar's characters are: "█ 92% throttling, ░ 8% queueing
// and work".
func barLegend(all []part) string {
	var words []string
	for _, p := range all {
		words = append(words, p.fill+" "+share(p.Value)+" "+p.long)
	}
	return strings.Join(words, ", ")
}

// tailBasis says what a division of the tail rests on.
func tailBasis(c *analysis.Causes) string {
	text := fmt.Sprintf("%s from %s (%s) on, %s on average", display.Counted(int64(c.Requests), "slow request"),
		milliseconds(c.FromMS), quantileName(c.Quantile), milliseconds(c.MeanMS))
	if c.ThrottledDirectly > 0 && c.Throttling > c.ThrottledDirectly {
		text += fmt.Sprintf("; %s in windows of throttling, %s in the queues that they built", share(c.ThrottledDirectly), share(c.Throttling-c.ThrottledDirectly))
	}
	return text
}

// tail says for the headline what the slow tail is made of: in the cell whose
// tail has the largest cause besides its own work, and in the first cell of
// the answer beside it.
func (a *answer) tail() string {
	worst, top, known := -1, part{}, 0
	for i := range a.s.Cells {
		c := a.s.Cells[i].Causes
		if c == nil {
			continue
		}
		known++
		for _, p := range parts(c) {
			if p.name != "rest" && p.Value > top.Value {
				worst, top = i, p
			}
		}
	}
	const worth = 0.2 // a smaller share explains no tail
	switch {
	case known == 0:
		return ""
	case len(a.s.Cells) == 1 && top.Value < worth:
		return "Its slow tail is queueing and work, not throttling."
	case len(a.s.Cells) == 1:
		return fmt.Sprintf("%s of its slow tail is %s.", share(top.Value), top.long)
	case top.Value < worth && known == len(a.s.Cells):
		return "In every cell the slow tail is queueing and work, not throttling."
	case top.Value < worth:
		return ""
	}
	return fmt.Sprintf("%s of the slow tail of %s is %s%s.", share(top.Value), a.names[worst], top.long, a.sameElsewhere(worst, top))
}

// sameElsewhere gives the lowest share of the same cause in another cell, where
// it differs much: the setting that mends it.
func (a *answer) sameElsewhere(worst int, top part) string {
	least, low := -1, math.Inf(1)
	for i := range a.s.Cells {
		if i == worst || a.s.Cells[i].Causes == nil {
			continue
		}
		for _, s := range a.s.Cells[i].Causes.Shares() {
			if s.Name == top.name && s.Value < low {
				least, low = i, s.Value
			}
		}
	}
	if least < 0 || low > top.Value/2 {
		return ""
	}
	return fmt.Sprintf(", of that of %s %s", a.names[least], share(low))
}

// CausesLine says in one line what a cell's slow tail is made of; "" where that is
// not known.
func CausesLine(c *analysis.CellSummary) string {
	if c.Causes == nil {
		return ""
	}
	var words []string
	for _, p := range parts(c.Causes) {
		words = append(words, p.Text()+" "+p.long)
	}
	return strings.Join(words, ", ")
}
