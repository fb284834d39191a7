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

// OverStarts reports whether Low and High are the ends of a 95% interval over starts
// of the service.
func (b *BreakingPoint) OverStarts() bool { return b.Searches >= minTrials }
