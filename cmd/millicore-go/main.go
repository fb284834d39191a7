// Command millicore-go runs the sample Go service of workloads/golang on a port. It is a
// separate program, so that the lab's libraries do not use the memory and the CPU of the
// measured service.
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

// grace is how long requests in flight may take after SIGTERM. The process exits a
// second before the 5 s of workloads/README.md have passed.
const grace = 4 * time.Second

// closeWithin is the time limit for closing the connections of the database.
const closeWithin = 500 * time.Millisecond

// patience is how long the service waits for the database before it listens.
const patience = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run is the program without its process. It returns the exit code: 0 after a signal, 1
// if it could not serve, 2 for wrong usage.
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

// runBy runs the service with the given settings.
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
		return 0 // the signal arrived during the wait for the database
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		fmt.Fprintf(stderr, "millicore-go: %v; choose another address with --host and --port\n", err)
		return 1
	}
	fmt.Fprintf(stdout, "millicore-go listening on http://%s, GOMAXPROCS %d, %s\n",
		listener.Addr(), runtime.GOMAXPROCS(0), runtime.Version())
	srv := newServer(s.framework, golang.Options{Store: store, Workers: s.workers, Profile: s.profile})
	if err := serve(ctx, listener, srv, grace, stderr); err != nil {
		fmt.Fprintf(stderr, "millicore-go: serve on %s: %v\n", listener.Addr(), err)
		return 1
	}
	return 0
}

// openStore returns the store of the settings. It does not wait for a database. Its errors
// are those of DATABASE_URL.
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
		return nil, fmt.Errorf("DATABASE_URL: %s; write it as %s", oneLine(err), urlForms[s.store])
	}
	return store, nil
}

// await waits for the first answer of the database. The end of ctx, by a signal, ends the
// wait and is not an error.
func await(ctx context.Context, db golang.Database, patience time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := golang.Await(limited, db)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// closeSoon closes the database within the time that remains of the 5 s after a signal.
func closeSoon(db golang.Database) {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	db.Close(ctx)
}

// oneLine is the text of an error on one line: those of drivers have several.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// server is what net/http and fasthttp have in common.
type server struct {
	serve    func(net.Listener) error
	shutdown func(context.Context) error
	close    func() error // cuts off the connections that are still open
}

// newServer returns the service on a framework.
func newServer(framework string, o golang.Options) server {
	if framework == fastHTTP {
		s := golang.NewFast(o)
		// fasthttp cannot close connections in use: they end with the process.
		return server{s.Serve, s.ShutdownWithContext, func() error { return nil }}
	}
	return netServer(golang.New(o))
}

// netServer is a server of net/http. It has no timeouts: to close an idle connection
// when a request arrives would look like unavailability (ReadHeaderTimeout closes unused
// connections), and experiments need slow answers.
func netServer(handler http.Handler) server {
	s := &http.Server{Handler: handler, MaxHeaderBytes: 16 << 10}
	return server{s.Serve, s.Shutdown, s.Close}
}

// serve serves requests until ctx ends. Then it waits for those in flight, at most for
// grace, and closes the remaining connections.
func serve(ctx context.Context, listener net.Listener, srv server, grace time.Duration, stderr io.Writer) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := srv.shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Fprintf(stderr, "millicore-go: cut off the connections still open %v after the signal\n", grace)
		_ = srv.close() // the listener is closed already
		return nil
	}
	return err
}
