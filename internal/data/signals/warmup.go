package signals

// WarmUp is what was sent to a service before its trial, so that a runtime that compiles
// its code while it runs was done with it.
type WarmUp struct {
	Seconds  float64 `json:"seconds"`
	Requests int64   `json:"requests"` // with a good answer
	// CPUPerRequest is the CPU time in seconds that the service used per good answer, in
	// each window of the warm-up, in order.
	CPUPerRequest []float64 `json:"cpu_per_request_s"`
	Users         int       `json:"users,omitempty"` // of the closed loop, at the end
	// Steady means that the CPU time per request did not fall any more. Otherwise the time
	// of the warm-up was over first.
	Steady bool `json:"steady"`
}
