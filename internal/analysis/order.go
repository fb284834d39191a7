package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// order describes where cells fail as the load rises: "a and b at 200 requests/s, then c
// at 300; d met the objective up to 500". It is an order only from four ramps per cell on.
// It needs two cells, of which one fails. Cells that could not be judged are left out.
func (b *Builder) order(cells []CellSummary) (Finding, bool) {
	failing, holding := map[float64][]string{}, map[float64][]string{}
	known, unit, ramps := 0, "requests/s", math.MaxInt
	for i := range cells {
		if !cells[i].Load.Stages || cells[i].Breaking == nil {
			continue
		}
		if cells[i].Load.Kind == "closed" {
			unit = "users"
		}
		all := b.cells[i].ramps().merged()
		switch {
		case all.firstMissed != nil:
			failing[all.firstMissed.target] = append(failing[all.firstMissed.target], cells[i].Label)
		case all.lastMet != nil:
			holding[all.lastMet.target] = append(holding[all.lastMet.target], cells[i].Label)
		default:
			continue
		}
		known++
		ramps = min(ramps, len(b.cells[i].trials))
	}
	if known < 2 || len(failing) == 0 {
		return Finding{}, false
	}
	text := strings.Join(groups(failing, "at", unit), ", then ")
	if len(holding) > 0 {
		text += "; " + strings.Join(groups(holding, "met the objective up to", ""), ", ")
	}
	title := "order of failure as the load rises"
	if ramps < EnoughSearches {
		title = "load at which each cell failed"
		text += fmt.Sprintf("; not ranked: %s per cell, at least %d needed (measure.repeats)", plural(ramps, "ramp"), EnoughSearches)
	}
	return Finding{Level: "result", Title: title, Text: text}, true
}

// groups describes which cells belong to which load, ascending; the first load has the
// unit.
func groups(at map[float64][]string, where, unit string) []string {
	var all []string
	for i, load := range slices.Sorted(maps.Keys(at)) {
		text := listed(at[load]) + " " + where + " " + number(load)
		if i == 0 && unit != "" {
			text += " " + unit
		}
		all = append(all, text)
	}
	return all
}
