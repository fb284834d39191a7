// Package protocol is what the lab and an agent say to each other: NDJSON over
// any byte stream (a pipe on one machine, TLS in a cluster). Commands go in,
// frames come out. It is words only: making traffic is the engine's work.
//
// A conversation: the lab sends prepare, the agent answers ready; the lab sends
// start with a moment in the near future; the agent sends a frame at the end of
// each interval and done after the last answer. The lab may change the load,
// move it to other targets, or stop the trial at any time. An agent whose input ends stops its traffic and
// exits, so that no traffic outlives the lab.
package protocol

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// Command is one line to the agent; exactly one field is set.
type Command struct {
	Prepare *Prepare `json:"prepare,omitempty"`
	Start   *Start   `json:"start,omitempty"`
	Change  *Change  `json:"change,omitempty"`
	Move    *Move    `json:"move,omitempty"`
	Stop    *Stop    `json:"stop,omitempty"`
}

// Prepare describes the traffic of one trial. The agent opens no connection
// before Start's moment except those it needs to be ready (Connections).
type Prepare struct {
	Trial       int       `json:"trial"`
	Cell        int       `json:"cell"`
	Agent       int       `json:"agent"`   // index of this agent
	Agents      int       `json:"agents"`  // how many share the load
	Targets     []string  `json:"targets"` // host:port of each replica, or unix:PATH, empty for one that has gone; connection i goes to target i mod n of those that are there
	Transport   Transport `json:"transport,omitzero"`
	Requests    []Request `json:"requests"`          // each is sent as often as its weight says
	Load        Load      `json:"load"`              // of all agents together
	Connections int       `json:"connections"`       // of all agents together; 0: users, or enough for the rate
	Timeout     Duration  `json:"timeout"`           // from sent
	Think       Duration  `json:"think,omitempty"`   // closed: a user's pause after an answer, on average
	Waiting     *int      `json:"waiting,omitempty"` // open: requests of all agents that may wait for a connection; null: no bound
	Warmup      Duration  `json:"warmup"`            // load before what counts; not for a number of requests
	Interval    Duration  `json:"interval"`          // length of a frame
	Threads     int       `json:"threads"`           // event loops; 0: one
	Seed        uint64    `json:"seed"`
}

// Transport is how requests travel; the zero value is HTTP/1.1 without TLS.
type Transport struct {
	TLS      bool `json:"tls,omitempty"`
	Insecure bool `json:"insecure,omitempty"` // any certificate will do
	HTTP2    bool `json:"http2,omitempty"`    // with TLS by ALPN, without it by prior knowledge (h2c)
}

// Request is one kind of request. Its path, headers and body may have
// placeholders (wire.Template), unless the body is raw.
type Request struct {
	Weight  int               `json:"weight,omitempty"` // 0: 1
	Method  string            `json:"method"`
	Path    string            `json:"path"` // with query
	Host    string            `json:"host,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Raw     []byte            `json:"raw,omitempty"` // a body that is sent as it is, in place of Body
	Check   *Check            `json:"check,omitempty"`
}

// Check says which answers are good. One that a check refuses is counted apart
// from those that are no good for their status alone.
type Check struct {
	Status   []int  `json:"status,omitempty"`   // the codes wanted; none: 200 to 299
	Contains string `json:"contains,omitempty"` // what the body has to contain
}

// Load is closed (users that wait for their answer) or open (arrivals at a
// rate, whatever the answers do), over time. One that a stop is to end has a
// single stage of many hours.
type Load struct {
	Kind     Kind    `json:"kind"`
	Stages   []Stage `json:"stages"`             // users or requests/s over time, after the warm-up
	Requests int64   `json:"requests,omitempty"` // closed: end after so many; then Stages has one stage without an end
	Even     bool    `json:"even,omitempty"`     // open: even spacing instead of Poisson; closed: think times all the same
}

// Kind of a load.
type Kind string

const (
	Closed Kind = "closed"
	Open   Kind = "open"
)

// Stage moves the load in a straight line From one figure To another.
type Stage struct {
	Duration Duration `json:"duration"`
	From     float64  `json:"from"`
	To       float64  `json:"to"`
}

// Start begins the trial at a moment of the wall clock, the same for all agents.
type Start struct {
	At int64 `json:"at"` // unix nanoseconds
}

// Change replaces the load from now on, without a new warm-up; the stages'
// time begins anew. Requests under way are awaited. A load of zero lets the
// service come to rest: frames go on, and tell when nothing is in flight.
type Change struct {
	Load Load `json:"load"`
	Drop bool `json:"drop,omitempty"` // what is due and was not sent yet is dropped, and counted as such
}

// Move replaces the targets from now on, as replicas come and go: a target keeps
// its place, and behind those known stand new ones. Each connection goes to the
// target that Prepare would have given it: one that stands elsewhere is closed
// after its answer, and made anew.
type Move struct {
	Targets []string `json:"targets"` // as in Prepare
}

// Stop ends the traffic; answers in flight are awaited up to the timeout.
type Stop struct{}

// Event is one line from the agent; exactly one field is set.
type Event struct {
	Ready *Ready         `json:"ready,omitempty"`
	Frame *signals.Frame `json:"frame,omitempty"`
	Done  *Done          `json:"done,omitempty"`
	Error string         `json:"error,omitempty"` // the agent gives up; the last line
}

// Ready answers prepare.
type Ready struct {
	PID         int    `json:"pid"`
	Version     string `json:"version"` // of the Go runtime that it runs on
	Threads     int    `json:"threads"`
	Connections int    `json:"connections"` // of this agent
}

// Done is the last line of a trial that ran to its end.
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
