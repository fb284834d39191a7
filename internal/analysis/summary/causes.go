package summary

import "encoding/json"

// FewestForShares is the fewest requests of a tail whose time is divided into shares. One
// of 20 has 5% of the requests, and of fewer a single one decides a share: "75% is
// throttling" of one request says nothing about the service.
const FewestForShares = 20

// Causes divides the time of the slow tail: the requests at or above the quantile. The
// shares are of the sum of their latencies and add up to 1. Each moment counts for the
// first cause that explains it, in the order of the fields. The wait in a queue counts
// for the cause that built the queue, until the queue has drained.
type Causes struct {
	Quantile  string  `json:"quantile"`  // "p99"
	FromMS    float64 `json:"from_ms"`   // its value: the lowest latency of the tail
	Requests  int     `json:"requests"`  // in the tail
	MeanMS    float64 `json:"mean_ms"`   // their mean latency
	Generator float64 `json:"generator"` // waiting in the generator
	// GeneratorQueue is the wait in queues of the service that a pause of the generator
	// caused: requests that it sent late arrive at once.
	GeneratorQueue float64 `json:"generator_queue"`
	// Throttling is windows of the same replica, and the queue that they built, as far as
	// the requests certainly wanted its CPU then.
	Throttling float64 `json:"throttling"`
	Dependency float64 `json:"dependency"`
	Restart    float64 `json:"restart"`    // down, or killed for memory
	Neighbours float64 `json:"neighbours"` // waiting for a CPU that others used
	Rest       float64 `json:"rest"`       // queueing and work

	// ThrottlingHigh is the most that Throttling can be: a part of Rest, or of another
	// cause, may be due to the CPU limit as well.
	ThrottlingHigh float64 `json:"throttling_high"`
	// ThrottledDirectly is the share within windows of the same replica, whatever the
	// requests waited for.
	ThrottledDirectly float64 `json:"throttled_directly"`
	// NeighboursGenerator is the part of Neighbours that is due to the CPU of the agents.
	NeighboursGenerator float64 `json:"neighbours_generator,omitempty"`
	// Trials is how many trials the tail is of, and MostIn the smallest number of them that
	// has more than three quarters of its requests.
	Trials int `json:"trials,omitempty"`
	MostIn int `json:"most_in_trials,omitempty"`
	// Slowest are the slowest requests with the windows that they overlap.
	Slowest []SlowRequest `json:"slowest"`
}

// Divided reports whether the tail has enough requests for its shares to be stated. It
// reports true if their number is not known.
func (c *Causes) Divided() bool { return c.Requests == 0 || c.Requests >= FewestForShares }

// MarshalJSON writes null for the shares of a tail of too few requests.
func (c Causes) MarshalJSON() ([]byte, error) {
	type plain Causes
	if c.Divided() {
		return json.Marshal(plain(c))
	}
	type share struct { // hides the fields of the same names
		Generator           *float64 `json:"generator"`
		GeneratorQueue      *float64 `json:"generator_queue"`
		Throttling          *float64 `json:"throttling"`
		Dependency          *float64 `json:"dependency"`
		Restart             *float64 `json:"restart"`
		Neighbours          *float64 `json:"neighbours"`
		Rest                *float64 `json:"rest"`
		ThrottlingHigh      *float64 `json:"throttling_high"`
		ThrottledDirectly   *float64 `json:"throttled_directly"`
		NeighboursGenerator *float64 `json:"neighbours_generator,omitempty"`
		MostIn              int      `json:"most_in_trials,omitempty"`
	}
	type hidden struct{ plain }
	return json.Marshal(struct {
		hidden
		share
	}{hidden{plain(c)}, share{}})
}

// Share is one cause with its share of the tail, and the interval that contains it.
type Share struct {
	Name      string // as in the JSON
	Value     float64
	Low, High float64
}

// Shares returns the causes in their order. What may be throttling as well is not certain to
// be the service's own.
func (c *Causes) Shares() []Share {
	one := func(name string, v float64) Share { return Share{name, v, v, v} }
	high := max(c.Throttling, c.ThrottlingHigh)
	return []Share{one("generator", c.Generator), one("generator_queue", c.GeneratorQueue), {"throttling", c.Throttling, c.Throttling, high},
		one("dependency", c.Dependency), one("restart", c.Restart), one("neighbours", c.Neighbours),
		{"rest", c.Rest, max(0, c.Rest-(high-c.Throttling)), c.Rest}}
}

// OfGenerator is the share that the generator caused: its own delay, and the queues that
// its pauses built.
func (c *Causes) OfGenerator() float64 { return c.Generator + c.GeneratorQueue }

// OfFewTrials reports whether fewer than half of the trials have most of the tail. It then
// shows those trials, while the other figures of a cell are medians over all of them.
func (c *Causes) OfFewTrials() bool { return c.Divided() && c.MostIn > 0 && 2*c.MostIn < c.Trials }

// MostlyGenerator reports whether most of the CPU that others used was the agents'.
func (c *Causes) MostlyGenerator() bool { return 2*c.NeighboursGenerator > c.Neighbours }

// SlowRequest is one of the slowest requests. Times are milliseconds since it
// was intended.
type SlowRequest struct {
	Trial    int          `json:"trial"`
	Replica  int          `json:"replica"`
	AtS      float64      `json:"at_s"` // intended: seconds since the trial's first frame
	SentMS   float64      `json:"sent_ms"`
	DoneMS   float64      `json:"done_ms"`
	TimedOut bool         `json:"timed_out,omitempty"`
	Windows  []SlowWindow `json:"windows"` // that it overlaps, clipped to it
}

// SlowWindow is a window under a slow request.
type SlowWindow struct {
	Kind   string  `json:"kind"` // throttled, down
	FromMS float64 `json:"from_ms"`
	ToMS   float64 `json:"to_ms"`
}
