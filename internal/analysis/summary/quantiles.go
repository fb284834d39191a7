package summary

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// Quantiles are in milliseconds.
type Quantiles struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	// Beyond is how many latencies lie beyond the histograms' range of an hour. The
	// mean and the figures above an hour are then lower bounds.
	Beyond int64 `json:"beyond_range,omitempty"`
}

// Streams are the times of the messages that a service streamed.
type Streams struct {
	First   *Quantiles `json:"first"`   // from the intended time to the first message
	Between *Quantiles `json:"between"` // from one message to the next; null: no stream had two
}

// StreamsOf is nil if no stream had a message.
func StreamsOf(s *signals.Streams) *Streams {
	if s == nil {
		return nil
	}
	return &Streams{QuantilesOf(s.First), QuantilesOf(s.Between)}
}

// Dials are the times of the connections that were made.
type Dials struct {
	Connect   *Quantiles `json:"connect"`
	Handshake *Quantiles `json:"handshake,omitempty"` // of TLS, after it; absent without TLS
}

// DialsOf is nil if no connection was made.
func DialsOf(d *signals.Dials) *Dials {
	if d == nil || d.Connect.Count() == 0 {
		return nil
	}
	of := &Dials{Connect: QuantilesOf(d.Connect)}
	if d.Handshake != nil {
		of.Handshake = QuantilesOf(d.Handshake)
	}
	return of
}

// QuantilesOf returns nil if nothing was recorded.
func QuantilesOf(h *signals.Histogram) *Quantiles {
	if h.Count() == 0 {
		return nil
	}
	return &Quantiles{
		P50: MS(h.Quantile(0.50)), P90: MS(h.Quantile(0.90)), P95: MS(h.Quantile(0.95)),
		P99: MS(h.Quantile(0.99)), P999: MS(h.Quantile(0.999)), Max: MS(h.Max()), Mean: MS(h.Mean()), Min: MS(h.Min()),
		Beyond: h.Beyond(),
	}
}

// Named is one quantile with its name, in milliseconds.
type Named struct {
	Name  string // as the JSON has it
	Value float64
}

// All returns the quantiles in ascending order, including the highest latency, but
// without the mean and the lowest.
func (q *Quantiles) All() []Named {
	return []Named{{"p50", q.P50}, {"p90", q.P90}, {"p95", q.P95}, {"p99", q.P99}, {"p999", q.P999}, {"max", q.Max}}
}

// Named returns a quantile by its name. An unknown name is infinite, so that it never
// meets an objective.
func (q *Quantiles) Named(name string) float64 {
	for _, one := range q.All() {
		if one.Name == name {
			return one.Value
		}
	}
	return math.Inf(1)
}

// AllRequests are quantiles of all requests in milliseconds; null: infinite.
type AllRequests struct {
	P50  *float64 `json:"p50_ms"`
	P90  *float64 `json:"p90_ms"`
	P95  *float64 `json:"p95_ms"`
	P99  *float64 `json:"p99_ms"`
	P999 *float64 `json:"p999_ms"`
}

// Named is a quantile over all requests, of which the answered ones have others. If failed
// requests make it infinite, it is that of the answered ones, which is a lower bound.
func (a *AllRequests) Named(quantile string, answered *Quantiles) (v float64, atLeast bool) {
	if a == nil {
		return answered.Named(quantile), false
	}
	for name, all := range map[string]*float64{"p50": a.P50, "p90": a.P90, "p95": a.P95, "p99": a.P99, "p999": a.P999} {
		if name == quantile && all != nil {
			return *all, false
		}
	}
	return answered.Named(quantile), true
}

// What the field paths of latencies and of figures of benchmarks begin with.
const (
	LatencyPrefix    = "latency_ms."
	BenchmarksPrefix = "benchmarks."
)

// LatencyPath is the field path of a latency quantile.
func LatencyPath(quantile string) string { return LatencyPrefix + quantile }

// ShareOf returns the share of requests that a latency metric means: 0.99 for p99, and
// 1 for max. It returns false for any other metric.
func ShareOf(metric string) (float64, bool) {
	switch metric {
	case "p50", "p90", "p95", "p99", "p999":
		return QuantileShare(metric), true
	case "max":
		return 1, true
	}
	return 0, false
}

// QuantileShare returns the share of requests that a quantile's name means: 0.999 for p999.
func QuantileShare(quantile string) float64 {
	digits := quantile[1:]
	share, unit := 0.0, 1.0
	for _, d := range digits {
		unit /= 10
		share += float64(d-'0') * unit
	}
	return share
}

// MS is a time in milliseconds, the unit of latencies.
func MS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
