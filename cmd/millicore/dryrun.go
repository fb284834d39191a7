package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/progress"
)

// dryRun prints what would run, and the checks of what it needs. It is an error if
// something is missing.
func dryRun(cmd *cobra.Command, e *experiment.Experiment, needs launch.Requirements, asJSON bool) error {
	d := launch.DryRun{Experiment: e, Requirements: needs}
	write := d.Text
	if asJSON {
		write = d.JSON
	}
	if err := write(cmd.OutOrStdout()); err != nil {
		return err
	}
	if needs.Err() != nil {
		return usageError{errors.New("the run lacks something that it needs; nothing was started")}
	}
	return nil
}

// dryRunHere is the dry run of a platform of this machine: its own checks.
func dryRunHere(cmd *cobra.Command, on string, e *experiment.Experiment, show *progress.Printer, asJSON bool) error {
	where, err := open(on, e, show)
	if err != nil {
		return err
	}
	defer closePlatform(where, show)
	if _, err := lab.FindPrograms(); err != nil {
		return err
	}
	if err := errors.Join(lab.Check(e), where.Check(e)); err != nil {
		return usageError{err}
	}
	return dryRun(cmd, e, nil, asJSON)
}
