// Command millicore-go runs the sample Go service: workloads/golang on a port.
// It is a program of its own so that the lab's libraries do not weigh on the
// memory and the CPU of what is measured.
package main

import (
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
	"strings"
	"syscall"
	"time"

	"github.com/millicore/millicore/workloads/golang"
)

// grace is how long requests in flight may take after SIGTERM; the process is
// gone a second before the five that docs/workload-contract.md allows.
const grace = 4 * time.Second

// farewell is how long the closing of the database's connections may take.
const farewell = 500 * time.Millisecond

// patience is how long the database is awaited before the service listens.
const patience = 30 * time.Second

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
	return runBy(ctx, s, stdout, stderr)
}

// runBy is run with its settings read.
func runBy(ctx context.Context, s settings, stdout, stderr io.Writer) int {
	store, err := openStore(s)
	if err != nil {
		fmt.Fprintln(stderr, "millicore-go:", err)
		return 2
	}
	if db, ok := store.(golang.Database); ok {
		defer closeSoon(db)
		if err := await(ctx, db, s.patience); err != nil {
			fmt.Fprintf(stderr, "millicore-go: %s at DATABASE_URL has not answered within %v: %s\n", s.store, s.patience, oneLine(err))
			return 1
		}
	}
	if ctx.Err() != nil {
		return 0 // the signal came while the database was awaited
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		fmt.Fprintf(stderr, "millicore-go: %v; choose another address with --host and --port\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "millicore-go listening on http://%s, GOMAXPROCS %d, %s\n",
		listener.Addr(), runtime.GOMAXPROCS(0), runtime.Version())
	handler := golang.New(golang.Options{Store: store, Workers: s.workers, Profile: s.profile})
	if err := serve(ctx, listener, handler, grace, stderr); err != nil {
		fmt.Fprintf(stderr, "millicore-go: serve on %s: %v\n", listener.Addr(), err)
		return 1
	}
	return 0
}

// openStore returns the store that the settings ask for; a database is not
// awaited yet. Its errors are the URL's, and so the user's.
func openStore(s settings) (golang.Store, error) {
	var store golang.Database
	var err error
	switch s.store {
	case memory:
		return golang.NewMemory(golang.Kept), nil
	case postgres:
		store, err = golang.OpenPostgres(s.database, s.connections)
	case mongodb:
		store, err = golang.OpenMongoDB(s.database, s.connections)
	}
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %s; it must be as %s", oneLine(err), urlForms[s.store])
	}
	return store, nil
}

// await awaits the database's first answer. A signal, by which ctx is done, ends
// the wait and is no error.
func await(ctx context.Context, db golang.Database, patience time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := golang.Await(limited, db)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// closeSoon takes leave of the database within the time that is left of the five
// seconds after a signal.
func closeSoon(db golang.Database) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	db.Close(ctx)
}

// oneLine is an error on a line of its own, as drivers like to write several.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// serve answers requests until ctx is done, then awaits those in flight for the
// time of grace and cuts off what is left.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, grace time.Duration, stderr io.Writer) error {
	server := &http.Server{
		Handler: handler,
		// No limit on connections or on answers: closing an idle one in the moment in
		// which a request arrives reads as unavailability (ReadHeaderTimeout closes
		// those that were never used), and a slow answer is what experiments are about.
		MaxHeaderBytes: 16 << 10,
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
