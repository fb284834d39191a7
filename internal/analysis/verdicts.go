package analysis

// BreakingPoint is the highest load that still meets the objective, and why no
// more does. RateRPS (or Users) is null where none was found; Reason then says
// why.
type BreakingPoint struct {
	RateRPS   *float64 `json:"rate_rps"`   // open loop
	Users     *float64 `json:"users"`      // closed loop
	Low       *float64 `json:"low"`        // of the 95% interval, in the unit of the load
	High      *float64 `json:"high"`       // null where AtLeast
	AtLeast   bool     `json:"at_least"`   // a lower bound only
	LimitedBy string   `json:"limited_by"` // one of the words below, or ""
	Evidence  string   `json:"evidence"`   // the figures that LimitedBy rests on, in words
	Reason    string   `json:"reason"`     // why there is none, or only a bound; "" otherwise
	TrafficS  float64  `json:"traffic_s"`  // seconds of load that the search took, of its longest trial
	Searches  int      `json:"searches"`   // trials that gave an answer
	// DisturbedBy are who else took CPU while it was looked for, Neighbours and
	// Hypervisor; empty: nobody did.
	DisturbedBy []string `json:"disturbed_by,omitempty"`
}

// Load is the breaking point in its own unit; nil: none was found.
func (b *BreakingPoint) Load() *float64 {
	if b.Users != nil {
		return b.Users
	}
	return b.RateRPS
}

// Against is 1 where b lies surely above another, -1 below, 0 where their 95%
// intervals overlap or one is not known: a strict rule, surer than 95%.
func (b *BreakingPoint) Against(o *BreakingPoint) int {
	switch {
	case b == nil || o == nil || b.Low == nil || o.Low == nil:
		return 0
	case o.High != nil && *b.Low > *o.High:
		return 1
	case b.High != nil && *o.Low > *b.High:
		return -1
	}
	return 0
}

// What limits a service, in the words of limited_by.
const (
	ByCPULimit   = "cpu limit"  // it uses up its quota
	ByThrottling = "throttling" // it is throttled, though on average below its quota
	ByMemory     = "memory"     // OOM kills
	ByErrors     = "errors"     // bad answers, while latency holds
	ByDependency = "dependency" // one is at its own CPU limit, or requests mostly wait for it
	ByService    = "service"    // none of these: its own parallelism, locks, queues
	ByGenerator  = "generator"  // an agent could not send more: a lower bound
	ByHost       = "host"       // the machine had no CPU left: a lower bound
)

// Knee is where latency leaves its floor.
type Knee struct {
	Load        float64  `json:"load"` // requests/s, or users
	Low         float64  `json:"low"`  // of the 95% interval
	High        float64  `json:"high"`
	OfLimit     *float64 `json:"of_limit"` // CPU of limit there, 0..1; null without a limit
	OfLimitLow  *float64 `json:"of_limit_low"`
	OfLimitHigh *float64 `json:"of_limit_high"`
	Quantile    string   `json:"quantile"` // whose floor: "p99"
	FloorMS     float64  `json:"floor_ms"`
}

// Comparison is one cell against the baseline, by one test: the objective's
// quantile (p99 where none is asked), the breaking point where it was searched, or
// each figure of a benchmark, against the first cell that has it. Trials are compared by Mann-Whitney's test; Shift is the
// Hodges-Lehmann estimate.
type Comparison struct {
	Cell        int     `json:"cell"`
	Baseline    int     `json:"baseline"`
	Metric      string  `json:"metric"` // a field path of the cell
	Base        float64 `json:"base"`   // the baseline's median over trials
	Value       float64 `json:"value"`  // the cell's
	Shift       float64 `json:"shift"`  // in the metric's unit
	Low         float64 `json:"low"`    // of the shift's 95% interval
	High        float64 `json:"high"`
	P           float64 `json:"p"`           // two-sided, exact where there are no ties
	PHolm       float64 `json:"p_holm"`      // after Holm's correction over all cells
	Significant bool    `json:"significant"` // PHolm < 0.05
	Trials      [2]int  `json:"trials"`      // of the baseline, of the cell
}
