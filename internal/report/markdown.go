package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
)

// Markdown writes the report for an issue, a pull request or a page of notes:
// the headline, what was run, the table of cells, and the warnings.
func Markdown(w io.Writer, s *analysis.Summary) error {
	var b strings.Builder
	h := narrative.HeadlineOf(s)
	fmt.Fprintf(&b, "**%s**\n\n", display.Escaped(h.First()))
	if len(h.More) > 0 {
		b.WriteString(display.Escaped(strings.Join(h.More, " ")) + "\n\n")
	}
	for _, facts := range [][]string{narrative.RunFacts(s), narrative.SetupFacts(s), narrative.HostFacts(s.Host)} {
		if len(facts) > 0 {
			b.WriteString("- " + display.Escaped(strings.Join(facts, " · ")) + "\n")
		}
	}
	b.WriteString(markdownClaims(s))
	if len(s.Cells) > 0 {
		b.WriteString("\n" + display.MarkdownTable(layouts(s)[0]))
	}
	if held, rows := levelColumns(s, true); rows > 0 {
		b.WriteString("\nLevels held:\n\n" + display.MarkdownTable(held))
	}
	b.WriteString(markdownSheets(s) + markdownExplained(s) + markdownShifts(s))
	b.WriteString(markdownNotes(s))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the Markdown of %q: %w", s.Experiment.Name, err)
	}
	return nil
}

func markdownNotes(s *analysis.Summary) string {
	var lines []string
	names := narrative.CellNames(s)
	for _, f := range narrative.Findings(s, names) {
		text := "**" + display.Escaped(f.Title) + "**"
		if len(f.Texts) > 0 {
			text += " – " + display.Escaped(strings.Join(f.Texts, "; "))
		}
		lines = append(lines, text)
	}
	for _, f := range narrative.Flags(s) {
		text := "**" + display.Escaped(display.Plain(f.Word)) + "** (" + display.Escaped(f.Who(names)) + ")"
		if f.Text != "" {
			text += ": " + display.Escaped(f.Text)
		}
		lines = append(lines, text)
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n- " + strings.Join(lines, "\n- ") + "\n"
}
