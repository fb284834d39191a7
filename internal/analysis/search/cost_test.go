package search

import (
	"reflect"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/cost"
	"github.com/millicore/millicore/internal/analysis/finding"
)

// A service whose requests cost 0.7 times as much from 40 s on has an answer between its two
// capacities when late requests alone are judged. Their CPU time shows the change.
func TestAChangeThatTheCostShows(t *testing.T) {
	run := func(k kind, seed uint64, each func(at float64) float64) Result {
		c := k.config()
		c.After = time.Minute
		w, s := k.world(seed), New(c)
		for step, ok := s.Next(); ok; step, ok = s.Next() {
			o := w.step(s, step, c.Block.Seconds())
			for i, b := range o.Blocks {
				if n := b.Requests - b.Overdue; each != nil {
					at := w.now - c.Block.Seconds()*float64(len(o.Blocks)-i)
					o.Costs = append(o.Costs, cost.Block{CPU: each(at) * float64(n), Ended: n})
				}
			}
			s.Saw(o)
		}
		return s.Result()
	}
	each := func(at float64) float64 {
		if at < 40 {
			return .004
		}
		return .0028
	}
	k := changing("drift", func(at, _ float64) float64 { return each(at) }, 1, .1)
	before, after := 0, 0
	for seed := range uint64(10) {
		if run(k, seed, nil).Load > 0 {
			before++
		}
		switch r := run(k, seed, each); {
		case r.Load > 0:
			after++
		case r.Ended == Rose && (r.Why.Kind != finding.CapacityRose || r.Why.Load < 120 || r.Why.Load > 280 || r.Why.Other < 200 || r.Why.Other > 400):
			t.Errorf("%+v, want from about 204 to about 311", r.Why)
		case r.Ended == Fell:
			t.Errorf("it fell: %+v", r.Why)
		}
		steady := changing("steady", func(_, _ float64) float64 { return .004 }, 1, .1)
		if with, without := run(steady, seed, func(float64) float64 { return .004 }), run(steady, seed, nil); !reflect.DeepEqual(with, without) {
			t.Errorf("%+v by its cost, %+v without", with, without)
		}
	}
	t.Logf("%d of 10 have an answer, %d by their cost", before, after)
	if before < 4 || 3*after > before {
		t.Errorf("%d of 10 have an answer, and %d by their cost", before, after)
	}
}
