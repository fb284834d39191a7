package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/millicore/millicore/internal/base/tui"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/top"
)

// topFlags are the flags of `millicore top`.
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
		Short: "Show the services under a CPU limit live: how much of it they use, how often they are throttled",
		Long: "Top shows each service of this host that runs under a CPU limit: its runtime, its parallelism\n" +
			"and its limit, the share of the limit that it uses, how many CPUs its threads wait for, the\n" +
			"share of its memory limit, the share of periods in which it was throttled, and for how long. The figures cover the last ten readings, the sparkline\n" +
			"thirty.\n\n" +
			"On a terminal: the arrow keys choose a service, enter watches as doctor does and opens its findings, s sorts by\n" +
			"the next figure, / filters, p pauses, q quits. Otherwise, or with --plain, top writes lines.",
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
				return usageError{oneOf("sort", f.order, enumerated["top"]["sort"])}
			case f.options.Every < 100*time.Millisecond:
				return usageError{fmt.Errorf("--every %s: want 100ms or more", span.Text(f.options.Every))}
			case f.options.For < 0 || f.options.Rows < 0:
				return usageError{errors.New("--for and --rows: want 0 or more")}
			}
			return watch(cmd, &f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.only.Container, "container", "", "show this container (its name, its pod, or the beginning of its id) or systemd service only")
	flags.StringVar(&f.order, "sort", "throttling", "order: throttling (share of periods), throttled-time (per throttled period; also: stop), cpu (share of the limit) or name")
	flags.StringVar(&f.options.Filter, "filter", "", "show only services with this text in their name, runtime, command or group")
	spanVar(flags, &f.options.Every, "every", "", time.Second, "time between readings")
	spanVar(flags, &f.options.For, "for", "", 0, "end after this time (default: run until interrupted)")
	flags.IntVar(&f.options.Rows, "rows", 0, "lines only: maximum number of services per reading (default: all)")
	flags.BoolVar(&f.plain, "plain", false, "write lines even on a terminal")
	return c
}

func watch(cmd *cobra.Command, f *topFlags) error {
	if runtime.GOOS != "linux" {
		return errNotLinux
	}
	watcher := inspect.New("").Watch(f.only)
	defer watcher.Close()
	if f.plain || !tui.Can(os.Stdout) || !tui.IsTerminal(os.Stdin) {
		return top.Lines(cmd.Context(), cmd.OutOrStdout(), watcher, f.options)
	}
	scan := func(ctx context.Context, watch time.Duration) (inspect.Host, error) {
		return inspect.New("").Scan(ctx, inspect.Only{}, watch)
	}
	return top.Screen(cmd.Context(), os.Stdin, os.Stdout, watcher, scan, f.options)
}
