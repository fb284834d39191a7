package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/derived"
	"github.com/millicore/millicore/internal/show/report/text"
)

func reportCommand() *cobra.Command {
	var (
		o                 output
		from              recordFlags
		asCSV, asMarkdown bool
	)
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Recompute summary.json and report.html of a record, and print the report",
		Long: "Report recomputes the summary from the record's frames, rewrites summary.json and report.html\n" +
			"in DIR, and prints the report. With --csv or --markdown it writes no file.",
		Example: "  millicore report runs/quick-20260131-120000\n" +
			"  millicore report runs/quick-20260131-120000 --csv > quick.csv",
		Args:              exactly(1, "a record's folder"),
		ValidArgsFunction: completeRecords(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case asCSV:
				return printAs(cmd, from.reader(cmd), args[0], report.CSV)
			case asMarkdown:
				return printAs(cmd, from.reader(cmd), args[0], markdown)
			}
			return unlessReadOnly(args[0], showReport(cmd, from.reader(cmd), args[0], o))
		},
	}
	o.define(c, "print summary.json")
	from.define(c)
	c.Flags().BoolVar(&asCSV, "csv", false, "print the cells as CSV")
	c.Flags().BoolVar(&asMarkdown, "markdown", false, "print the report as Markdown")
	c.MarkFlagsMutuallyExclusive("json", "csv", "markdown")
	c.MarkFlagsMutuallyExclusive("junit", "csv")
	c.MarkFlagsMutuallyExclusive("junit", "markdown")
	return c
}

// unwritten is the error of a report that was printed and could not be written.
type unwritten struct {
	dir string
	err error
}

func (u *unwritten) Error() string {
	return fmt.Sprintf("summary.json and report.html in %s were not written: %v; `millicore report %s` writes them", u.dir, u.err, u.dir)
}

func (u *unwritten) Unwrap() error { return u.err }

// unlessReadOnly makes a note of the error that a record may only be read: it can be shown
// nevertheless.
func unlessReadOnly(dir string, err error) error {
	var u *unwritten
	if !errors.As(err, &u) || !errors.Is(u.err, fs.ErrPermission) && !errors.Is(u.err, syscall.EROFS) {
		return err
	}
	progress.New(os.Stderr).Note(fmt.Sprintf("millicore: summary.json and report.html in %s were not updated: %v", dir, u.err))
	var missed exit.NotMet
	switch {
	case errors.Is(err, errInvalid):
		return errInvalid
	case errors.As(err, &missed):
		return missed
	}
	return nil
}

// showReport computes the derived files of a record and prints its report. The error
// is errInvalid if a limit did not hold, and otherwise exit.NotMet, and an unwritten if the files could not be written; all are of a report that was
// printed.
func showReport(cmd *cobra.Command, with record.Reader, dir string, o output) error {
	data, err := results.Derive(with, dir)
	if err != nil {
		return err
	}
	written := derived.Write(dir, data)
	out := cmd.OutOrStdout()
	if o.asJSON {
		err = report.JSON(out, data.Summary)
	} else {
		err = text.Record(out, data.Summary, dir, o.details)
	}
	if err == nil {
		err = o.writeJUnit(data.Summary)
	}
	switch {
	case err != nil:
	case data.Summary.Invalid():
		err = errInvalid
	default:
		err = results.NotMet(data.Summary.Objective())
	}
	if written != nil {
		err = errors.Join(err, &unwritten{dir, written})
	}
	return err
}

func markdown(w io.Writer, s *summary.Summary) error {
	return text.Markdown(w, report.New(s).Whole())
}

// printAs prints a record's cells in another form, and writes nothing.
func printAs(cmd *cobra.Command, with record.Reader, dir string, form func(io.Writer, *summary.Summary) error) error {
	data, err := results.Open(with, dir)
	if err != nil {
		return err
	}
	return form(cmd.OutOrStdout(), data.Summary)
}
