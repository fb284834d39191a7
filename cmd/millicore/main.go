// Command millicore finds where a service breaks under a CPU limit, why, and
// which settings fix it. This is the command line: one file a subcommand, no
// logic of its own.
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

// version is set by the release's build.
var version = launch.Unreleased

// usageError is a mistake in what the user asked for.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

var (
	// errMissed ends a run whose work was done and whose objective was missed.
	errMissed = errors.New("objective missed")
	// errInterrupted ends a run that its user stopped.
	errInterrupted = conductor.ErrInterrupted
)

// interrupted is an errInterrupted in other words.
type interrupted = conductor.InterruptedError

func main() {
	local.Shim(os.Args) // does not return where this process was started as the shim
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does, for runs that outlive their terminal
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// After the first signal the run ends cleanly; a second one ends it at once.
	context.AfterFunc(ctx, stop)

	root := command()
	root.SetArgs(args)
	begun := false // a mistake that is found before is one in the words
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
			"and tells how throttling, latency and throughput hang together.\n\n" +
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

// exactly is cobra.ExactArgs with words for what is wanted.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return fmt.Errorf("%s: want %s, got %d arguments; see %s --help", cmd.CommandPath(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}
