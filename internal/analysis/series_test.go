package analysis

import (
	"runtime"
	"testing"
	"weak"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// The points of a series keep nothing of their intervals: the histograms of an interval
// take a thousand times more memory than its point.
func TestASeriesKeepsNoInterval(t *testing.T) {
	for name, load := range map[string]experiment.Load{
		"users": {Users: &experiment.Target{Value: 1}}, "a rate": {Rate: &experiment.Target{Value: 1}},
	} {
		b := newSeriesBuilder(1, &experiment.Cell{Load: load}, 0)
		kept := func() (all []weak.Pointer[interval]) {
			for seq := range 3 {
				latency := signals.NewHistogram()
				latency.Record(1)
				b.add(&signals.Frame{Seq: seq, Start: int64(seq) * 1e9, End: int64(seq+1) * 1e9, Phase: signals.Measure,
					Client: &signals.Client{Good: 1, Latency: latency, Service: latency}})
			}
			for _, m := range b.open {
				all = append(all, weak.Make(m))
			}
			return all
		}()
		series := b.finish()
		runtime.GC()
		for i, m := range kept {
			if m.Value() != nil {
				t.Errorf("%s: interval %d is kept", name, i)
			}
		}
		if len(series.Points) != len(kept) || len(kept) != 3 {
			t.Errorf("%s: %d points of %d intervals", name, len(series.Points), len(kept))
		}
		runtime.KeepAlive(b)
	}
}
