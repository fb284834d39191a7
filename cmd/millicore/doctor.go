package main

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/front/examine"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
)

func doctorCommand() *cobra.Command {
	f := examine.Options{Version: version}
	var level string
	c := &cobra.Command{
		Use:   "doctor [--pid N | --container NAME] [--for 10s]",
		Short: "Find the mis-sized services of this host: parallelism, throttling and memory against the limits",
		Long: "Doctor inspects every process of this host or of one container: its CPU limit and the control\n" +
			"group that sets it, its runtime and parallelism, and the throttling that the kernel counts\n" +
			"over a short time. Run it under load. It reports what is mis-sized, the worst first, the exact\n" +
			"change, and the `millicore try` command that verifies the change: a throttled service is not\n" +
			"always slower. --details has the evidence of each finding.\n\n" +
			"Doctor changes nothing and sends no signals. It needs root to see the processes of other users.\n" +
			"The exit code is 99 if there is a finding at or above --level, else 98 if a process that may be\n" +
			"under a limit could not be read, else 0. A finding of level info recommends no change; warning\n" +
			"and critical do.",
		Example: "  sudo millicore doctor\n" +
			"  millicore doctor --pid 4242 --for 30s\n" +
			"  millicore doctor --container api --json\n" +
			"  sudo millicore doctor --baseline last-week.json --suppress accepted.yaml",
		Args: exactly(0, "no arguments; name a process with --pid, a container with --container"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			f.Level, err = doctor.ParseLevel(level)
			switch {
			case err != nil:
				return usageError{fmt.Errorf("--level %s: %w", level, err)}
			case cmd.Flags().Changed("container") && f.Only.Container == "":
				return usageError{errors.New("--container: want a name or an id")}
			case f.Watch < 0:
				return usageError{fmt.Errorf("--for %s: want 0 or more", span.Text(f.Watch))}
			case cmd.Flags().Changed("pid") && f.Only.PID <= 0:
				return usageError{fmt.Errorf("--pid %d: want a process ID", f.Only.PID)}
			case cmd.Flags().Changed("patch") && f.Patch == "":
				return usageError{errors.New("--patch: want a folder")}
			case runtime.GOOS != "linux":
				return errNotLinux
			}
			if err = f.Read(); err != nil {
				return usageError{err}
			}
			if err = f.Run(cmd.Context(), cmd.OutOrStdout()); errors.Is(err, inspect.ErrNone) {
				err = usageError{err}
			}
			return err
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.Only.PID, "pid", 0, "inspect this process only")
	flags.StringVar(&f.Only.Container, "container", "", "inspect the processes of this container (its name, its pod, or the beginning of its id) or systemd service")
	spanVar(flags, &f.Watch, "for", "", 10*time.Second, "how long to watch the counters; 0: no watch, and no findings about throttling")
	flags.StringVar(&level, "level", "warning", "exit with 99 if there is a finding of this level or above: info, warning, critical")
	flags.BoolVar(&f.JSON, "json", false, "print the processes and the findings for programs")
	flags.StringVar(&f.Patch, "patch", "", "write a patch for each workload or unit into this folder, and print a command for each")
	flags.StringVar(&f.Baseline, "baseline", "", "print what is new, worse and gone since an earlier run, whose --json this file has")
	flags.StringVar(&f.Suppress, "suppress", "", "leave out the findings that this file of suppressions names, each with a reason")
	defineDetails(c, &f.Details)
	c.MarkFlagsMutuallyExclusive("pid", "container")
	c.MarkFlagsMutuallyExclusive("json", "patch")
	c.MarkFlagsMutuallyExclusive("baseline", "patch")
	return c
}

// errNotLinux is the error of commands that need a Linux kernel.
var errNotLinux = errors.New("this command reads /proc and control groups of Linux, which this system does not have; run it on the host or virtual machine where the containers run")
