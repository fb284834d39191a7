package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// csvRow is what a line of the CSV is about.
type csvRow struct {
	*cellSummary
	comparison *summary.Comparison  // the first test of the cell, or that of its benchmark; nil: none
	benchmark  *summary.Benchmark   // nil: none
	kind       *summary.KindFigures // of the cell's requests; nil: all
}

// csvColumn is one column. Its name has the unit and never changes, so that sheets
// and scripts can rely on it. Its value is a number, a text, a bool, or a pointer to
// one, which is nil if it was not measured.
type csvColumn struct {
	name string
	of   func(csvRow) any
}

// ofKinds reports whether a line about a kind of requests has the column: those that name the cell,
// and those of kinds.
func (c csvColumn) ofKinds() bool {
	return c.name == "cell" || c.name == "label" || c.name == "service" || strings.HasPrefix(c.name, "vary_") || strings.HasPrefix(c.name, "kind")
}

// CSV writes one line per cell, followed by one per kind of its requests if it has several, and of
// programs that measure themselves one per figure. The fixed columns come first, then one column vary_NAME for each varied
// setting. What was not measured is an empty field.
func CSV(w io.Writer, s *summary.Summary) error {
	cols := csvColumns()
	if s.Kind() == summary.KindBenchmark {
		cols = append(cols, csvBenchmark...)
	}
	if slices.ContainsFunc(s.Cells, func(c cellSummary) bool { return len(c.Kinds) > 0 }) {
		cols = append(cols, csvKinds...)
	}
	for _, name := range narrative.Axes(s) {
		cols = append(cols, csvColumn{"vary_" + snake(name), func(r csvRow) any { return narrative.Setting(r.cellSummary, name) }})
	}
	head := make([]string, len(cols))
	for i, col := range cols {
		head[i] = col.name
	}
	lines := [][]string{head}
	for _, r := range csvRows(s) {
		line := make([]string, len(cols))
		for i, col := range cols {
			if r.kind == nil || col.ofKinds() { // the figures of a cell are those of all its requests
				line[i] = csvField(col.of(r))
			}
		}
		lines = append(lines, line)
	}
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("write the CSV of %q: %w", s.Experiment.Name, err)
	}
	return nil
}

func csvRows(s *summary.Summary) []csvRow {
	tested := func(cell *cellSummary, metric string) *summary.Comparison {
		for i := range s.Comparisons {
			if c := &s.Comparisons[i]; c.Cell == cell.Cell && (metric == "" || c.Metric == metric) {
				return c
			}
		}
		return nil
	}
	var rows []csvRow
	if s.Kind() != summary.KindBenchmark {
		for i := range s.Cells {
			rows = append(rows, csvRow{cellSummary: &s.Cells[i], comparison: tested(&s.Cells[i], "")})
			for k := range s.Cells[i].Kinds {
				rows = append(rows, csvRow{cellSummary: &s.Cells[i], kind: &s.Cells[i].Kinds[k]})
			}
		}
		return rows
	}
	for _, r := range narrative.BenchRows(s) {
		row := csvRow{cellSummary: r.Cell, benchmark: r.Of}
		if r.Of != nil {
			row.comparison = tested(r.Cell, r.Of.Path())
		}
		rows = append(rows, row)
	}
	return rows
}

// csvField writes a value for programs, with all its digits. Text may be foreign.
func csvField(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return display.SheetCell(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case *int:
		if v == nil {
			return ""
		}
		return strconv.Itoa(*v)
	case *int64:
		if v == nil {
			return ""
		}
		return strconv.FormatInt(*v, 10)
	case float64:
		return display.Exact(&v)
	case *float64:
		return display.Exact(v)
	}
	panic(fmt.Sprintf("report: a column of the CSV has a value of type %T", v))
}

// part declares columns of a part of a cell, which are empty if the cell has no such
// part.
func part[T any](of func(csvRow) *T, cols ...partColumn[T]) []csvColumn {
	all := make([]csvColumn, len(cols))
	for i, col := range cols {
		all[i] = csvColumn{col.name, func(r csvRow) any {
			if p := of(r); p != nil {
				return col.of(p)
			}
			return nil
		}}
	}
	return all
}

type partColumn[T any] struct {
	name string
	of   func(*T) any
}

// snake writes a setting's name as a column's: "maxProcs" becomes "max_procs".
func snake(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = '_'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
