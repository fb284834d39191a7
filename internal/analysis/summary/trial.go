package summary

// TrialFigures are the figures of one trial, from which the intervals are computed.
type TrialFigures struct {
	Trial        int      `json:"trial"`
	RateRPS      *float64 `json:"rate_rps"`
	P50          *float64 `json:"p50_ms"`
	P90          *float64 `json:"p90_ms"`
	P95          *float64 `json:"p95_ms"`
	P99          *float64 `json:"p99_ms"`
	P999         *float64 `json:"p999_ms"`
	Availability *float64 `json:"availability"`       // percent
	CPUPerReqMS  *float64 `json:"cpu_per_request_ms"` // of the service, per good answer
	Throttled    *float64 `json:"throttled_of_periods"`
	Breaking     *float64 `json:"breaking_point"` // requests/s or users
	// BreakingFrom and BreakingTo bound a breaking point that has no value of its own: the
	// bound of a search, the two levels of a ramp. Without BreakingFrom the trial missed
	// the objective at the lowest load, BreakingTo, or the service died there.
	BreakingFrom *float64 `json:"breaking_from,omitempty"`
	BreakingTo   *float64 `json:"breaking_to,omitempty"`
	// OfAll are the quantiles of all requests, of which the failed ones count as
	// infinitely late; null: P50 to P999 are those. One that is null is infinite.
	OfAll        *AllRequests `json:"of_all_requests,omitempty"`
	Good         *float64     `json:"requests"` // good answers
	Min          *float64     `json:"min_ms"`
	Max          *float64     `json:"max_ms"`
	CPUOfLimit   *float64     `json:"cpu_of_limit"`  // 0..1; null without a limit
	CPUMax       *float64     `json:"cpu_max_cores"` // of the service in its busiest frame
	MemoryPeak   *float64     `json:"memory_peak_bytes"`
	OOMKills     *float64     `json:"oom_kills"` // of all replicas, in every phase
	Restarts     *float64     `json:"restarts"`  // likewise
	WaitsP99     *float64     `json:"waits_p99_ms"`
	Dependencies *float64     `json:"dependency_cores"`  // of all dependencies together
	StartS       *float64     `json:"start_s,omitempty"` // until all replicas were ready; null: the service ran already
	Attempt      int          `json:"attempt"`
	Beyond       int64        `json:"beyond_range,omitempty"` // latencies beyond the histograms' range
	// Kinds are the figures of each kind of request; null: the load has one kind.
	Kinds []KindFigures `json:"kinds,omitempty"`
}

// EnoughTrials is the fewest trials that give a 95% interval of a median: with n trials,
// the range from the lowest to the highest contains it with probability 1 - 2^(1-n),
// which is 0.969 for six.
const EnoughTrials = 6

// What the intervals of a cell rest on: the values of summary.Cell.IntervalsOf.
const (
	OfTrials = "trials"
	OfFrames = "frames" // of its few trials
)
