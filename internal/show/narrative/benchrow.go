package narrative

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
)

// BenchRow is one figure of one benchmark in one cell, a line of its tables.
type BenchRow struct {
	Index int // of the cell in the summary
	Cell  *summary.Cell
	Of    *summary.Benchmark // nil: the cell has no result
}

// BenchRows are the lines in the order of the plan. A cell without a result has one
// line, without a figure.
func BenchRows(s *summary.Summary) []BenchRow {
	var all []BenchRow
	for i := range s.Cells {
		c := &s.Cells[i]
		if len(c.Benchmarks) == 0 {
			all = append(all, BenchRow{i, c, nil})
		}
		for k := range c.Benchmarks {
			all = append(all, BenchRow{i, c, &c.Benchmarks[k]})
		}
	}
	return all
}

// BenchUnit is the unit in which a figure reads best, and how many of it one of
// the record's are: 0.0123 sec/op are 12.3 ms/op.
func BenchUnit(unit string, typical float64) (times float64, name string) {
	base, per, divided := strings.Cut(unit, "/")
	what, of := "", base
	if at := strings.LastIndexByte(base, '-'); at >= 0 { // p99-sec/op
		what, of = base[:at+1], base[at+1:]
	}
	type step struct {
		least, times float64
		name         string
	}
	var steps []step
	switch of {
	case "sec":
		steps = []step{{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "µs"}, {0, 1e9, "ns"}}
	case "B":
		steps = []step{{1 << 30, 1.0 / (1 << 30), "GiB"}, {1 << 20, 1.0 / (1 << 20), "MiB"}, {1 << 10, 1.0 / (1 << 10), "KiB"}, {0, 1, "B"}}
	}
	times = 1
	for _, s := range steps {
		if size := max(typical, -typical); size >= s.least {
			times, of = s.times, s.name
			break
		}
	}
	name = what + of
	if divided {
		name += "/" + per
	}
	return times, display.Plain(name)
}

// Unit is the row's own.
func (r *BenchRow) Unit() (times float64, name string) { return BenchUnit(r.Of.Unit, r.Of.Median) }

// Name is the benchmark's, or "–".
func (r *BenchRow) Name() string {
	if r.Of == nil {
		return display.Absent
	}
	return display.Plain(r.Of.Name)
}

// Procs is GOMAXPROCS as the benchmark began.
func (r *BenchRow) Procs() string {
	if r.Of == nil {
		return display.Absent
	}
	return display.Maybe(r.Of.Procs, func(n int) string { return display.Grouped(int64(n)) })
}

// Figure is the median over trials, without its unit.
func (r *BenchRow) Figure() string {
	if r.Of == nil {
		return display.Absent
	}
	times, _ := r.Unit()
	return display.Figure(r.Of.Median * times)
}

// UnitName is the unit of figure and spread.
func (r *BenchRow) UnitName() string {
	if r.Of == nil {
		return ""
	}
	_, name := r.Unit()
	return name
}

// Ends of the figure, and what they are.
func (r *BenchRow) Ends() (low, high float64, what verdict.Certainty) {
	if r.Of == nil {
		return 0, 0, verdict.NoEnds
	}
	return verdict.BenchmarkEnds(r.Of)
}

// Spread writes the ends: "1.20–1.26".
func (r *BenchRow) Spread() string {
	low, high, what := r.Ends()
	if what == verdict.NoEnds {
		return display.Absent
	}
	times, _ := r.Unit()
	return BenchFigure(low*times) + "–" + BenchFigure(high*times)
}

// BenchFigure writes an end, which may be far below the median that the unit was
// chosen for: never 0 for what only comes near.
func BenchFigure(v float64) string {
	if v > 0 && v < 0.0005 {
		return "<0.001"
	}
	return display.Figure(v)
}

// Sentence is "Sort: 1.23 ms/op (95% interval 1.20–1.26), GOMAXPROCS 2".
func (r *BenchRow) Sentence() string {
	text := fmt.Sprintf("%s: %s %s", r.Name(), r.Figure(), r.UnitName())
	switch _, _, what := r.Ends(); what {
	case verdict.IntervalOfTrials:
		text += " (95% interval " + r.Spread() + ")"
	case verdict.RangeOfTrials:
		text += " (range of the trials " + r.Spread() + ")"
	}
	if r.Of.Procs != nil {
		text += ", GOMAXPROCS " + r.Procs()
	}
	return text
}
