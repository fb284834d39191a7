package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// csvBenchmarks writes one line a figure of each cell's benchmarks: the columns
// of every record, then those of the figure, then those of what is varied. The
// test is that of the figure.
func csvBenchmarks(w io.Writer, s *analysis.Summary) error {
	var lines [][]string
	rows := narrative.BenchRows(s)
	for i := range rows {
		r := &rows[i]
		own := *s
		own.Comparisons = slices.DeleteFunc(slices.Clone(s.Comparisons), func(c analysis.Comparison) bool {
			return r.Of == nil || c.Metric != r.Of.Path()
		})
		head, line := benchFields(r, &own)
		if i == 0 {
			lines = append(lines, head)
		}
		lines = append(lines, line)
	}
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("write the CSV of %q: %w", s.Experiment.Name, err)
	}
	return nil
}

// benchFields are the names and the fields of the row's line.
func benchFields(r *narrative.BenchRow, s *analysis.Summary) (head, line []string) {
	put := func(name, text string) { head, line = append(head, name), append(line, text) }
	of := func(cols []csvColumn) {
		for _, col := range cols {
			put(col.name, col.of(r.Cell))
		}
	}
	of(csvColumns())
	of(csvVerdicts(s))
	b := r.Of
	if b == nil {
		b = &analysis.BenchmarkSummary{}
	}
	procs, median := "", ""
	if b.Procs != nil {
		procs = strconv.Itoa(*b.Procs)
	}
	if r.Of != nil {
		median = display.Exact(&b.Median)
	}
	put("benchmark", b.Name)
	put("benchmark_unit", b.Unit)
	put("benchmark_procs", procs)
	put("benchmark_trials", strconv.Itoa(len(b.Values)))
	put("benchmark_median", median)
	put("benchmark_low", display.Exact(b.Low))
	put("benchmark_high", display.Exact(b.High))
	for _, name := range narrative.Axes(s) {
		put("vary_"+snake(name), narrative.Setting(r.Cell, name))
	}
	return head, line
}
