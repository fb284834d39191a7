package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/data/signals"
)

// The lab's sampler cuts by signals.Intervals, an agent, whose load may change
// or stop while it runs, by this package's: they must cut alike.
func TestAgentAndSamplerHaveTheSameIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string, low, high int) time.Duration {
			return time.Duration(rapid.IntRange(low, high).Draw(t, name)) * time.Millisecond
		}
		warmup, measure, every := ms("warmup", 0, 5000), ms("measure", 1, 20000), ms("every", 100, 3000)
		lab := signals.Intervals{Warmup: warmup, Measure: measure, Every: every}
		agent := Intervals{Warmup: warmup, End: warmup + measure, Every: every}
		begun := time.Duration(0)
		for seq := range 30 {
			start, end, phase := lab.At(seq)
			gotEnd, gotPhase := agent.After(begun)
			if start != begun || end != gotEnd || phase != gotPhase {
				t.Fatalf("interval %d: lab %v to %v (%s), agent %v to %v (%s)", seq, start, end, phase, begun, gotEnd, gotPhase)
			}
			begun = gotEnd
		}
	})
}
