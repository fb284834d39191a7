// Package report shows what a record says: a table for the terminal, summary.json,
// CSV, Markdown, and one HTML file that needs no network. Its sentences are those
// of narrative, its judgements those of analysis; it measures nothing itself.
// Every text that comes from an experiment or a record (service names, the about
// line, labels) is foreign, and is escaped for the form in which it appears.
//
// Everywhere "–" stands for what was not measured; it is never shown as 0.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/results"
)

// Write puts the derived files into a record's folder: summary.json, report.html
// and, with the counted trials only, latency.hlog.
func Write(dir string, r results.Results) error {
	var summary, page bytes.Buffer
	if err := errors.Join(JSON(&summary, r.Summary), HTML(&page, r)); err != nil {
		return err
	}
	return errors.Join(
		record.WriteFile(filepath.Join(dir, record.SummaryFile), summary.Bytes()),
		record.WriteFile(filepath.Join(dir, record.ReportFile), page.Bytes()),
		r.WriteLatencies(),
	)
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
