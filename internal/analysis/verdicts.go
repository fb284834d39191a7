package analysis

// BreakingPoint is the highest load that still meets the objective, and what limits
// it. RateRPS (or Users) is null if none was found; Reason then says why.
type BreakingPoint struct {
	RateRPS   *float64 `json:"rate_rps"`   // open loop
	Users     *float64 `json:"users"`      // closed loop
	Low       *float64 `json:"low"`        // in the unit of the load; Searches decides what it is the end of
	High      *float64 `json:"high"`       // null if AtLeast
	AtLeast   bool     `json:"at_least"`   // a lower bound only
	LimitedBy string   `json:"limited_by"` // one of the constants below, or ""
	Evidence  string   `json:"evidence"`   // the figures that LimitedBy rests on, in words
	Reason    string   `json:"reason"`     // why there is none, or only a bound; "" otherwise
	TrafficS  float64  `json:"traffic_s"`  // seconds of load that the search took, in its longest trial
	Searches  int      `json:"searches"`   // trials that gave an answer, by a search or a ramp, each with its own start
	// DisturbedBy is who else took CPU during the search: Neighbours, Hypervisor;
	// empty: nobody.
	DisturbedBy []string `json:"disturbed_by,omitempty"`
}

// Load is the breaking point in its own unit; nil if none was found.
func (b *BreakingPoint) Load() *float64 {
	if b.Users != nil {
		return b.Users
	}
	return b.RateRPS
}

// EnoughSearches is the fewest searches, or ramps, per cell for a comparison of two
// breaking points. Starts of one service break at different loads, and the interval of
// one search, however narrow, is valid for its start only. Four against four without
// overlap have P 0.029.
const EnoughSearches = 4

// OverStarts reports whether Low and High are the ends of a 95% interval over starts
// of the service.
func (b *BreakingPoint) OverStarts() bool { return b.Searches >= minTrials }

// Against returns 1 if b is certainly above o, -1 if it is certainly below, and 0 if
// their intervals overlap, one of them is unknown, or one rests on too few searches.
func (b *BreakingPoint) Against(o *BreakingPoint) int {
	switch {
	case b == nil || o == nil || b.Low == nil || o.Low == nil || min(b.Searches, o.Searches) < EnoughSearches:
		return 0
	case o.High != nil && *b.Low > *o.High:
		return 1
	case b.High != nil && *o.Low > *b.High:
		return -1
	}
	return 0
}

// What limits a service: the values of limited_by.
const (
	ByCPULimit   = "cpu limit"  // it uses its whole quota
	ByThrottling = "throttling" // it is throttled, although it uses less than its quota on average
	ByMemory     = "memory"     // OOM kills
	ByErrors     = "errors"     // bad answers, although the latency is met
	ByDependency = "dependency" // one is at its own CPU limit, or requests mostly wait for it
	ByService    = "service"    // none of these: its own parallelism, locks, queues
	ByGenerator  = "generator"  // an agent could not send more: a lower bound
	ByHost       = "host"       // the machine had no idle CPU: a lower bound
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

// Comparison compares one figure of a cell with a baseline by one test: the
// objective's quantile (p99 without one), the breaking point of a search, or each
// figure of a benchmark, whose baseline is the first cell that has it. Trials are
// compared by Mann-Whitney's test; Shift is the Hodges-Lehmann estimate.
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
