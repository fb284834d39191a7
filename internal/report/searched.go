package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/display"
)

// searched words the answer of a record that looked for breaking points: which
// cell holds the most, what limits it, and how far the others stay behind.
// Cells that intervals do not tell apart are not ranked, and a lower bound is
// called one.
func (a *answer) searched() []string {
	found, none := a.breakingPoints()
	if len(found) == 0 {
		return a.noneFound(none)
	}
	if len(found) > 1 && len(loadUnits(a.s)) > 1 {
		return a.closing(append(unlike(found), a.withoutPoint(none)...))
	}
	all := []string{breaks(found[0]) + "."}
	if len(found) > 1 {
		all = a.byLoad(found)
	}
	all = append(all, a.withoutPoint(none)...)
	if len(found) == 1 || a.apart(found[0], found[1]) {
		all = append(all, a.ofBest(found)...)
	}
	return a.closing(all)
}

// ofBest says what else is known of the cell that holds the most.
func (a *answer) ofBest(found []contender) []string {
	var all []string
	best := found[0].cell
	if text := reason(best.Breaking); text != "" && !best.Breaking.AtLeast {
		all = append(all, sentence(text))
	}
	if best.Knee != nil {
		who := "Its "
		if len(found) > 1 {
			who = found[0].name + "'s "
		}
		all = append(all, who+kneeShort(best)+".")
	}
	return all
}

// closing adds what stands at the end of every answer about breaking points.
func (a *answer) closing(all []string) []string {
	if text := a.tail(); text != "" {
		all = append(all, text)
	}
	return append(all, a.disturbed()...)
}

// breakingPoints parts the searched cells into those that have an answer, the
// highest first, and those that have none.
func (a *answer) breakingPoints() (found []contender, none []int) {
	for i := range a.s.Cells {
		c := &a.s.Cells[i]
		if !searched(c) {
			continue
		}
		load := c.Breaking.Load()
		if load == nil {
			none = append(none, i)
			continue
		}
		one := contender{cell: c, name: a.names[i], value: *load, metric: breakingMetric}
		if c.Breaking.Low != nil {
			one.low, one.high, one.sure = *c.Breaking.Low, math.Inf(1), interval
			if c.Breaking.High != nil {
				one.high = *c.Breaking.High
			}
		}
		found = append(found, one)
	}
	slices.SortStableFunc(found, func(x, y contender) int {
		switch {
		case x.value > y.value:
			return -1
		case x.value < y.value:
			return 1
		}
		return 0
	})
	return found, none
}

// breaks says where one cell breaks, and why: without the full stop, as more
// may follow.
func breaks(c contender) string {
	b := c.cell.Breaking
	label := display.Plain(c.cell.Label)
	if b.AtLeast {
		return fmt.Sprintf("%s holds at least %s %s: %s", label, loadFigure(b, c.value), loadUnit(c.cell), boundReason(b))
	}
	text := fmt.Sprintf("%s breaks at %s %s", label, loadFigure(b, c.value), loadUnit(c.cell))
	if ends := breakInterval(b); ends != "" {
		text += " (" + ends + ")"
	}
	if b.LimitedBy != "" {
		text += ", limited by " + limitPhrase(b.LimitedBy)
	}
	return text
}

// byLoad words several breaking points in one unit, the highest first.
func (a *answer) byLoad(found []contender) []string {
	best := found[0]
	var tied, rest []contender
	for _, c := range found[1:] {
		if a.apart(best, c) {
			rest = append(rest, c)
		} else {
			tied = append(tied, c)
		}
	}
	var text string
	if len(tied) == 0 {
		text = breaks(best) + "; " + times(best, rest)
	} else {
		text = a.together(append([]contender{best}, tied...), rest)
	}
	all := []string{text + "."}
	if text := a.unordered(rest); text != "" {
		all = append(all, text)
	}
	return all
}

// times says how many times the others' load the best one holds. An other
// that is a lower bound itself is not reached: its interval has no end.
func times(best contender, rest []contender) string {
	one := func(c contender) string {
		return fmt.Sprintf("%s times %s (%s)", ratio(best.value/c.value), c.name, loadFigure(c.cell.Breaking, c.value))
	}
	prefix := ""
	if best.cell.Breaking.AtLeast {
		prefix = "at least "
	}
	if len(rest) > fewNames {
		return fmt.Sprintf("%s%s, the next of %d cells, and %s, the last", prefix, one(rest[0]), len(rest)+1, one(rest[len(rest)-1]))
	}
	var words []string
	for _, c := range rest {
		words = append(words, one(c))
	}
	return prefix + list(words)
}

// ratio writes how many times one figure is another.
func ratio(v float64) string {
	switch {
	case v < 1.095:
		return fmt.Sprintf("%.2f", v)
	case v < 9.95:
		return fmt.Sprintf("%.1f", v)
	}
	return display.Grouped(int64(math.Round(v)))
}

// together words that several cells share the first place.
func (a *answer) together(first, rest []contender) string {
	unit := loadUnit(first[0].cell)
	var text string
	if len(first) > fewNames {
		text = fmt.Sprintf("%d cells cannot be told from %s, which breaks at %s %s: %s", len(first)-1,
			first[0].name, breakFigure(first[0].cell.Breaking), unit, a.whyNot(first))
	} else {
		var names, figures []string
		for _, c := range first {
			names = append(names, c.name)
			figures = append(figures, breakFigure(c.cell.Breaking))
		}
		text = fmt.Sprintf("%s cannot be told apart: they break at %s %s, and %s", list(names), list(figures), unit, a.whyNot(first))
		if !a.everyPairTied(first) {
			text = fmt.Sprintf("None of %s is clearly ahead: they break at %s %s, and %s", list(names), list(figures), unit, a.whyNot(first))
		}
	}
	switch {
	case len(rest) > fewNames:
		text += fmt.Sprintf("; the other %d break at %s and below", len(rest), loadFigure(rest[0].cell.Breaking, rest[0].value))
	case len(rest) > 0:
		var words []string
		for _, c := range rest {
			words = append(words, fmt.Sprintf("%s (%s)", c.name, loadFigure(c.cell.Breaking, c.value)))
		}
		verb := " break earlier"
		if len(rest) == 1 {
			verb = " breaks earlier"
		}
		text += "; " + list(words) + verb
	}
	return text
}

// everyPairTied reports whether no two of the cells can be told apart.
func (a *answer) everyPairTied(all []contender) bool {
	for i, x := range all {
		for _, y := range all[i+1:] {
			if a.apart(x, y) {
				return false
			}
		}
	}
	return true
}

// whyNot says why cells are not ranked.
func (a *answer) whyNot(all []contender) string {
	var bounds []string
	for _, c := range all {
		if c.cell.Breaking.AtLeast {
			bounds = append(bounds, c.name)
		}
	}
	switch n := len(bounds); {
	case n == 0:
		return overlap(all)
	case n == 1:
		return "that of " + bounds[0] + " is a lower bound"
	case n > fewNames:
		return fmt.Sprintf("%d of these are lower bounds", n)
	}
	return "those of " + list(bounds) + " are lower bounds"
}

// unordered names neighbours in the order of breaking points whose intervals
// overlap, behind the first place.
func (a *answer) unordered(rest []contender) string {
	var groups []string
	for i := 0; i < len(rest); {
		k := i + 1
		for k < len(rest) && !a.apart(rest[k-1], rest[k]) {
			k++
		}
		if k > i+1 {
			var names []string
			for _, c := range rest[i:k] {
				names = append(names, c.name)
			}
			if len(names) > fewNames {
				names = []string{names[0], fmt.Sprintf("%d more", len(names)-1)}
			}
			groups = append(groups, list(names))
		}
		i = k
	}
	if len(groups) == 0 {
		return ""
	}
	return "The order of " + strings.Join(groups, ", and that of ") + " cannot be told: their intervals overlap."
}

// unlike words breaking points that are counted in different units.
func unlike(found []contender) []string {
	var all []string
	for _, c := range found[:min(len(found), fewNames)] {
		all = append(all, breaks(c)+".")
	}
	return append(all, "Users and requests/s do not compare.")
}

// noneFound words a record in which no search gave an answer.
func (a *answer) noneFound(none []int) []string {
	same := reason(a.s.Cells[none[0]].Breaking)
	for _, i := range none[1:] {
		if reason(a.s.Cells[i].Breaking) != same {
			same = ""
		}
	}
	who := display.Plain(a.s.Cells[none[0]].Label)
	if len(none) > 1 {
		who = fmt.Sprintf("any of the %d cells", len(none))
	}
	text := "No breaking point was found for " + who
	if same != "" {
		return a.closing([]string{text + ": " + same + "."})
	}
	all := []string{text + "."}
	if len(none) > 1 {
		all = append(all, a.withoutPoint(none)...)
	}
	return a.closing(all)
}

// withoutPoint names the cells whose search gave no answer, and why.
func (a *answer) withoutPoint(none []int) []string {
	if len(none) > fewNames {
		return []string{fmt.Sprintf("%d of %d cells have no breaking point.", len(none), len(a.s.Cells))}
	}
	var all []string
	for _, i := range none {
		text := a.names[i] + " has no breaking point"
		if why := reason(a.s.Cells[i].Breaking); why != "" {
			text += ": " + why
		}
		all = append(all, text+".")
	}
	return all
}

// sentence gives a text a capital letter and a full stop.
func sentence(text string) string { return display.Capital(text) + "." }
