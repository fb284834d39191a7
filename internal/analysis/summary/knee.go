package summary

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
