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
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/display"
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
		err = usageError{flagGroup(err)}
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
			"and answers: where does this service break under its CPU limit, why, and which settings\n" +
			"fix it?\n\n" +
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
	root.SetFlagErrorFunc(flagError)
	// Flags fit the terminal: cobra's template prints each on one line, however long.
	cobra.AddTemplateFunc("wrapped", func(flags *pflag.FlagSet) string { return flags.FlagUsagesWrapped(helpWidth()) })
	root.SetUsageTemplate(strings.NewReplacer(
		".LocalFlags.FlagUsages", "(wrapped .LocalFlags)", ".InheritedFlags.FlagUsages", "(wrapped .InheritedFlags)").Replace(root.UsageTemplate()))
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// flagError is the error about a flag that could not be read.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	}
	forms := map[string]string{"int": "a whole number", "int64": "a whole number", "uint64": "a whole number", "float64": "a number",
		"duration": "a time with its unit, as in 10s", "bool": "true or false", "intSlice": "whole numbers, as in 200,201"}
	if form := forms[invalid.GetFlag().Value.Type()]; form != "" {
		return fmt.Errorf("--%s %q: expected %s", invalid.GetFlag().Name, invalid.GetValue(), form)
	}
	return err
}

var exclusiveFlags = regexp.MustCompile(`^if any flags in the group .*\[(.*)\] were all set$`)

// flagGroup rephrases cobra's error about flags that exclude each other.
func flagGroup(err error) error {
	m := exclusiveFlags.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	return fmt.Errorf("--%s exclude each other; keep one", strings.ReplaceAll(m[1], " ", " and --"))
}

// helpWidth is the width of the terminal; without one, COLUMNS or 100.
func helpWidth() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return width
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return 100
}

// exactly is cobra.ExactArgs with a description of the arguments in its error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			got := "none"
			if len(args) > 0 {
				got = display.Counted(int64(len(args)), "argument")
			}
			return fmt.Errorf("%s: expected %s, got %s; see %s --help", cmd.Name(), what, got, cmd.CommandPath())
		}
		return nil
	}
}
