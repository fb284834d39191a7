// Package report shows what a record says: a table for the terminal,
// summary.json, CSV, Markdown, and one HTML file that needs no network. It
// draws and words what analysis found; it measures nothing and concludes
// nothing of its own. Every text that comes from an experiment or a record
// (service names, the about line, labels) is foreign, and is escaped for the
// form it goes into.
//
// Everywhere "–" stands for what was not measured; it is never shown as 0.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/millicore/millicore/internal/analysis"
)

// Data is what the HTML report is made of. Series may be empty, as in a record
// whose frames are lost: the panels over time then say so.
type Data struct {
	Summary *analysis.Summary
	Series  []analysis.Series
}

// JSON writes summary.json: the summary, indented, with a newline at its end.
func JSON(w io.Writer, s *analysis.Summary) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return fmt.Errorf("write the summary of %q as JSON: %w", s.Experiment.Name, err)
	}
	return nil
}
