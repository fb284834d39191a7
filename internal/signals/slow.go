package signals

// Slow is one slow request: one of those whose latency lay above the running
// 95th percentile of its agent. Only requests that enter the latency histogram
// (good answers and timeouts) are kept.
type Slow struct {
	Replica  int   `json:"replica"`  // that the request went to
	Intended int64 `json:"intended"` // unix nanoseconds
	Sent     int64 `json:"sent"`
	Done     int64 `json:"done"`
	// Lag is the part of Sent - Intended in which the request was due, a
	// connection was free, and the agent had not sent it: the generator's own
	// fault. It ends at Sent, but for a request that came due while the agent was
	// stalled and then waited for a connection behind the others: its Lag is what
	// was left of the stall. Nanoseconds.
	Lag      int64 `json:"lag"`
	TimedOut bool  `json:"timed_out,omitempty"`
	// For is how many slow requests of its interval this one stands for: an
	// agent keeps a bounded number of them, chosen by chance.
	For float64 `json:"for"`
}

// SlowLine is one line of slow.ndjson.
type SlowLine struct {
	Trial int `json:"trial"`
	Cell  int `json:"cell"`
	Agent int `json:"agent"`
	Slow
}
