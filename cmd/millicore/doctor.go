package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/front/progress"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

// doctorFlags are the flags of `millicore doctor`.
type doctorFlags struct {
	only  inspect.Only
	watch time.Duration
	level string

	asJSON, patch, details bool
}

func doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor [--pid N | --container NAME] [--for 10s]",
		Short: "Find the mis-sized services of this host: parallelism, throttling and memory against the limits",
		Long: "Doctor inspects every process of this host or of one container: its CPU limit and the control\n" +
			"group that sets it, its runtime and parallelism, and the throttling that the kernel counts\n" +
			"over a short time. Run it under load. It reports what is mis-sized, the worst first, the exact\n" +
			"change, and the `millicore try` command that verifies the change: a throttled service is not\n" +
			"always slower. --details has the evidence of each finding.\n\n" +
			"Doctor changes nothing and sends no signals. It needs root to see the processes of other users.\n" +
			"The exit code is 0 if there is no finding at or above --level, and otherwise 99. A finding of\n" +
			"level info recommends no change; warning and critical do.",
		Example: "  sudo millicore doctor\n" +
			"  millicore doctor --pid 4242 --for 30s\n" +
			"  millicore doctor --container api --json",
		Args: exactly(0, "no arguments; name a process with --pid, a container with --container"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			level, err := doctor.ParseLevel(f.level)
			switch {
			case err != nil:
				return usageError{fmt.Errorf("--level %s: %w", f.level, err)}
			case cmd.Flags().Changed("container") && f.only.Container == "":
				return usageError{errors.New("--container: want a name or an id")}
			case f.watch < 0:
				return usageError{fmt.Errorf("--for %s: want 0 or more", span.Text(f.watch))}
			case cmd.Flags().Changed("pid") && f.only.PID <= 0:
				return usageError{fmt.Errorf("--pid %d: want a process ID", f.only.PID)}
			}
			return examine(cmd, &f, level)
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.only.PID, "pid", 0, "inspect this process only")
	flags.StringVar(&f.only.Container, "container", "", "inspect the processes of this container (its name, its pod, or the beginning of its id) or systemd service")
	spanVar(flags, &f.watch, "for", "", 10*time.Second, "how long to watch the counters; 0: no watch, and no findings about throttling")
	flags.StringVar(&f.level, "level", "warning", "exit with 99 if there is a finding of this level or above: info, warning, critical")
	flags.BoolVar(&f.asJSON, "json", false, `print {"processes": […], "findings": […]}`)
	flags.BoolVar(&f.patch, "patch", false, "print the changes as patches: Kubernetes YAML, and systemd and docker as comments")
	defineDetails(c, &f.details)
	c.MarkFlagsMutuallyExclusive("pid", "container")
	c.MarkFlagsMutuallyExclusive("json", "patch")
	return c
}

// errNotLinux is the error of commands that need a Linux kernel.
var errNotLinux = errors.New("this command reads /proc and control groups of Linux, which this system does not have; run it on the host or virtual machine where the containers run")

func examine(cmd *cobra.Command, f *doctorFlags, level doctor.Level) error {
	if runtime.GOOS != "linux" {
		return errNotLinux
	}
	if f.watch > 0 && !progress.IsQuiet() && term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "watching for %s (--for 0: no watch, and no findings about throttling)…\n", span.Text(f.watch))
	}
	host, err := inspect.New("").Scan(cmd.Context(), f.only, f.watch)
	if errors.Is(err, inspect.ErrNone) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	findings := doctor.Examine(host)
	out := cmd.OutOrStdout()
	switch {
	case f.asJSON:
		err = diagnosis.JSON(out, host, findings)
	case f.patch:
		err = diagnosis.Patch(out, findings)
	default:
		err = diagnosis.Write(out, host, findings, f.details, display.TerminalOf(os.Stdout))
	}
	if err == nil && doctor.AtLeast(findings, level) {
		err = errMissed
	}
	return err
}
