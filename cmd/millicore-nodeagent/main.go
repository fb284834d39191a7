// Command millicore-nodeagent reads the control groups of containers on its Kubernetes
// node, and sends the samples to the run's conductor. It connects to the conductor, and
// ends when the run is over.
//
// In the pods of `millicore doctor --on kubernetes` it waits (--wait), and reads the node's
// processes when it is started there once more (--look 10s).
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

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/kubernetes/fleet"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
)

// version is set by the build of a release.
var version = "development"

// threads is GOMAXPROCS: one CPU for the samples and one for everything else. With all
// CPUs of a large machine, each sample would wake threads that search for work on each of
// them.
const threads = 2

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(threads, runtime.GOMAXPROCS(0)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the whole program; it returns its exit code.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("millicore-nodeagent", flag.ContinueOnError)
	flags.SetOutput(stderr)
	conductor := flags.String("conductor", "", "connect to the conductor at `HOST:PORT`")
	certificate := flags.String("certificate", "", "the conductor's certificate, a PEM `FILE`")
	token := flags.String("token-file", "", "the `FILE` with this node agent's token")
	name := flags.String("name", env("NODE_NAME"), "the node's `NAME`; default: $NODE_NAME")
	groups := flags.String("cgroup", "/host/cgroup", "the `FOLDER` in which the node's /sys/fs/cgroup is mounted")
	wait := flags.Bool("wait", false, "do nothing until the program is ended")
	look := flags.Duration("look", -1, "read the processes of this host for a `TIME` and print them for millicore doctor")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exit.OK
	case err != nil:
		return exit.Usage // flags has printed the error
	case flags.NArg() > 0:
		err = fmt.Errorf("%q: there are no arguments, only flags", flags.Arg(0))
	case *wait || *look >= 0:
	case *conductor == "" || *certificate == "" || *token == "":
		err = errors.New("--conductor, --certificate and --token-file are needed")
	case *name == "":
		err = errors.New("--name is needed: the node's name, or NODE_NAME in the environment")
	}
	note := func(err error) { fmt.Fprintln(stderr, "millicore-nodeagent:", err) }
	if err != nil {
		note(err)
		return exit.Usage
	}
	switch {
	case *wait:
		<-ctx.Done()
		return exit.OK
	case *look >= 0:
		if err := fleet.Look(ctx, stdout, version, *look); err != nil {
			note(err)
			return exit.Failed
		}
		return exit.OK
	}
	finder := nodeagent.NewFinder(*groups)
	options := tunnel.Options{Conductor: *conductor, Path: "/node/" + url.PathEscape(*name), CertFile: *certificate, TokenFile: *token}
	err = tunnel.Serve(ctx, options, note, func(stream net.Conn) error { return nodeagent.Serve(ctx, stream, finder) })
	if err != nil && ctx.Err() == nil {
		note(err)
		return exit.Failed
	}
	return exit.OK
}
