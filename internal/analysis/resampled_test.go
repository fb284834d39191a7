package analysis

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// With few trials the interval comes from the frames, with six from the trials.
func TestIntervalsRestOnFramesWhereTrialsAreFew(t *testing.T) {
	for _, c := range []struct {
		name           string
		trials, frames int
		want           string
	}{
		{"one trial", 1, 12, "frames"},
		{"one trial of a few frames", 1, 5, ""},
		{"six trials", 6, 12, "trials"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
			var attempts []Attempt
			for i := range c.trials {
				attempts = append(attempts, Attempt{Trial: i + 1, Repeat: i + 1})
			}
			b := New(e, attempts)
			for i := range c.trials {
				for seq := range c.frames {
					f := fixture.Client(seq+1, signals.Measure, 100, time.Duration(10+seq)*time.Millisecond)
					f.Trial = i + 1
					b.Add(f)
				}
			}
			got := b.Cells()[0]
			interval, ok := got.Intervals["latency_ms.p50"]
			if got.IntervalsOf != c.want || ok != (c.want != "") {
				t.Fatalf("intervals of %q: %v, want of %q", got.IntervalsOf, got.Intervals, c.want)
			}
			if ok && (interval[0] > got.LatencyMS.P50 || interval[1] < got.LatencyMS.P50) {
				t.Errorf("p50 %v outside of %v", got.LatencyMS.P50, interval)
			}
			if c.want == "frames" && interval[0] == interval[1] {
				t.Errorf("an interval without a width, of frames that differ: %v", interval)
			}
		})
	}
}
