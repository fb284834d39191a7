// Command millicore finds where a service breaks under a CPU limit, why, and which
// settings fix it. This package is the command line, with one file for each subcommand:
// it parses flags and connects packages.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/exit"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/platform/local"
)

// version is set by the build of a release.
var version = launch.Unreleased

// usageError is an error that the user can correct in the command line or the experiment.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

var (
	// errMissed is the result of a complete run that missed its objective.
	errMissed = errors.New("objective missed")
	// errInterrupted is the result of a run that the user stopped.
	errInterrupted = conductor.ErrInterrupted
)

// interrupted is an errInterrupted with another text.
type interrupted = conductor.InterruptedError

func main() {
	local.Shim(os.Args) // does not return if this process was started as the shim
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it, for runs that outlive their terminal
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// The first signal ends the run cleanly, the second one ends the program at once.
	context.AfterFunc(ctx, stop)

	root := command()
	root.SetArgs(args)
	begun := false // an error before the command begins is one of usage
	for _, c := range root.Commands() {
		work := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			begun = true
			return work(c, args)
		}
	}
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exit.OK
	case errors.Is(err, errMissed):
		return exit.Missed
	case !begun:
		err = usageError{err}
	}
	fmt.Fprintf(os.Stderr, "millicore: %v\n", err)
	switch {
	case errors.As(err, &usageError{}):
		return exit.Usage
	case errors.Is(err, errInterrupted):
		return exit.Interrupted
	}
	return exit.Failed
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "millicore",
		Short: "Where does this service break under its CPU limit, why, and which settings fix it?",
		Long: "Millicore starts variants of a service under real CPU and memory limits, loads them,\n" +
			"and shows how throttling, latency and throughput are related.\n\n" +
			"Start with:  millicore run quick",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
	}
	root.AddCommand(runCommand(), tryCommand(), reportCommand(), compareCommand(), experimentsCommand(), cleanCommand(),
		doctorCommand(), topCommand(), loadCommand(), conductCommand(), manCommand())
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// exactly is cobra.ExactArgs with a description of the arguments in its error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%s: want %s, got %d arguments; see %s --help", cmd.CommandPath(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}
