package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/file"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/progress"
	"github.com/millicore/millicore/internal/record"
	"github.com/millicore/millicore/internal/report/derived"
	"github.com/millicore/millicore/internal/results"
	"github.com/millicore/millicore/internal/try"
)

// tryFlags are the flags of `millicore try`.
type tryFlags struct {
	tryMore
	ask          try.Ask
	get, post    string
	headers      []string
	p99          time.Duration
	availability float64
	save, out    string
	seed         uint64
	asJSON       bool
}

func tryCommand() *cobra.Command {
	var f tryFlags
	c := &cobra.Command{
		Use:                   "try [flags] -- COMMAND... | --attach PID|CONTAINER|URL",
		DisableFlagsInUseLine: true,
		Short:                 "Put any server under a limit and find where it breaks",
		Long: "Try starts a server under a CPU and memory limit, finds its port and its runtime, and\n" +
			"searches its breaking point: as it is, with its parallelism set to each sensible value\n" +
			"(two replicas where its runtime has no such setting, and it listens on ${port} or\n" +
			"$PORT), and once without the CPU limit. It ends with one paragraph: where it breaks, why, what\n" +
			"each setting holds at this limit, and which of them lower p99 at a common load.\n\n" +
			"The server must stay in the foreground. If the command contains ${port}, try replaces it with\n" +
			"a free port. Otherwise try detects the port on which the server listens. Each search takes\n" +
			"about a minute, and the settings are then held at one common load for half a minute each.\n" +
			"--as-is searches once.\n\n" +
			"With --attach it searches a service that runs already, under the limits that it has: it\n" +
			"starts, stops and changes nothing, and asks before it loads another host.",
		Example: "  millicore try --cpu 500m --memory 256Mi --get /api -- ./my-server\n" +
			"  millicore try --get /index.html -- nginx -g 'daemon off;'\n" +
			"  millicore try --attach 4242\n" +
			"  millicore try --save first.yaml -- ./my-server --listen '127.0.0.1:${port}'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.attach == "" {
				return errors.New("try: expected the server's command after --, as in: millicore try --cpu 500m -- ./my-server")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd.Flags().Changed); err != nil {
				return usageError{err}
			}
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64() >> 12 // exact as a JSON number everywhere
			}
			if f.attach != "" {
				return tryRunning(cmd, &f, args)
			}
			f.ask.Command = args
			return tryServer(cmd, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.ask.CPU, "cpu", "1", `CPU limit: 500m, 1.5, or "none"`)
	flags.StringVar(&f.ask.Memory, "memory", "", "memory limit: 256Mi (default none)")
	flags.StringVar(&f.get, "get", "/", "path to GET")
	flags.StringVar(&f.post, "post", "", "path to POST instead")
	flags.StringVar(&f.ask.Request.Body, "body", "", "body to POST")
	flags.StringArrayVar(&f.headers, "header", nil, "header of the requests, as in 'Accept: text/html' (repeatable)")
	flags.IntVar(&f.ask.Port, "port", 0, "port that the server listens on (default: detected)")
	flags.StringVar(&f.ask.Ready.Path, "ready", "", "path that answers 200 once the server is ready (default: ready when the port accepts connections)")
	flags.DurationVar(&f.ask.Ready.Timeout, "ready-timeout", 30*time.Second, "how long the server may take to be ready")
	flags.DurationVar(&f.p99, "p99", 100*time.Millisecond, "objective: maximum p99 latency")
	flags.Float64Var(&f.availability, "availability", 99.9, "objective: minimum percentage of requests with a good answer")
	flags.DurationVar(&f.ask.Timeout, "timeout", 2*time.Second, "how long an answer may take")
	flags.BoolVar(&f.ask.Users, "users", false, "search for a number of concurrent users (closed loop) instead of a rate")
	flags.DurationVar(&f.ask.Traffic, "traffic", time.Minute, "maximum traffic time of each search")
	flags.BoolVar(&f.ask.AsIsOnly, "as-is", false, "search the server as it is only: no other settings, no replicas, no run without the limit")
	flags.BoolVar(&f.ask.Profile, "profile", false, "take profiles at the breaking point, in an extra trial")
	flags.StringVar(&f.save, "save", "", "write the experiment as a file, to repeat or change it")
	flags.StringVar(&f.out, "out", "", "folder for the record (default runs/try-NAME-TIME)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the order of trials and of the arrivals (default: random; stored in the record)")
	flags.BoolVar(&f.asJSON, "json", false, `print {"verdict": …, "cells": […]}`)
	f.define(c)
	c.MarkFlagsMutuallyExclusive("get", "post")
	return c
}

// fill turns flags into what is asked.
func (f *tryFlags) fill() error {
	a := &f.ask
	var err error
	if a.Dir, err = os.Getwd(); err != nil {
		return err
	}
	if a.CPU == "none" {
		a.CPU = ""
	}
	a.Env = try.Caller(os.Environ())
	if err := f.tryMore.fill(a); err != nil {
		return err
	}
	a.Objective = experiment.Objective{Quantile: "p99", Latency: f.p99, Availability: f.availability}
	a.Request.Method, a.Request.Path = "GET", f.get
	if f.post != "" {
		a.Request.Method, a.Request.Path = "POST", f.post
	}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return fmt.Errorf("--header %q: write it as 'Name: value'", h)
		}
		if a.Request.Headers == nil {
			a.Request.Headers = map[string]string{}
		}
		a.Request.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	if f.save != "" {
		if _, err := os.Lstat(f.save); err == nil {
			return fmt.Errorf("--save %s: the file is there already; name another", f.save)
		}
	}
	if f.out == "" {
		f.out = record.NewDir("runs", a.Name(), time.Now())
	}
	return record.Free(f.out)
}

// build makes the experiment of the variants.
func (f *tryFlags) build(variants []try.Variant, sets ...string) (*experiment.Experiment, error) {
	return file.Build(f.ask.Name(), f.ask.Settings(variants), sets)
}

func tryServer(cmd *cobra.Command, f *tryFlags) error {
	if err := f.fill(); err != nil {
		return usageError{err}
	}
	first, err := f.build(try.AsItIs(&f.ask))
	if err != nil {
		return usageError{err}
	}
	show := progress.New(os.Stderr)
	where, err := openLocal(show)
	if err != nil {
		return err
	}
	defer closePlatform(where, show)
	if err := where.Check(first); err != nil {
		return usageError{err}
	}
	if f.socket != "" {
		where = try.OverSocket(where, f.socket)
	}
	seen, variants, err := f.look(cmd.Context(), where, first)
	if err != nil {
		if cmd.Context().Err() != nil {
			return errInterrupted
		}
		return fmt.Errorf("try %s: %w", f.ask.Command[0], err)
	}
	show.Note(try.Announce(&f.ask, seen.Info, variants))
	if words := seen.WarmUp(); words != "" {
		show.Note(words)
		where = try.WarmedUp(where, &first.Cells[0].Load)
	}
	e, err := f.build(variants)
	if err != nil {
		return usageError{err}
	}
	if f.save != "" {
		if err := record.WriteFile(f.save, []byte(e.Source)); err != nil {
			return err
		}
	}
	runErr := runOn(cmd.Context(), where, show, e, f.seed, f.out)
	found, err := rederive(f.out)
	if err != nil {
		return errors.Join(runErr, err)
	}
	var level *analysis.Summary
	if sets := try.Level(variants, found); runErr == nil && sets != nil {
		level, runErr = f.level(cmd.Context(), where, show, variants, sets)
	}
	shown := f.show(cmd, seen.Info, variants, found, level)
	if runErr != nil {
		return errors.Join(runErr, nilIfMissed(shown))
	}
	return shown
}

func nilIfMissed(err error) error {
	if errors.Is(err, errMissed) {
		return nil
	}
	return err
}

// look starts the server once as it is, and once with each setting whose effect
// can be read, and gives what was seen and what is worth measuring. What the
// server says goes to a folder of its own, which an error shows the end of.
func (f *tryFlags) look(ctx context.Context, where platform.Platform, asIs *experiment.Experiment) (try.Seen, []try.Variant, error) {
	logs, err := os.MkdirTemp("", "millicore-try-")
	if err != nil {
		return try.Seen{}, nil, err
	}
	defer os.RemoveAll(logs)
	seen, err := try.Probe(ctx, where, &asIs.Cells[0], asIs.Objective, logs)
	if err != nil {
		return seen, nil, err
	}
	if f.ask.First == 0 {
		f.ask.First = seen.Begin()
	}
	machine := runtimes.Machine{Online: runtime.NumCPU(), Affinity: seen.Info.Affinity}
	variants := try.Variants(&f.ask, asIs.Cells[0].Limits, seen, machine)
	e, err := f.build(variants)
	if err != nil {
		return seen, nil, usageError{err}
	}
	return seen, variants, try.Check(ctx, where, e, seen.Info, variants, logs)
}

// level holds all variants at one common load, in a record beside the first.
func (f *tryFlags) level(ctx context.Context, where platform.Platform, show *progress.Printer, variants []try.Variant, sets []string) (*analysis.Summary, error) {
	e, err := f.build(variants, sets...)
	if err != nil {
		return nil, err
	}
	show.Note("Now all of them at one load: " + strings.Join(sets[:2], " "))
	out := f.out + "-level"
	if err := runOn(ctx, where, show, e, f.seed, out); err != nil {
		return nil, err
	}
	return rederive(out)
}

// rederive rebuilds what is derived from a record.
func rederive(dir string) (*analysis.Summary, error) {
	data, err := results.Derive(dir)
	if err != nil {
		return nil, err
	}
	return data.Summary, derived.Write(dir, data)
}

// readable is how wide a paragraph may get, in letters.
const readable = 100

// show prints the table and ends with the verdict.
func (f *tryFlags) show(cmd *cobra.Command, info runtimes.Info, variants []try.Variant, found, level *analysis.Summary) error {
	verdict := try.Verdict(try.Describe(&f.ask, info), variants, found, level)
	out := cmd.OutOrStdout()
	if f.asJSON {
		said := map[string]any{"verdict": verdict, "cells": found.Cells, "variants": variants, "record": f.out, "runtime": info}
		if level != nil {
			said["level"] = level.Cells
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(said); err != nil {
			return err
		}
	} else {
		if err := table(out, found, f.out); err != nil {
			return err
		}
		if f.save != "" {
			fmt.Fprintf(out, "Experiment: %s\n", f.save)
		}
		screen := display.TerminalOf(out)
		screen.Width = min(screen.Width, readable)
		fmt.Fprintf(out, "\n%s", screen.Line(verdict, display.Normal))
	}
	asIs := slices.IndexFunc(found.Cells, func(c analysis.CellSummary) bool { return c.Service == variants[0].Service })
	if asIs < 0 || found.Cells[asIs].Breaking == nil || found.Cells[asIs].Breaking.Load() == nil {
		return errMissed
	}
	return nil
}
