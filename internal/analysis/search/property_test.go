package search

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/analysis/cost"
	"github.com/millicore/millicore/internal/analysis/finding"
)

// drawConfig draws any configuration, valid or not.
func drawConfig(t *rapid.T) Config {
	loads := []float64{math.NaN(), math.Inf(1), -1, 0, 1e-9, 0.3, 1, 7.5, 50, 1e4, 1e12}
	shares := []float64{math.NaN(), -1, 0, 1e-4, 0.001, 0.01, 0.05, 0.5, 0.999, 1, 2}
	return Config{
		First:       rapid.SampledFrom(loads).Draw(t, "first"),
		Most:        rapid.SampledFrom(loads).Draw(t, "most"),
		Whole:       rapid.Bool().Draw(t, "whole"),
		AllowedLate: rapid.SampledFrom(shares).Draw(t, "allowed late"),
		AllowedBad:  rapid.SampledFrom(shares).Draw(t, "allowed bad"),
		Late:        rapid.SampledFrom([]time.Duration{-1, 0, time.Millisecond, 50 * time.Millisecond, time.Hour}).Draw(t, "latency"),
		Block:       rapid.SampledFrom([]time.Duration{-1, 0, 100 * time.Millisecond, 500 * time.Millisecond, time.Second, time.Hour}).Draw(t, "block"),
		Patience:    rapid.SampledFrom([]time.Duration{-1, 0, 2 * time.Second, time.Minute}).Draw(t, "patience"),
		Budget:      rapid.SampledFrom([]time.Duration{-1, 0, time.Second, 20 * time.Second, time.Minute, 2 * time.Minute}).Draw(t, "budget"),
	}
}

func drawObservation(t *rapid.T, s *Search, step Step, block time.Duration) Observation {
	counts := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 0, 1, 3, 100, 1000, math.MaxInt64})
	var o Observation
	n := int(step.Window/block) + rapid.SampledFrom([]int{0, 0, 0, 0, -1, -2, -1000, 1}).Draw(t, "blocks")
	usual := rapid.SampledFrom([]Block{{Requests: 100}, {Requests: 100, Late: 1}, {Requests: 1000, Late: 30, Bad: 1},
		{Requests: 100, Late: 100, Bad: 100}, {Requests: 100, Late: 100, Bad: 70, Overdue: 30}}).Draw(t, "usual block")
	ended := rapid.SampledFrom([]int64{-1, 0, 1, 100}).Draw(t, "ended")
	each := rapid.SampledFrom([]float64{-1, 0, .001, .01, math.NaN()}).Draw(t, "CPU of a request")
	for range rapid.IntRange(0, 8).Draw(t, "blocks with a cost") {
		o.Costs = append(o.Costs, cost.Block{CPU: each * float64(ended), Ended: ended})
	}
	odd := rapid.IntRange(0, 5).Draw(t, "odd") == 0
	for i := 0; i < min(n, 1000); i++ {
		b := usual
		if odd {
			b = Block{Requests: counts.Draw(t, "requests"), Late: counts.Draw(t, "late"), Bad: counts.Draw(t, "bad"), Overdue: counts.Draw(t, "overdue")}
		}
		o.Blocks = append(o.Blocks, b)
		s.Hopeless(o.Blocks)
	}
	o.Limited = rapid.IntRange(0, 9).Draw(t, "limited") == 0
	o.Disturbed = rapid.SampledFrom([]finding.Source{0, 0, 0, 0, 0, 0, 0, finding.Neighbour, finding.Hypervisor, finding.Neighbour | finding.Hypervisor}).Draw(t, "disturbed")
	if rapid.IntRange(0, 29).Draw(t, "gone") == 0 {
		o.Gone = "it died"
	}
	return o
}

// For any observations, a search ends within its budget, requests only loads that can
// be generated, and returns an answer or a reason.
func TestASearchAlwaysEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		s, sane := New(c), c.withDefaults()
		asked := time.Duration(0)
		for number := 0; ; number++ {
			step, ok := s.Next()
			if !ok {
				break
			}
			if number >= mostSteps || step.Number != number {
				t.Fatalf("step %d has the number %d", number, step.Number)
			}
			if !(step.Load > 0 && step.Load <= sane.Most) || sane.Whole && step.Load != math.Trunc(step.Load) {
				t.Fatalf("a load of %g, most is %g", step.Load, sane.Most)
			}
			if step.Settle <= 0 || step.Window <= 0 || step.Settle%sane.Block != 0 || step.Window%sane.Block != 0 {
				t.Fatalf("settle %v and window %v in blocks of %v", step.Settle, step.Window, sane.Block)
			}
			o := drawObservation(t, s, step, sane.Block)
			asked += step.Settle + min(step.Window, time.Duration(len(o.Blocks))*sane.Block)
			if most := sane.Budget + sane.Patience + step.Settle + step.Window; asked > most {
				t.Fatalf("%v of traffic, want at most %v", asked, most)
			}
			s.Saw(o)
		}
		r := s.Result()
		for _, v := range []float64{r.Load, r.Low, r.High, r.Tested} {
			if math.IsNaN(v) || v < 0 {
				t.Fatalf("%+v", r)
			}
		}
		if r.Low > r.Load || r.Load > r.High || math.IsInf(r.High, 1) != r.AtLeast || r.Load > sane.Most {
			t.Fatalf("%+v", r)
		}
		if (r.Load == 0 || r.AtLeast) && r.Why.None() {
			t.Fatalf("neither an answer nor a reason: %+v", r)
		}
		if r.Traffic != asked {
			t.Fatalf("%v of traffic, want %v", r.Traffic, asked)
		}
		s.Saw(Observation{}) // of no step
		if _, ok := s.Next(); ok {
			t.Fatal("it goes on after its end")
		}
	})
}
