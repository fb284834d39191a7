// Package signals holds what is seen of a service under load: frames (the four
// golden signals of one interval, with CPU throttling), counters and
// histograms. It is pure: no clock, no file, no network. Reading the kernel is
// the platform's work, making traffic the agent's, and drawing conclusions the
// analysis'.
package signals

// Phase tells which part of a trial an interval lies in.
type Phase string

const (
	Warmup  Phase = "warmup"  // left out of every result
	Measure Phase = "measure" // what results are made of
	Drain   Phase = "drain"   // after the last request was due: answers in flight are awaited
)

// Frame is one line of frames.ndjson: what one source saw over one interval.
// Exactly one of Client, Server, Host, Waits and Scale is set. Client and server halves of
// the same service are joined by their times, which are the lab's clock.
type Frame struct {
	Trial int    `json:"trial"` // number of the trial in the record, from 1
	Cell  int    `json:"cell"`  // index of the cell in the plan, from 0
	Seq   int    `json:"seq"`   // number of the interval in the trial, from 0
	Start int64  `json:"start"` // unix nanoseconds
	End   int64  `json:"end"`   // unix nanoseconds
	Phase Phase  `json:"phase"`
	Agent *int   `json:"agent,omitempty"`   // index of the agent, for a client half
	Of    string `json:"of,omitempty"`      // service or dependency, for a server half
	Index int    `json:"replica,omitempty"` // index of the replica, for a server half
	// Machine is the node that a host half is of, or that the replica of a server
	// half runs on; "" on one machine.
	Machine string `json:"machine,omitempty"`

	Client *Client `json:"client,omitempty"`
	Server *Server `json:"server,omitempty"`
	Host   *Host   `json:"host,omitempty"`
	Waits  *Waits  `json:"waits,omitempty"` // of the replica Index of the service Of
	Scale  *Scale  `json:"scale,omitempty"` // of the service Of, where it is autoscaled
}

// Scale is how many replicas of a service there were at an interval's end: those
// that serve.
type Scale struct {
	Replicas int `json:"replicas"`
}

// Waits is how long a replica waited for its dependency, by its own account: a
// histogram of the waits that ended in the interval.
type Waits struct {
	Bounds []float64 `json:"bounds"` // upper bounds in seconds, ascending, without +Inf
	Counts []int64   `json:"counts"` // one a bound and one above all; not cumulative
	Sum    float64   `json:"sum_s"`
}

// Seconds is the length of the interval in seconds.
func (f *Frame) Seconds() float64 { return float64(f.End-f.Start) / 1e9 }

// Client is what one agent saw over one interval. A request belongs to the
// interval in which it ended, and to the phase in which it was intended: in
// frames of the phases measure and drain, the counts and histograms hold only
// requests intended after the warm-up, and Carried counts the others.
type Client struct {
	Intended  int64            `json:"intended"`          // requests that were due in this interval
	Sent      int64            `json:"sent"`              // requests that left in this interval
	Good      int64            `json:"good"`              // answers with a status of 200 to 299, or, where a check says what is good, those that pass it
	Timeouts  int64            `json:"timeouts"`          // given up; the time runs from sent
	Refused   int64            `json:"refused"`           // no connection could be made
	Cut       int64            `json:"cut"`               // the connection ended before the answer was whole
	Malformed int64            `json:"malformed"`         // the answer was not HTTP
	Failed    int64            `json:"failed,omitempty"`  // answers that a check refused, save those whose status alone makes them bad
	Status    map[string]int64 `json:"status,omitempty"`  // answers by status code, good ones included
	Wanted    map[string]int64 `json:"wanted,omitempty"`  // of those, by status code, the ones outside 200 to 299 that a check wants
	Carried   int64            `json:"carried,omitempty"` // ended now, intended during the warm-up
	Dropped   int64            `json:"dropped,omitempty"` // were due and never sent: the trial ended or was stopped
	InFlight  int64            `json:"in_flight"`         // sent and not ended, at the interval's end
	Waiting   int64            `json:"waiting"`           // due and not sent, at the interval's end
	Bytes     int64            `json:"bytes"`             // received, headers included
	Connects  int64            `json:"connects"`          // connections made, the first ones included
	Users     float64          `json:"users,omitempty"`   // closed loop: users asked for at the interval's end
	Rate      float64          `json:"rate,omitempty"`    // open loop: requests/s asked for at the interval's end

	// Latency is done - intended of good answers and, at give-up - intended, of
	// timeouts. Service is done - sent of the same. SendLag is sent minus the
	// moment when the request was due and a connection was free: the
	// generator's own fault.
	Latency *Histogram `json:"latency"`
	Service *Histogram `json:"service"`
	SendLag *Histogram `json:"send_lag"`

	// Slow is a sample of the slow requests. It travels in the frame, and goes to
	// slow.ndjson instead of frames.ndjson. SlowSeen is how many there were.
	Slow     []Slow `json:"slow,omitempty"`
	SlowSeen int64  `json:"slow_seen,omitempty"`

	CPU     float64  `json:"cpu_s"`                // CPU seconds of the agent's process, user and system
	RunWait *float64 `json:"run_wait_s,omitempty"` // seconds its threads waited for a CPU; null: not measured
	// Throttled is for how many seconds the agent itself was throttled by a CPU
	// limit of its own control group, summed over CPUs; null: not measured.
	Throttled *float64 `json:"throttled_s,omitempty"`
}

// Bad is the number of requests that ended without a good answer.
func (c *Client) Bad() int64 {
	return c.Timeouts + c.Refused + c.Cut + c.Malformed + c.Failed + c.BadStatus()
}

// BadStatus is the number of whole answers with a status outside 200 to 299 that
// no check wants.
func (c *Client) BadStatus() int64 {
	var all int64
	for _, n := range c.Status {
		all += n
	}
	return all - c.Good - c.Failed
}

// Ended is the number of requests that ended, well or not.
func (c *Client) Ended() int64 { return c.Good + c.Bad() }

// Server is what the platform saw of one replica over one interval. A nil
// pointer is "not measured", never zero.
type Server struct {
	CPU              *float64 `json:"cpu_s"`                  // CPU seconds used
	CPULimit         *float64 `json:"cpu_limit"`              // CPUs (quota / period); null: no limit
	Periods          *int64   `json:"periods"`                // CFS periods that ran their timer
	ThrottledPeriods *int64   `json:"throttled_periods"`      // of those, periods that ended throttled
	Throttled        *float64 `json:"throttled_s"`            // seconds, summed over CPUs: can exceed the interval
	Bursts           *int64   `json:"bursts,omitempty"`       // periods that used saved-up quota
	Memory           *int64   `json:"memory_bytes"`           // working set at the interval's end: charged, less inactive page cache, as a kubelet shows it
	MemoryPeak       *int64   `json:"memory_peak_bytes"`      // highest charge since the replica's group was made, page cache included
	MemoryLimit      *int64   `json:"memory_limit"`           // bytes; null: no limit
	OOMKills         *int64   `json:"oom_kills"`              // in this interval
	Restarts         int64    `json:"restarts"`               // in this interval
	Up               bool     `json:"up"`                     // whether the process ran at the interval's end
	CPUPressure      *float64 `json:"cpu_pressure,omitempty"` // PSI "some", seconds in this interval
}

// Host is what the machine did over one interval, in CPU seconds per second
// (cores). Foreign is CPU used by processes that the experiment did not start.
type Host struct {
	CPUs         int     `json:"cpus"`
	Idle         float64 `json:"idle_cores"`
	Busy         float64 `json:"busy_cores"`
	Steal        float64 `json:"steal_cores"`
	Services     float64 `json:"service_cores"`
	Dependencies float64 `json:"dependency_cores"`
	Agents       float64 `json:"agent_cores"`
	Lab          float64 `json:"lab_cores"`
	Foreign      float64 `json:"foreign_cores"`
}
