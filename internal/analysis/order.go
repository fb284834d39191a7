package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

// order describes where cells fail as the load rises: "a and b at 200 requests/s, then c
// at 300; d met the objective up to 500". It is an order only if all cells that fail at
// different loads differ significantly. It needs two cells, of which one fails. Cells
// that could not be judged are left out.
func (b *Builder) order(cells []summary.Cell) (summary.Finding, bool) {
	failing, holding := map[float64][]string{}, map[float64][]string{}
	var known []*summary.Cell
	var loads []float64
	unit, ramps := "requests/s", math.MaxInt
	for i := range cells {
		if !cells[i].Load.Stages || cells[i].Breaking == nil {
			continue
		}
		if cells[i].Load.Kind == "closed" {
			unit = "users"
		}
		met, missed := b.cells[i].ramps().Decisive()
		load := math.Inf(1)
		switch {
		case missed != nil:
			load = *missed
			failing[load] = append(failing[load], cells[i].Label)
		case met != nil:
			holding[*met] = append(holding[*met], cells[i].Label)
		default:
			continue
		}
		known, loads = append(known, &cells[i]), append(loads, load)
		ramps = min(ramps, len(b.cells[i].trials))
	}
	if len(known) < 2 || len(failing) == 0 {
		return summary.Finding{}, false
	}
	text := strings.Join(groups(failing, "at", unit), ", then ")
	if len(holding) > 0 {
		text += "; " + strings.Join(groups(holding, "met the objective up to", ""), ", ")
	}
	title, not := "order of failure as the load rises", ""
	ranked := verdict.Rank(&summary.Summary{Cells: cells}, verdict.BreakingPointMetric)
	for i := range known {
		for j := range i {
			switch e := ranked.Between(known[i], known[j]); {
			case e.Basis == summary.Untested:
				not = verdict.GapText(&e, phrase.Plural(ramps, "ramp"))
			case loads[i] == loads[j] || e.Sign == cmp.Compare(loads[i], loads[j]):
			case not == "":
				not = "not all of these differences are significant"
			}
		}
	}
	if not != "" {
		title, text = "load at which each cell failed", text+"; not ranked: "+not
	}
	return summary.Finding{Level: "result", Title: title, Text: text}, true
}

// groups describes which cells belong to which load, ascending; the first load has the
// unit.
func groups(at map[float64][]string, where, unit string) []string {
	var all []string
	for i, load := range slices.Sorted(maps.Keys(at)) {
		text := phrase.List(at[load]) + " " + where + " " + digits.Exact(load)
		if i == 0 && unit != "" {
			text += " " + unit
		}
		all = append(all, text)
	}
	return all
}
