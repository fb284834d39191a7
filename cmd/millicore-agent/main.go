// Command millicore-agent sends traffic for the lab. It reads commands from standard
// input and writes frames to standard output, one JSON value per line. It ends when
// its input ends.
//
// With --conductor it connects to the conductor of a run in a cluster instead, and
// uses the same protocol on each stream, until the run is over.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"syscall"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
	"github.com/millicore/millicore/internal/load/agent"
)

// garbage is the GC percentage. Requests produce no garbage, and frames about 0.5 MB a
// second with 1,000 connections: a collection runs every few seconds, and the agent
// stays below 15 MB.
const garbage = 50

func main() {
	debug.SetGCPercent(garbage)
	log.SetOutput(io.Discard) // net/http logs errors of a service's HTTP/2, which are counted anyway
	// The lab gets an interrupt from the terminal too, and then ends the trial.
	signal.Ignore(os.Interrupt)
	to, err := options(os.Args[1:], os.Getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "millicore-agent:", err)
		os.Exit(exit.Usage)
	case to.Conductor == "":
		if agent.Serve(os.Stdin, os.Stdout) != nil { // it has reported the error to the lab
			os.Exit(exit.Failed)
		}
	default:
		err = serve(to)
	}
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "millicore-agent:", err)
	if errors.Is(err, errKilled) {
		os.Exit(exit.Terminated) // a Job makes another pod for one that was evicted
	}
	os.Exit(exit.Failed)
}

var errKilled = errors.New("terminated by a signal")

// serve sends traffic for a conductor until the run is over. It ends immediately on
// SIGTERM; the lab detects the lost agent.
func serve(to tunnel.Options) error {
	ctx, end := context.WithCancelCause(context.Background())
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		end(errKilled)
	}()
	note := func(err error) { fmt.Fprintf(os.Stderr, "millicore-agent: %v; trying again\n", err) }
	return tunnel.Serve(ctx, to, note, func(stream net.Conn) error { return agent.Serve(stream, stream) })
}

// options reads the flags; without a conductor's there are none.
func options(args []string, getenv func(string) string) (tunnel.Options, error) {
	var o tunnel.Options
	flags := flag.NewFlagSet("millicore-agent", flag.ContinueOnError)
	flags.StringVar(&o.Conductor, "conductor", "", "`host:port` of the run's conductor; without it commands come in on standard input")
	flags.StringVar(&o.CertFile, "certificate", "", "`file` with the conductor's certificate, PEM")
	flags.StringVar(&o.TokenFile, "token-file", "", "`file` with this agent's token")
	index := flags.String("index", getenv("JOB_COMPLETION_INDEX"), "`number` of this agent, from 0 (default: $JOB_COMPLETION_INDEX)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: there are only flags", flags.Arg(0))
	}
	if o.Conductor == "" {
		return tunnel.Options{}, nil
	}
	if o.CertFile == "" || o.TokenFile == "" {
		return o, errors.New("--conductor needs --certificate and --token-file")
	}
	n, err := strconv.ParseUint(*index, 10, 31)
	if err != nil {
		return o, fmt.Errorf("--index %q: want the number of this agent, from 0", *index)
	}
	o.Path = fmt.Sprintf("/agent/%d", n)
	return o, nil
}
