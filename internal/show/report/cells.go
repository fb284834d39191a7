package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

type cellSummary = summary.Cell

// newCells returns the table of cells, which depends on what the record is about.
func newCells(s *summary.Summary) Table {
	rows := make([]*cellSummary, len(s.Cells))
	about := make([]int, len(s.Cells))
	for i := range s.Cells {
		rows[i], about[i] = &s.Cells[i], i
	}
	switch kind := s.Kind(); {
	case kind == summary.KindBenchmark:
		return benchmarkCells(s)
	case kind == summary.KindSearch && (s.Common != nil || s.Experiment.Server != nil):
		return settingsTable(s, rows, about)
	case kind == summary.KindSearch:
		return Table{Columns: searchColumns(s, rows), About: about,
			Lead: "The breaking point is the highest load that still meets the objective. Latency, CPU and throttling are those of the windows in which it was tested."}
	}
	return Table{Columns: trafficColumns(s, rows), About: about}
}

// cellsNote states what the rates and latencies of the table are; "": nothing to add.
func cellsNote(s *summary.Summary) string {
	if s.Kind() == summary.KindBenchmark {
		return ""
	}
	var notes []string
	if s.Common != nil {
		notes = append(notes, narrative.CommonNote(s))
	} else if slices.ContainsFunc(s.Cells, func(c cellSummary) bool { return len(c.PerTrial) > 1 }) {
		notes = append(notes, "Rates and latencies are medians over the trials of a cell.")
	}
	if slices.ContainsFunc(s.Cells, func(c cellSummary) bool { return !verdict.Supports(&c, s.Quantile()) }) {
		notes = append(notes, fmt.Sprintf("~: fewer than %d requests lie beyond this percentile.", verdict.Support))
	}
	if s.Quantile() == "p999" && slices.ContainsFunc(s.Cells, func(c cellSummary) bool { return c.LatencyMS != nil && hasFewPeriods(c) }) {
		notes = append(notes, fmt.Sprintf("Fewer than %s quota periods were measured in a cell: too few for a reliable p99.9.", display.Grouped(fewPeriods)))
	}
	return strings.Join(notes, " ")
}

// trafficColumns are those of cells under a load that the experiment sets.
func trafficColumns(s *summary.Summary, rows []*cellSummary) []Column {
	rate := Column{Head: "requests", Unit: "/s", Cells: words(rows, func(c *cellSummary) string { return figureOf(c, "rate", display.Figure) })}
	head, notes := spreads(rows, "rate")
	ranked := s.Quantile()
	p50 := quantile(rows, "p50")
	p50.Rank = 3
	cols := append(nameColumns(s, rows), rate.noted(head, notes, PageOnly))
	if ranked != "p50" {
		head, notes = spreads(rows, "p50")
		cols = append(cols, p50.noted(head, notes, PageOnly))
	}
	head, notes = spreads(rows, ranked)
	cols = append(cols, quantile(rows, ranked).noted(head, notes, 1))
	if scale := latencyScale(rows, ranked); scale.Drawn() {
		cols = append(cols, Column{Head: narrative.QuantileName(ranked) + " of each trial", Kind: Picture, Rank: PageOnly, Scale: scale,
			Cells: each(rows, func(c *cellSummary) Cell { return Cell{Range: latencyRange(c, ranked)} })})
	}
	p999 := quantile(rows, "p999")
	if p999.Rank = 7; !hasP999(s) {
		p999.Rank = PageOnly
	}
	if ranked != "p999" {
		head, notes = spreads(rows, "p999")
		cols = append(cols, p999.noted(head, notes, PageOnly))
	}
	cols = append(cols, availableColumn(rows, 2))
	cols = append(cols, useColumns(rows)...)
	if slices.ContainsFunc(rows, func(c *cellSummary) bool { return c.Objective != nil }) {
		cols = append(cols, Column{Head: "objective", Kind: Word, Cells: each(rows, func(c *cellSummary) Cell {
			one := Cell{Text: narrative.ObjectiveWord(c)}
			if o := c.Objective; o != nil && o.Met != nil && !*o.Met {
				one.Tone = display.Bad
			}
			return one
		})})
	}
	return append(cols, closingColumns(rows)...)
}

// searchColumns are those of cells whose breaking points were searched.
func searchColumns(s *summary.Summary, rows []*cellSummary) []Column {
	breaks := Column{Head: "breaks at", Unit: strings.Join(narrative.LoadUnits(s), " or "), Kind: Main, Cells: each(rows, func(c *cellSummary) Cell {
		return Cell{Text: narrative.BreaksAt(c), Tone: breakTone(c)}
	})}
	notes := make([]string, len(rows))
	for i, c := range rows {
		notes[i] = narrative.BreakInterval(c.Breaking)
	}
	cols := append(nameColumns(s, rows), breaks.noted(endsHead(rows), notes, Kept))
	if scale := breakScale(s); scale.Drawn() {
		cols = append(cols, Column{Head: "with its ends", Kind: Picture, Rank: PageOnly, Scale: scale,
			Cells: each(rows, func(c *cellSummary) Cell { return Cell{Range: breakRange(c)} })})
	}
	ranked, latencies := s.Quantile(), []Column{}
	if p50 := quantile(rows, "p50"); ranked != "p50" {
		p50.Rank = 5
		latencies = append(latencies, p50)
	}
	cols = append(cols,
		Column{Head: "limited by", Kind: Word, Cells: words(rows, func(c *cellSummary) string {
			if c.Breaking == nil || c.Breaking.LimitedBy == "" {
				return display.Absent
			}
			return narrative.LimitWord(c.Breaking.LimitedBy)
		})})
	cols = append(append(cols, latencies...), quantile(rows, ranked))
	use := useColumns(rows)
	use[0].Rank, use[1].NotesRank = 2, PageOnly
	cols = append(cols, use[:2]...)
	if slices.ContainsFunc(rows, func(c *cellSummary) bool { return c.Knee != nil }) {
		cols = append(cols, kneeColumn(s, rows))
	}
	return append(append(cols, availableColumn(rows, PageOnly)), closingColumns(rows)...)
}

// benchmarkCells is the table of programs that measure themselves, one row per
// figure that they print.
func benchmarkCells(s *summary.Summary) Table {
	rows := narrative.BenchRows(s)
	t := Table{Lead: "No requests were sent: each program measured itself under its limits, and ended. The median is over its trials. CPU, throttling and memory are those of its whole process."}
	cells := make([]*cellSummary, len(rows))
	for i := range rows {
		cells[i], t.About = rows[i].Cell, append(t.About, rows[i].Index)
	}
	certainties := make([]verdict.Certainty, len(rows))
	notes := make([]string, len(rows))
	for i := range rows {
		if _, _, certainties[i] = rows[i].Ends(); certainties[i] != verdict.NoEnds {
			notes[i] = rows[i].Spread()
		}
	}
	median := Column{Head: "median", Kind: Main, Cells: words(rows, func(r narrative.BenchRow) string { return r.Figure() })}
	t.Columns = append(nameColumns(s, cells),
		Column{Head: "benchmark", Kind: Word, Cells: words(rows, func(r narrative.BenchRow) string { return r.Name() })},
		Column{Head: "GOMAXPROCS", Rank: 1, Cells: words(rows, func(r narrative.BenchRow) string { return r.Procs() })},
		median.noted(endsOf(certainties, notes), notes, Kept),
		Column{Head: "unit", Kind: Word, Cells: words(rows, func(r narrative.BenchRow) string { return r.UnitName() })})
	t.Columns = append(append(t.Columns, useColumns(cells)...), closingColumns(cells)...)
	return t
}

// nameColumns are the service and each varied setting.
func nameColumns(s *summary.Summary, rows []*cellSummary) []Column {
	cols := []Column{{Head: "service", Kind: Name, Cells: words(rows, func(c *cellSummary) string { return display.Plain(c.Service) })}}
	for _, name := range narrative.Axes(s) {
		cols = append(cols, Column{Head: display.Plain(name), Kind: Setting, Cells: words(rows, func(c *cellSummary) string {
			if value := narrative.Setting(c, name); value != "" {
				return display.Plain(value)
			}
			return display.Absent
		})})
	}
	return cols
}

// quantile is a quantile of each cell's latency. One that too few requests support is
// marked.
func quantile(rows []*cellSummary, name string) Column {
	return Column{Head: narrative.QuantileName(name), Unit: "ms", Cells: words(rows, func(c *cellSummary) string {
		text := figureOf(c, name, display.Milliseconds)
		if text != display.Absent && name != "p999" && !verdict.Supports(c, name) {
			text = "~" + text
		}
		return text
	})}
}

// figureOf is the figure that stands for a cell.
func figureOf(c *cellSummary, metric string, write func(float64) string) string {
	f, ok := verdict.FigureOf(c, metric)
	switch {
	case !ok:
		return display.Absent
	case f.AtLeast:
		return "≥" + write(f.Value)
	}
	return write(f.Value)
}

func quantileOf(q *summary.Quantiles, of func(*summary.Quantiles) float64) string {
	if q == nil {
		return display.Absent
	}
	return display.Milliseconds(of(q))
}

// fewPeriods is how many CFS periods a p99.9 needs. One stall affects all requests in
// flight, so the sample size is the number of periods, not of requests.
const fewPeriods = 1000

// hasP999 reports whether p99.9 belongs into the table of a terminal: one parameter
// is varied, as in published tables, and every cell saw enough periods.
func hasP999(s *summary.Summary) bool {
	if len(narrative.Axes(s)) != 1 {
		return false
	}
	return !slices.ContainsFunc(s.Cells, func(c cellSummary) bool {
		return c.CPU.Periods == nil || c.Limits.CPUMillis == nil || hasFewPeriods(c)
	})
}

// hasFewPeriods reports whether a cell with a CPU limit saw too few periods for a p99.9.
func hasFewPeriods(c cellSummary) bool {
	return c.CPU.Periods != nil && c.Limits.CPUMillis != nil && *c.CPU.Periods < fewPeriods
}

func availableColumn(rows []*cellSummary, rank Rank) Column {
	return Column{Head: "available", Unit: "%", Rank: rank, Cells: each(rows, func(c *cellSummary) Cell { return available(c.Availability) })}
}

// available is an availability, under a head that has the percent.
func available(v *float64) Cell {
	one := Cell{Text: bare(display.Maybe(v, display.Percent))}
	switch {
	case v == nil:
	case *v < verdict.EnoughAnswers:
		one.Tone = display.Bad
	case *v < 99.9:
		one.Tone = display.Warning
	}
	return one
}

// share is a share, under a head that has the percent.
func share(v *float64) string { return bare(display.Maybe(v, display.Share)) }

func bare(text string) string { return strings.TrimSuffix(text, "%") }

// useColumns are what a cell used of its limits: CPU, throttled periods, memory.
func useColumns(rows []*cellSummary) []Column {
	return []Column{
		{Head: "CPU", Unit: "% of limit", Rank: 4, NotesRank: PageOnly, Cells: each(rows, func(c *cellSummary) Cell {
			return Cell{Text: share(c.CPU.OfLimit), Note: coresOf(c)}
		})},
		{Head: "throttled", Unit: "% of periods", Notes: "periods", NotesRank: 8, Early: true, Cells: each(rows, func(c *cellSummary) Cell {
			part := c.ThrottledShare()
			one := Cell{Text: share(part), Tone: throttledTone(part)}
			if part != nil {
				one.Note = display.Grouped(*c.CPU.ThrottledPeriods) + " of " + display.Grouped(*c.CPU.Periods)
			}
			return one
		})},
		{Head: "memory", Unit: "peak MiB", Rank: 5, NotesRank: PageOnly, Cells: each(rows, func(c *cellSummary) Cell {
			one := Cell{Text: display.Maybe(c.Memory.PeakBytes, mebibytes)}
			if c.Memory.PeakBytes != nil && c.Memory.OfLimit != nil {
				one.Note = display.Share(*c.Memory.OfLimit) + " of limit"
			}
			return one
		})},
	}
}

func mebibytes(n int64) string { return display.Figure(display.Mebibytes(n)) }

// closingColumns are the main cause of the slow tail and the warnings, if any cell
// has them.
func closingColumns(rows []*cellSummary) []Column {
	return append(tailColumn(rows), flagsColumn(rows)...)
}

// tailColumn is the main cause of the slow tail; none if no cell's tail is divided.
func tailColumn(rows []*cellSummary) []Column {
	if !slices.ContainsFunc(rows, func(c *cellSummary) bool { return c.Causes != nil && len(narrative.Parts(c.Causes)) > 0 }) {
		return nil
	}
	return []Column{{Head: "slow tail", Unit: "is mostly", Kind: Tail, Rank: 6, Early: true, Cells: each(rows, tailCell)}}
}

// flagsColumn are the warnings; none if no cell has one.
func flagsColumn(rows []*cellSummary) []Column {
	if !slices.ContainsFunc(rows, func(c *cellSummary) bool { return len(c.Flags) > 0 }) {
		return nil
	}
	return []Column{{Head: "flags", Kind: Flags, Rank: 9, Cells: each(rows, func(c *cellSummary) Cell {
		one := Cell{Tone: display.Warning}
		for _, word := range c.Flags {
			one.Flags = append(one.Flags, narrative.FlagLabel(word))
		}
		one.Text = strings.Join(one.Flags, ", ")
		return one
	})}}
}

// tailCell is the main part of a slow tail: "92% throttling". A cause that can be
// removed stands out.
func tailCell(c *cellSummary) Cell {
	one := Cell{Text: display.Absent, Tail: c.Causes}
	if c.Causes == nil {
		return one
	}
	if p, ok := narrative.MainPart(c.Causes); ok {
		one.Text = p.Text() + " " + p.Short
		if p.Name != "rest" {
			one.Tone = display.Warning
		}
	}
	return one
}

// kneeColumn is where latency leaves its floor: in CPU of the limit, or as a load if
// a cell has no limit.
func kneeColumn(s *summary.Summary, rows []*cellSummary) Column {
	col := Column{Head: "knee", Unit: "% of limit", Rank: 4, NotesRank: PageOnly}
	ofLimit := !slices.ContainsFunc(rows, func(c *cellSummary) bool { return c.Knee != nil && c.Knee.OfLimit == nil })
	if !ofLimit {
		col.Unit = strings.Join(narrative.LoadUnits(s), " or ")
	}
	col.Cells = each(rows, func(c *cellSummary) Cell {
		switch {
		case c.Knee == nil:
			return Cell{Text: display.Absent}
		case ofLimit:
			return Cell{Text: share(c.Knee.OfLimit), Note: "at " + display.Figure(c.Knee.Load)}
		}
		return Cell{Text: display.Figure(c.Knee.Load)}
	})
	return col
}

// breakTone sets off a search without an answer, and one with a bound only.
func breakTone(c *cellSummary) display.Tone {
	switch b := c.Breaking; {
	case b == nil:
		return display.Normal
	case b.Load() == nil:
		return display.Bad
	case b.AtLeast:
		return display.Warning
	}
	return display.Normal
}

func throttledTone(part *float64) display.Tone {
	if part != nil && *part >= 0.25 {
		return display.Warning
	}
	return display.Normal
}

// coresOf writes the CPU of a cell: "0.98 of 1 CPU".
func coresOf(c *cellSummary) string {
	used, limit := c.CPU.Cores, c.CPU.Limit
	switch {
	case used == nil:
		return ""
	case limit == nil:
		return display.Figure(*used) + " CPUs"
	case *limit == 1:
		return display.Figure(*used) + " of 1 CPU"
	case *limit == math.Trunc(*limit):
		return fmt.Sprintf("%s of %s CPUs", display.Figure(*used), display.Grouped(int64(*limit)))
	}
	return fmt.Sprintf("%s of %s CPUs", display.Figure(*used), display.Figure(*limit))
}
