package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/top"
)

// topFlags are what `millicore top` is told.
type topFlags struct {
	only    inspect.Only
	options top.Options
	order   string
	plain   bool
}

func topCommand() *cobra.Command {
	var f topFlags
	c := &cobra.Command{
		Use:   "top [--container NAME] [--sort throttling]",
		Short: "Watch the services under a CPU limit live: how much of it they use, how often they are throttled",
		Long: "Top shows each service of this host that runs under a CPU limit: its runtime, how much it\n" +
			"runs at once over its limit, how much of the limit it uses, in how many of the periods it\n" +
			"was throttled and for how long in each, over the last ten looks, and a sparkline of thirty.\n\n" +
			"On a terminal: arrows choose a service, enter opens what doctor finds of it, s sorts by the\n" +
			"next figure, / filters, p pauses, q leaves. Elsewhere, or with --plain, it writes lines.",
		Example: "  sudo millicore top\n" +
			"  millicore top --sort cpu --filter node\n" +
			"  millicore top --plain --every 10s --for 5m > top.txt",
		Args: exactly(0, "no arguments; name a container with --container"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			order, ok := top.ParseOrder(f.order)
			f.options.Order, f.options.Of = order, f.only.Container
			switch {
			case cmd.Flags().Changed("container") && f.only.Container == "":
				return usageError{errors.New("--container: want a name or an id")}
			case !ok:
				return usageError{fmt.Errorf("--sort %s: want throttling, stop, cpu or name", f.order)}
			case f.options.Every < 100*time.Millisecond:
				return usageError{fmt.Errorf("--every %s: want 100ms or more", f.options.Every)}
			case f.options.For < 0 || f.options.Rows < 0:
				return usageError{errors.New("--for and --rows: want 0 or more")}
			}
			return watch(cmd, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.only.Container, "container", "", "this container (its name, its pod's, or the beginning of its id) or systemd service only")
	flags.StringVar(&f.order, "sort", "throttling", "throttling (share of periods), stop (time in each throttled period), cpu (share of the limit) or name")
	flags.StringVar(&f.options.Filter, "filter", "", "only services with this in their name, runtime, command or group")
	flags.DurationVar(&f.options.Every, "every", time.Second, "time between looks")
	flags.DurationVar(&f.options.For, "for", 0, "end after this time (default: until told to)")
	flags.IntVar(&f.options.Rows, "rows", 0, "of lines: services at each look, at most (default: all)")
	flags.BoolVar(&f.plain, "plain", false, "write lines on a terminal too")
	return c
}

func watch(cmd *cobra.Command, f *topFlags) error {
	if runtime.GOOS != "linux" {
		return errNotLinux
	}
	scanner := inspect.New("")
	watcher := scanner.Watch(f.only)
	defer watcher.Close()
	if f.plain || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(os.Stdout.Fd())) || !term.IsTerminal(int(os.Stdin.Fd())) {
		return top.Lines(cmd.Context(), cmd.OutOrStdout(), watcher, f.options)
	}
	return top.Screen(cmd.Context(), os.Stdin, os.Stdout, watcher, scanner.Online(), f.options)
}
