package compare

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/display"
)

// JSON writes the result, indented, with a newline at its end.
func JSON(w io.Writer, r *Result) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
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
		for k := range p.Rows {
			row := &p.Rows[k]
			lines = append(lines, []string{p.A, p.B, row.Metric, row.Unit, display.Exact(row.A), display.Exact(row.B),
				strconv.Itoa(row.Trials[0]), strconv.Itoa(row.Trials[1]), display.Exact(row.Difference), display.Exact(row.Percent),
				display.Exact(row.Low), display.Exact(row.High), display.Exact(row.P), display.Exact(row.PHolm), string(row.Verdict)})
		}
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("write the comparison as CSV: %w", err)
	}
	return nil
}

// Markdown writes a comparison for an issue or a pull request.
func Markdown(w io.Writer, r *Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", display.Escaped(r.Answer))
	for _, line := range heading(r) {
		b.WriteString("- " + display.Escaped(line) + "\n")
	}
	for _, c := range r.Incomparable {
		b.WriteString("- **not comparable, and compared nevertheless**: " + display.Escaped(c.String()) + "\n")
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if len(r.Pairs) > 1 {
			b.WriteString("\n### " + display.Escaped(p.title()) + "\n")
		}
		b.WriteString("\nSet differently: " + display.Escaped(p.differs()) + "\n")
		b.WriteString("\n" + display.MarkdownTable(columns(r.shown(p))))
		for k, note := range p.Notes {
			if k == 0 {
				b.WriteString("\n")
			}
			b.WriteString("- " + display.Escaped(note) + "\n")
		}
	}
	for _, line := range partners(r) {
		b.WriteString("\n" + display.Escaped(line) + "\n")
	}
	for i := range r.FailOn {
		if i == 0 {
			b.WriteString("\n")
		}
		b.WriteString("- " + display.Escaped(r.FailOn[i].line(len(r.Pairs) > 1)) + "\n")
	}
	b.WriteString("\n" + display.Escaped(footnote(r)) + "\n")
	return write(w, b.String())
}
