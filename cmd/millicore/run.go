package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/experiments"
	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/spelling"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/front/compose"
	"github.com/millicore/millicore/internal/front/inputs"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/load/agent"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/docker"
	"github.com/millicore/millicore/internal/platform/local"
)

// runOptions are the flags of run.
type runOptions struct {
	output
	on      string
	out     string
	sets    []string
	seed    uint64
	dryRun  bool
	attach  string
	detach  bool
	cluster clusterFlags
}

func runCommand() *cobra.Command {
	var (
		o         runOptions
		nodeAgent bool
		image     string
	)
	c := &cobra.Command{
		Use:   "run FILE|NAME",
		Short: "Run an experiment: a file, or one that ships",
		Long: "Run conducts an experiment: it starts each service under its limits, sends load to it, and\n" +
			"writes a record with a report to runs/NAME-TIME (or --out). The keys of --set are the fields\n" +
			"of the file.\n\n" +
			"With --on kubernetes the run takes place in the cluster, and continues there if this command\n" +
			"ends: --attach follows it again. Ctrl-C ends the run and fetches its record.\n\n" +
			"The exit code is 0 if the objective was met or there is none, 99 if it was missed, and 2 for an\n" +
			"invalid experiment, of which nothing is started.",
		Example: "  millicore run quick\n" +
			"  millicore run my-service.yaml --set limits.cpu=250m --out runs/first\n" +
			"  millicore run quick --on docker\n" +
			"  millicore run quick --on kubernetes --dry-run",
		ValidArgsFunction: completeExperiments(true),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.attach != "" && len(args) > 0:
				return errors.New("--attach follows a run that exists; leave out the experiment")
			case o.attach != "":
				return nil
			}
			return exactly(1, "an experiment (a file, or a name from \"millicore experiments\")")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.attach != "" && !cmd.Flags().Changed("on") {
				o.on = onKubernetes
			}
			if err := checkOn(o.on); err != nil {
				return usageError{err}
			}
			if err := onlyOnKubernetes(cmd, o.on, "attach", "detach", "node-agent", "image", "namespace", "context", "kubeconfig"); err != nil {
				return usageError{err}
			}
			if o.attach != "" {
				return attachTo(cmd, &o)
			}
			if nodeAgent {
				o.sets = append(o.sets, "kubernetes.node_agent=true")
			}
			if image != "" {
				o.sets = append(o.sets, "kubernetes.image="+image)
			}
			e, path, err := readExperiment(args[0], o.sets)
			if err != nil {
				return usageError{err}
			}
			if !cmd.Flags().Changed("seed") {
				o.seed = rand.Uint64() >> 12 // exact as a JSON number everywhere
			}
			if o.out == "" {
				o.out = record.NewDir("runs", e.Name, time.Now())
			}
			if err := o.check(); err != nil {
				return usageError{err}
			}
			switch {
			case o.on == onKubernetes:
				return runOnKubernetes(cmd, &o, e, path)
			case o.dryRun:
				return dryRunHere(cmd, o.on, e, progress.New(os.Stderr), o.asJSON)
			}
			return conduct(cmd, &o, e)
		},
	}
	c.Flags().StringVar(&o.on, "on", "local", "where services run: local (processes), docker (containers of this machine's Docker) or kubernetes (pods of a cluster)")
	c.Flags().StringVar(&o.out, "out", "", "folder for the record (default runs/NAME-TIME)")
	c.Flags().StringArrayVar(&o.sets, "set", nil, "change a field of the experiment, as in limits.cpu=250m (repeatable)")
	c.Flags().Uint64Var(&o.seed, "seed", 0, "seed of the order of trials and of the arrivals (default: random; stored in the record)")
	o.define(c, "print summary.json instead of the table")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "check the file, the commands and what the platform needs, print the plan, and start nothing")
	c.Flags().StringVar(&o.attach, "attach", "", "with --on kubernetes: follow the run with this name in the cluster")
	c.Flags().BoolVar(&o.detach, "detach", false, "with --on kubernetes: start the run, print its name, and exit")
	c.Flags().BoolVar(&nodeAgent, "node-agent", false, "with --on kubernetes: read control groups on the nodes, for 1 s frames, throttle windows and causes")
	c.Flags().StringVar(&image, "image", "", "with --on kubernetes: image of Millicore's programs")
	o.cluster.add(c)
	c.MarkFlagsMutuallyExclusive("attach", "detach", "dry-run")
	for _, flag := range []string{"set", "seed", "node-agent", "image"} {
		c.MarkFlagsMutuallyExclusive("attach", flag)
	}
	return c
}

func conduct(cmd *cobra.Command, o *runOptions, e *experiment.Experiment) error {
	if err := agent.CheckPolicy(); err != nil {
		return usageError{err}
	}
	show := progress.New(os.Stderr)
	if err := noteDoubts(o.on, e, show); err != nil {
		return usageError{err}
	}
	where, err := open(o.on, e, show, false)
	if err != nil {
		return err
	}
	defer closePlatform(where, show)
	runErr := runOn(cmd.Context(), where, show, e, o.seed, o.out)
	if _, err := os.Stat(filepath.Join(o.out, record.RunFile)); err != nil {
		return runErr
	}
	return showAfter(runErr, cmd, o.out, o.output)
}

// showAfter shows the record of a run. After an error it shows what was measured; the
// error comes first, and hides that an objective was missed, or a trial invalid.
func showAfter(runErr error, cmd *cobra.Command, out string, o output) error {
	err := showReport(cmd, record.Own, out, o)
	var u *unwritten
	switch {
	case errors.As(err, &u): // scripts read the files: that they are missing hides a miss
		err = u
	case runErr != nil && (errors.As(err, new(exit.NotMet)) || errors.Is(err, errInvalid)):
		err = nil
	}
	return errors.Join(runErr, err)
}

// platforms are the values of --on.
var platforms = []string{"local", "docker", onKubernetes}

func checkOn(on string) error { return oneOf("on", on, platforms) }

// open opens the platform that --on names. For a dry run it makes and removes nothing.
func open(on string, e *experiment.Experiment, show *progress.Printer, dry bool) (platform.Platform, error) {
	if on == "docker" {
		return docker.New(docker.Options{HostNetwork: e.Docker.HostNetwork, Note: show.Note, DryRun: dry})
	}
	return local.New(local.Options{Note: show.Note, DryRun: dry})
}

func closePlatform(where platform.Platform, show *progress.Printer) {
	if err := where.Close(); err != nil {
		show.Note(fmt.Sprintf("millicore: %s%s", display.Problem(err), platform.Cleaning(where.Name())))
	}
}

// runOn conducts an experiment into a new record. If the error is nil, the whole plan was
// conducted.
func runOn(ctx context.Context, where platform.Platform, show *progress.Printer, e *experiment.Experiment, seed uint64, out string) error {
	programs, err := lab.FindPrograms()
	if err != nil {
		return err
	}
	if times, err := strconv.Atoi(os.Getenv("MILLICORE_SEARCH_SPEED")); err == nil { // only tests set it: docs/testing.md
		e.Hurry(times)
	}
	if err := errors.Join(record.Free(out), lab.Check(e), where.Check(e)); err != nil {
		return usageError{err}
	}
	if where, err = compose.Beside(ctx, where, e, show.Note); ctx.Err() != nil {
		return errProbing
	} else if err != nil {
		return fmt.Errorf("run %s: %w", e.Name, err)
	}
	l := &lab.Lab{Experiment: e, Platform: where, Programs: programs, Seed: seed, Dir: out, Version: version,
		Progress: show.Progress, OnSearch: func() { show.FirstAnswer(out) }, Log: show}
	err = l.Run(ctx)
	show.End()
	if err == nil && ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// shipped is the text of an experiment that ships. Its error suggests the nearest name.
func shipped(name string) ([]byte, error) {
	text, err := experiments.Text(name)
	if near := spelling.Nearest(name, experiments.Names()); err != nil && near != "" {
		return nil, fmt.Errorf("experiment %q: no such file, and no experiment with this name ships; did you mean %s?", name, near)
	}
	return text, err
}

// readExperiment reads a file or an experiment that ships, and returns the name of the
// file. A name with a slash or a dot is always a file.
func readExperiment(name string, sets []string) (e *experiment.Experiment, path string, err error) {
	path = name
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
	case !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(name, "/.\\"):
		return nil, path, fmt.Errorf("read the experiment: %w", err)
	default:
		path = name + ".yaml"
		if data, err = shipped(name); err != nil {
			return nil, path, err
		}
	}
	if e, err = inputs.Parse(path, data, sets, os.Stderr); err != nil {
		return nil, path, err
	}
	return e, path, readInputs(e, filepath.Dir(path))
}
