// Package derived writes the files of a record that are computed from its frames.
// They can be deleted and written again; the record itself is written by package
// record.
package derived

import (
	"bytes"
	"errors"
	"path/filepath"

	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/html"
)

// Write puts summary.json and report.html into the folder of a record. Its error
// includes that of latency.hlog: see results.Derive.
func Write(dir string, r results.Results) error {
	var summary, page bytes.Buffer
	if err := errors.Join(report.JSON(&summary, r.Summary), html.Page(&page, r)); err != nil {
		return err
	}
	return errors.Join(
		safefile.Replace(filepath.Join(dir, record.SummaryFile), summary.Bytes(), record.FileMode),
		safefile.Replace(filepath.Join(dir, record.ReportFile), page.Bytes(), record.FileMode),
		r.Unwritten,
	)
}
