package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/front/traffic"
)

// loadFlags are the flags of `millicore load`.
type loadFlags struct {
	traffic.Options

	out, hlog, junit            string
	thresholds                  []string
	asJSON, asCSV, details, yes bool
}

// spanValue is the value of a time flag.
type spanValue time.Duration

func spanVar(flags *pflag.FlagSet, d *time.Duration, name, short string, usual time.Duration, usage string) {
	*d = usual
	flags.VarP((*spanValue)(d), name, short, usage)
}

func (s *spanValue) Set(text string) error {
	d, err := span.Parse(text)
	*s = spanValue(d)
	return err
}

func (s *spanValue) Type() string { return "duration" }

// String is the time; "" for 0, which is not shown as a default.
func (s *spanValue) String() string {
	if *s == 0 {
		return ""
	}
	return span.Text(time.Duration(*s))
}

// latencyValue is the value of a flag for a latency. A number alone could be meant in
// seconds or in milliseconds: it needs its unit.
type latencyValue time.Duration

var errNoUnit = errors.New("write it with its unit, as in 100ms or 1s")

func latencyVar(flags *pflag.FlagSet, d *time.Duration, name string, usual time.Duration, usage string) {
	*d = usual
	flags.Var((*latencyValue)(d), name, usage)
}

func (l *latencyValue) Set(text string) error {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return errNoUnit
	}
	return (*spanValue)(l).Set(text)
}

func (l *latencyValue) Type() string   { return "duration" }
func (l *latencyValue) String() string { return (*spanValue)(l).String() }

func (f *loadFlags) define(c *cobra.Command) {
	flags := c.Flags()
	flags.Float64VarP(&f.Users, "users", "c", 50, "closed loop: users, each of which waits for its answer before the next request; with -R the maximum number of connections")
	flags.Int64VarP(&f.Requests, "requests", "n", 0, "end after this number of requests, instead of --duration")
	spanVar(flags, &f.Duration, "duration", "d", 10*time.Second, "duration of the load; a number alone is in seconds")
	flags.Float64VarP(&f.Rate, "rate", "R", 0, "open loop: requests per second, independent of the answers")
	flags.StringVar(&f.Stages, "stages", "", "load over time, as in 30s:50,1m:200: ramp to 50 users in 30 s, then to 200 in 1 min; with --open, rates")
	flags.BoolVar(&f.Open, "open", false, "with --stages: targets are requests per second, not users")
	flags.BoolVar(&f.Even, "even", false, "space arrivals evenly, or use constant think times (default: random, Poisson)")
	spanVar(flags, &f.Think, "think", "", 0, "closed loop: mean pause of a user between an answer and the next request")
	flags.Int64Var(&f.Waiting, "waiting", -1, "open loop: maximum number of requests that wait for a connection; further ones are dropped (default: no limit)")
	flags.IntVar(&f.Connections, "connections", 0, "maximum number of connections (default: one per user, or enough for the rate)")
	flags.IntVarP(&f.Threads, "threads", "t", 1, "event loops, each on its own thread")
	spanVar(flags, &f.Warmup, "warmup", "", 0, "warm-up before the measurement")
	spanVar(flags, &f.Timeout, "timeout", "", 10*time.Second, "time limit of an answer, from when its request was sent")

	flags.StringVarP(&f.Method, "method", "m", "", "request method (default GET, or POST with a body)")
	f.Inputs.Define(flags)
	f.Replaying.Define(flags)
	f.Calls.Define(flags)
	flags.BoolVar(&f.HTTP2, "http2", false, "HTTP/2: over TLS for https://, without it (h2c) for http://")
	flags.IntVar(&f.Streams, "streams", 0, "with --http2: maximum number of requests at a time on a connection (default: 8 connections or more share them)")
	flags.BoolVarP(&f.Insecure, "insecure", "k", false, "skip TLS certificate verification")
	flags.StringVar(&f.CACert, "cacert", "", "trust only the authorities whose certificates are in this PEM file")
	flags.StringVar(&f.Cert, "cert", "", "PEM file with the client's certificate and its chain")
	flags.StringVar(&f.Key, "key", "", "PEM file with the private key of --cert (default: --cert has it)")
	flags.BoolVar(&f.Tickets, "session-tickets", false, "new connections resume the last TLS session")
	flags.BoolVar(&f.Follow, "follow", false, "if the URL redirects, load the URL to which it leads")
	flags.BoolVar(&f.Closes, "no-keepalive", false, "a new connection for each request")
	f.Place.Define(flags)
	flags.StringArrayVarP(&f.Headers, "header", "H", nil, "header, as in 'Accept: text/html' (repeatable)")
	flags.StringVarP(&f.Body, "body", "b", "", "request body, or @FILE; {{seq}}, {{uuid}} and {{rand 1 100}} are replaced in body, path and headers")
	flags.StringVar(&f.BodyFile, "body-file", "", "file with the body, sent unchanged, as -b @FILE")
	flags.StringVar(&f.Auth.Basic, "basic-env", "", "environment variable with user:password for basic authentication")
	flags.StringVar(&f.Auth.Bearer, "bearer-env", "", "environment variable with a bearer token")
	flags.StringSliceVar(&f.Status, "status", nil, "accepted status codes (default 200 to 299), or names of gRPC's, such as OK,NOT_FOUND")
	flags.StringVar(&f.Contains, "contains", "", "text that the body of a good answer must contain")
	flags.IntVar(&f.PID, "pid", 0, "process of this machine that serves the requests: show its CPU, throttling and memory")
	flags.StringVar(&f.Container, "container", "", "container of this machine that serves the requests: show its CPU, throttling and memory")

	flags.StringVar(&f.out, "out", "", "keep the record, in this folder (default: not kept)")
	flags.BoolVar(&f.asJSON, "json", false, "print the result as one JSON object, with the fields of a cell in summary.json")
	defineDetails(c, &f.details)
	flags.BoolVar(&f.asCSV, "csv", false, "print the result as CSV")
	flags.StringVar(&f.hlog, "hlog", "", "write an HdrHistogram interval log")
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "exit with 99 if this is missed: p99<300ms, errors<1%, rate>1000, p99{GET /items}<300ms (repeatable)")
	flags.StringVar(&f.junit, "junit", "", "write JUnit XML to `FILE`: each --threshold is a test case")
	flags.BoolVar(&f.yes, "yes", false, "skip the confirmation prompt for other hosts and unusually high loads")
	c.MarkFlagsMutuallyExclusive("json", "csv")
	c.MarkFlagsMutuallyExclusive("pid", "container")
}
