package search

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/lab/wording"

	"github.com/millicore/millicore/test/testkit"
)

// crowd is when others take CPU beside a simulated service, and how much slower it is
// then.
type crowd struct {
	name   string
	share  float64 // of the windows
	narrow bool    // only after the bracket was found
	slower float64 // factor of the time that requests are in the service; 1: they take nothing from it
}

var crowds = []crowd{
	{"beside all windows, without an effect", 1, false, 1},
	{"beside all windows, which are half as fast", 1, false, 2},
	{"beside two thirds of the windows, without an effect", 2. / 3, false, 1},
	{"beside two thirds of the windows, which are half as fast", 2. / 3, false, 2},
	{"after the bracket, without an effect", 0.8, true, 1},
	{"after the bracket, which are half as fast", 0.8, true, 2},
}

// beside searches a simulated service beside others.
func (k kind) beside(c crowd, seed uint64) Result {
	w, rng := k.world(seed), rand.New(rand.NewPCG(seed, 11))
	slower := 1.0
	slowed := func(work func(*rand.Rand) float64) func(*rand.Rand) float64 {
		return func(rng *rand.Rand) float64 { return slower * work(rng) }
	}
	switch service := w.service.(type) {
	case *servers:
		service.work = slowed(service.work)
	case *throttled:
		service.work = slowed(service.work)
	}
	s := New(k.config())
	for step, ok := s.Next(); ok; step, ok = s.Next() {
		there := (!c.narrow || step.Stage != Bracket) && rng.Float64() < c.share
		slower = 1
		if there {
			slower = c.slower
		}
		o := w.step(s, step, 0.5)
		if there {
			o.Disturbed = finding.Neighbour
		}
		s.Saw(o)
	}
	return s.Result()
}

// counted is what many searches beside others found.
type counted struct {
	all, bounds, above, far int // far: more than 5% above the truth
	few, intervals, held    int
	of                      float64 // sum of the bounds, in truths
}

func (n *counted) add(r Result, truth float64) {
	n.all++
	switch {
	case r.AtLeast:
		n.bounds++
		n.of += r.Load / truth
		if r.Load > truth {
			n.above++
		}
		if r.Load > 1.05*truth {
			n.far++
		}
	case r.Load > 0:
		n.intervals++
		if r.Low <= truth && truth <= r.High {
			n.held++
		}
	case strings.Contains(wording.Of(r.Why), "met once"):
		n.few++
	}
}

// A lower bound that was measured beside others is seldom above the true breaking point,
// and not far. With -runs 40 -v this prints the figures of docs/statistics.md.
func TestALowerBoundBesideOthersHolds(t *testing.T) {
	n := max(*runs, testkit.Samples(1, 2, 10))
	for _, c := range crowds {
		t.Run(c.name, func(t *testing.T) {
			workers := runtime.GOMAXPROCS(0)
			results := make([]Result, n*len(kinds))
			var wg sync.WaitGroup
			for worker := range workers {
				wg.Go(func() {
					for i := worker; i < len(results); i += workers {
						results[i] = kinds[i/n].beside(c, *first+uint64(i%n))
					}
				})
			}
			wg.Wait()
			var sum counted
			for i, r := range results {
				sum.add(r, kinds[i/n].breaking())
			}
			t.Logf("| %s | %d | %d, mean %.2f of the truth | %d, %d by more than 5%% | %d | %d, %d hold |", c.name, sum.all,
				sum.bounds, sum.of/float64(max(sum.bounds, 1)), sum.above, sum.far, sum.few, sum.intervals, sum.held)
			if sum.bounds < sum.all/4 {
				t.Errorf("%d bounds of %d searches", sum.bounds, sum.all)
			}
			if sum.above > 2+sum.bounds/8 || sum.far > 1+sum.bounds/20 {
				t.Errorf("of %d bounds %d were above the truth, %d by more than 5%%", sum.bounds, sum.above, sum.far)
			}
		})
	}
}

// Few requests are no lower bound, however often the load above was measured.
func TestFewRequestsBesideOthersAreNoBound(t *testing.T) {
	for _, c := range []struct {
		name      string
		late, bad float64
		load      float64 // the highest that is met, in every window of the bracket
		bound     bool
	}{
		{"a p99 of 800 requests", 0.01, -1, 800, false},
		{"a p99 of 1,600 requests", 0.01, -1, 1600, true},
		{"a p95 of 400 requests", 0.05, -1, 400, true},
		{"a p95 of 100 requests", 0.05, -1, 100, false},
		{"99% of 800 requests", -1, 0.01, 800, false},
		{"99% of 1,600 requests", -1, 0.01, 1600, true},
		{"99.9% of 6,400 requests", -1, 0.001, 6400, false},
		{"99.9% of 12,800 requests", -1, 0.001, 12800, true},
	} {
		config := usual
		config.AllowedLate, config.AllowedBad = c.late, c.bad
		_, r := play(t, config, func(s Step) Observation {
			if s.Stage == Bracket && s.Load <= c.load {
				return Observation{Blocks: blocks(s, 0, 0), Disturbed: finding.Neighbour}
			}
			return Observation{Blocks: blocks(s, 1, 1), Disturbed: finding.Neighbour}
		})
		if c.bound && (!r.AtLeast || r.Load != c.load) || !c.bound && (r.Load != 0 || !strings.Contains(wording.Of(r.Why), "met once")) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// A load that the window was too short for is no lower bound: a queue as long as an
// objective of 5 s does not show in 1.5 s.
func TestAShortHoldBesideOthersIsNoBound(t *testing.T) {
	c := usual
	c.Late = 5 * time.Second
	_, r := play(t, c, func(s Step) Observation {
		late := 1.0
		if s.Stage == Bracket && s.Load <= 3200 {
			late = 0
		}
		return Observation{Blocks: blocks(s, late, 0), Disturbed: finding.Neighbour}
	})
	if r.Load != 0 || !strings.Contains(wording.Of(r.Why), "too short for a lower bound") || strings.Contains(wording.Of(r.Why), "too few") {
		t.Errorf("%+v, want that it was held for too short a time", r)
	}
}

// The reason has how often a load was met, and what it lacks for a lower bound.
func TestWhatALoadLacksForALowerBound(t *testing.T) {
	for _, c := range []struct {
		requests, held float64
		windows        int
		want           string
	}{
		{1, 1.5, 1, "once, with 1 request: too few for a lower bound"},
		{204, 1.5, 2, "2 times, with 204 requests: too few for a lower bound"},
		{3200, 0.25, 1, "once, with 3,200 requests in 0.25 s: too short for a lower bound"},
	} {
		s := New(usual)
		s.missed, s.kept = 400, []answered{{load: 50, requests: c.requests, held: c.held, windows: c.windows}}
		if s.disturbed(); !strings.Contains(wording.Of(s.result.Why), "at 50 the objective was met "+c.want+";") {
			t.Errorf("%+v", s.result)
		}
	}
}

// A clean miss is one, whatever was met beside others.
func TestACleanMissBoundsTheBound(t *testing.T) {
	_, r := play(t, usual, func(s Step) Observation {
		o := wall(1000)(s)
		if s.Stage != Bracket { // met beside others
			o = Observation{Blocks: blocks(s, 0, 0), Disturbed: finding.Neighbour}
		}
		return o
	})
	if !r.AtLeast || r.Load > 0.7*1600 || r.Load < 800 || r.Ended != Disturbed {
		t.Errorf("%+v, want a bound clearly below 1600, which missed without others", r)
	}
}

// Others who leave only after the search has begun to look for a lower bound do not keep
// it from the breaking point.
func TestOthersWhoLeaveLate(t *testing.T) {
	disturbed := 0
	_, r := play(t, usual, func(s Step) Observation {
		if s.Load > 400 && disturbed < 40 {
			disturbed++
			return Observation{Blocks: blocks(s, 1, 0), Disturbed: finding.Neighbour}
		}
		return wall(1000)(s)
	})
	if disturbed != 40 || r.AtLeast || r.Low > 1000 || r.High < 1000 {
		t.Errorf("%+v after %d disturbed windows, want an interval that holds 1000", r, disturbed)
	}
}
