package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/front/reach"
	"github.com/millicore/millicore/internal/front/traffic"
	"github.com/millicore/millicore/internal/front/traffic/live"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/platform/attached"
	"github.com/millicore/millicore/internal/show/report"
	"github.com/millicore/millicore/internal/show/report/derived"
)

func loadCommand() *cobra.Command {
	var f loadFlags
	c := &cobra.Command{
		Use:   "load [-c 50 | -R 2000] [-d 10s | -n 1000] URL",
		Short: "Send load to a service that runs already",
		Long: "Load sends requests to a URL in a closed loop (-c users) or in an open loop\n" +
			"(-R requests per second). It reports latency, errors, and whether the\n" +
			"generator was the limit. With --pid or --container it also reports the CPU,\n" +
			"the throttling and the memory of the process that serves the requests. On a\n" +
			"terminal it shows the figures while it runs. If standard error is no\n" +
			"terminal, it writes a line every second, or about thirty lines for a long run.\n\n" +
			"It asks for confirmation before it loads another host. If the target cannot\n" +
			"be reached, it ends at once with exit code 1. The exit code is 99 if a\n" +
			"--threshold is missed, and 98 if it is too close to tell.",
		Example: "  millicore load -c 50 -d 30 http://127.0.0.1:8080/\n" +
			"  millicore load -R 2000 --container api --threshold 'p99<300ms' http://127.0.0.1:8080/items\n" +
			"  millicore load -b @order.json http://127.0.0.1:8080/orders\n" +
			"  millicore load --stages 30s:50,1m:200 http://127.0.0.1:8080/\n" +
			"  millicore load --har shop.har http://127.0.0.1:8080/\n  millicore load --curl @copied.txt\n  millicore load --replay access.log --speed 2 http://127.0.0.1:8080/\n  millicore load --openapi shop.yaml http://127.0.0.1:8080/\n" +
			"  millicore load --grpc shop.Orders/Get -b '{\"id\": 7}' 127.0.0.1:50051",
		Args: func(cmd *cobra.Command, args []string) error {
			return exactly(f.Inputs.URLs(len(args)), "a URL")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				f.Seed = rand.Uint64() >> 12 // exact as a JSON number everywhere
			}
			return loadURL(cmd, &f, args)
		},
	}
	f.define(c)
	return c
}

func loadURL(cmd *cobra.Command, f *loadFlags, args []string) error {
	if err := agent.CheckPolicy(); err != nil {
		return usageError{err}
	}
	if err := cmp.Or(f.Contradiction(cmd.Flags().Changed), f.CheckFiles()); err != nil {
		return usageError{err}
	}
	var err error
	if f.Thresholds, err = traffic.ParseThresholds(f.thresholds); err != nil {
		return usageError{err}
	}
	if f.junit != "" && len(f.Thresholds) == 0 {
		return usageError{errors.New("--junit writes a test case for each threshold; give one with --threshold, as in 'p99<300ms'")}
	}
	target, err := f.Target(f.URL(args), net.LookupHost)
	if err != nil {
		return unlessUnreachable(err)
	}
	observed, err := f.Observe(cmd.Context())
	if err != nil {
		return usageError{err}
	}
	defer observed.Close()
	e, err := f.Experiment(target, observed.Observed)
	if err != nil {
		return usageError{err}
	}
	guard(e)
	f.Input.Report(os.Stderr, target.Host, f.GivenHeaders()...)
	f.Replayed().Report(os.Stderr)
	fmt.Fprint(os.Stderr, traffic.Varies(e))
	if err := f.confirm(cmd.Context(), target, e); err != nil {
		return err
	}
	for _, file := range []string{f.hlog, f.junit} { // before the load, so that no result is lost
		if err := traffic.Writable(file); err != nil {
			return usageError{err}
		}
	}
	if f.Insecure {
		fmt.Fprintf(os.Stderr, "! --insecure: TLS certificates are not verified; any server could answer as %s\n", display.Plain(target.Host))
	}
	dir, remove, err := f.folder()
	if err != nil {
		return err
	}
	defer remove()
	if f.Follow {
		if target, e, err = f.follow(cmd.Context(), target, e, observed.Observed); err != nil {
			return err
		}
	}
	if err := f.Connect(cmd.Context(), e, target); err != nil {
		return err
	}
	ended, runErr := f.run(cmd.Context(), target, observed, e, dir)
	r, err := traffic.Read(dir)
	nothing := err != nil || r.Cell.Requests == 0
	if errors.Is(runErr, errInterrupted) {
		runErr = f.interruption(nothing)
	}
	if nothing && runErr != nil {
		return runErr
	}
	if err != nil {
		return err
	}
	r.Ended, r.Addresses, r.Replay = ended, f.Addresses, f.Replayed()
	outcome, err := f.show(cmd.OutOrStdout(), target, dir, r)
	if err := errors.Join(runErr, err); err != nil {
		return err
	}
	return results.NotMet(outcome)
}

// interruption is the error of a load that the user stopped: what is left of it depends on
// --out, and on whether anything was measured.
func (f *loadFlags) interruption(nothing bool) error {
	switch {
	case nothing:
		return interrupted("interrupted before anything was measured")
	case f.out == "":
		return interrupted("interrupted; the figures are those until then, and no record is kept without --out")
	}
	return errInterrupted
}

// unlessUnreachable is an error of usage, unless the target cannot be reached.
func unlessUnreachable(err error) error {
	if errors.As(err, new(*reach.Unreachable)) {
		return err
	}
	return usageError{err}
}

// follow returns the target to which the redirects of a target lead, with its experiment.
// A target on another host needs a confirmation of its own.
func (f *loadFlags) follow(ctx context.Context, t reach.Target, e *experiment.Experiment, o *attached.Observed) (reach.Target, *experiment.Experiment, error) {
	url, err := f.Redirected(ctx, t, e)
	if err != nil {
		return t, e, unlessUnreachable(err)
	}
	if url == "" {
		return t, e, nil
	}
	next, err := f.Target(url, net.LookupHost)
	if err != nil {
		return t, e, unlessUnreachable(err)
	}
	if next.Address != t.Address {
		if err := f.confirm(ctx, next, e); err != nil {
			return t, e, err
		}
	}
	if e, err = f.Experiment(next, o); err != nil {
		return t, e, usageError{err}
	}
	fmt.Fprintf(os.Stderr, "%s redirects to %s, which gets the load.\n", display.Plain(t.URL), display.Plain(secret.Text(url)))
	return next, e, nil
}

// confirm asks the user to confirm a load of another host.
func (f *loadFlags) confirm(ctx context.Context, t reach.Target, e *experiment.Experiment) error {
	if f.yes {
		return nil
	}
	if much := traffic.Excessive(e); much != "" {
		return usageError{fmt.Errorf("%s; use --yes to send it", much)}
	}
	if t.Loopback {
		return nil
	}
	err := traffic.Confirm(ctx, os.Stdin, os.Stderr, term.IsTerminal(int(os.Stdin.Fd())), fmt.Sprintf("%s is another host. Send load to it?", t.Address))
	switch {
	case ctx.Err() != nil:
		return interrupted("interrupted; nothing was sent")
	case err != nil:
		return usageError{err}
	}
	return nil
}

// folder is the folder of the record: a temporary one, unless --out is set.
func (f *loadFlags) folder() (dir string, remove func(), err error) {
	if f.out != "" {
		if err := record.Free(f.out); err != nil {
			return "", nil, usageError{err}
		}
		return f.out, func() {}, nil
	}
	top, err := attached.NewFolder()
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(top.Path, "record"), func() { _ = top.Remove() }, nil
}

// run runs the load and writes the record. It returns when the observed process ended,
// from the begin of the load; 0: it did not.
func (f *loadFlags) run(ctx context.Context, t reach.Target, o reach.Observed, e *experiment.Experiment, dir string) (time.Duration, error) {
	programs, err := lab.FindPrograms()
	if err != nil {
		return 0, err
	}
	program, err := programs.Path("millicore-agent")
	if err != nil {
		return 0, err
	}
	ended := o.Ended()
	watch, unwatch := watched()
	defer unwatch()
	screen := live.Show(ctx, watch, live.PlanOf(t.URL, e, o.Name), ended)
	where := attached.New(attached.Options{Targets: []string{t.Address}, Agent: program, Target: o.Observed, Note: screen.Note})
	defer closePlatform(where, progress.New(os.Stderr))
	if ended != nil {
		where = attached.UntilEnded(where, ended)
	}
	l := &lab.Lab{Experiment: e, Platform: where, Programs: programs, Seed: f.Seed, Dir: dir, Version: version,
		OnFrame: screen.Seen, Log: screen, NoRepeat: true, NoHost: o.Observed == nil, NoRuntimes: true}
	err = l.Run(ctx)
	targetEnded := screen.End()
	if err == nil && ctx.Err() != nil {
		err = errInterrupted
	}
	return targetEnded, err
}

// show prints the results, and writes the files of the flags.
func (f *loadFlags) show(w io.Writer, t reach.Target, dir string, r *traffic.Result) (outcome summary.Outcome, err error) {
	kept, outcome := traffic.Judge(r, f.Thresholds)
	switch {
	case f.asJSON:
		err = traffic.JSON(w, t.URL, f.Insecure, r, kept)
	case f.asCSV:
		err = report.CSV(w, r.All.Summary)
		for _, k := range kept {
			if k.Outcome != summary.Met {
				fmt.Fprintf(os.Stderr, "%s: %s, %s\n", k.Outcome, display.Plain(k.Threshold), k.Text())
			}
		}
	default:
		err = traffic.Text(w, t.URL, r, kept, f.details, display.TerminalOf(w))
	}
	if f.hlog != "" {
		err = errors.Join(err, traffic.CopyFile(f.hlog, filepath.Join(dir, record.LatencyFile)))
	}
	if f.junit != "" {
		err = errors.Join(err, writeWhole(f.junit, func(w io.Writer) error { return traffic.JUnit(w, t.URL, r, kept) }))
	}
	if f.out != "" {
		err = errors.Join(err, derived.Write(dir, r.All))
	}
	return outcome, err
}
