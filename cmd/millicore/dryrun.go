package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/progress"
)

// dryRun shows what would run, and what was found of what it needs. Its error is
// that something is missing.
func dryRun(cmd *cobra.Command, e *experiment.Experiment, needs launch.Requirements, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		if err := dryRunJSON(out, e, needs); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(out, wouldRun(e))
		for _, n := range needs {
			fmt.Fprintf(out, "  %-9s  %s: %s\n", n.State, n.What, n.Words)
		}
	}
	if needs.Err() != nil {
		return usageError{errors.New("something that the run needs is missing; nothing was started")}
	}
	return nil
}

// wouldRun says how large an experiment is.
func wouldRun(e *experiment.Experiment) string {
	return fmt.Sprintf("%s: %s, %s, about %s; nothing is started.", e.Name,
		counted(len(e.Cells), "cell"), counted(len(e.Cells)*e.Measure.Repeats, "trial"), launch.Lasts(e).Round(time.Second))
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func dryRunJSON(out io.Writer, e *experiment.Experiment, needs launch.Requirements) error {
	type need struct {
		What  string `json:"what"`
		State string `json:"state"` // "there", "missing", "not known", "note"
		Words string `json:"words"`
	}
	all := []need{}
	for _, n := range needs {
		all = append(all, need{n.What, n.State.String(), n.Words})
	}
	text := json.NewEncoder(out)
	text.SetIndent("", "  ")
	return text.Encode(struct {
		Experiment string  `json:"experiment"`
		Cells      int     `json:"cells"`
		Trials     int     `json:"trials"`
		AboutS     float64 `json:"about_s"`
		Needs      []need  `json:"needs"`
	}{e.Name, len(e.Cells), len(e.Cells) * e.Measure.Repeats, launch.Lasts(e).Seconds(), all})
}

// dryRunHere is that of the platforms of this machine: their own checks.
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
