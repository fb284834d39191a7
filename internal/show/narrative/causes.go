package narrative

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/phrase"
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

// Part is one cause's share of one cell's tail.
type Part struct {
	Cause
	Value float64 // 0..1
}

// Text is the share as percent.
func (p Part) Text() string { return display.Share(p.Value) }

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
		if s.Value > 0 && summary.Finite(&s.Value) != nil {
			part := Part{CauseOf(s.Name), s.Value}
			if s.Name == "neighbours" && c.MostlyGenerator() {
				part.Long += mostlyGenerator
			}
			all = append(all, part)
		}
	}
	return all
}

// MainPart is the largest share of a tail; false: it is not divided.
func MainPart(c *summary.Causes) (Part, bool) {
	all := Parts(c)
	if len(all) == 0 {
		return Part{}, false
	}
	return slices.MaxFunc(all, func(a, b Part) int { return cmp.Compare(a.Value, b.Value) }), true
}

// TailBasis is what the division of a slow tail rests on.
func TailBasis(c *summary.Causes) string {
	text := fmt.Sprintf("about %s at or above %s (%s), mean %s", display.Counted(int64(c.Requests), "request"),
		QuantileName(c.Quantile), display.WithUnit(c.FromMS), display.WithUnit(c.MeanMS))
	if few := tailTrials(c); few != "" {
		text += "; " + few
	}
	if c.Divided() && c.ThrottledDirectly > 0 && c.Throttling > c.ThrottledDirectly {
		text += fmt.Sprintf("; throttling: %s while throttled, %s in queues that throttling caused", display.Share(c.ThrottledDirectly), display.Share(c.Throttling-c.ThrottledDirectly))
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

// tailFrom is where a slow tail begins, and the trials that it shows if those are few:
// "p99 and above, mostly of 2 of 6 trials".
func tailFrom(c *summary.Causes, form string) string {
	from := fmt.Sprintf(form, QuantileName(c.Quantile))
	if few := tailTrials(c); few != "" {
		from += ", " + few
	}
	return from
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

// generatorsTail names the cells whose slow tail is the generator's: it shows nothing
// about their services. "" if there is none.
func (a *answer) generatorsTail() string {
	var cells []int
	for i := range a.s.Cells {
		if causes.GeneratorsTail(&a.s.Cells[i]) {
			cells = append(cells, i)
		}
	}
	switch {
	case len(cells) == 0:
		return ""
	case len(a.s.Cells) == 1 && !a.s.Cells[0].Causes.Divided():
		return fmt.Sprintf("Its slowest requests (about %d) waited mostly in the generator, so they show nothing about the service. %s", a.s.Cells[0].Causes.Requests, generatorAdvice)
	case len(a.s.Cells) == 1:
		return fmt.Sprintf("%s of its slow tail is the generator's own, so it shows nothing about the service. %s", display.Share(a.s.Cells[0].Causes.OfGenerator()), generatorAdvice)
	case len(cells) == len(a.s.Cells):
		return "In every cell the slow tail is mostly the generator's own: it shows nothing about the services. " + generatorAdvice
	case len(cells) > fewNames:
		return fmt.Sprintf("In %d of %d cells the slow tail is mostly the generator's own; they are not ranked. %s", len(cells), len(a.s.Cells), generatorAdvice)
	}
	var names []string
	for _, i := range cells {
		names = append(names, a.names[i])
	}
	return fmt.Sprintf("The slow tail of %s is mostly the generator's own: not ranked. %s", phrase.List(names), generatorAdvice)
}

// worthNaming is the share of a slow tail below which a cause explains none of it.
const worthNaming = 0.2

// tail is what the slow tail is made of: in the cell whose tail has the largest cause
// besides its own work, and in the cell in which that cause is smallest.
func (a *answer) tail() string {
	worst, top, known := -1, Part{}, 0
	for i := range a.s.Cells {
		c := a.s.Cells[i].Causes
		if c == nil || !c.Divided() || causes.GeneratorsTail(&a.s.Cells[i]) || withheld(&a.s.Cells[i]) {
			continue
		}
		known++
		for _, p := range Parts(c) {
			if p.Name != "rest" && p.Value > top.Value {
				worst, top = i, p
			}
		}
	}
	switch {
	case known == 0:
		return ""
	case len(a.s.Cells) == 1 && top.Value < worthNaming:
		return "Its slow tail is not throttling: no known cause explains a fifth of it."
	case len(a.s.Cells) == 1:
		return top.explainsTail(a.s.Cells[worst].Causes)
	case top.Value < worthNaming && known == len(a.s.Cells):
		return "In no cell is the slow tail throttling: no known cause explains a fifth of it."
	case top.Value < worthNaming:
		return ""
	}
	return fmt.Sprintf("%s of the slow tail (%s) of %s%s.", top.explains(), tailFrom(a.s.Cells[worst].Causes, "%s and above"), a.names[worst], a.sameElsewhere(worst, top))
}

// withheld reports whether the cell's slow tail and what limits it exclude each other.
func withheld(c *summary.Cell) bool {
	return c.Breaking != nil && c.Breaking.Contradiction != ""
}

// explains begins a sentence: "Throttling explains 92%".
func (p Part) explains() string {
	verb := " explains "
	if p.Name == "restart" {
		verb = " explain "
	}
	return display.Capital(p.Long) + verb + p.Text()
}

// explainsTail is the sentence about the tail of the only cell that is shown.
func (p Part) explainsTail(c *summary.Causes) string {
	return fmt.Sprintf("%s of its slow tail (%s).", p.explains(), tailFrom(c, "%s and above"))
}

// sameElsewhere gives the lowest share of the same cause in another cell, where
// it differs much: the setting that mends it.
func (a *answer) sameElsewhere(worst int, top Part) string {
	least, low := -1, math.Inf(1)
	for i := range a.s.Cells {
		if i == worst || a.s.Cells[i].Causes == nil || !a.s.Cells[i].Causes.Divided() {
			continue
		}
		for _, s := range a.s.Cells[i].Causes.Shares() {
			if s.Name == top.Name && s.Value < low {
				least, low = i, s.Value
			}
		}
	}
	if least < 0 || low > top.Value/2 {
		return ""
	}
	return fmt.Sprintf(" and %s of that of %s", display.Share(low), a.names[least])
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
