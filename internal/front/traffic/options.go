package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/front/inputs"
	"github.com/millicore/millicore/internal/front/reach"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/schema"
	"github.com/millicore/millicore/internal/data/experiment/span"
	"github.com/millicore/millicore/internal/lab"
	"github.com/millicore/millicore/internal/lab/requests"
	"github.com/millicore/millicore/internal/platform/attached"
)

// Options are the flags of `millicore load` that define the load. Their names follow
// hey, wrk, wrk2 and k6. Errors name the flags.
type Options struct {
	Users       float64 // -c; with a rate the number of connections
	UsersSet    bool    // -c was set: the users are not the default; see Contradiction
	Requests    int64   // -n
	Duration    time.Duration
	Rate        float64 // -R
	Stages      string
	Open        bool
	Even        bool
	Think       time.Duration
	Waiting     int64 // -1: no limit
	Connections int
	Threads     int
	Warmup      time.Duration
	Timeout     time.Duration

	Addresses []Address // of the name of the target, if it has several; after Connect

	Calls
	HTTP2    bool
	Insecure bool
	CACert   string // file with the certificates of the only trusted authorities
	Cert     string // file with the client's certificate
	Key      string // file with its key; "": Cert has it
	Tickets  bool   // --session-tickets
	Streams  int    // of HTTP/2, on each connection; 0: not set
	Closes   bool   // --no-keepalive
	Follow   bool   // the redirect of the URL
	Place
	Method   string   // "": GET, or POST with a body
	Headers  []string // "Name: value"
	Body     string   // text, or @FILE
	BodyFile string
	Auth     experiment.Auth
	Status   []string // that are good; nil: the default
	Contains string   // text in the body of a good answer

	Replaying
	Inputs inputs.Flags
	Input  *inputs.Input // what they have, in place of a request; after CheckFiles

	PID       int    // of the process to observe
	Container string // to observe

	Thresholds []Threshold
}

// Loads above these values need --yes.
const (
	usualUsers    = 10_000
	usualRate     = 100_000
	usualDuration = time.Hour
)

// Contradiction reports flags that exclude each other, or have no effect, and sets UsersSet.
// changed reports whether a flag was set.
func (o *Options) Contradiction(changed func(string) bool) error {
	both := func(a, b string) bool { return changed(a) && changed(b) }
	o.UsersSet = changed("users")
	_, _, body := SplitBody("-b", o.Body)
	switch {
	case o.Replaying.contradiction(changed) != nil:
		return o.Replaying.contradiction(changed)
	case both("rate", "users") && changed("connections"):
		return errors.New("with -R, -c is the number of connections, as --connections is: keep one")
	case changed("stages") && o.Stages == "":
		return errors.New("--stages is empty: write stages as 30s:50,1m:200")
	case changed("threads") && o.Threads < 1:
		return fmt.Errorf("-t %d: want 1 or more", o.Threads)
	case changed("timeout") && o.Timeout <= 0:
		return fmt.Errorf("--timeout %s: want a time above 0", span.Text(o.Timeout))
	case o.Stages != "" && (changed("rate") || changed("users") || changed("duration") || changed("requests")):
		return errors.New("--stages sets the load and the duration: leave out -c, -R, -n and -d")
	case o.Open && o.Stages == "":
		return errors.New("--open needs --stages; for a constant rate use -R")
	case o.Socket != "" && !filepath.IsAbs(o.Socket) && o.Socket[0] != '@':
		return fmt.Errorf("--unix-socket %s: want an absolute path, or @NAME of the abstract namespace", o.Socket)
	case o.Socket != "" && len(o.Sources) > 0:
		return errors.New("--source is for TCP: leave it out with --unix-socket")
	case o.ConnectTo != "" && (o.Socket != "" || o.Follow):
		return errors.New("--connect-to sets where to connect: leave out --unix-socket and --follow")
	case both("requests", "duration"):
		return errors.New("-n and -d both set the end; keep one")
	case changed("rate") && o.Requests > 0:
		return errors.New("-n needs a closed loop; with -R use -d")
	case o.Requests > 0 && o.Warmup > 0:
		return errors.New("-n counts all requests, so there is no --warmup; use -d")
	case changed("rate") && !(o.Rate > 0): // NaN is not
		return fmt.Errorf("-R %v: want requests per second above 0", o.Rate)
	case o.Requests < 0:
		return fmt.Errorf("-n %d: want 1 or more", o.Requests)
	case o.Duration <= 0:
		return fmt.Errorf("-d %s: want a time above 0", span.Text(o.Duration))
	case o.GRPC != "" && (changed("method") || o.Closes || o.Follow):
		return errors.New("--grpc calls a method over HTTP/2: leave out -m, --no-keepalive and --follow")
	case o.GRPC == "" && (o.Gzip || o.Largest != "" || o.Health):
		return errors.New("--gzip, --max-message and --health need --grpc, the method to call")
	case o.Proto != "" && o.GRPC == "" || len(o.Imports) > 0 && o.Proto == "":
		return errors.New("--proto needs --grpc, the method to call, and --import-path needs --proto")
	case o.Body != "" && o.BodyFile != "":
		return errors.New("--body and --body-file exclude each other; keep one")
	case o.Auth.Basic != "" && o.Auth.Bearer != "":
		return errors.New("--basic-env and --bearer-env exclude each other; keep one")
	case body != nil:
		return body
	case o.Closes && o.HTTP2:
		return errors.New("--no-keepalive is for HTTP/1.1: HTTP/2 sends all requests on shared connections")
	case o.Streams < 0 || o.Streams > 0 && !o.HTTP2 && o.GRPC == "":
		return fmt.Errorf("--streams %d: want 1 or more, with --http2 or --grpc: a connection of HTTP/1.1 has one request at a time", o.Streams)
	case o.CACert != "" && o.Insecure:
		return errors.New("--cacert and --insecure exclude each other; keep one")
	case o.Key != "" && o.Cert == "":
		return errors.New("--key needs --cert, the file with its certificate")
	case o.Waiting < -1:
		return fmt.Errorf("--waiting %d: want 0 or more, or -1 for any number", o.Waiting)
	case o.Users != float64(int64(o.Users)) || o.Users < 1:
		return fmt.Errorf("-c %v: want a whole number of users", o.Users)
	}
	return o.Inputs.Contradiction(changed, "method", "body", "body-file", "grpc", "follow", "replay")
}

// Excessive describes a load that is probably a mistake; "" if it is not.
func Excessive(e *experiment.Experiment) string {
	l, length := &e.Cells[0].Load, e.Measure.Warmup+e.Measure.Measured(&e.Cells[0])
	most, usual, what := l.Target().Highest(), float64(usualUsers), "users"
	if l.Rate != nil {
		usual, what = usualRate, "requests/s"
	}
	switch {
	case most > usual:
		return fmt.Sprintf("%v %s are more than %v", most, what, usual)
	case length > usualDuration:
		return fmt.Sprintf("a load of %s is longer than %s", span.Text(length), span.Text(usualDuration))
	}
	return ""
}

// CheckFiles reads the files with certificates and with requests, and returns what is wrong
// with one.
func (o *Options) CheckFiles() (err error) {
	if o.Input, err = o.Inputs.Read(); err != nil {
		return err
	}
	if err := o.Replaying.read(); err != nil {
		return err
	}
	if o.CACert != "" {
		if _, err := experiment.Certificates(o.CACert); err != nil {
			return fmt.Errorf("--cacert: %w", err)
		}
	}
	if o.Cert != "" {
		if _, err := experiment.Identity(o.Cert, cmp.Or(o.Key, o.Cert)); err != nil {
			return fmt.Errorf("--cert: %w", err)
		}
	}
	return nil
}

// Experiment is the experiment of one cell that the options describe.
func (o *Options) Experiment(t reach.Target, observed *attached.Observed) (*experiment.Experiment, error) {
	settings, err := o.settings(t, observed)
	if err != nil {
		return nil, err
	}
	e, err := file.Build("load", settings, nil)
	if err != nil {
		return nil, err
	}
	e.Measure.Whole = true
	if o.sent != nil {
		e.Cells[0].Load.Replay, e.Cells[0].Load.Recording = filepath.Base(o.sent.File), o.sent.Recording.Encode()
	}
	if observed != nil {
		varyBefore(e)
	}
	if err := e.ReadInputs("", os.Getenv, schema.Read); err != nil {
		return nil, o.named(err)
	}
	return e, cmp.Or(checkKinds(o.Thresholds, &e.Cells[0].Load), lab.Check(e))
}

// varyBefore makes the mix of a constant rate vary before the measured part, so that the CPU time of
// each kind is known.
func varyBefore(e *experiment.Experiment) {
	if rate := e.Cells[0].Load.Rate; rate != nil && len(rate.Stages) == 0 {
		_, e.Measure.Vary = requests.Varied(e, &e.Cells[0], 0)
		e.Measure.Warmup += e.Measure.Vary
	}
}

// Varies says, before a load, that and for how long its mix varies; "": it does not.
func Varies(e *experiment.Experiment) string {
	if e.Measure.Vary == 0 {
		return ""
	}
	return fmt.Sprintf("Before the measurement, for %s, each kind of request, and then all, are left out in turn, to know the CPU time of each.\n", span.Text(e.Measure.Vary))
}

// named names the flag of an input, instead of the key.
func (o *Options) named(err error) error {
	var input *experiment.InputError
	if !errors.As(err, &input) {
		return err
	}
	flag := map[string]string{"body_file": "--body-file " + o.BodyFile, "proto": "--proto", "auth": "--basic-env", "ca_file": "--cacert", "cert_file": "--cert"}[input.Key]
	switch {
	case input.Key == "body_file" && o.Input != nil:
		flag = o.Input.Flag
	case input.Key == "body_file" && o.BodyFile == "":
		flag = "-b " + o.Body
	case input.Key == "auth" && o.Auth.Bearer != "":
		flag = "--bearer-env"
	}
	return fmt.Errorf("%s: %w", flag, input.Err)
}

// settings are the fields of the experiment that the options describe.
func (o *Options) settings(t reach.Target, observed *attached.Observed) (file.Settings, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	headers, err := o.namedHeaders(t.Host)
	if err != nil {
		return nil, err
	}
	body, bodyFile, err := SplitBody("-b", o.Body)
	if err != nil {
		return nil, err
	}
	var s file.Settings
	s.Set("", "name", "load")
	if o.log == nil {
		s.Set("", "about", "Load on "+t.URL)
	}
	s.Set("", "services.target", map[string]any{"command": []string{t.URL}})
	s.Set("", "services.target.dir", dir)
	if observed != nil {
		o.observedLimits(&s, observed.Limits())
	}
	var length time.Duration
	switch {
	case o.log != nil:
		if length, err = o.replay(&s, t, headers); err != nil {
			return nil, err
		}
	case o.Input != nil:
		if err := o.mix(&s, t, headers); err != nil {
			return nil, err
		}
	default:
		if o.GRPC != "" {
			o.Calls.Request(&s)
		} else {
			s.SetGiven("-m", "load.request.method", MethodOf(o.Method, o.Body != "" || o.BodyFile != ""))
			s.Set("the URL's path", "load.request.path", t.Path)
		}
		s.Set("-H", "load.request.headers", headers)
		s.SetGiven("-b", "load.request.body", body)
		s.SetGiven("-b", "load.request.body_file", bodyFile)
		s.SetGiven("--body-file", "load.request.body_file", o.BodyFile)
		s.SetGiven("--basic-env", "load.request.auth.basic_env", o.Auth.Basic)
		s.SetGiven("--bearer-env", "load.request.auth.bearer_env", o.Auth.Bearer)
		s.SetGiven("--status", "load.request.check.status", o.Status)
		s.SetGiven("--contains", "load.request.check.contains", o.Contains)
	}
	s.SetGiven("--http2", "load.protocol", protocolOf(t.TLS, o.HTTP2))
	s.SetGiven("--streams", "load.streams", o.Streams)
	s.SetGiven("-k", "load.insecure", o.Insecure)
	s.SetGiven("--source", "load.source", o.Sources)
	if t.TLS { // a redirect of --follow may lead to TLS
		s.SetGiven("--cacert", "load.ca_file", o.CACert)
		s.SetGiven("--cert", "load.cert_file", o.Cert)
		s.SetGiven("--key", "load.key_file", o.Key)
		if o.ConnectTo != "" {
			s.Set("--connect-to", "load.server_name", (&url.URL{Host: t.Host}).Hostname())
		}
		s.SetGiven("--session-tickets", "load.session_tickets", o.Tickets)
	}
	if o.log == nil {
		if length, err = o.aim(&s); err != nil {
			return nil, err
		}
	}
	s.SetGiven("-n", "load.requests", o.Requests)
	if o.Even {
		s.Set("--even", "load.spacing", "even")
	}
	s.SetGiven("--think", "load.think", o.Think)
	if o.Waiting >= 0 {
		s.Set("--waiting", "load.waiting", o.Waiting)
	}
	s.Set("", "load.agents", 1)
	s.SetGiven("-t", "load.threads", o.Threads)
	if o.Rate > 0 && o.UsersSet {
		s.Set("-c", "load.connections", int(o.Users))
	}
	s.SetGiven("--connections", "load.connections", o.Connections)
	s.SetGiven("--timeout", "load.timeout", o.Timeout)
	s.SetGiven("-d", "measure.duration", length)
	s.Set("--warmup", "measure.warmup", o.Warmup)
	s.Set("", "measure.repeats", 1)
	return s, nil
}

// aim sets the users or the rate, and returns their duration. It is 0 if the stages or a
// number of requests determine it.
func (o *Options) aim(s *file.Settings) (time.Duration, error) {
	switch {
	case o.Stages != "":
		stages, err := parseStages(o.Stages)
		path := "load.users.stages"
		if o.Open {
			path = "load.rate.stages"
		}
		s.Set("--stages", path, stages)
		return 0, err
	case o.Rate > 0:
		s.Set("-R", "load.rate", o.Rate)
		return o.Duration, nil
	case o.Requests > 0:
		users := o.Users
		if !o.UsersSet {
			users = min(users, float64(o.Requests))
		}
		s.Set("-c", "load.users", users)
		return 0, nil
	}
	s.Set("-c", "load.users", o.Users)
	return o.Duration, nil
}

// namedHeaders are the headers of -H. The Host header is that of the URL, unless -H sets
// it.
func (o *Options) namedHeaders(host string) (map[string]string, error) {
	headers := map[string]string{}
	named := map[string]bool{} // names in lower case
	for _, h := range o.Headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return nil, fmt.Errorf("-H %q: write it as 'Name: value'", h)
		}
		name = strings.TrimSpace(name)
		if named[strings.ToLower(name)] {
			return nil, fmt.Errorf("-H %s is set twice; join its values with commas (Cookie: with semicolons)", name)
		}
		named[strings.ToLower(name)] = true
		headers[name] = strings.TrimSpace(value)
	}
	if !named["host"] {
		headers["Host"] = host // without a default port
	}
	if o.Closes {
		if named["connection"] {
			return nil, errors.New("--no-keepalive sets the header Connection; leave out -H Connection")
		}
		headers["Connection"] = "close"
	}
	return headers, nil
}

// observedLimits sets the limits of the observed process.
func (o *Options) observedLimits(s *file.Settings, l experiment.Limits) {
	from := "--pid"
	if o.Container != "" {
		from = "--container"
	}
	if l.CPUMillis > 0 {
		s.Set(from, "limits.cpu", fmt.Sprintf("%dm", l.CPUMillis))
	}
	s.SetGiven(from, "limits.memory", l.Memory)
	s.SetGiven(from, "limits.period", l.Period)
}

// protocolOf is the value of load.protocol.
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

// parseStages parses 30s:50,1m:200 into the items of load.users.stages.
func parseStages(text string) ([]map[string]any, error) {
	var all []map[string]any
	for _, one := range strings.Split(text, ",") {
		length, level, ok := strings.Cut(strings.TrimSpace(one), ":")
		d, err1 := span.Parse(length)
		to, err2 := strconv.ParseFloat(level, 64)
		if !ok || err1 != nil || err2 != nil || d < 0 || !(to >= 0) { // NaN is not
			return nil, fmt.Errorf("--stages: %q: write a stage as 30s:50", one)
		}
		all = append(all, map[string]any{"duration": d, "target": to})
	}
	return all, nil
}
