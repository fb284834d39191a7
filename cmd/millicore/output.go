package main

import (
	"bytes"
	"io"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/front/traffic"
	"github.com/millicore/millicore/internal/show/report/junit"
)

// output are the flags of commands that print a report.
type output struct {
	asJSON  bool
	details bool
	junit   string // file; "": none
}

func (o *output) define(c *cobra.Command, json string) {
	c.Flags().BoolVar(&o.asJSON, "json", false, json)
	defineDetails(c, &o.details)
	c.Flags().StringVar(&o.junit, "junit", "", "write JUnit XML to `FILE`: the objective of each cell and each claim is a test case")
}

// defineDetails defines the flag that prints the whole report.
func defineDetails(c *cobra.Command, details *bool) {
	c.Flags().BoolVar(details, "details", false, "print the evidence below the answer and its table")
}

// check reports whether the file of --junit can be written, before a run.
func (o *output) check() error { return traffic.Writable(o.junit) }

// writeJUnit writes the objectives and the claims of a record to the file of --junit.
func (o *output) writeJUnit(s *summary.Summary) error {
	if o.junit == "" {
		return nil
	}
	return writeWhole(o.junit, func(w io.Writer) error { return junit.Write(w, []junit.Suite{junit.Of(s)}) })
}

// writeWhole writes a file as a whole, or not at all.
func writeWhole(file string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	return safefile.Replace(file, text.Bytes(), 0o644)
}
