package analysis

import (
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/signals"
)

// frameBlocks keeps the agents' latencies of each interval, for intervals by a block
// bootstrap of frames.
type frameBlocks struct {
	blocks stats.Blocks
	last   map[int]int // by trial: seq of the last measured interval
}

// add takes a frame of a constant load. Requests of the drain were intended during the
// measurement, so they join the last interval.
func (b *frameBlocks) add(f *signals.Frame) {
	if f.Client == nil || f.Phase == signals.Warmup {
		return
	}
	if b.last == nil {
		b.last = map[int]int{}
	}
	if f.Phase == signals.Measure {
		b.last[f.Trial] = f.Seq
	}
	b.blocks.Add(f.Trial, b.last[f.Trial], f.Client.Latency)
}

// intervals returns the 95% intervals of the latency quantiles by a block bootstrap of
// frames, for cells with too few trials for an interval over trials. Such an interval
// shows how precise the figure of these trials is. It does not show how much another
// start of the service would differ. Quantiles that the cell's requests do not support
// have none.
func (b *frameBlocks) intervals(c *summary.Cell) (map[string][2]float64, string) {
	out := map[string][2]float64{}
	names, shares := []string{"p50", "p90", "p95", "p99", "p999"}, []float64(nil)
	for _, name := range names {
		shares = append(shares, summary.QuantileShare(name))
	}
	for i, interval := range b.blocks.Intervals(shares, stats.Resampling{Seed: 1}) {
		if interval != nil && verdict.Supports(c, names[i]) {
			out["latency_ms."+names[i]] = [2]float64{interval.Low, interval.High}
		}
	}
	if len(out) == 0 {
		return out, ""
	}
	return out, summary.OfFrames
}

// lateAtMost is the upper end of the 95% interval of the share of requests that are late. They
// come in such bursts as the requests beyond the goal's quantile that took half of its latency.
func (b *frameBlocks) lateAtMost(g objective.Goal, t *sums.Total) float64 {
	count := g.Count(t)
	beyond := max(g.Objective.Latency/2, t.Client.Latency.Quantile(summary.QuantileShare(g.Quantile())))
	by := b.blocks.Bursts(beyond.Microseconds())
	_, high := stats.Proportion(float64(count.Late)/by, float64(count.Requests)/by)
	return high
}
