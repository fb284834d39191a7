package signals

// Slow is one slow request: one with a latency above its agent's running 95th
// percentile. Only requests that enter the latency histogram (good answers and
// timeouts) are kept.
type Slow struct {
	Replica  int   `json:"replica"`  // to which the request was sent
	Intended int64 `json:"intended"` // unix nanoseconds
	Sent     int64 `json:"sent"`
	Done     int64 `json:"done"`
	// Lag is the part of Sent - Intended in which the request was due and a connection
	// was free, but the agent had not sent it: the generator's own delay. It ends at
	// Sent. The exception is a request that became due while the agent was stalled,
	// and then waited for a connection behind others: its Lag is what was left of the
	// stall. Nanoseconds.
	Lag      int64 `json:"lag"`
	TimedOut bool  `json:"timed_out,omitempty"`
	// For is how many slow requests of its interval this one stands for: an agent
	// keeps a limited number of them, chosen at random.
	For float64 `json:"for"`
}

// SlowLine is one line of slow.ndjson.
type SlowLine struct {
	Trial int `json:"trial"`
	Cell  int `json:"cell"`
	Agent int `json:"agent"`
	Slow
}
