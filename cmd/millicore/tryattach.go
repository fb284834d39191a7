package main

import (
	"context"
	"fmt"
	"os"

	"github.com/millicore/millicore/internal/front/reach"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/front/traffic"
	"github.com/millicore/millicore/internal/front/try"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/platform/attached"
)

// tryRunning searches the breaking point of a service that runs already. It starts, stops
// and changes nothing.
func tryRunning(cmd *cobra.Command, f *tryFlags, args []string) error {
	running, err := try.ParseRunning(f.Attach, args)
	if err != nil {
		return usageError{err}
	}
	f.Ask.Command = []string{f.Attach}
	changed := cmd.Flags().Changed
	if err := f.Fill(changed); err != nil {
		return usageError{err}
	}
	at, err := try.Attach(cmd.Context(), running, &f.Ask, changed("get") || changed("post"))
	if err != nil {
		return usageError{fmt.Errorf("try: %w", err)}
	}
	defer at.Close()
	f.Ask.Input.Report(os.Stderr, f.Ask.Host, f.Headers...)
	if err := f.confirm(cmd.Context(), at.Target); err != nil {
		return err
	}
	e, err := f.attached(at)
	if err != nil {
		return usageError{err}
	}
	if err := reach.Connect(e, at.Target); err != nil {
		return fmt.Errorf("try: %w", err)
	}
	if err := at.Begin(cmd.Context(), &e.Cells[0].Load, &f.Ask); err != nil {
		if cmd.Context().Err() != nil {
			return errProbing
		}
		return fmt.Errorf("try %s: %w", at.Target.URL, err)
	}
	if e, err = f.attached(at); err != nil { // with the rate that the search begins with
		return usageError{err}
	}
	show := progress.New(os.Stderr)
	show.Note(display.TerminalOf(os.Stderr).Wrap(at.Announce(&f.Ask), ""))
	runErr := f.searchRunning(cmd.Context(), at, e, show)
	return f.answer(cmd, at.Info, at.Variants(), runErr)
}

// attached is the experiment that searches a service which runs already.
func (f *tryFlags) attached(at *try.Attached) (*experiment.Experiment, error) {
	settings := at.Settings(&f.Ask)
	settings.SetGiven("--cacert", "load.ca_file", f.CACert)
	return f.read(settings)
}

// confirm asks the user to confirm a search on another host.
func (f *tryFlags) confirm(ctx context.Context, t reach.Target) error {
	if f.Yes || t.Loopback {
		return nil
	}
	err := traffic.Confirm(ctx, os.Stdin, os.Stderr, term.IsTerminal(int(os.Stdin.Fd())),
		fmt.Sprintf("%s is another host. Load it until it misses the objective, and beyond?", t.Address))
	switch {
	case ctx.Err() != nil:
		return interrupted("interrupted; nothing was sent")
	case err != nil:
		return usageError{err}
	}
	return nil
}

// searchRunning runs the search and writes its record.
func (f *tryFlags) searchRunning(ctx context.Context, at *try.Attached, e *experiment.Experiment, show *progress.Printer) error {
	if err := lab.Check(e); err != nil {
		return usageError{err}
	}
	programs, err := lab.FindPrograms()
	if err != nil {
		return err
	}
	agent, err := programs.Path("millicore-agent")
	if err != nil {
		return err
	}
	where := attached.New(attached.Options{Targets: []string{at.Target.Address}, Agent: agent, Target: at.Observed.Observed, Note: show.Note})
	defer closePlatform(where, show)
	if ended := at.Ended(); ended != nil {
		where = attached.UntilEnded(where, ended)
	}
	l := &lab.Lab{Experiment: e, Platform: where, Programs: programs, Seed: f.seed, Dir: f.Out, Version: version,
		Progress: show.Progress, Log: show, NoHost: !at.Known()}
	err = l.Run(ctx)
	show.End()
	if err == nil && ctx.Err() != nil {
		return errInterrupted
	}
	return err
}
