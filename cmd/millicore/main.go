// Command millicore finds where a service breaks under a CPU limit, why, and which
// settings fix it. This package is the command line, with one file for each subcommand:
// it parses flags and connects packages.
package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/front/progress"
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
	// errInvalid is the result of a run in which a limit did not hold.
	errInvalid = errors.New("a limit did not hold in a trial, which is invalid; the warnings have the reason")
	// errInterrupted is the result of a run that the user stopped.
	errInterrupted = conductor.ErrInterrupted
)

// errMissed is the result of a complete run that missed its objective.
const errMissed = exit.NotMet(exit.Missed)

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
	// The first signal ends the command cleanly, the second one ends the program at once.
	context.AfterFunc(ctx, stop)

	restore := terminal()
	var e execution
	ended := make(chan error, 1)
	go func() { ended <- e.execute(ctx, args) }()
	select {
	case err := <-ended:
		return e.code(ctx, err)
	case <-e.overdue(ctx):
		restore()
		progress.New(os.Stderr).Note("millicore: " + e.unfinished())
		return exit.Interrupted
	}
}

// execution is one execution of a command line.
type execution struct {
	begun atomic.Pointer[cobra.Command] // nil: an error is one of usage
}

func (e *execution) execute(ctx context.Context, args []string) error {
	root := command()
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, err, args) })
	for _, c := range root.Commands() {
		work := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			e.begun.Store(c)
			return work(c, args)
		}
	}
	if err := longFlag(root, args); err != nil {
		return err
	}
	return root.ExecuteContext(ctx)
}

// code prints the error of the command line, and returns its exit code.
func (e *execution) code(ctx context.Context, err error) int {
	var missed exit.NotMet
	switch {
	case err == nil:
		return exit.OK
	case errors.As(err, &missed) && !errors.As(err, new(*unwritten)):
		return int(missed)
	case e.begun.Load() == nil:
		err = usageError{flagGroupError(err)}
	}
	progress.New(os.Stderr).Note("millicore: " + display.Problem(err))
	switch {
	case errors.Is(err, errInterrupted), ctx.Err() != nil:
		return exit.Interrupted
	case errors.As(err, &usageError{}):
		return exit.Usage
	}
	return exit.Failed
}

func command() *cobra.Command {
	cobra.EnableCommandSorting = false // help lists the commands in the order below
	root := &cobra.Command{
		Use:   "millicore",
		Short: "Where does this service break under its CPU limit, why, and which settings fix it?",
		Long: "Millicore starts a service under a real CPU limit, loads it, and answers: where does it break, why, " +
			"and which settings fix it?\n\n" +
			"Begin with a server of yours:\n\n" +
			"  millicore try --cpu 500m -- ./my-server\n\n" +
			"or with an experiment that ships:\n\n" +
			"  millicore run quick",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cmd.Help()
		},
	}
	root.Version = thisBuild().String()
	root.SetVersionTemplate("{{.Version}}\n")
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Measure:", []*cobra.Command{tryCommand(), runCommand(), loadCommand()}},
		{"Read what was measured:", []*cobra.Command{reportCommand(), compareCommand()}},
		{"Look at what runs:", []*cobra.Command{doctorCommand(), topCommand(), trafficCommand()}},
		{"", []*cobra.Command{experimentsCommand(), cleanCommand(), versionCommand(), conductCommand(), manCommand()}},
	} {
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		}
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	new(globals).define(root)
	completeFlags(root)
	completionCommand(root)
	root.SetHelpFunc(showHelp)
	root.SetHelpCommand(helpCommand())
	root.SetUsageFunc(func(c *cobra.Command) error { showHelp(c, nil); return nil })
	return root
}
