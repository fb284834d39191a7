package narrative

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// Cause is how one share of the slow tail is shown. Its colour in the HTML is
// the class "k-" and its name.
type Cause struct {
	Name  string // as analysis has it
	Short string // for a table
	Long  string // for a legend
	Fill  string // for a bar of text
}

// Causes are in the order of precedence of analysis.
var Causes = []Cause{
	{"generator", "generator", "waiting in the generator", "▚"},
	{"generator_queue", "generator's queue", "queues after pauses of the generator", "▛"},
	{"throttling", "throttling", "throttling", "█"},
	{"dependency", "dependency", "the dependency", "▓"},
	{"restart", "restarts", "restarts and memory pressure", "▞"},
	{"neighbours", "other CPU use", "CPU used by others", "▒"},
	{"rest", "work, queues", "queueing and work", "░"},
}

// CauseOf finds a cause by its name. One that this version does not know is
// shown by its name.
func CauseOf(name string) Cause {
	if i := slices.IndexFunc(Causes, func(c Cause) bool { return c.Name == name }); i >= 0 {
		return Causes[i]
	}
	return Cause{Name: name, Short: display.Plain(name), Long: display.Plain(name), Fill: "?"}
}

// Part is one cause's share of one cell's tail: the shares add up to 1. Low and High are the
// ends of what it may be.
type Part struct {
	Cause
	Value, Low, High float64 // 0..1
}

// Text is the share as percent: "92%", or "11–64%" if its ends differ.
func (p Part) Text() string { return display.Shares(p.Low, p.High) }

// mostlyGenerator is added where most of the CPU that others used was the agents'.
const mostlyGenerator = " (mostly Millicore's own generator)"

// Parts are a tail's shares in their order, without those that are nothing; none if the
// tail has too few requests.
func Parts(c *summary.Causes) []Part {
	if !c.Divided() {
		return nil
	}
	var all []Part
	for _, s := range c.Shares() {
		if s.High > 0 && summary.Finite(&s.Value) != nil {
			part := Part{CauseOf(s.Name), s.Value, s.Low, s.High}
			if s.Name == "neighbours" && c.MostlyGenerator() {
				part.Long += mostlyGenerator
			}
			all = append(all, part)
		}
	}
	return all
}

// MainPart is the largest share of a tail, as far as it is certain; false: it is not divided.
func MainPart(c *summary.Causes) (Part, bool) {
	all := Parts(c)
	if len(all) == 0 {
		return Part{}, false
	}
	return slices.MaxFunc(all, func(a, b Part) int { return cmp.Compare(a.Low, b.Low) }), true
}

// TailBasis is what the division of a slow tail rests on.
func TailBasis(c *summary.Causes) string {
	text := fmt.Sprintf("about %s at or above %s (%s), mean %s", display.Counted(int64(c.Requests), "request"),
		QuantileName(c.Quantile), display.WithUnit(c.FromMS), display.WithUnit(c.MeanMS))
	if few := tailTrials(c); few != "" {
		text += "; " + few
	}
	if c.Divided() && c.ThrottledDirectly > 0 {
		text += "; throttled in " + display.Share(c.ThrottledDirectly) + " of this time"
	}
	return text
}

// tailTrials are the trials of a tail that fewer than half of them have; "" otherwise.
func tailTrials(c *summary.Causes) string {
	if !c.OfFewTrials() {
		return ""
	}
	return fmt.Sprintf("mostly of %d of %d trials", c.MostIn, c.Trials)
}

// TailLoad is the load of the slow tail of a cell whose breaking point was searched: that
// of the windows that tested the breaking point; "" of another cell, which has one load.
func TailLoad(c *summary.Cell) string {
	switch b := c.Breaking; {
	case b == nil || c.Load.Stages:
		return ""
	case b.Held != nil && b.Searches < 2:
		return "at " + LoadFigure(b, b.Held.Target) + " " + LoadUnit(c)
	}
	return "at the breaking point"
}

// CausesLine is what a cell's slow tail is made of, on one line; "": not known.
func CausesLine(c *summary.Cell) string {
	if c.Causes == nil {
		return ""
	}
	var words []string
	for _, p := range Parts(c.Causes) {
		words = append(words, p.Text()+" "+p.Long)
	}
	return strings.Join(words, ", ")
}
