// Command millicore-node reads the control groups of containers on its node for
// the conductor of a run on Kubernetes, which it dials. It ends when the run is
// over.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/millicore/millicore/internal/conductor/dial"
	"github.com/millicore/millicore/internal/exit"
	"github.com/millicore/millicore/internal/node"
)

// threads is how much of a node this may run on at once: the pulses on one CPU,
// all else on the other. On all CPUs of a large machine each pulse would wake
// threads that look for work on every one of them.
const threads = 2

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(threads, runtime.GOMAXPROCS(0)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stderr))
}

// run is the whole program; it returns its exit code.
func run(ctx context.Context, args []string, env func(string) string, stderr io.Writer) int {
	flags := flag.NewFlagSet("millicore-node", flag.ContinueOnError)
	flags.SetOutput(stderr)
	conductor := flags.String("conductor", "", "dial the conductor at `HOST:PORT`")
	certificate := flags.String("certificate", "", "the conductor's certificate, a PEM `FILE`")
	token := flags.String("token-file", "", "the `FILE` with the run's token")
	name := flags.String("name", env("NODE_NAME"), "the node's `NAME`; default: $NODE_NAME")
	groups := flags.String("cgroup", "/host/cgroup", "the `FOLDER` in which the node's /sys/fs/cgroup is mounted")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exit.OK
	case err != nil:
		return exit.Usage // said by flags
	case flags.NArg() > 0:
		err = fmt.Errorf("%q: there are no arguments, only flags", flags.Arg(0))
	case *conductor == "" || *certificate == "" || *token == "":
		err = errors.New("--conductor, --certificate and --token-file are needed")
	case *name == "":
		err = errors.New("--name is needed: the node's name, or NODE_NAME in the environment")
	}
	note := func(err error) { fmt.Fprintln(stderr, "millicore-node:", err) }
	if err != nil {
		note(err)
		return exit.Usage
	}
	finder := node.NewFinder(*groups)
	options := dial.Options{Conductor: *conductor, Path: "/node/" + url.PathEscape(*name), CertFile: *certificate, TokenFile: *token}
	err = dial.Serve(ctx, options, note, func(stream net.Conn) error { return node.Serve(ctx, stream, finder) })
	if err != nil && ctx.Err() == nil {
		note(err)
		return exit.Failed
	}
	return exit.OK
}
