package compare

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/data/display"
)

// JSON writes the result, indented, with a newline at its end.
func JSON(w io.Writer, r *Result) error {
	if err := display.WriteJSON(w, r); err != nil {
		return fmt.Errorf("write the comparison as JSON: %w", err)
	}
	return nil
}

// CSV writes one line a metric and pair, with all digits; what was not measured
// is an empty field. Values are in the unit of the column of that name.
func CSV(w io.Writer, r *Result) error {
	out := csv.NewWriter(w)
	lines := [][]string{{"cell_a", "cell_b", "metric", "unit", "a", "b", "trials_a", "trials_b",
		"difference", "percent", "low", "high", "p", "p_holm", "verdict"}}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		rows := slices.Clone(p.Rows)
		for _, k := range p.Kinds {
			rows = append(rows, k.Difference)
			rows[len(rows)-1].Metric += "{" + k.Kind + "}"
		}
		for k := range rows {
			row := &rows[k]
			lines = append(lines, []string{display.SheetCell(p.A), display.SheetCell(p.B), display.SheetCell(row.Metric), display.SheetCell(row.Unit), display.Exact(row.A), display.Exact(row.B),
				strconv.Itoa(row.Trials[0]), strconv.Itoa(row.Trials[1]), display.Exact(row.Shift), display.Exact(row.Percent),
				display.Exact(row.Low), display.Exact(row.High), display.Exact(row.P), display.Exact(row.PHolm), string(row.Verdict)})
		}
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("write the comparison as CSV: %w", err)
	}
	return nil
}

// Judgments writes what became of each --fail-on, a line each.
func Judgments(w io.Writer, r *Result) error {
	var b strings.Builder
	for i := range r.FailOn {
		b.WriteString(display.Plain(r.FailOn[i].line(len(r.Pairs) > 1)) + "\n")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}
