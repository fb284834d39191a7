// Package protocol defines the messages between the lab and an agent: NDJSON over any
// byte stream (a pipe on one machine, TLS in a cluster). Commands go to the agent,
// frames come back. The package defines data only; package agent speaks the protocol,
// and package engine makes the traffic.
//
// The lab sends prepare, and the agent answers ready. The lab sends start with a time
// in the near future. The agent sends a frame at the end of each interval, and done
// after the last answer. The lab may change the load, move it to other targets, or
// stop the trial at any time. An agent whose input ends stops its traffic and exits,
// so that no traffic outlives the lab.
package protocol

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Command is one line to the agent; exactly one field is set.
type Command struct {
	Prepare *Prepare `json:"prepare,omitempty"`
	Start   *Start   `json:"start,omitempty"`
	Change  *Change  `json:"change,omitempty"`
	Move    *Move    `json:"move,omitempty"`
	Stop    *Stop    `json:"stop,omitempty"`
}

// Prepare describes the traffic of one trial. The agent opens connections when requests
// need them. If TLS or HTTP/2 is requested, it also opens one connection to each target
// before the start, and closes it at once, to check that the target supports it.
type Prepare struct {
	Trial       int       `json:"trial"`
	Cell        int       `json:"cell"`
	Agent       int       `json:"agent"`   // index of this agent
	Agents      int       `json:"agents"`  // how many share the load
	Targets     []string  `json:"targets"` // host:port of each replica, or unix:PATH, empty for one that has gone; connection i goes to target i mod n of the present ones
	Transport   Transport `json:"transport,omitzero"`
	Requests    []Request `json:"requests"`          // chosen at random by weight
	Load        Load      `json:"load"`              // of all agents together
	Connections int       `json:"connections"`       // maximum of all agents together; 0: one per user, or enough for the rate
	Timeout     Duration  `json:"timeout"`           // counted from sent
	Think       Duration  `json:"think,omitempty"`   // closed: a user's mean pause after an answer
	Waiting     *int      `json:"waiting,omitempty"` // open: maximum of waiting requests of all agents; null: no bound
	Warmup      Duration  `json:"warmup"`            // load before the measurement; 0 for a number of requests
	Interval    Duration  `json:"interval"`          // length of a frame
	Threads     int       `json:"threads"`           // event loops; 0: one
	Seed        uint64    `json:"seed"`
}

// Transport is the protocol of the requests; the zero value is HTTP/1.1 without TLS.
type Transport struct {
	TLS      bool `json:"tls,omitempty"`
	Insecure bool `json:"insecure,omitempty"` // accept any certificate
	HTTP2    bool `json:"http2,omitempty"`    // with TLS by ALPN, without it by prior knowledge (h2c)
	Streams  int  `json:"streams,omitempty"`  // maximum number of requests at a time on a connection of HTTP/2; 0: the agent's choice
	// CA has the certificates (PEM) of the only authorities that are trusted; "": the system's.
	CA string `json:"ca,omitempty"`
	// Identity is the client's certificate, its chain and its private key (PEM); "": none.
	Identity string `json:"identity,omitempty"`
	Name     string `json:"name,omitempty"`    // of the service in TLS; "": the host of its address
	Tickets  bool   `json:"tickets,omitempty"` // new connections to a target resume its last session
	// Sources are addresses of the agent's machine that connections come from, in turn.
	Sources []string `json:"sources,omitempty"`
}

// Request is one kind of request. Its path, headers and body may have
// placeholders (wire.Template), unless the body is raw.
type Request struct {
	Weight int    `json:"weight,omitempty"` // 0: 1
	Kind   string `json:"kind,omitempty"`   // name under which it is counted apart; "": it is not
	Method string `json:"method"`
	Path   string `json:"path"` // with query
	// Recorded: it is a kind of a recording, which has the paths.
	Recorded bool              `json:"recorded,omitempty"`
	Host     string            `json:"host,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body,omitempty"`
	Raw      []byte            `json:"raw,omitempty"` // a body that is sent unchanged, instead of Body
	Check    *Check            `json:"check,omitempty"`
	Call     *Call             `json:"call,omitempty"` // the body is the JSON of a gRPC message
	// Step is set on each request of a load with sessions, which are sent in their order.
	Step *Step `json:"step,omitempty"`
}

// Step is what makes a request a step of a session.
type Step struct {
	Think   Duration          `json:"think,omitempty"`   // mean pause before the session's next request
	Capture map[string]string `json:"capture,omitempty"` // values to take from the answer, by name: where they are (session.ParseCapture)
	Names   []string          `json:"names"`             // of the values that the request may have
}

// Call is what makes a request a call of gRPC.
type Call struct {
	Method string `json:"method"` // pkg.Service/Method
	Schema []byte `json:"schema"` // a FileDescriptorSet that has it
	Gzip   bool   `json:"gzip,omitempty"`
	// Largest is the maximum size of a message of an answer, in bytes; 0: 4 MiB.
	Largest int64 `json:"largest,omitempty"`
}

// Check defines which answers are good. Failed checks and bad statuses are counted
// separately.
type Check struct {
	Status   []int  `json:"status,omitempty"`   // the accepted codes; none: 200 to 299
	Contains string `json:"contains,omitempty"` // a text that the body must contain
}

// Load is closed (users that wait for their answers) or open (arrivals at a rate,
// regardless of the answers), over time. A load that a Stop is to end has a single
// stage of many hours.
type Load struct {
	Kind     Kind    `json:"kind"`
	Stages   []Stage `json:"stages"`             // users or requests/s over time, after the warm-up
	Requests int64   `json:"requests,omitempty"` // closed: end after so many; then Stages has one stage without an end
	Even     bool    `json:"even,omitempty"`     // open: even spacing instead of Poisson; closed: constant think times
	// Before is the end of the warm-up, of a load that has one as long.
	Before []Stage `json:"before,omitempty"`
	// Recording has the requests of an open load and when they are due, as recording.Encode
	// writes them. The stages then have its duration and its mean rate.
	Recording []byte `json:"recording,omitempty"`
}

// Kind is the kind of a load.
type Kind string

const (
	Closed Kind = "closed"
	Open   Kind = "open"
)

// Stage changes the load linearly From one value To another.
type Stage struct {
	Duration Duration `json:"duration"`
	From     float64  `json:"from"`
	To       float64  `json:"to"`
	Omits    string   `json:"omits,omitempty"` // a kind of request that is not sent
}

// Start starts the trial at a wall-clock time, the same for all agents.
type Start struct {
	At int64 `json:"at"` // unix nanoseconds
}

// Change replaces the load from now on, without a new warm-up; the new stages start at
// zero. Requests in flight are awaited. A load of zero lets the service recover: the
// agent continues to send frames, which show when no request is in flight any more.
type Change struct {
	Load Load `json:"load"`
	Drop bool `json:"drop,omitempty"` // waiting requests are dropped, and counted as such
}

// Move replaces the targets from now on, as replicas start and end. A known target
// keeps its index, and new ones are appended. Each connection goes to the target that
// Prepare would have assigned to it: a connection to another target is closed, at once
// or after the answer that it waits for.
type Move struct {
	Targets []string `json:"targets"` // as in Prepare
}

// Stop ends the traffic; requests in flight are awaited up to the timeout.
type Stop struct{}

// Event is one line from the agent; exactly one field is set.
type Event struct {
	Ready *Ready         `json:"ready,omitempty"`
	Frame *signals.Frame `json:"frame,omitempty"`
	Done  *Done          `json:"done,omitempty"`
	Error string         `json:"error,omitempty"` // why the agent ended; the last line
}

// Ready answers prepare.
type Ready struct {
	PID         int    `json:"pid"`
	Version     string `json:"version"` // of the Go runtime that it runs on
	Threads     int    `json:"threads"`
	Connections int    `json:"connections"`     // the maximum of this agent
	Build       string `json:"build,omitempty"` // version of the program; "": not known
}

// Done is the last event of a complete trial.
type Done struct {
	PeakRSS int64 `json:"peak_rss_bytes"`
}

// Duration is a time.Duration whose JSON form is text, as in "1.5s".
type Duration time.Duration

func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("duration: want text as in \"1.5s\": %w", err)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}
