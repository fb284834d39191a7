package report

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// manyRows is how many rows of a long table a terminal shows.
const manyRows = 48

// level is one step of one cell.
type level struct {
	*summary.Step
	cell int
	name string
}

// newLevels is the table of what staged loads held, upwards, so that the cells stand
// side by side. The loads of a search differ from cell to cell, and belong to the
// details of the cell.
func newLevels(s *summary.Summary, names []string) Table {
	unit := "requests/s"
	var rows []level
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Load.Kind == "closed" {
			unit = "users"
		}
		if c.Searched() && !c.Load.Stages {
			continue
		}
		for k := range c.Steps {
			rows = append(rows, level{&c.Steps[k], i, names[i]})
		}
	}
	if len(rows) == 0 {
		return Table{}
	}
	slices.SortStableFunc(rows, func(a, b level) int {
		switch {
		case a.Target < b.Target:
			return -1
		case a.Target > b.Target:
			return 1
		}
		return a.cell - b.cell
	})
	cols := levelColumns(rows, unit, s.Quantile())
	cols[0].Kind = Group
	t := Table{Title: "Levels held", Most: manyRows, Lead: "What each cell did while the load was constant. A percentile over a ramp describes no load, so none is shown.",
		Columns: slices.Insert(cols, 1, Column{Head: "cell", Kind: Name, Cells: words(rows, func(l level) string { return l.name })})}
	for _, l := range rows {
		t.About = append(t.About, l.cell)
	}
	return t
}

// levelColumns are a load and what was measured at it. ranked is the quantile by which
// cells are ranked.
func levelColumns(rows []level, unit, ranked string) []Column {
	of := func(head, unit string, rank Rank, text func(level) string) Column {
		return Column{Head: head, Unit: unit, Rank: rank, Cells: words(rows, text)}
	}
	latency := func(name string, rank Rank) Column {
		return of(narrative.QuantileName(name), "ms", rank, func(l level) string {
			return quantileOf(l.LatencyMS, func(q *summary.Quantiles) float64 { return q.Named(name) })
		})
	}
	cols := []Column{
		of("load", unit, Kept, func(l level) string { return display.Figure(l.Target) }),
		of("requests", "/s", 3, func(l level) string { return display.Figure(l.RateRPS) }),
	}
	if ranked != "p50" {
		cols = append(cols, latency("p50", 4))
	}
	cols = append(cols, latency(ranked, Kept))
	if ranked != "p999" {
		cols = append(cols, latency("p999", 6))
	}
	return append(cols,
		Column{Head: "available", Unit: "%", Rank: 1, Cells: each(rows, func(l level) Cell { return available(l.Availability) })},
		of("CPU", "% of limit", 5, func(l level) string { return share(l.CPUOfLimit) }),
		of("throttled", "% of periods", 2, func(l level) string { return share(l.Throttled) }))
}
