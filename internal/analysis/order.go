package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
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
		c := b.close(i)
		load := math.Inf(1)
		switch {
		case c.missed != nil:
			load = *c.missed
			failing[load] = append(failing[load], cells[i].Label)
		case c.met != nil:
			holding[*c.met] = append(holding[*c.met], cells[i].Label)
		default:
			continue
		}
		known, loads = append(known, &cells[i]), append(loads, load)
		ramps = min(ramps, c.trials)
	}
	if len(known) < 2 || len(failing) == 0 {
		return summary.Finding{}, false
	}
	why := []finding.Finding{{Kind: finding.FailAtLoads, Because: groups(failing, finding.CellsFail)}}
	why[0].Because[0].Text = unit
	if len(holding) > 0 {
		why = append(why, finding.Finding{Kind: finding.HoldToLoads, Because: groups(holding, finding.CellsHold)})
	}
	what, not := finding.OrderOfFailure, finding.Finding{}
	ranked := verdict.Rank(&summary.Summary{Cells: cells}, verdict.BreakingPointMetric)
	for i := range known {
		for j := range i {
			switch e := ranked.Between(known[i], known[j]); {
			case e.Basis == summary.Untested:
				not = finding.Finding{Kind: finding.NoTest, Gap: string(e.Gap), N: ramps, Text: "ramp", Of: verdict.Needs(e.Cells)}
			case loads[i] == loads[j] || e.Sign == cmp.Compare(loads[i], loads[j]):
			case not.None():
				not.Kind = finding.SomeAlike
			}
		}
	}
	if !not.None() {
		what, why = finding.LoadsOfFailure, append(why, finding.Finding{Kind: finding.NotRanked, Because: []finding.Finding{not}})
	}
	return summary.Finding{Level: "result", What: finding.Finding{Kind: what}, Why: why}, true
}

// groups returns which cells belong to which load, ascending.
func groups(at map[float64][]string, kind finding.Kind) (all []finding.Finding) {
	for _, load := range slices.Sorted(maps.Keys(at)) {
		all = append(all, finding.Finding{Kind: kind, Names: at[load], Load: load})
	}
	return all
}
