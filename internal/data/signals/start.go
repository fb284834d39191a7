package signals

// Start is what it took until a replica was ready, from the start of its process on.
type Start struct {
	Seconds float64 `json:"seconds"`
	// CPUSeconds is the CPU time that it used, Periods are the enforcement periods in which it
	// ran, and ThrottledPeriods those in which its CPU limit stopped it; null: not measured.
	CPUSeconds       *float64 `json:"cpu_s"`
	Periods          *int64   `json:"periods"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
}
