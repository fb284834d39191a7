package main

import (
	"context"
	"encoding/json"
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

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/file"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/platform/attached"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/report"
	"github.com/millicore/millicore/internal/traffic"
	"github.com/millicore/millicore/internal/traffic/live"
)

func loadCommand() *cobra.Command {
	var f loadFlags
	c := &cobra.Command{
		Use:   "load [-c 50 | -R 2000] [-d 10s | -n 1000] URL",
		Short: "The traffic alone, on a service that runs already",
		Long: "Load sends requests to a URL as users that wait for their answers (-c) or at a rate (-R), and\n" +
			"reports latency, errors, and whether it was itself the limit. With --pid or --container it shows\n" +
			"the CPU, the throttling and the memory of what answers beside its latency. A terminal shows\n" +
			"the figures while it runs; where standard error is none, it gets a line every second,\n" +
			"and of long runs about thirty.\n\n" +
			"A host that is not this machine is asked for once. It exits with 99 where a --threshold is missed.",
		Example: "  millicore load -c 50 -d 30s http://127.0.0.1:8080/\n" +
			"  millicore load -R 2000 --container api --threshold 'p99<300ms' http://127.0.0.1:8080/items\n" +
			"  millicore load --stages 30s:50,1m:200 http://127.0.0.1:8080/",
		Args: exactly(1, "a URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64() >> 12 // exact as a JSON number everywhere
			}
			return loadURL(cmd, &f, args[0])
		},
	}
	f.define(c.Flags())
	return c
}

func loadURL(cmd *cobra.Command, f *loadFlags, url string) error {
	if err := f.contradiction(cmd.Flags().Changed); err != nil {
		return usageError{err}
	}
	f.usersSaid = cmd.Flags().Changed("users")
	var thresholds []traffic.Threshold
	for _, text := range f.thresholds {
		t, err := traffic.ParseThreshold(text)
		if err != nil {
			return usageError{err}
		}
		thresholds = append(thresholds, t)
	}
	target, err := f.target(url)
	if err != nil {
		return usageError{err}
	}
	looked, err := f.observe(cmd.Context())
	if err != nil {
		return usageError{err}
	}
	defer looked.Close()
	e, err := f.experiment(target, looked.Observed)
	if err != nil {
		return usageError{err}
	}
	if err := f.allowed(cmd.Context(), target, e); errors.Is(err, errInterrupted) {
		return err
	} else if err != nil {
		return usageError{err}
	}
	for _, file := range []string{f.hlog, f.hgrm} { // before anything is sent: what cannot be written is lost
		if err := writable(file); err != nil {
			return usageError{err}
		}
	}
	if f.insecure {
		fmt.Fprintf(os.Stderr, "! --insecure: whoever answers as %s is taken for it, since no certificate is checked\n", target.Host)
	}
	dir, remove, err := f.folder()
	if err != nil {
		return err
	}
	defer remove()
	ended, runErr := f.run(cmd.Context(), target, looked, e, dir)
	r, err := traffic.Read(dir)
	if err != nil || r.Cell.Requests == 0 && runErr != nil {
		return runErr // nothing was seen
	}
	r.Ended = ended
	missed, err := f.show(cmd.OutOrStdout(), target, dir, r, thresholds)
	if err := errors.Join(runErr, err); err != nil {
		return err
	}
	if missed {
		return errMissed
	}
	return nil
}

// target is where the traffic goes: to the URL's host, or to a socket.
func (f *loadFlags) target(url string) (traffic.Target, error) {
	if f.socket == "" {
		return traffic.ParseTarget(url, net.LookupHost)
	}
	t, err := traffic.ParseTarget(url, nil)
	t.Address, t.Loopback = "unix:"+f.socket, true
	return t, err
}

// observed is the process that is looked at.
type observed struct {
	*attached.Observed                  // nil: nothing is
	name               string           // in words
	life               *traffic.Process // nil: the kernel is too old to watch it
}

// observe finds what is to be looked at.
func (f *loadFlags) observe(ctx context.Context) (o observed, err error) {
	pid := f.pid
	o.name = fmt.Sprintf("process %d", pid)
	if f.container != "" {
		if pid != 0 {
			return o, errors.New("--pid and --container exclude one another; keep one")
		}
		host, err := inspect.New("").Scan(ctx, inspect.Only{Container: f.container}, 0)
		if err != nil {
			return o, fmt.Errorf("--container %s: %w", f.container, err)
		}
		pid = inspect.Foremost(host.Processes).PID
		o.name = fmt.Sprintf("process %d of container %s", pid, f.container)
	}
	if pid == 0 {
		return observed{}, nil
	}
	o.life, _ = traffic.Watch(pid) // before it is looked at: what is watched is what is looked at
	if o.Observed, err = attached.Observe(pid); err != nil {
		o.Close()
	}
	return o, err
}

// Close ends the looking.
func (o observed) Close() {
	if o.Observed != nil {
		o.Observed.Close()
	}
	if o.life != nil {
		o.life.Close()
	}
}

// experiment is the experiment of one cell that the traffic is.
func (f *loadFlags) experiment(t traffic.Target, o *attached.Observed) (*experiment.Experiment, error) {
	settings, err := f.settings(t, o)
	if err != nil {
		return nil, err
	}
	e, err := file.Build("load", settings, nil)
	if err != nil {
		return nil, err
	}
	e.Measure.Whole = true
	if err := e.Gather("", os.Getenv); err != nil {
		return nil, err
	}
	return e, lab.Check(e)
}

// allowed asks for what is not plainly meant.
func (f *loadFlags) allowed(ctx context.Context, t traffic.Target, e *experiment.Experiment) error {
	if f.yes {
		return nil
	}
	if much := excessive(e); much != "" {
		return fmt.Errorf("%s: say --yes if that is meant", much)
	}
	if t.Loopback {
		return nil
	}
	return ask(ctx, os.Stdin, os.Stderr, term.IsTerminal(int(os.Stdin.Fd())), fmt.Sprintf("%s is not this machine. May it be loaded?", t.Address))
}

// folder is where the record goes: a temporary one, unless it is to be kept.
func (f *loadFlags) folder() (dir string, remove func(), err error) {
	if f.out != "" {
		if err := record.Free(f.out); err != nil {
			return "", nil, usageError{err}
		}
		return f.out, func() {}, nil
	}
	top, err := attached.Folder()
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(top, "record"), func() { os.RemoveAll(top) }, nil
}

// run makes the traffic into a record. It gives when the target was seen to have
// ended, from the load's beginning; 0: it was not.
func (f *loadFlags) run(ctx context.Context, t traffic.Target, o observed, e *experiment.Experiment, dir string) (time.Duration, error) {
	programs, err := lab.FindPrograms()
	if err != nil {
		return 0, err
	}
	agent, err := programs.Path("millicore-agent")
	if err != nil {
		return 0, err
	}
	var ended func() bool
	if o.life != nil {
		ended = o.life.Ended
	}
	screen := live.Show(ctx, os.Stderr, planned(t, o, e), ended)
	where := attached.New(attached.Options{Targets: []string{t.Address}, Agent: agent, Target: o.Observed, Note: screen.Note})
	defer closePlatform(where, newProgress(os.Stderr))
	if ended != nil {
		where = traffic.Mortal(where, ended)
	}
	l := &lab.Lab{Experiment: e, Platform: where, Programs: programs, Seed: f.seed, Dir: dir, Version: version,
		OnFrame: screen.Seen, Log: screen, NoRepeat: true, NoHost: o.Observed == nil}
	err = l.Run(ctx)
	died := screen.End()
	if err == nil && ctx.Err() != nil {
		err = errInterrupted
	}
	return died, err
}

// planned says to the screen what is asked for.
func planned(t traffic.Target, o observed, e *experiment.Experiment) live.Plan {
	l := &e.Cells[0].Load
	aim := l.Target()
	return live.Plan{URL: t.URL, Open: l.Rate != nil, Highest: aim.Highest(), Stages: len(aim.Stages) > 0, Requests: l.Requests,
		Warmup: e.Measure.Warmup, Length: e.Measure.Measured(&e.Cells[0]), Interval: e.Measure.Interval, Target: o.name}
}

// outcome is what --json prints.
type outcome struct {
	URL      string `json:"url"`
	Insecure bool   `json:"insecure,omitempty"` // no certificate was checked
	*analysis.CellSummary
	Thresholds []traffic.Kept `json:"thresholds"`
	Ended      *float64       `json:"target_ended_s,omitempty"` // seconds after the load began
}

// show prints the results in the record, and writes the files of the flags.
func (f *loadFlags) show(w io.Writer, t traffic.Target, dir string, r *traffic.Result, thresholds []traffic.Threshold) (missed bool, err error) {
	kept := []traffic.Kept{}
	for _, one := range thresholds {
		k := one.Judge(r)
		missed = missed || !k.Kept
		kept = append(kept, k)
	}
	switch {
	case f.asJSON:
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		all := outcome{URL: t.URL, Insecure: f.insecure, CellSummary: r.Cell, Thresholds: kept}
		if seconds := r.Ended.Seconds(); seconds > 0 {
			all.Ended = &seconds
		}
		err = out.Encode(all)
	case f.asCSV:
		err = report.CSV(w, r.All.Summary)
		for _, k := range kept {
			if !k.Kept {
				fmt.Fprintf(os.Stderr, "missed: %s, %s\n", k.Threshold, k.Text())
			}
		}
	default:
		err = traffic.Text(w, t.URL, r, kept, display.TerminalOf(w))
	}
	if f.hlog != "" {
		err = errors.Join(err, copyFile(f.hlog, filepath.Join(dir, record.LatencyFile)))
	}
	if f.hgrm != "" {
		err = errors.Join(err, traffic.WriteHgrm(f.hgrm, r))
	}
	if f.out != "" {
		err = errors.Join(err, report.Write(dir, r.All))
	}
	return missed, err
}

// writable makes a file, unless it is there already.
func writable(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
