// Command millicore-mongodb is a server of MongoDB's protocol for experiments
// on machines without mongod: FerretDB, built into a program of its own, over a
// PostgreSQL whose URL the environment variable POSTGRESQL_URL has.
//
// It is a module of its own, outside go.work: FerretDB's requirements would
// change those of Millicore.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:27017", "address to listen on")
	version := flag.Bool("version", false, "print the version of FerretDB and exit")
	flag.Parse()
	if *version {
		fmt.Println("FerretDB", ferretVersion())
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := serve(ctx, *addr, os.Getenv("POSTGRESQL_URL")); err != nil {
		fmt.Fprintln(os.Stderr, "millicore-mongodb:", err)
		os.Exit(1)
	}
}

// serve serves until ctx ends.
func serve(ctx context.Context, addr, postgresql string) error {
	if postgresql == "" {
		return errors.New("POSTGRESQL_URL is not set; it is the URL of the PostgreSQL to work over, as in postgres://user:password@127.0.0.1:5432/database")
	}
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:      ferretdb.ListenerConfig{TCP: addr},
		Handler:       "postgresql",
		PostgreSQLURL: postgresql,
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	return f.Run(ctx)
}

// ferretVersion is the version that the program was built with.
func ferretVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/FerretDB/FerretDB" {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return "unknown"
}
