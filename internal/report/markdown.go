package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
)

// Markdown writes the report for an issue, a pull request or a page of notes:
// the headline, what was run, the table of cells, and the warnings.
func Markdown(w io.Writer, s *analysis.Summary) error {
	var b strings.Builder
	h := headlineOf(s)
	fmt.Fprintf(&b, "**%s**\n\n", escaped(h.first()))
	if len(h.more) > 0 {
		b.WriteString(escaped(strings.Join(h.more, " ")) + "\n\n")
	}
	for _, facts := range [][]string{runFacts(s), setupFacts(s), hostFacts(s.Host)} {
		if len(facts) > 0 {
			b.WriteString("- " + escaped(strings.Join(facts, " · ")) + "\n")
		}
	}
	if len(s.Cells) > 0 {
		b.WriteString("\n" + markdownTable(append(columns(s), markdownFlags(s)...), len(s.Cells)))
	}
	if levels, rows := levelColumns(s, true); rows > 0 {
		b.WriteString("\nLevels held:\n\n" + markdownTable(levels, rows))
	}
	b.WriteString(markdownNotes(s))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the Markdown of %q: %w", s.Experiment.Name, err)
	}
	return nil
}

// markdownFlags is the column of warnings, where there are any.
func markdownFlags(s *analysis.Summary) []column {
	if len(flags(s)) == 0 {
		return nil
	}
	return []column{flagsColumn(s)}
}

func markdownTable(cols []column, rows int) string {
	var b strings.Builder
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	heads, rule := make([]string, len(cols)), make([]string, len(cols))
	for i, c := range cols {
		heads[i] = escaped(strings.TrimSpace(strings.ReplaceAll(c.head, "\n", " ")))
		rule[i] = "---:"
		if c.left {
			rule[i] = "---"
		}
	}
	line(heads)
	line(rule)
	for r := range rows {
		cells := make([]string, len(cols))
		for i, c := range cols {
			cells[i] = escaped(strings.Join(strings.Fields(c.cells[r]), " "))
		}
		line(cells)
	}
	return b.String()
}

func markdownNotes(s *analysis.Summary) string {
	var lines []string
	names := cellNames(s)
	for _, f := range findings(s, names) {
		text := "**" + escaped(f.Title) + "**"
		if len(f.Texts) > 0 {
			text += " – " + escaped(strings.Join(f.Texts, "; "))
		}
		lines = append(lines, text)
	}
	for _, f := range flags(s) {
		text := "**" + escaped(plain(f.Word)) + "** (" + escaped(f.who(names)) + ")"
		if f.Text != "" {
			text += ": " + escaped(f.Text)
		}
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n- " + strings.Join(lines, "\n- ") + "\n"
}

// markdownSpecial are the characters that mean something in Markdown or in the
// HTML that it lets through. A line break cannot occur: plain has turned it
// into a space.
var markdownSpecial = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
)

// escaped makes foreign text show as it is.
func escaped(text string) string { return markdownSpecial.Replace(text) }
