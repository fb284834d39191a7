package analysis

import (
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/signals"
)

// block keeps an agent's latencies of one interval. Requests of the drain were
// intended during the measurement, so they join the last interval.
func (c *cell) block(t *trialTally, f *signals.Frame) {
	if f.Client == nil || f.Phase == signals.Warmup || c.levels != nil || t.search != nil {
		return
	}
	if f.Phase == signals.Measure {
		t.last = f.Seq
	}
	c.blocks.Add(t.attempt.Trial, t.last, f.Client.Latency)
}

// resampled returns the 95% intervals of the latency quantiles by a block bootstrap of
// frames, for cells with too few trials for an interval over trials. Such an interval
// shows how precise the figure of these trials is. It does not show how much another
// start of the service would differ.
func (c *cell) resampled() (map[string][2]float64, string) {
	out := map[string][2]float64{}
	names, shares := []string{"p50", "p90", "p95", "p99", "p999"}, []float64(nil)
	for _, name := range names {
		shares = append(shares, shareOf(name))
	}
	for i, interval := range c.blocks.Intervals(shares, stats.Resampling{Seed: 1}) {
		if interval != nil {
			out["latency_ms."+names[i]] = [2]float64{interval.Low, interval.High}
		}
	}
	if len(out) == 0 {
		return out, ""
	}
	return out, "frames"
}
