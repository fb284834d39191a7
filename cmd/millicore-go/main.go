// Command millicore-go runs the sample Go service: workloads/golang on a port.
// It is a program of its own so that the lab's libraries do not weigh on the
// memory and the CPU of what is measured.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/millicore/millicore/workloads/golang"
)

// grace is how long requests in flight may take after SIGTERM; the process is
// gone a second before the five that docs/workload-contract.md allows.
const grace = 4 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the program without the process round it. It returns the exit code: 0
// after a signal, 1 when it could not serve, 2 for wrong usage.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	s, err := readSettings(args, getenv, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "millicore-go:", err)
		return 2
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		fmt.Fprintf(stderr, "millicore-go: %v; choose another address with --host and --port\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "millicore-go listening on http://%s, GOMAXPROCS %d, %s\n",
		listener.Addr(), runtime.GOMAXPROCS(0), runtime.Version())
	handler := golang.New(golang.Options{Store: golang.NewMemory(golang.Kept), Profile: s.profile})
	if err := serve(ctx, listener, handler, grace, stderr); err != nil {
		fmt.Fprintf(stderr, "millicore-go: serve on %s: %v\n", listener.Addr(), err)
		return 1
	}
	return 0
}

// settings are what flags and environment ask for.
type settings struct {
	address string // host:port, as net.Listen takes it
	profile bool
}

// readSettings reads flags, which win, and environment, in which an empty
// variable counts as an absent one. Asked for help, it writes it and returns
// flag.ErrHelp.
func readSettings(args []string, getenv func(string) string, help io.Writer) (settings, error) {
	flags := flag.NewFlagSet("millicore-go", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run reports what Parse returns
	host := flags.String("host", getenv("HOST"), "address to listen on; empty for all interfaces (env HOST)")
	port := flags.String("port", cmp.Or(getenv("PORT"), "8080"), "port to listen on; 0 for any that is free (env PORT)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(help, "Usage: millicore-go [--host ADDRESS] [--port N]")
			flags.SetOutput(help)
			flags.PrintDefaults()
		}
		return settings{}, err
	}
	if flags.NArg() > 0 {
		return settings{}, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	if _, err := strconv.ParseUint(*port, 10, 16); err != nil {
		return settings{}, fmt.Errorf("port %q: give a number from 0 to 65535 as --port or PORT", *port)
	}
	s := settings{address: net.JoinHostPort(*host, *port)}
	switch v := getenv("PPROF"); v {
	case "", "0":
	case "1":
		s.profile = true
	default:
		return settings{}, fmt.Errorf("PPROF=%q: set it to 1 to serve /debug/pprof/, or leave it out", v)
	}
	return s, nil
}

// serve answers requests until ctx is done, then awaits those in flight for the
// time of grace and cuts off what is left.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, grace time.Duration, stderr io.Writer) error {
	server := &http.Server{
		Handler: handler,
		// No limit on idle connections or on answers: closing an idle one in the
		// moment in which a request arrives reads as unavailability, and a slow
		// answer is what experiments are about.
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    16 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Fprintf(stderr, "millicore-go: cut off the connections still open %v after the signal\n", grace)
		_ = server.Close() // closes the connections; there is no listener left to fail
		return nil
	}
	return err
}
