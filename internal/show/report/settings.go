package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/show/narrative"
)

// settingsTable is the table of cells of a record that compares breaking points and, at
// a common load, latencies: one row for each setting under each limit.
func settingsTable(s *summary.Summary, rows []*cellSummary, about []int) Table {
	t := Table{About: about, Lead: "The breaking point is the highest load that still meets the objective."}
	load := "in its test"
	at := rows // where latency and use were measured
	if s.Common == nil {
		t.Lead += " Latency, throttling and CPU per request are those of the windows in which it was tested."
	} else {
		load = "at " + narrative.CommonLoad(s)
		at = make([]*cellSummary, len(rows))
		for i, c := range rows {
			at[i] = &cellSummary{}
			if k := s.Common.CellAt(c.Cell); k >= 0 {
				at[i] = &s.Common.Cells[k]
			}
		}
	}
	breaks := Column{Head: "breaks at", Unit: strings.Join(narrative.LoadUnits(s), " or "), Kind: Main, Cells: each(rows, func(c *cellSummary) Cell {
		return Cell{Text: narrative.BreaksAt(c), Tone: breakTone(c)}
	})}
	notes := make([]string, len(rows))
	for i, c := range rows {
		notes[i] = narrative.BreakInterval(c.Breaking)
	}
	t.Columns = append(settingColumns(s, rows), breaks.noted(endsHead(rows), notes, Kept))
	if scale := breakScale(s); scale.Drawn() {
		t.Columns = append(t.Columns, Column{Head: "with its ends", Kind: Picture, Rank: PageOnly, Scale: scale,
			Cells: each(rows, func(c *cellSummary) Cell { return Cell{Range: breakRange(c)} })})
	}
	t.Columns = append(t.Columns, neighbourColumn(rows)...)
	quantile := quantile(at, s.Quantile())
	quantile.Unit = "ms " + load
	head, notes := spreads(at, s.Quantile())
	t.Columns = append(t.Columns,
		Column{Head: "limited by", Kind: Word, Rank: 1, Cells: words(rows, func(c *cellSummary) string {
			if c.Breaking == nil || c.Breaking.LimitedBy == "" {
				return display.Absent
			}
			return narrative.LimitWord(c.Breaking.LimitedBy)
		})},
		quantile.noted(head, notes, 6),
		figureColumn(at, Column{Head: "throttled", Unit: "% of periods", Rank: 3, NotesRank: 8, Early: true}, "throttled", func(v float64) string { return share(&v) }),
		figureColumn(at, Column{Head: "CPU", Unit: "ms/request", Rank: 4, NotesRank: 7}, "cpu_per_request", display.Figure))
	t.Columns = append(append(t.Columns, tailColumn(at)...), flagsColumn(rows)...)
	return t
}

// neighbourColumn is the CPU that a busy neighbour used while each setting was overloaded; none:
// there was no neighbour.
func neighbourColumn(rows []*cellSummary) []Column {
	i := slices.IndexFunc(rows, func(c *cellSummary) bool { return c.Beside != nil })
	if i < 0 {
		return nil
	}
	wanted := strconv.FormatFloat(rows[i].Beside.Wanted, 'f', -1, 64)
	return []Column{{Head: "neighbour\nused", Unit: "of " + wanted + " CPUs", Cells: words(rows, func(c *cellSummary) string {
		if c.Beside == nil || c.Beside.Neighbour == nil {
			return display.Absent
		}
		return strconv.FormatFloat(*c.Beside.Neighbour, 'f', 2, 64)
	})}}
}

// figureColumn is a figure of each cell with its ends.
func figureColumn(rows []*cellSummary, col Column, metric string, write func(float64) string) Column {
	certainties := make([]verdict.Certainty, len(rows))
	notes := make([]string, len(rows))
	for i, c := range rows {
		if low, high, what := verdict.SpreadOf(c, metric); what != verdict.NoEnds && !c.Searched() {
			notes[i], certainties[i] = write(low)+"–"+write(high), what
		}
	}
	col.Cells = words(rows, func(c *cellSummary) string { return figureOf(c, metric, write) })
	return col.noted(endsOf(certainties, notes), notes, col.NotesRank)
}

// settingColumns name the cells: by the settings of one server and their limits, or by
// what is varied.
func settingColumns(s *summary.Summary, rows []*cellSummary) []Column {
	cols := nameColumns(s, rows)
	if s.Experiment.Server != nil {
		variants := narrative.Variants(s)
		cols = []Column{{Head: "setting", Kind: Name, Cells: words(rows, func(c *cellSummary) string {
			if i := slices.IndexFunc(variants, func(v narrative.Variant) bool { return v.Service == c.Service }); i >= 0 {
				return variants[i].Label
			}
			return display.Plain(c.Service)
		})}}
	}
	return append(cols, Column{Head: "CPU\nlimit", Kind: Word, Cells: words(rows, limitCell)})
}

// limitCell is a CPU limit in a table: "500m", "2 × 500m" of two replicas.
func limitCell(c *cellSummary) string {
	if c.Limits.CPUMillis == nil {
		return "none"
	}
	text := experiment.CPUQuantity(*c.Limits.CPUMillis)
	if c.Limits.Replicas > 1 {
		text = fmt.Sprintf("%d × %s", c.Limits.Replicas, text)
	}
	return text
}
