// Package signals holds what was measured of a service under load: frames (the four
// golden signals of one interval, with CPU throttling), counters, histograms and
// throttle windows. It is data with the arithmetic to merge and encode it, and it is
// pure: no clock, no file, no network.
//
// It does not read the kernel (the platform does), send traffic (the agent does) or
// judge (package analysis does).
package signals

import "time"

// Phase is the part of a trial that an interval belongs to.
type Phase string

const (
	Warmup  Phase = "warmup"  // left out of every result
	Measure Phase = "measure" // the basis of every result
	Vary    Phase = "vary"    // after a search: kinds of request are left out in turn, to know their CPU time
	Drain   Phase = "drain"   // after the last request was due: requests in flight are awaited
)

// Frame is one line of frames.ndjson: what one source measured over one interval.
// Exactly one of Client, Server, Host, Waits and Scale is set. Client and server
// frames of the same service are joined by their times, which are those of the lab's
// clock.
type Frame struct {
	Trial int    `json:"trial"` // number of the trial in the record, from 1
	Cell  int    `json:"cell"`  // index of the cell in the plan, from 0
	Seq   int    `json:"seq"`   // number of the interval in the trial, from 0
	Start int64  `json:"start"` // unix nanoseconds
	End   int64  `json:"end"`   // unix nanoseconds
	Phase Phase  `json:"phase"`
	Agent *int   `json:"agent,omitempty"`   // index of the agent, for a client frame
	Of    string `json:"of,omitempty"`      // service or dependency, for a server frame
	Index int    `json:"replica,omitempty"` // index of the replica, for a server frame
	// Machine is the node of a host frame, or the node of the replica of a server
	// frame; "" on one machine.
	Machine string `json:"machine,omitempty"`

	Client *Client `json:"client,omitempty"`
	Server *Server `json:"server,omitempty"`
	Host   *Host   `json:"host,omitempty"`
	Waits  *Waits  `json:"waits,omitempty"` // of the replica Index of the service Of
	Scale  *Scale  `json:"scale,omitempty"` // of the service Of, if it is autoscaled
}

// Scale is how many replicas of a service were ready at an interval's end.
type Scale struct {
	Replicas int `json:"replicas"`
}

// Waits is how long a replica waited for its dependency, as it reports: a histogram of
// the waits that ended in the interval.
type Waits struct {
	Bounds []float64 `json:"bounds"` // upper bounds in seconds, ascending, without +Inf
	Counts []int64   `json:"counts"` // one per bound, and one above all; not cumulative
	Sum    float64   `json:"sum_s"`
}

// Seconds is the length of the interval in seconds.
func (f *Frame) Seconds() float64 { return float64(f.End-f.Start) / 1e9 }

// A client's kernel that has nothing to send acknowledges what it received after 40 ms (Linux
// TCP_DELACK_MIN), and a timer of it is up to 8 ms late.
const (
	AckDelayed     = 38 * time.Millisecond
	AckDelayedMost = 48 * time.Millisecond
)

// Client is what one agent measured over one interval. A request belongs to the
// interval in which it ended, and to the phase in which it was intended. In frames of
// the phases measure and drain, the counts and histograms contain only requests
// intended after the warm-up; Carried counts the others.
type Client struct {
	Intended int64 `json:"intended"` // requests that were due in this interval
	Sent     int64 `json:"sent"`     // requests that left in this interval
	Good     int64 `json:"good"`     // answers with a status of 200 to 299, or, if a check defines what is good, those that pass it
	Timeouts int64 `json:"timeouts"` // given up; the time runs from sent
	// Unaccepted are the timeouts on a new connection on which nothing arrived, while
	// answers arrived on connections to the same replica that stay open, of which one was
	// idle at the end. HTTP/1.1 only.
	Unaccepted int64 `json:"unaccepted,omitempty"`
	// AckDelayed are the answers whose last part came AckDelayed to AckDelayedMost after the
	// part before, and Apart those whose last part came half of AckDelayed or more after it,
	// and not then. HTTP/1.1 only.
	AckDelayed int64 `json:"ack_delayed,omitempty"`
	Apart      int64 `json:"apart,omitempty"`
	Refused    int64 `json:"refused"` // no connection could be opened
	// RefusedBy are the refused ones by address, if the load has several.
	RefusedBy map[string]int64 `json:"refused_by,omitempty"`
	Cut       int64            `json:"cut"`              // the connection ended before the answer was complete
	Malformed int64            `json:"malformed"`        // the answer was not HTTP
	Failed    int64            `json:"failed,omitempty"` // answers that a check rejected, except those that are bad because of their status alone
	// Status has the answers by status code, including good ones. A gRPC call that failed is
	// counted by the name of its code instead, such as UNAVAILABLE.
	Status map[string]int64  `json:"status,omitempty"`
	Said   map[string]string `json:"said,omitempty"` // by such a name: what the service said first of such a call
	// Pushbacks are the calls of gRPC that failed with a time before a retry
	// (grpc-retry-pushback-ms). They are not sent again.
	Pushbacks int64            `json:"pushbacks,omitempty"`
	Wanted    map[string]int64 `json:"wanted,omitempty"` // of those, by status code, the ones outside 200 to 299 that a check accepts
	// Resent are the requests that were sent a second time, on a new connection: the
	// service closed their first one, which had been idle, without a byte of an answer.
	// Each counts once in the other figures, sent as of the second time.
	Resent   int64 `json:"resent,omitempty"`
	Carried  int64 `json:"carried,omitempty"` // ended now, intended during the warm-up
	Dropped  int64 `json:"dropped,omitempty"` // were due and never sent: the trial ended or was stopped
	InFlight int64 `json:"in_flight"`         // sent and not ended, at the interval's end
	Waiting  int64 `json:"waiting"`           // due and not sent, at the interval's end
	Bytes    int64 `json:"bytes"`             // received, including headers
	Connects int64 `json:"connects"`          // connections opened, including the first ones
	// Stray are the connections that were replaced because bytes came that belong to no
	// answer: after a complete one, or without a request.
	Stray int64 `json:"stray,omitempty"`
	// NoPorts is how often no connection could be made because the agent's machine had no
	// free local port. The requests waited, which is send lag.
	NoPorts int64 `json:"no_ports,omitempty"`
	// OtherSources is how many connections the agent has made so far, since the start of the
	// trial, from other source addresses than the kernel chooses: 127.0.0.2 and so on.
	OtherSources int64 `json:"other_sources,omitempty"`
	// OpenConnections is the highest number of connections open at one time. With
	// several event loops it is the sum of their maxima. 0: not measured.
	OpenConnections int64   `json:"open_connections,omitempty"`
	Users           float64 `json:"users,omitempty"` // closed loop: configured users at the interval's end
	Rate            float64 `json:"rate,omitempty"`  // open loop: configured requests/s at the interval's end

	// Kinds are the requests by the name of their kind, if the load has several kinds.
	Kinds map[string]*Kind `json:"kinds,omitempty"`
	// Sessions are the sessions that ended, if the load has sessions.
	Sessions *Sessions `json:"sessions,omitempty"`

	// Latency is done - intended of good answers, and the time of giving up - intended
	// of timeouts. Service is done - sent of the same requests. SendLag is sent minus
	// the moment when the request was due and a connection was free: the generator's
	// own delay.
	Latency *Histogram `json:"latency"`
	Service *Histogram `json:"service"`
	SendLag *Histogram `json:"send_lag"`

	// FirstByte is the first bytes of the answer - intended; of a timeout without one, its
	// latency. nil: each answer came at once, and Latency is it.
	FirstByte *Histogram `json:"first_byte,omitempty"`

	// Dials are the times of the connections that were made; nil: none was.
	Dials *Dials `json:"dials,omitempty"`

	// Streams are the times of messages that services streamed; nil: none came.
	Streams *Streams `json:"streams,omitempty"`

	// Slow is a sample of the slow requests. It is sent with the frame, and written to
	// slow.ndjson instead of frames.ndjson. SlowSeen is how many there were.
	Slow     []Slow `json:"slow,omitempty"`
	SlowSeen int64  `json:"slow_seen,omitempty"`

	CPU     float64  `json:"cpu_s"`                // CPU seconds of the agent's process, user and system
	RunWait *float64 `json:"run_wait_s,omitempty"` // seconds its threads waited for a CPU; null: not measured
	// Throttled is the time in seconds in which a CPU limit of the agent's own control
	// group throttled it, summed over CPUs; null: not measured.
	Throttled *float64 `json:"throttled_s,omitempty"`
}

// PlusFirst adds the first bytes of a frame to others, of which latency are the latencies
// without this frame. It changes first, unless first is nil.
func PlusFirst(first, latency *Histogram, o *Client) *Histogram {
	switch {
	case first == nil && o.FirstByte == nil:
		return nil
	case first == nil:
		first = NewHistogram()
		first.Merge(latency)
	}
	if o.FirstByte == nil {
		first.Merge(o.Latency)
	} else {
		first.Merge(o.FirstByte)
	}
	return first
}

// Streams are the times of the messages of gRPC's streams, also of those that failed later. Messages
// that were read together have the time of the last one.
type Streams struct {
	First   *Histogram `json:"first"`   // the first message - intended
	Between *Histogram `json:"between"` // a further message - the one before
}

// Plus is the sum of both, of which each may be nil. It changes s, unless s is nil.
func (s *Streams) Plus(o *Streams) *Streams {
	if o == nil {
		return s
	}
	if s == nil {
		s = &Streams{NewHistogram(), NewHistogram()}
	}
	s.First.Merge(o.First)
	s.Between.Merge(o.Between)
	return s
}

// Dials are the times of new connections.
type Dials struct {
	Connect   *Histogram `json:"connect"`             // connected - begun: a round trip of TCP
	Handshake *Histogram `json:"handshake,omitempty"` // the end of the TLS handshake - connected; nil: no TLS
}

// Plus is the sum of both, of which each may be nil. It changes d, unless d is nil.
func (d *Dials) Plus(o *Dials) *Dials {
	if o == nil {
		return d
	}
	if d == nil {
		d = &Dials{Connect: NewHistogram()}
	}
	d.Connect.Merge(o.Connect)
	if o.Handshake != nil {
		if d.Handshake == nil {
			d.Handshake = NewHistogram()
		}
		d.Handshake.Merge(o.Handshake)
	}
	return d
}

// Bad is the number of requests that ended without a good answer.
func (c *Client) Bad() int64 {
	return c.Timeouts + c.Refused + c.Cut + c.Malformed + c.Failed + c.BadStatus()
}

// BadStatus is the number of complete answers with a status outside 200 to 299 that no
// check accepts.
func (c *Client) BadStatus() int64 {
	var all int64
	for _, n := range c.Status {
		all += n
	}
	return all - c.Good - c.Failed
}

// Add adds the counts, times and histograms of another frame. What holds at the end of
// an interval stays: requests in flight and waiting, open connections, the configured
// load; so do the slow requests.
func (c *Client) Add(o *Client) {
	c.Intended += o.Intended
	c.Sent += o.Sent
	c.Good += o.Good
	c.Timeouts += o.Timeouts
	c.Unaccepted += o.Unaccepted
	c.AckDelayed += o.AckDelayed
	c.Apart += o.Apart
	c.Refused += o.Refused
	c.Cut += o.Cut
	c.Malformed += o.Malformed
	c.Failed += o.Failed
	c.Pushbacks += o.Pushbacks
	c.Resent += o.Resent
	c.Stray += o.Stray
	c.NoPorts += o.NoPorts
	c.Carried += o.Carried
	c.Dropped += o.Dropped
	c.Bytes += o.Bytes
	c.Connects += o.Connects
	c.CPU += o.CPU
	c.RunWait, c.Throttled = Plus(c.RunWait, o.RunWait), Plus(c.Throttled, o.Throttled)
	c.RefusedBy = addCounts(c.RefusedBy, o.RefusedBy)
	c.Status, c.Wanted = addCounts(c.Status, o.Status), addCounts(c.Wanted, o.Wanted)
	for status, text := range o.Said {
		c.Hear(status, text)
	}
	c.Kinds = PlusKinds(c.Kinds, o.Kinds)
	c.Sessions = PlusSessions(c.Sessions, o.Sessions)
	c.FirstByte = PlusFirst(c.FirstByte, c.Latency, o)
	c.Latency.Merge(o.Latency)
	c.Service.Merge(o.Service)
	c.SendLag.Merge(o.SendLag)
	c.Streams = c.Streams.Plus(o.Streams)
	c.Dials = c.Dials.Plus(o.Dials)
}

// Hear keeps what a service said of a failed call, unless there is nothing or an earlier text
// of the same status.
func (c *Client) Hear(status, text string) {
	if text == "" || c.Said[status] != "" {
		return
	}
	if c.Said == nil {
		c.Said = map[string]string{}
	}
	c.Said[status] = text
}

func addCounts(to, from map[string]int64) map[string]int64 {
	for key, n := range from {
		if to == nil {
			to = map[string]int64{}
		}
		to[key] += n
	}
	return to
}

// Ended is the number of requests that ended, good or not.
func (c *Client) Ended() int64 { return c.Good + c.Bad() }

// Server is what the platform measured of one replica over one interval. A nil pointer
// means "not measured", never zero.
type Server struct {
	CPU              *float64 `json:"cpu_s"`                  // CPU seconds used
	CPULimit         *float64 `json:"cpu_limit"`              // CPUs (quota / period); null: no limit
	Periods          *int64   `json:"periods"`                // CFS periods that ran their timer
	ThrottledPeriods *int64   `json:"throttled_periods"`      // of those, periods that ended throttled
	Throttled        *float64 `json:"throttled_s"`            // seconds, summed over CPUs: can exceed the interval
	Bursts           *int64   `json:"bursts,omitempty"`       // periods that used saved quota
	Memory           *int64   `json:"memory_bytes"`           // working set at the interval's end: charged memory without inactive page cache, as a kubelet reports it
	MemoryPeak       *int64   `json:"memory_peak_bytes"`      // highest charge since the replica's group was created, including page cache
	MemoryLimit      *int64   `json:"memory_limit"`           // bytes; null: no limit
	OOMKills         *int64   `json:"oom_kills"`              // in this interval
	Restarts         int64    `json:"restarts"`               // in this interval
	Up               bool     `json:"up"`                     // whether the process ran at the interval's end
	Stopped          bool     `json:"stopped,omitempty"`      // whether a signal (SIGSTOP) or a frozen control group held it at the interval's end
	CPUPressure      *float64 `json:"cpu_pressure,omitempty"` // PSI "some", seconds in this interval

	MemoryStall    *float64 `json:"memory_stall_s,omitempty"`  // PSI "some" of memory, seconds in this interval
	Refaults       *int64   `json:"refaults,omitempty"`        // pages read again after they were evicted
	ListenDrops    *int64   `json:"listen_drops,omitempty"`    // attempts to connect that the kernel dropped at its listening sockets
	AcceptQueue    *int64   `json:"accept_queue,omitempty"`    // connections that wait to be accepted, at the interval's end
	Backlog        *int64   `json:"backlog,omitempty"`         // how many may wait
	ProcessesEnded *int64   `json:"processes_ended,omitempty"` // beside its main process, which runs on
	Threads        *Threads `json:"threads,omitempty"`         // at most twice a second, and of up to 1,023 threads
}

// Threads is how busy the threads of a replica were, by the scheduler's counters, over
// Seconds that end with the interval.
type Threads struct {
	Seconds float64 `json:"s"`
	Count   int     `json:"n"`     // threads at the end
	Full    int     `json:"full"`  // ran or waited for a CPU for 90% of the time, and ran for half of it
	Top     float64 `json:"top_s"` // seconds that the busiest one ran or waited for a CPU
	// Collector is the CPU time in seconds of the threads that collect garbage, of a JVM or .NET.
	Collector float64 `json:"collector_s,omitempty"`
	// Awake is the CPU time in seconds of those that ran or waited for a CPU for 80% of the time.
	Awake float64 `json:"awake_s,omitempty"`
}

// Host is what the machine did over one interval, in CPU seconds per second (cores).
// Foreign is the CPU of processes that the experiment did not start. Interrupts is the CPU
// in interrupts and softirqs, where the kernel measures it apart from the processes.
type Host struct {
	CPUs         int     `json:"cpus"`
	Idle         float64 `json:"idle_cores"`
	Busy         float64 `json:"busy_cores"`
	Steal        float64 `json:"steal_cores"`
	Services     float64 `json:"service_cores"`
	Dependencies float64 `json:"dependency_cores"`
	Agents       float64 `json:"agent_cores"`
	Lab          float64 `json:"lab_cores"`
	Interrupts   float64 `json:"interrupt_cores,omitempty"`
	Foreign      float64 `json:"foreign_cores"`
}
