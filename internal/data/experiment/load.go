package experiment

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/secret"
)

// Load is the traffic of a cell. Exactly one of Users, Rate and Benchmark is set.
type Load struct {
	Request Request   `json:"request" yaml:"request,required" or:"mix" without:"weight,name,think,capture" doc:"The request."`
	Mix     []Request `json:"mix,omitempty" yaml:"mix" doc:"Several requests in place of one, each sent in proportion to its weight; or the name of a file of them: HAR, commands of curl, targets of vegeta, JSON lines or OpenAPI."` // Request is the first then
	Session bool      `json:"session,omitempty" yaml:"session" names:"no" default:"false" doc:"true: the requests of mix are one session, sent in their order: by each user or, with rate, by as many sessions as the rate needs. Each session has its own cookies. After the last request, or after one without a good answer, a new session begins. Only with HTTP/1.1."`
	// Protocol is one of Protocols; empty for the first, as in older records.
	Protocol string `json:"protocol,omitempty" yaml:"protocol" kind:"protocol" names:"no" default:"http/1.1" doc:"http/1.1, https (HTTP/1.1 over TLS), h2 (HTTP/2 over TLS) or h2c (HTTP/2 without TLS). TLS costs the agent more CPU for each request."`
	Insecure bool   `json:"insecure,omitempty" yaml:"insecure" names:"no" default:"false" doc:"true: skip verification of the service's TLS certificate."`
	// CAFile names the only authorities that are trusted, and CA has their certificates (PEM).
	CAFile string `json:"ca_file,omitempty" yaml:"ca_file" names:"no" doc:"File with the certificates (PEM) of the only authorities to trust, relative to the experiment file; default: those of the agent's system."`
	CA     string `json:"-"` // comes from outside of the file, and stays out of the record
	// CertFile and KeyFile name the client's certificate and key, and Identity has both (PEM).
	CertFile string   `json:"cert_file,omitempty" yaml:"cert_file" names:"no" doc:"File with the client's certificate and its chain (PEM), relative to the experiment file; default: none."`
	KeyFile  string   `json:"key_file,omitempty" yaml:"key_file" names:"no" doc:"File with the private key of cert_file (PEM); default: cert_file has it, too. It stays out of the record."`
	Identity string   `json:"-"`
	Tickets  bool     `json:"session_tickets,omitempty" yaml:"session_tickets" names:"no" default:"false" doc:"true: new connections resume the last TLS session of their target, without its certificate."`
	Sources  []string `json:"sources,omitempty" yaml:"source" kind:"address" names:"no" doc:"IP addresses of the agents' machine that connections come from, in turn; default: the kernel's choice."`
	Name     string   `json:"server_name,omitempty" yaml:"server_name" names:"no" doc:"Name of the service in TLS: it is sent (SNI), and the certificate must be for it; default: the host of its address."`
	Users    *Target  `json:"users,omitempty" yaml:"users,one" doc:"Closed loop: users that wait for their answer. A number, a ramp or stages; with load.find the number where the search starts."`
	Rate     *Target  `json:"rate,omitempty" yaml:"rate,one" search:"50" doc:"Open loop: requests per second, independent of the answers. A number, a ramp or stages; with load.find the number where the search starts, unless users is set."`
	// Find searches for the highest load that meets the objective. Users or Rate is
	// then a number, where the search starts.
	Find bool `json:"find,omitempty" yaml:"find" enum:"breaking-point" names:"no" doc:"breaking-point: search for the highest load that meets the objective, instead of holding one."`
	// Benchmark: nothing is sent, and no other field is set.
	Benchmark   bool          `json:"benchmark,omitempty" yaml:"benchmark" names:"no" default:"false" doc:"true: the service is a program that measures itself and ends, such as a Go benchmark. Nothing is sent, and no other key of load is set; what it prints in Go's benchmark format is its result."`
	Requests    int64         `json:"requests,omitempty" yaml:"requests" doc:"Number of requests after which a trial ends, in place of measure.duration; only with a number of users."`
	Even        bool          `json:"even,omitempty" yaml:"spacing" enum:"poisson,even" default:"poisson" doc:"Distribution of the times between arrivals of an open loop, and of think times: poisson (exponential) or even."`
	Think       time.Duration `json:"think,omitempty" yaml:"think" doc:"Closed loop: mean time that a user thinks between an answer and the next request; distributed as in spacing."`
	Waiting     *int64        `json:"waiting,omitempty" yaml:"waiting" kind:"backlog" doc:"Open loop: maximum number of due requests that wait for a connection, of all agents together; further requests are dropped, and count as not available. Default: no maximum."`
	Agents      int           `json:"agents" yaml:"agents" default:"1" doc:"Number of agents that share the load."`
	Threads     int           `json:"threads" yaml:"threads" default:"1" doc:"Number of event loops of each agent."`
	Connections int           `json:"connections,omitempty" yaml:"connections" doc:"Number of connections of all agents together; default: users, or enough for the rate."`
	Streams     int           `json:"streams,omitempty" yaml:"streams" doc:"HTTP/2: maximum number of requests at a time on one connection; default: 8 connections or more share them, with up to 100 on each."`
	Replay      string        `json:"replay,omitempty"` // the access log of Recording; set by load --replay only
	// Recording has requests of the kinds of Mix, and when they are due, as recording.Encode
	// writes them; nil: each kind is sent in proportion to its weight, at Rate.
	Recording []byte        `json:"-"`
	Timeout   time.Duration `json:"timeout" yaml:"timeout" default:"2s" doc:"Time limit for an answer, counted from when its request was sent, 1ms to 60s."`
}

// NoAddress says why a text is no IP address; nil: it is one.
func NoAddress(s string) []string {
	if _, err := netip.ParseAddr(s); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// Protocols are the words of load.protocol, of which the first is the default.
var Protocols = []string{"http/1.1", "https", "h2", "h2c"}

// Secure reports whether the protocol has TLS.
func (l *Load) Secure() bool { return l.Protocol == "https" || l.Protocol == "h2" }

// Settle completes the load: calls of gRPC need HTTP/2, and are POST requests.
func (l *Load) Settle() {
	calls := l.Calls()
	for _, r := range calls {
		r.Method, r.Path = "POST", "/"+r.GRPC
	}
	switch {
	case len(calls) > 0 && l.Secure():
		l.Protocol = "h2"
	case len(calls) > 0:
		l.Protocol = "h2c"
	case l.Protocol == Protocols[0]:
		l.Protocol = ""
	}
}

// Calls are the requests that are calls of gRPC, to be changed.
func (l *Load) Calls() []*Request {
	return slices.DeleteFunc(l.requests(), func(r *Request) bool { return r.GRPC == "" })
}

// requests are the requests of the load, to be changed.
func (l *Load) requests() []*Request {
	var all []*Request
	for i := range l.Mix {
		all = append(all, &l.Mix[i])
	}
	if !l.Benchmark {
		all = append(all, &l.Request)
	}
	return all
}

// HTTP2 reports whether the protocol is HTTP/2.
func (l *Load) HTTP2() bool { return l.Protocol == "h2" || l.Protocol == "h2c" }

// Target is the load's Users or its Rate; nil for a benchmark.
func (l *Load) Target() *Target {
	if l.Users != nil {
		return l.Users
	}
	return l.Rate
}

// AllRequests are the requests that are sent, each in proportion to its weight.
func (l *Load) AllRequests() []Request {
	if len(l.Mix) > 0 {
		return l.Mix
	}
	return []Request{l.Request}
}

// MostKinds are counted apart; of a load with more, the requests are counted together.
const MostKinds = 20

// GetPath is the path of the first GET without placeholders; "": there is none.
func (l *Load) GetPath() string {
	for _, r := range l.AllRequests() {
		if r.Method == "GET" && r.GRPC == "" && !strings.Contains(r.Path, "{{") {
			return r.Path
		}
	}
	return ""
}

// Kinds are the names of the requests under which they are counted, in the order of AllRequests;
// nil: they are not counted apart, because there is only one name, or more than MostKinds. Each
// step of a session is of its own kind, unless their names are set.
func (l *Load) Kinds() (names []string) {
	distinct := map[string]bool{}
	for _, r := range l.AllRequests() {
		name := cmp.Or(r.Name, r.GRPC)
		if name == "" {
			path, _, _ := strings.Cut(r.Path, "?")
			name = r.Method + " " + secret.Text(path)
			if l.Session && distinct[name] {
				name = fmt.Sprintf("%s (step %d)", name, len(names)+1)
			}
		}
		names, distinct[name] = append(names, name), true
	}
	if len(distinct) < 2 || len(distinct) > MostKinds {
		return nil
	}
	return names
}

// Request is what is sent. In the path, headers and body of a load's request may
// stand {{seq}}, {{uuid}}, {{rand 1 100}} and {{"text"}}, and in one of a session {{session}},
// which is its number, and captured values.
type Request struct {
	Name     string            `json:"name,omitempty" yaml:"name" names:"no" doc:"Name under which it is counted; requests of one name are counted together. Default: its method and path, or its method of gRPC."`
	Weight   int               `json:"weight,omitempty" yaml:"weight" default:"1" doc:"How often it is sent, relative to the other requests of the mix."`
	Method   string            `json:"method" yaml:"method" default:"GET" enum:"GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS,QUERY,PROPFIND,PROPPATCH,MKCOL,COPY,MOVE,LOCK,UNLOCK,REPORT,SEARCH,PURGE" noun:"method" doc:"Request method."`
	Path     string            `json:"path" yaml:"path,required" or:"grpc" kind:"sentPath" doc:"Path, with its query."`
	GRPC     string            `json:"grpc,omitempty" yaml:"grpc" doc:"Method of gRPC to call, as pkg.Service/Method, in place of a path. The body is its message as JSON. The load then uses h2c, or h2 if its protocol has TLS."`
	Proto    string            `json:"proto,omitempty" yaml:"proto" names:"no" doc:"With grpc: file .proto with the method, or a set of descriptors (protoc --include_imports -o, buf build -o), relative to the experiment file. Default: the service is asked, by reflection."`
	Imports  []string          `json:"import_paths,omitempty" yaml:"import_paths" names:"no" doc:"With proto: folders from which the file, or what it imports, is imported; default: its own."`
	Gzip     bool              `json:"gzip,omitempty" yaml:"gzip" names:"no" default:"false" doc:"With grpc, true: messages are compressed with gzip, and those of answers may be."`
	Largest  int64             `json:"max_message_bytes,omitempty" yaml:"max_message" kind:"memory" names:"no" doc:"With grpc: maximum size of a message of an answer, as 16Mi, 4Mi or more; a larger one is a bad answer. Default: 4Mi, as of gRPC's clients."`
	Headers  map[string]string `json:"headers,omitempty" yaml:"headers" keys:"headerName" kind:"headerValue" doc:"Headers in addition to those of the agent."`
	Body     string            `json:"body,omitempty" yaml:"body" doc:"Body of the request."`
	BodyFile string            `json:"body_file,omitempty" yaml:"body_file" names:"no" doc:"File with the body, relative to the experiment file; it is sent unchanged, braces included. With grpc it may have several messages, one after another: each call has the next, or all if the method takes a stream."`
	Auth     *Auth             `json:"auth,omitempty" yaml:"auth" names:"no" doc:"Credentials, from the environment of Millicore: they are in no file and in no record."`
	// Think and Capture are of a request of a session.
	Think   time.Duration     `json:"think,omitempty" yaml:"think" doc:"With session: mean time between the answer and the session's next request, distributed as in spacing; default: load.think."`
	Capture map[string]string `json:"capture,omitempty" yaml:"capture" keys:"valueName" doc:"With session: values to take from the answer for later requests, where {{name}} stands for them: json:$.path (RFC 9535), header:NAME or regex:TEXT, of which the first group counts. A good answer without such a value counts as failed."`
	Check   *Check            `json:"check,omitempty" yaml:"check" doc:"Which answers are good. Other answers are counted separately."`

	// Inputs come from outside of the file, and stay out of the record.
	Inputs Inputs `json:"-"`
}

// Methods are the methods that requests may have.
func Methods() []string {
	field, _ := reflect.TypeFor[Request]().FieldByName("Method")
	return strings.Split(field.Tag.Get("enum"), ",")
}

// Auth names the variable of Millicore's environment that has the credentials. One
// of the two is set.
type Auth struct {
	Basic  string `json:"basic_env,omitempty" yaml:"basic_env,one" kind:"envName" doc:"Variable with user:password, for basic authentication (RFC 7617)."`
	Bearer string `json:"bearer_env,omitempty" yaml:"bearer_env,one" kind:"envName" doc:"Variable with a bearer token (RFC 6750)."`
}

// Check says which answers are good.
type Check struct {
	Status   []int  `json:"status,omitempty" yaml:"status" kind:"status" doc:"Statuses of good answers; default: 200 to 299. Calls of gRPC have the names of codes, such as OK and NOT_FOUND."` // a code is 600 and its number
	Contains string `json:"contains,omitempty" yaml:"contains" doc:"Text that the body of a good answer contains."`
}

// Target is a number, constant over the trial, or stages. A file's ramp is a
// stage of no time to each level and one that holds it.
type Target struct {
	Value  float64 `json:"value,omitempty"`
	Stages []Stage `json:"stages,omitempty"`
}

// Highest is the highest load of the target.
func (t *Target) Highest() float64 {
	highest := t.Value
	for _, s := range t.Stages {
		highest = max(highest, s.Target)
	}
	return highest
}

// Length is how long the stages take; 0 for a number.
func (t *Target) Length() time.Duration {
	var sum time.Duration
	for _, s := range t.Stages {
		sum += s.Duration
	}
	return sum
}

// Levels are the levels that the load holds, in their order.
func (t *Target) Levels() []float64 {
	if t == nil {
		return nil
	}
	var levels []float64
	before, held := 0.0, false // whether the stage before held its level
	for _, s := range t.Stages {
		if s.Duration == 0 && s.Target == before {
			continue
		}
		holds := s.Target == before && s.Target > 0 && s.Duration > 0
		if holds && !held {
			levels = append(levels, s.Target)
		}
		before, held = s.Target, holds
	}
	return levels
}

// Stage moves the target in a straight line from the stage before (0 at first)
// to Target, as k6 does; a Duration of 0 jumps.
type Stage struct {
	Duration time.Duration `json:"duration" yaml:"duration,required" doc:"Length of the stage; 0s jumps to the target."`
	Target   float64       `json:"target" yaml:"target,required" kind:"level" doc:"Load at the end of the stage, reached in a straight line from the stage before (0 at first)."`
}
