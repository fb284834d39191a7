package text

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/show/report"
)

// Record writes the report of the record in a folder for the terminal that out is: the
// answer with its table, or with details the whole.
func Record(out io.Writer, s *summary.Summary, dir string, details bool) error {
	r := report.New(s)
	blocks := r.Blocks()
	if details {
		blocks = r.Whole()
	}
	if err := Terminal(out, blocks, display.TerminalOf(out)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nReport: %s\n", display.Clean(filepath.Join(dir, record.ReportFile)))
	return err
}
