// Command millicore-agent makes traffic as the lab tells it: commands come in on
// standard input, frames go out on standard output, both one JSON value a line.
// It ends when its input does.
//
// With --conductor it dials the conductor of a run in a cluster instead, and
// speaks the same protocol on each stream that it gets, until the run is over.
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

	"github.com/millicore/millicore/internal/conductor/dial"
	"github.com/millicore/millicore/internal/exit"
	"github.com/millicore/millicore/internal/load/agent"
)

// garbage is how much may gather before it is collected, in percent of what is
// in use, and at least 2 MB. Requests make none, frames some 0.5 MB a second with
// 1,000 connections: it is collected every few seconds, and the agent stays below
// 15 MB.
const garbage = 50

func main() {
	debug.SetGCPercent(garbage)
	log.SetOutput(io.Discard) // net/http's words about a service's HTTP/2: what comes of it is counted
	// An interrupt from the terminal goes to the lab too, which then ends the
	// trial in good order.
	signal.Ignore(os.Interrupt)
	to, err := options(os.Args[1:], os.Getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "millicore-agent:", err)
		os.Exit(exit.Usage)
	case to.Conductor == "":
		if agent.Serve(os.Stdin, os.Stdout) != nil { // it has told the lab why
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

var errKilled = errors.New("told to end")

// serve makes traffic for a conductor until the run is over. It ends at once
// when it is told to: what it has sent is the lab's to judge.
func serve(to dial.Options) error {
	ctx, end := context.WithCancelCause(context.Background())
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	go func() {
		<-told
		end(errKilled)
	}()
	note := func(err error) { fmt.Fprintf(os.Stderr, "millicore-agent: %v; it is tried again\n", err) }
	return dial.Serve(ctx, to, note, func(stream net.Conn) error { return agent.Serve(stream, stream) })
}

// options reads the flags; without a conductor's there are none.
func options(args []string, getenv func(string) string) (dial.Options, error) {
	var o dial.Options
	flags := flag.NewFlagSet("millicore-agent", flag.ContinueOnError)
	flags.StringVar(&o.Conductor, "conductor", "", "`host:port` of the run's conductor; without it commands come in on standard input")
	flags.StringVar(&o.CertFile, "certificate", "", "`file` with the conductor's certificate, PEM")
	flags.StringVar(&o.TokenFile, "token-file", "", "`file` with the run's token")
	index := flags.String("index", getenv("JOB_COMPLETION_INDEX"), "`number` of this agent, from 0 (default: $JOB_COMPLETION_INDEX)")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is too much: there are only flags", flags.Arg(0))
	}
	if o.Conductor == "" {
		return dial.Options{}, nil
	}
	if o.CertFile == "" || o.TokenFile == "" {
		return o, errors.New("--conductor needs --certificate and --token-file")
	}
	n, err := strconv.ParseUint(*index, 10, 31)
	if err != nil {
		return o, fmt.Errorf("--index %q: want this agent's number, from 0", *index)
	}
	o.Path = fmt.Sprintf("/agent/%d", n)
	return o, nil
}
