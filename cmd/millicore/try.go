package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/base/safefile"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/dockerflags"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/front/try"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/lab/results"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/show/answer"
	"github.com/millicore/millicore/internal/show/report/derived"
	"github.com/millicore/millicore/internal/show/report/text"
)

// errProbing is the error of a run that the user stopped before anything was measured.
const errProbing = interrupted("interrupted before the load began; nothing was measured, and there is no record")

// tryFlags are the flags of `millicore try`.
type tryFlags struct {
	try.Flags
	seed    uint64
	asJSON  bool
	details bool
}

func tryCommand() *cobra.Command { return tryCommandOf(new(tryFlags)) }

// tryCommandOf is the command that fills some flags.
func tryCommandOf(f *tryFlags) *cobra.Command {
	c := &cobra.Command{
		Use:                   "try [flags] -- COMMAND... | --image IMAGE [-- ARGS...] | --compose FILE [--service NAME] | --attach PID|CONTAINER|URL",
		DisableFlagsInUseLine: true,
		Short:                 "Put any server under a limit and find where it breaks",
		Long: "Try starts a server under a CPU and memory limit, finds its port and its runtime, and\n" +
			"searches its breaking point: as it is, with its parallelism set to each sensible value\n" +
			"(two replicas where its runtime has no such setting, and it listens on ${port} or\n" +
			"$PORT), and once without the CPU limit. Then it compares latencies at a load that all of\n" +
			"them hold. The answer is three lines and one table: where it breaks, why, what each\n" +
			"setting holds, and which of them lower p99. Several limits, as in --cpu 250m,500m,1, answer\n" +
			"which limit the server needs.\n\n" +
			"The server must stay in the foreground. If the command contains ${port}, try replaces it with\n" +
			"a free port. Otherwise try detects the port on which the server listens. The first\n" +
			"answer comes after about a minute, and each setting takes about half a minute more; the\n" +
			"time is announced first. --as-is searches once for each limit.\n\n" +
			"With --against it answers what changed from one server to another.\n\n" +
			"With --attach it searches a service that runs already, under the limits that it has: it\n" +
			"starts, stops and changes nothing, and asks before it loads another host.",
		Example: "  millicore try --cpu 500m --memory 256Mi --get /api -- ./my-server\n" +
			"  millicore try --cpu 250m,500m,1 -- ./my-server\n" +
			"  millicore try --get /index.html -- nginx -g 'daemon off;'\n" +
			"  millicore try --cpu 500m --against './old-server' -- ./new-server\n" +
			"  millicore try --cpu 500m --image nginx:1.27 -p 80\n" +
			"  millicore try --compose compose.yaml --service web --get /items\n" +
			"  millicore try --attach 4242\n" +
			"  millicore try --save first.yaml -- ./my-server --listen '127.0.0.1:${port}'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.Attach == "" && !f.Container() {
				return errors.New("try: expected the server's command after --, as in: millicore try --cpu 500m -- ./my-server")
			}
			return misplaced(cmd, args, f.Attach != "" || f.Container())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := agent.CheckPolicy(); err != nil {
				return usageError{err}
			}
			if err := f.Check(cmd.Flags().Changed); err != nil {
				return usageError{err}
			}
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64() >> 12 // exact as a JSON number everywhere
			}
			if f.Attach != "" {
				return tryRunning(cmd, f, args)
			}
			f.Take(args)
			return tryServer(cmd, f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.CPU, "cpu", "1", `CPU limit: 500m, 1.5 or "none"; several to choose from: 250m,500m,1`)
	flags.StringVar(&f.Ask.Memory, "memory", "", "memory limit: 256Mi (default none)")
	flags.StringVar(&f.Get, "get", "/", "path to GET")
	flags.StringVar(&f.Post, "post", "", "path to POST instead")
	flags.StringVar(&f.Body, "body", "", "request body, or @FILE; implies POST unless --get is set")
	flags.StringArrayVar(&f.Headers, "header", nil, "header of the requests, as in 'Accept: text/html' (repeatable)")
	flags.VarP((*dockerflags.PortValue)(&f.Port), "port", "p", "port that the server listens on; of an image also HOST:CONTAINER, of which the second counts (default: detected)")
	flags.StringVar(&f.Ask.Ready.Path, "ready", "", "path that answers 200 once the server is ready (default: ready when the port accepts connections, or if that is much later, when it answers)")
	spanVar(flags, &f.Ask.Ready.Timeout, "ready-timeout", "", 30*time.Second, "how long the server may take to be ready")
	latencyVar(flags, &f.P99, "p99", 100*time.Millisecond, "objective: maximum p99 latency, with its unit")
	flags.Float64Var(&f.Availability, "availability", 99.9, "objective: minimum percentage of requests with a good answer")
	spanVar(flags, &f.Ask.Timeout, "timeout", "", 2*time.Second, "how long an answer may take")
	flags.BoolVar(&f.Ask.Users, "users", false, "search for a number of concurrent users (closed loop) instead of a rate")
	spanVar(flags, &f.Ask.Traffic, "traffic", "", 40*time.Second, "maximum traffic time of each search")
	flags.BoolVar(&f.Ask.AsIsOnly, "as-is", false, "search the server as it is only: no other settings, no replicas, no run without the limit")
	flags.BoolVar(&f.Ask.Profile, "profile", false, "take profiles at the breaking point, in an extra trial")
	flags.StringVar(&f.Save, "save", "", "write the experiment as a file, to repeat or change it")
	flags.StringVar(&f.Out, "out", "", "folder for the record (default runs/try-NAME-TIME)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order of trials and of the arrivals (default: random; stored in the record)")
	defineDetails(c, &f.details)
	flags.BoolVar(&f.asJSON, "json", false, `print {"verdict": …, "cells": […], …} as one JSON object`)
	f.DefineContainer(flags)
	flags.StringArrayVarP(&f.Env, "env", "e", nil, "environment variable of the server, as in PORT=8080; a name alone has the value of millicore's own environment (repeatable)")
	flags.IntVar(&f.Repeats, "repeats", 1, "number of searches of each setting; six are enough to rank the settings, and the default of --against")
	flags.Float64Var(&f.Start, "start-rate", 0, "requests per second with which a search begins (default: from a short probe)")
	flags.StringVarP(&f.Ask.User, "user", "u", "", "user that the server runs as: a name, UID[:GID] or caller (default: who called sudo, else the caller)")
	flags.IntVar(&f.PIDs, "pids", experiment.DefaultPIDs, "limit of processes and threads of the server together")
	flags.StringVar(&f.Against, "against", "", "command of the server before a change, or with --image or --compose its image: what changed is the answer, as in --against './old --fast'")
	flags.StringVar(&f.Ask.Neighbour, "neighbour", "", "run threads that use this many `CPUS` beside the server: what its CPU limit costs, and what it protects, is the answer, as in --neighbour 2")
	flags.StringVar(&f.Attach, "attach", "", "search a service that runs already: a process ID, a container, or a URL; a URL may follow a process or a container")
	flags.StringVar(&f.CACert, "cacert", "", "with --attach https://…: trust only the authorities whose certificates are in this PEM file")
	flags.BoolVar(&f.Yes, "yes", false, "with --attach: skip the confirmation prompt for other hosts")
	f.Inputs.Define(flags)
	f.Ask.Calls.Define(flags)
	c.MarkFlagsMutuallyExclusive("get", "post", "grpc")
	return c
}

// build makes the experiment of the variants.
func (f *tryFlags) build(variants []try.Variant) (*experiment.Experiment, error) {
	return f.read(f.Ask.Settings(variants))
}

// read makes the experiment of settings, with the files that the flags name.
func (f *tryFlags) read(s file.Settings) (*experiment.Experiment, error) {
	e, err := file.Build(f.Ask.Name(), s, f.Ask.Compose.Expand)
	if err != nil {
		return nil, err
	}
	return e, f.Named(readInputs(e, ""))
}

func tryServer(cmd *cobra.Command, f *tryFlags) error {
	if err := f.Fill(cmd.Flags().Changed); err != nil {
		return usageError{err}
	}
	first, err := f.build(try.AsItIs(&f.Ask))
	if err != nil {
		return usageError{err}
	}
	f.Ask.Input.Report(os.Stderr, f.Ask.Host, f.Headers...)
	show, on := progress.New(os.Stderr), "local"
	if f.Ask.Image != nil {
		on = "docker"
	}
	if err := noteDoubts(on, first, show); err != nil {
		return usageError{err}
	}
	where, err := open(on, first, show, false)
	if err != nil {
		return err
	}
	defer closePlatform(where, show)
	if err := where.Check(first); err != nil {
		return usageError{err}
	}
	screen := display.TerminalOf(os.Stderr)
	note := func(text string) { show.Note(screen.Wrap(text, "")) }
	var look *try.Looked
	if where, err = f.Ask.OpenImages(cmd.Context(), where, note); err == nil {
		look, err = f.Ask.Look(cmd.Context(), where, first, f.build, note)
	}
	if err != nil {
		if cmd.Context().Err() != nil {
			return errProbing
		}
		return fmt.Errorf("try %s: %w", f.Ask.What(), err)
	}
	seen, variants := look.Seen, look.Variants
	for i := range seen {
		if doubt := f.Ask.Doubt(seen, i); doubt != "" {
			note("! " + doubt + ".")
		}
	}
	for i := range seen {
		if words := seen[i].WarmUp(); words != "" {
			note(words)
			where = try.WarmedUp(where, &first.Cells[i].Load)
			break
		}
	}
	e, err := f.build(variants)
	if err != nil {
		return usageError{err}
	}
	for _, words := range f.Ask.Images() {
		note(words)
	}
	for _, words := range f.Ask.StartUps(seen) {
		note(words)
	}
	lasts := try.Lasts(e, lab.Estimate(e), seen)
	show.Plan(try.Announce(&f.Ask, seen[0].Info, variants, e, lasts, screen))
	if f.Save != "" {
		text, fromEnv := file.Saved(e)
		if err := safefile.Replace(f.Save, []byte(text), 0o644); err != nil {
			return err
		}
		if len(fromEnv) > 0 {
			show.Note(fmt.Sprintf("! %s does not have the value of %s: export it before `millicore run %s`", f.Save, strings.Join(fromEnv, ", "), f.Save))
		}
	}
	runErr := runOn(cmd.Context(), where, show, e, f.seed, f.Out)
	return f.answer(cmd, seen[0].Info, variants, runErr)
}

// answer derives what a record shows, prints it, and returns the run's error or the
// answer's.
func (f *tryFlags) answer(cmd *cobra.Command, info runtimes.Info, variants []try.Variant, runErr error) error {
	if _, err := os.Stat(filepath.Join(f.Out, record.RunFile)); err != nil && runErr != nil {
		return runErr // it ended before there was a record
	}
	data, err := results.Derive(record.Own, f.Out)
	if err == nil {
		err = derived.Write(f.Out, data)
	}
	if err != nil {
		return errors.Join(runErr, err)
	}
	shown := f.show(cmd, info, variants, data.Summary)
	if runErr != nil && errors.As(shown, new(exit.NotMet)) {
		return runErr
	}
	return errors.Join(runErr, shown)
}

// show prints the report: the paragraph, and the table below it.
func (f *tryFlags) show(cmd *cobra.Command, info runtimes.Info, variants []try.Variant, found *summary.Summary) error {
	out := cmd.OutOrStdout()
	if f.asJSON {
		said := map[string]any{"verdict": answer.Of(found).String(), "cells": found.Cells, "variants": variants, "record": f.Out, "runtime": info}
		if i := f.Ask.Image; i != nil {
			said["image"], said["compose"] = i, f.Ask.Compose
		}
		if found.Common != nil {
			said["level"] = found.Common.Cells
		}
		if f.Against != "" {
			said["changes"] = verdict.Changed(found, variants[1].Service, variants[0].Service)
		}
		if err := display.WriteJSON(out, said); err != nil {
			return err
		}
	} else {
		if err := text.Record(out, found, f.Out, f.details); err != nil {
			return err
		}
		if f.Save != "" {
			fmt.Fprintf(out, "Experiment: %s\n", display.Clean(f.Save))
		}
	}
	for i := range found.Cells { // the settings are for comparison
		c := &found.Cells[i]
		if b := c.Breaking; try.IsAsItIs(variants, c.Service) && (b == nil || b.Load() == nil) {
			return results.NotMet(verdict.OutcomeOf(c))
		}
	}
	return nil
}
