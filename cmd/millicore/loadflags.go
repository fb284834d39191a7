package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/experiment/file"
	"github.com/millicore/millicore/internal/platform/attached"
	"github.com/millicore/millicore/internal/traffic"
)

// loadFlags are the flags of `millicore load`, in the habits of hey, wrk, wrk2
// and k6.
type loadFlags struct {
	users       float64
	usersSaid   bool
	requests    int64
	duration    time.Duration
	rate        float64
	stages      string
	open        bool
	even        bool
	think       time.Duration
	waiting     int64
	connections int
	threads     int
	warmup      time.Duration
	timeout     time.Duration

	http2    bool
	insecure bool
	socket   string
	method   string
	headers  []string
	body     string
	bodyFile string
	auth     experiment.Auth
	check    experiment.Check

	pid       int
	container string

	out        string
	seed       uint64
	asJSON     bool
	asCSV      bool
	hlog       string
	hgrm       string
	thresholds []string
	yes        bool
}

func (f *loadFlags) define(flags *pflag.FlagSet) {
	flags.Float64VarP(&f.users, "users", "c", 50, "users that each wait for their answer before they send again (closed loop)")
	flags.Int64VarP(&f.requests, "requests", "n", 0, "end after this number of requests, instead of --duration")
	flags.DurationVarP(&f.duration, "duration", "d", 10*time.Second, "how long")
	flags.Float64VarP(&f.rate, "rate", "R", 0, "requests a second in all, independent of the answers (open loop), instead of users")
	flags.StringVar(&f.stages, "stages", "", "stages as in 30s:50,1m:200: in 30 s to 50 users, in the next minute to 200; rates with --open")
	flags.BoolVar(&f.open, "open", false, "the stages are of requests a second")
	flags.BoolVar(&f.even, "even", false, "evenly spaced arrivals, or constant think times, instead of Poisson")
	flags.DurationVar(&f.think, "think", 0, "how long a user thinks between an answer and the next request, on average")
	flags.Int64Var(&f.waiting, "waiting", -1, "how many requests of a rate may wait for a connection; others are dropped (-1: any number)")
	flags.IntVar(&f.connections, "connections", 0, "connections at most (default: users, or enough for the rate)")
	flags.IntVarP(&f.threads, "threads", "t", 1, "event loops")
	flags.DurationVar(&f.warmup, "warmup", 0, "warm-up before the measurement")
	flags.DurationVar(&f.timeout, "timeout", 10*time.Second, "how long an answer may take from when its request was sent")

	flags.StringVarP(&f.method, "method", "m", "GET", "request method")
	flags.BoolVar(&f.http2, "http2", false, "HTTP/2: over TLS for https://, without it (h2c) for http://")
	flags.BoolVarP(&f.insecure, "insecure", "k", false, "accept any certificate")
	flags.StringVar(&f.socket, "unix-socket", "", "connect to this unix socket instead of the URL's host")
	flags.StringArrayVarP(&f.headers, "header", "H", nil, "header, as in 'Accept: text/html' (repeatable)")
	flags.StringVarP(&f.body, "body", "b", "", "body; it, the path and headers may have {{seq}}, {{uuid}}, {{rand 1 100}}")
	flags.StringVar(&f.bodyFile, "body-file", "", "file with the body, sent as it is")
	flags.StringVar(&f.auth.Basic, "basic-env", "", "variable with user:password for basic authentication")
	flags.StringVar(&f.auth.Bearer, "bearer-env", "", "variable with a bearer token")
	flags.IntSliceVar(&f.check.Status, "status", nil, "statuses of good answers (default 200 to 299)")
	flags.StringVar(&f.check.Contains, "contains", "", "text that the body of a good answer contains")

	flags.IntVar(&f.pid, "pid", 0, "process of this machine that answers: show its CPU, throttling and memory")
	flags.StringVar(&f.container, "container", "", "container of this machine that answers: the same")

	flags.StringVar(&f.out, "out", "", "keep the record in this folder")
	flags.Uint64Var(&f.seed, "seed", 0, "of arrivals and random values (default: a random one)")
	flags.BoolVar(&f.asJSON, "json", false, "print one object, with the fields of a cell in summary.json")
	flags.BoolVar(&f.asCSV, "csv", false, "print the same as CSV")
	flags.StringVar(&f.hlog, "hlog", "", "write an HdrHistogram interval log")
	flags.StringVar(&f.hgrm, "hgrm", "", "write the percentiles as HdrHistogram's plotter reads them")
	flags.StringArrayVar(&f.thresholds, "threshold", nil, "exit with 99 if this is missed: p99<300ms, errors<1%, rate>1000 (repeatable)")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before loading another host, or with an unusually high load")
}

// Loads above these need --yes.
const (
	usualUsers    = 10_000
	usualRate     = 100_000
	usualDuration = time.Hour
)

// contradiction finds flags that exclude one another.
func (f *loadFlags) contradiction(changed func(string) bool) error {
	both := func(a, b string) bool { return changed(a) && changed(b) }
	switch {
	case both("rate", "users"):
		return errors.New("-R is a rate independent of the answers, -c users that wait for theirs: keep one; connections are --connections")
	case changed("stages") && f.stages == "":
		return errors.New("--stages is empty: write stages as 30s:50,1m:200")
	case changed("threads") && f.threads < 1:
		return fmt.Errorf("-t %d: want 1 or more", f.threads)
	case changed("timeout") && f.timeout <= 0:
		return fmt.Errorf("--timeout %s: want a time above 0", f.timeout)
	case f.stages != "" && (changed("rate") || changed("users") || changed("duration") || changed("requests")):
		return errors.New("--stages say how much and how long: leave out -c, -R, -n and -d")
	case f.open && f.stages == "":
		return errors.New("--open says of --stages that they are rates; a rate alone is -R")
	case f.socket != "" && !filepath.IsAbs(f.socket) && f.socket[0] != '@':
		return fmt.Errorf("--unix-socket %s: want an absolute path, or @NAME of the abstract namespace", f.socket)
	case both("requests", "duration"):
		return errors.New("-n and -d both say when to end; keep one")
	case changed("rate") && f.requests > 0:
		return errors.New("-n ends a closed loop; with -R say -d")
	case f.requests > 0 && f.warmup > 0:
		return errors.New("-n counts all requests: there is no --warmup; say -d")
	case changed("rate") && !(f.rate > 0): // NaN is not
		return fmt.Errorf("-R %v: want requests a second above 0", f.rate)
	case f.requests < 0:
		return fmt.Errorf("-n %d: want 1 or more", f.requests)
	case f.duration <= 0:
		return fmt.Errorf("-d %s: want a time above 0", f.duration)
	case f.body != "" && f.bodyFile != "":
		return errors.New("--body and --body-file exclude one another; keep one")
	case f.auth.Basic != "" && f.auth.Bearer != "":
		return errors.New("--basic-env and --bearer-env exclude one another; keep one")
	case f.asJSON && f.asCSV:
		return errors.New("--json and --csv exclude one another; keep one")
	case f.waiting < -1:
		return fmt.Errorf("--waiting %d: want 0 or more, or -1 for any number", f.waiting)
	case f.users != float64(int64(f.users)) || f.users < 1:
		return fmt.Errorf("-c %v: want a whole number of users", f.users)
	}
	return nil
}

// excessive describes a load that is probably a mistake; "" if it is not.
func excessive(e *experiment.Experiment) string {
	l, length := &e.Cells[0].Load, e.Measure.Warmup+e.Measure.Measured(&e.Cells[0])
	most, usual, what := l.Target().Highest(), float64(usualUsers), "users"
	if l.Rate != nil {
		usual, what = usualRate, "requests/s"
	}
	switch {
	case most > usual:
		return fmt.Sprintf("%v %s are more than %v", most, what, usual)
	case length > usualDuration:
		return fmt.Sprintf("%s is longer than %s", length, usualDuration)
	}
	return ""
}

// settings are the experiment of one cell that the flags describe.
func (f *loadFlags) settings(t traffic.Target, o *attached.Observed) (file.Settings, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	headers, err := f.namedHeaders(t.Host)
	if err != nil {
		return nil, err
	}
	var s file.Settings
	s.Set("", "name", "load")
	s.Set("", "services.target", map[string]any{"command": []string{t.URL}})
	s.Set("", "services.target.dir", dir)
	if o != nil {
		f.observedLimits(&s, o.Limits())
	}
	s.SetGiven("-m", "load.request.method", strings.ToUpper(f.method))
	s.Set("the URL's path", "load.request.path", t.Path)
	s.Set("-H", "load.request.headers", headers)
	s.SetGiven("-b", "load.request.body", f.body)
	s.SetGiven("--body-file", "load.request.body_file", f.bodyFile)
	s.SetGiven("--basic-env", "load.request.auth.basic_env", f.auth.Basic)
	s.SetGiven("--bearer-env", "load.request.auth.bearer_env", f.auth.Bearer)
	s.SetGiven("--status", "load.request.check.status", f.check.Status)
	s.SetGiven("--contains", "load.request.check.contains", f.check.Contains)
	s.SetGiven("--http2", "load.protocol", protocolOf(t.TLS, f.http2))
	s.SetGiven("-k", "load.insecure", f.insecure)
	length, err := f.aim(&s)
	if err != nil {
		return nil, err
	}
	s.SetGiven("-n", "load.requests", f.requests)
	if f.even {
		s.Set("--even", "load.spacing", "even")
	}
	s.SetGiven("--think", "load.think", f.think)
	if f.waiting >= 0 {
		s.Set("--waiting", "load.waiting", f.waiting)
	}
	s.Set("", "load.agents", 1)
	s.SetGiven("-t", "load.threads", f.threads)
	s.SetGiven("--connections", "load.connections", f.connections)
	s.SetGiven("--timeout", "load.timeout", f.timeout)
	s.SetGiven("-d", "measure.duration", length)
	s.Set("--warmup", "measure.warmup", f.warmup)
	s.Set("", "measure.repeats", 1)
	return s, nil
}

// aim sets the users or the rate, and gives how long they last. That is 0 where
// the stages or a number of requests decide it.
func (f *loadFlags) aim(s *file.Settings) (time.Duration, error) {
	switch {
	case f.stages != "":
		stages, err := parseStages(f.stages)
		path := "load.users.stages"
		if f.open {
			path = "load.rate.stages"
		}
		s.Set("--stages", path, stages)
		return 0, err
	case f.rate > 0:
		s.Set("-R", "load.rate", f.rate)
		return f.duration, nil
	case f.requests > 0:
		users := f.users
		if !f.usersSaid {
			users = min(users, float64(f.requests))
		}
		s.Set("-c", "load.users", users)
		return 0, nil
	}
	s.Set("-c", "load.users", f.users)
	return f.duration, nil
}

// namedHeaders are the headers of -H, and the host as the URL has it unless -H
// has another.
func (f *loadFlags) namedHeaders(host string) (map[string]string, error) {
	headers := map[string]string{}
	named := map[string]bool{} // names in lower case
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, fmt.Errorf("-H %q: write it as 'Name: value'", h)
		}
		name = strings.TrimSpace(name)
		if named[strings.ToLower(name)] {
			return nil, fmt.Errorf("-H %s is given twice; write its values as one, after one another with commas (Cookie: with semicolons)", name)
		}
		named[strings.ToLower(name)] = true
		headers[name] = strings.TrimSpace(value)
	}
	if !named["host"] {
		headers["Host"] = host // without a default port
	}
	return headers, nil
}

// observedLimits sets the limits that the observed process has.
func (f *loadFlags) observedLimits(s *file.Settings, l experiment.Limits) {
	from := "--pid"
	if f.container != "" {
		from = "--container"
	}
	if l.CPUMillis > 0 {
		s.Set(from, "limits.cpu", fmt.Sprintf("%dm", l.CPUMillis))
	}
	s.SetGiven(from, "limits.memory", l.Memory)
	s.SetGiven(from, "limits.period", l.Period)
}

// protocolOf is the word of load.protocol.
func protocolOf(secure, http2 bool) string {
	switch {
	case secure && http2:
		return "h2"
	case secure:
		return "https"
	case http2:
		return "h2c"
	}
	return ""
}

// parseStages reads 30s:50,1m:200 into the items of load.users.stages.
func parseStages(text string) ([]map[string]any, error) {
	var all []map[string]any
	for _, one := range strings.Split(text, ",") {
		span, level, ok := strings.Cut(strings.TrimSpace(one), ":")
		d, err1 := time.ParseDuration(span)
		to, err2 := strconv.ParseFloat(level, 64)
		if !ok || err1 != nil || err2 != nil || d < 0 || !(to >= 0) { // NaN is not
			return nil, fmt.Errorf("--stages: %q: write a stage as 30s:50", one)
		}
		all = append(all, map[string]any{"duration": d, "target": to})
	}
	return all, nil
}

// ask asks once whether a host that is not this machine may be loaded. Without a
// terminal, --yes is needed. It ends when ctx ends.
func ask(ctx context.Context, in io.Reader, out io.Writer, isTerminal bool, question string) error {
	if !isTerminal {
		return fmt.Errorf("%s Say --yes if it may be", question)
	}
	fmt.Fprintf(out, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() { // reading cannot be called off: it is left behind, as the program ends then
		var answer string
		fmt.Fscanln(in, &answer)
		answered <- strings.ToLower(answer)
	}()
	select {
	case a := <-answered:
		if a != "y" && a != "yes" {
			return errors.New("not said yes to: nothing was sent")
		}
		return nil
	case <-ctx.Done():
		fmt.Fprintln(out)
		return interrupted("interrupted; nothing was sent")
	}
}
