package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/millicore/millicore/test/testkit"
)

// Two cells by turns, A B, B A and so on, six trials each, on a machine that drifts by a
// part of a standard deviation per trial. docs/statistics.md has the table.
func TestRoundsShowWhatADriftHides(t *testing.T) {
	runs := testkit.Samples(500, 2000, 20000)
	for _, c := range []struct {
		drift, effect float64
		least, most   float64 // share that is found to differ
	}{{0, 0, 0, 0.05}, {0.25, 0, 0, 0.05}, {0.5, 0, 0, 0.05}, {1, 0, 0, 0.05}, {0, 2, 0.77, 1}, {0.5, 3, 0.78, 1}, {1, 3, 0.73, 1}} {
		r, found := rand.New(rand.NewPCG(41, uint64(4*c.drift+10*c.effect))), 0
		for range runs {
			x, y := make([]Observed, 6), make([]Observed, 6)
			for i := range x {
				first, second := c.drift*float64(2*i+i%2), c.drift*float64(2*i+1-i%2)
				x[i], y[i] = Known(100+first+c.effect+r.NormFloat64()), Known(100+second+r.NormFloat64())
			}
			_, p := CensoredTest(x, y)
			if in := InRounds(x, y); in != nil {
				if p = in.P; (p < 1-Level) == in.Interval.Contains(0) {
					t.Fatalf("p %v, interval %v", p, in.Interval)
				}
			}
			if p < 1-Level {
				found++
			}
		}
		share := float64(found) / float64(runs)
		t.Logf("drift %g, difference %g: %.1f%%", c.drift, c.effect, 100*share)
		if share < c.least || share > c.most+0.01 {
			t.Errorf("drift %g, difference %g: %.1f%%", c.drift, c.effect, 100*share)
		}
	}
}
