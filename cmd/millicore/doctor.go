package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
)

// doctorFlags are what `millicore doctor` is told.
type doctorFlags struct {
	only   inspect.Only
	watch  time.Duration
	level  string
	asJSON bool
}

func doctorCommand() *cobra.Command {
	var f doctorFlags
	c := &cobra.Command{
		Use:   "doctor [--pid N | --container NAME] [--for 10s]",
		Short: "Find the mis-sized services of this host: parallelism, throttling and memory against the limits",
		Long: "Doctor looks at every process of this host, or of one container: the limit that it meets\n" +
			"and the group that sets it, its runtime and how many things that runs at once, and what\n" +
			"the kernel counts of throttling over a short watch. Run it under load. It says what is\n" +
			"mis-sized, worst first, each with its evidence, the exact change, and the run of millicore\n" +
			"try that verifies it: a throttled service is not always slower.\n\n" +
			"It changes nothing, and sends no signal. To see other users' processes it takes root.\n" +
			"It ends with exit code 0 if nothing was found at or above --level, and with 99 else. A finding\n" +
			"of level info recommends no change; warning and critical do.",
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
				return usageError{fmt.Errorf("--for %s: want 0 or more", f.watch)}
			case cmd.Flags().Changed("pid") && f.only.PID <= 0:
				return usageError{fmt.Errorf("--pid %d: want the number of a process", f.only.PID)}
			}
			return examine(cmd, &f, level)
		},
	}
	flags := c.Flags()
	flags.IntVar(&f.only.PID, "pid", 0, "look at this process only")
	flags.StringVar(&f.only.Container, "container", "", "look at the processes of this container (its name, its pod's, or the beginning of its id) or systemd service")
	flags.DurationVar(&f.watch, "for", 10*time.Second, "how long to watch the counters; 0: not at all, and nothing is found about throttling")
	flags.StringVar(&f.level, "level", "warning", "end with exit code 99 from this level on: info, warning, critical")
	flags.BoolVar(&f.asJSON, "json", false, `print {"processes": […], "findings": […]}`)
	c.MarkFlagsMutuallyExclusive("pid", "container")
	return c
}

// errNotLinux ends what needs a Linux kernel.
var errNotLinux = errors.New("this looks at Linux's /proc and control groups, which this system does not have; run it on the host or in the virtual machine where the containers are")

func examine(cmd *cobra.Command, f *doctorFlags, level doctor.Level) error {
	if runtime.GOOS != "linux" {
		return errNotLinux
	}
	if f.watch > 0 && term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "watching for %s (--for 0: not at all, and nothing is found about throttling)…\n", f.watch)
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
	if f.asJSON {
		err = doctor.JSON(out, host, findings)
	} else {
		err = doctor.Text(out, host, findings, display.TerminalOf(os.Stdout))
	}
	if err == nil && doctor.AtLeast(findings, level) {
		err = errMissed
	}
	return err
}
