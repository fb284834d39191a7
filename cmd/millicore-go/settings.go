package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The stores that STORE names.
const (
	memory   = "memory"
	postgres = "postgres"
	mongodb  = "mongodb"
)

// The values of FRAMEWORK.
const (
	netHTTP  = "net/http"
	fastHTTP = "fasthttp"
)

// urlForms are the forms of DATABASE_URL, by store.
var urlForms = map[string]string{
	postgres: "postgres://USER:PASSWORD@HOST:5432/DATABASE",
	mongodb:  "mongodb://USER:PASSWORD@HOST:27017/DATABASE",
}

// urlSchemes are the schemes of DATABASE_URL, by store.
var urlSchemes = map[string][]string{
	postgres: {"postgres://", "postgresql://"},
	mongodb:  {"mongodb://", "mongodb+srv://"},
}

// settings are the settings of flags and environment.
type settings struct {
	address     string // host:port, as net.Listen takes it
	framework   string // net/http or fasthttp
	profile     bool
	workers     int           // 0: GOMAXPROCS
	store       string        // memory, postgres or mongodb
	database    string        // its URL; "" for memory
	connections int           // maximum to the database
	patience    time.Duration // how long to wait for the database before the service listens
}

// readSettings reads flags and environment. Flags take precedence, and an empty variable
// counts as not set. For --help it writes the help and returns flag.ErrHelp.
func readSettings(args []string, getenv func(string) string, help io.Writer) (settings, error) {
	s, err := readAddress(args, getenv, help)
	if err != nil {
		return settings{}, err
	}
	switch s.framework = cmp.Or(getenv("FRAMEWORK"), netHTTP); s.framework {
	case netHTTP, fastHTTP:
	default:
		return settings{}, fmt.Errorf("FRAMEWORK=%q: set it to %s or %s, or leave it out for %[2]s", s.framework, netHTTP, fastHTTP)
	}
	switch v := getenv("PPROF"); v {
	case "", "0":
	case "1":
		s.profile = true
	default:
		return settings{}, fmt.Errorf("PPROF=%q: set it to 1 to serve /debug/pprof/, or leave it out", v)
	}
	if s.workers, err = readNumber(getenv, "WORKERS", 0, 1024); err != nil {
		return settings{}, err
	}
	if s.connections, err = readNumber(getenv, "DATABASE_CONNECTIONS", 10, 1000); err != nil {
		return settings{}, err
	}
	s.store, s.database, err = readStore(getenv)
	return s, err
}

// readAddress reads the settings that have flags.
func readAddress(args []string, getenv func(string) string, help io.Writer) (settings, error) {
	flags := flag.NewFlagSet("millicore-go", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run reports what Parse returns
	host := flags.String("host", getenv("HOST"), "address to listen on; empty for all interfaces (env HOST)")
	port := flags.String("port", cmp.Or(getenv("PORT"), "8080"), "port to listen on; 0 for any free port (env PORT)")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(help, "Usage: millicore-go [--host ADDRESS] [--port N]")
			flags.SetOutput(help)
			flags.PrintDefaults()
			fmt.Fprintln(help, "Environment only: FRAMEWORK, STORE, DATABASE_URL, DATABASE_CONNECTIONS, WORKERS, PPROF.")
		}
		return settings{}, err
	}
	if flags.NArg() > 0 {
		return settings{}, fmt.Errorf("unexpected argument %q; see --help", flags.Arg(0))
	}
	if _, err := strconv.ParseUint(*port, 10, 16); err != nil {
		return settings{}, fmt.Errorf("port %q: set --port or PORT to a number from 0 to 65535", *port)
	}
	return settings{address: net.JoinHostPort(*host, *port), patience: patience}, nil
}

// readNumber reads a variable that is a whole number from 1 to high.
func readNumber(getenv func(string) string, name string, absent, high int) (int, error) {
	v := getenv(name)
	if v == "" {
		return absent, nil
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil || n < 1 || n > uint64(high) {
		return 0, fmt.Errorf("%s=%q: set it to a whole number from 1 to %d, or leave it out", name, v, high)
	}
	return int(n), nil
}

// readStore reads the store and the URL of its database. Errors do not show the URL,
// which may contain a password.
func readStore(getenv func(string) string) (store, url string, err error) {
	store = cmp.Or(getenv("STORE"), memory)
	if store == memory {
		return store, "", nil
	}
	schemes, ok := urlSchemes[store]
	if !ok {
		return "", "", fmt.Errorf("STORE=%q: set it to %s, %s or %s, or leave it out for %s", store, memory, postgres, mongodb, memory)
	}
	url = getenv("DATABASE_URL")
	if url == "" {
		return "", "", fmt.Errorf("DATABASE_URL is not set, and STORE=%s needs it, as in %s", store, urlForms[store])
	}
	if !slices.ContainsFunc(schemes, func(scheme string) bool { return strings.HasPrefix(url, scheme) }) {
		return "", "", fmt.Errorf("DATABASE_URL begins with none of %s; STORE=%s needs it as %s",
			strings.Join(schemes, ", "), store, urlForms[store])
	}
	return store, url, nil
}
