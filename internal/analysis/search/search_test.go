package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/lab/wording"
)

// usual is a search for a p99, and for 99.9% of good answers.
var usual = Config{First: 50, AllowedLate: 0.01, AllowedBad: 0.001, Late: 50 * time.Millisecond,
	Block: 500 * time.Millisecond, Budget: 58 * time.Second}

// play answers a search by a rule, and returns the steps with the result.
func play(t *testing.T, c Config, answer func(Step) Observation) ([]Step, Result) {
	t.Helper()
	s := New(c)
	var steps []Step
	for range 1000 {
		step, ok := s.Next()
		if !ok {
			return steps, s.Result()
		}
		steps = append(steps, step)
		s.Saw(answer(step))
	}
	t.Fatal("the search does not end")
	return nil, Result{}
}

// blocks returns blocks in which these shares of a step's requests failed.
func blocks(s Step, late, bad float64) []Block {
	var all []Block
	for range s.Window / usual.Block {
		n := max(1, s.Load*usual.Block.Seconds())
		all = append(all, Block{Requests: int64(n), Late: int64(math.Ceil(n * late)), Bad: int64(math.Ceil(n * bad))})
	}
	return all
}

// wall is a service that answers all requests in time up to a load, and none above.
func wall(at float64) func(Step) Observation {
	return func(s Step) Observation {
		late := 0.0
		if s.Load > at {
			late = 1
		}
		return Observation{Blocks: blocks(s, late, 0)}
	}
}

func TestAWallIsFound(t *testing.T) {
	for _, at := range []float64{26, 73, 800, 1234, 25600, 77777} {
		steps, r := play(t, usual, wall(at))
		if r.AtLeast || math.Abs(r.Load-at) > 0.05*at || r.Low > at || r.High < at || at > 50 && (!r.Why.None() || r.High-r.Low > 0.15*at) {
			t.Errorf("a wall at %g: %+v after %d steps", at, r, len(steps))
		}
		if r.Tested == 0 || r.Tested > at || r.Tested > r.Load {
			t.Errorf("a wall at %g: %g is said to have been held", at, r.Tested)
		}
	}
}

// Half of the requests may be late: the shape of the curve must not overrule windows in
// which all of them were.
func TestAWallIsNotPassedByAMedian(t *testing.T) {
	c := usual
	c.AllowedLate, c.AllowedBad = 0.5, -1
	for _, at := range []float64{73, 200, 1000, 4321} {
		lowest := math.Inf(1)
		_, r := play(t, c, func(s Step) Observation {
			if s.Load > at {
				lowest = min(lowest, s.Load)
			}
			return wall(at)(s)
		})
		if r.Load > lowest || r.Load < 0.95*at || r.Low > at || r.High < at {
			t.Errorf("a wall at %g, missed from %g on: %+v", at, lowest, r)
		}
	}
}

// unreliable is a service of which a share of the requests fails besides, at any load.
func unreliable(service func(Step) Observation, share float64, random *rand.Rand) func(Step) Observation {
	return func(s Step) Observation {
		o := service(s)
		for i := range o.Blocks {
			for range o.Blocks[i].Requests {
				if random.Float64() < share {
					o.Blocks[i].Bad++
				}
			}
			o.Blocks[i].Late = max(o.Blocks[i].Late, o.Blocks[i].Bad)
		}
		return o
	}
}

// A share that fails at every load has no breaking point, and a lower load does not help.
func TestErrorsThatDoNotDependOnTheLoad(t *testing.T) {
	for _, share := range []float64{0.002, 0.01, 0.2} {
		found := 0
		for seed := range uint64(20) {
			_, r := play(t, usual, unreliable(wall(3000), share, rand.New(rand.NewPCG(seed, 1))))
			if r.Load > 0 {
				found++
				t.Logf("share %v, seed %d: %+v", share, seed, r)
			} else if !strings.Contains(wording.Of(r.Why), "no good answer") {
				t.Errorf("share %v, seed %d: %+v", share, seed, r)
			}
		}
		if found > 0 {
			t.Errorf("share %v: %d of 20 searches found a breaking point", share, found)
		}
	}
}

// An availability of 99.99% is not decided by single errors: no breaking point is stated below
// the wall, whether the errors are too many or not.
func TestSingleErrorsAreNoBreakingPoint(t *testing.T) {
	n := cmp.Or(*runs, 20)
	for _, share := range []float64{0.00005, 0.0005} { // of 0.0001
		c, ended := usual, map[Ended]int{}
		c.AllowedBad = 0.0001
		wrong := 0
		for seed := range uint64(n) {
			_, r := play(t, c, unreliable(wall(1000), share, rand.New(rand.NewPCG(seed, 2))))
			ended[r.Ended]++
			if r.Load > 0 && !r.AtLeast && r.High < 950 || share < c.AllowedBad && r.Why.Kind == finding.FailsAtAnyLoad {
				wrong++
			}
		}
		t.Logf("share %v: %d of %d are wrong; ended %v", share, wrong, n, ended)
		if wrong > n/10 {
			t.Errorf("share %v: %d of %d searches are wrong", share, wrong, n)
		}
	}
}

func TestAWallOfUsersIsFoundExactly(t *testing.T) {
	c := usual
	c.Whole, c.First = true, 8
	for _, at := range []float64{1, 2, 5, 8, 37, 150} {
		steps, r := play(t, c, wall(at))
		if r.Low > at || r.High < at || math.Abs(r.Load-at) > 0.03*at+1 {
			t.Errorf("a wall at %g users: %+v", at, r)
		}
		for _, s := range steps {
			if s.Load != math.Trunc(s.Load) || s.Load < 1 {
				t.Errorf("a wall at %g users: a step of %g users", at, s.Load)
			}
		}
	}
}

// One wrong window, whichever it is, does not mislead the search, not even one of the
// bracket.
func TestASingleWrongWindowIsBorne(t *testing.T) {
	const at = 1234.0
	for wrong := range 14 {
		n := 0
		_, r := play(t, usual, func(s Step) Observation {
			o := wall(at)(s)
			if n == wrong {
				late := 1.0
				if s.Load > at {
					late = 0
				}
				o.Blocks = blocks(s, late, 0)
			}
			n++
			return o
		})
		if r.Low > at || r.High < at {
			t.Errorf("window %d wrong: %+v, want an interval that holds %g", wrong, r, at)
		}
	}
}

func TestNothingMeetsTheObjective(t *testing.T) {
	for name, shares := range map[string][2]float64{"late": {1, 0}, "no good answer": {0, 1}} {
		steps, r := play(t, usual, func(s Step) Observation { return Observation{Blocks: blocks(s, shares[0], shares[1])} })
		if r.Load != 0 || r.Low != 0 || r.High != 0 || !strings.Contains(wording.Of(r.Why), "even at the lowest load tried") || !strings.Contains(wording.Of(r.Why), name) {
			t.Errorf("all %s: %+v, want a reason in words", name, r)
		}
		if lowest := steps[len(steps)-1].Load; lowest != usual.First/64 {
			t.Errorf("all %s: the lowest load is %g", name, lowest)
		}
		for _, s := range steps[1:] {
			if !s.Drain {
				t.Errorf("all %s: step %d does not drain what the one before left", name, s.Number)
			}
		}
	}
}

func TestNothingMissesTheObjective(t *testing.T) {
	c := usual
	c.Most = 700
	steps, r := play(t, c, func(s Step) Observation { return Observation{Blocks: blocks(s, 0, 0)} })
	if r.Load != 700 || !math.IsInf(r.High, 1) || !r.AtLeast || r.Ended.Generator() || !strings.Contains(wording.Of(r.Why), "highest load allowed") {
		t.Errorf("%+v, want a lower bound of 700", r)
	}
	if last := steps[len(steps)-1]; last.Stage != Test || last.Load != 700 || r.Tested != 700 {
		t.Errorf("the last step is %+v, want a test of 700", last)
	}
}

func TestTheHighestLoadMissesOnlyInTheLongerWindow(t *testing.T) {
	c := usual
	c.Most = 700
	_, r := play(t, c, func(s Step) Observation {
		if s.Stage == Bracket {
			return Observation{Blocks: blocks(s, 0, 0)}
		}
		return wall(650)(s)
	})
	if r.AtLeast || r.Low > 650 || r.High < 650 || r.Load > 700 {
		t.Errorf("%+v, want 650", r)
	}
}

func TestAWeakGeneratorIsNeverTheServicesBreakingPoint(t *testing.T) {
	for _, weak := range []float64{120, 3000, 3300, 6400} {
		_, r := play(t, usual, func(s Step) Observation {
			o := wall(weak)(s)
			o.Limited = s.Load > weak
			return o
		})
		if !r.AtLeast || !r.Ended.Generator() || r.Load > weak || r.Load < weak/1.1 || !math.IsInf(r.High, 1) || !strings.Contains(wording.Of(r.Why), "may handle more") {
			t.Errorf("a generator that makes %g: %+v, want a lower bound", weak, r)
		}
	}
}

// limitedAt is a wall, loaded by a generator that cannot generate more than a load.
// Above that load the windows miss, but say nothing about the service.
func limitedAt(wallAt, weak float64) func(Step) Observation {
	return func(s Step) Observation {
		o := wall(min(wallAt, weak))(s)
		o.Limited = s.Load > weak
		return o
	}
}

// A generator that can generate only slightly more than the service handles does not
// hide the breaking point. One that generates less gives a bound, and a close one.
func TestAGeneratorThatIsLittleStrongerThanTheService(t *testing.T) {
	const at = 1000.0
	for _, weak := range []float64{1050, 1100, 1300, 1590} {
		_, r := play(t, usual, limitedAt(at, weak))
		if r.AtLeast || r.Ended.Generator() || r.Low > at || r.High < at || math.Abs(r.Load-at) > 0.05*at {
			t.Errorf("a generator that makes %g: %+v, want an interval that holds %g", weak, r, at)
		}
		if r.Tested == 0 || r.Tested > at {
			t.Errorf("a generator that makes %g: %g is said to have been held", weak, r.Tested)
		}
	}
	for _, weak := range []float64{900, 999} {
		_, r := play(t, usual, limitedAt(at, weak))
		if !r.AtLeast || !r.Ended.Generator() || r.Load > weak || r.Load < 0.94*weak || r.Tested != r.Load {
			t.Errorf("a generator that makes %g: %+v, want a lower bound near it", weak, r)
		}
	}
}

// Windows below the generator's limit count if the limit is reached late, while
// narrowing or testing.
func TestAGeneratorThatWeakensKeepsWhatIsKnown(t *testing.T) {
	const at = 1000.0
	for from := 6; from < 14; from++ {
		n := 0
		_, r := play(t, usual, func(s Step) Observation {
			o := wall(at)(s)
			if n++; n > from && s.Load > 1040 {
				o = Observation{Blocks: blocks(s, 1, 0), Limited: true}
			}
			return o
		})
		if r.AtLeast || r.Low > at || r.High < at {
			t.Errorf("weaker from step %d on: %+v, want an interval that holds %g", from, r, at)
		}
	}
}

// One window below the limit that missed by chance is no breaking point if all others
// there met the objective.
func TestAGeneratorThatIsWeakAndOneWrongMiss(t *testing.T) {
	for wrong := range 12 {
		n := 0
		_, r := play(t, usual, func(s Step) Observation {
			o := limitedAt(5000, 1200)(s)
			if n == wrong && !o.Limited {
				o.Blocks = blocks(s, 0.03, 0)
			}
			n++
			return o
		})
		if r.Load > 1200 || r.Low > 1200 || r.Load < 550 {
			t.Errorf("window %d wrong: %+v, want a bound below 1200", wrong, r)
		}
		if !r.AtLeast && r.High < 1200 {
			t.Errorf("window %d wrong: %+v, though the service bears 5000", wrong, r)
		}
	}
}

func TestAWeakGeneratorOfUsers(t *testing.T) {
	c := usual
	c.Whole, c.First = true, 8
	for _, k := range []struct{ at, weak float64 }{{37, 40}, {37, 36}, {150, 155}, {9, 15}, {12, 8}} {
		_, r := play(t, c, limitedAt(k.at, k.weak))
		if bound := k.weak < k.at; r.AtLeast != bound || r.Ended.Generator() != bound || r.Low > min(k.at, k.weak) || r.High < k.at {
			t.Errorf("a wall at %g users and a generator that makes %g: %+v", k.at, k.weak, r)
		}
	}
}

func TestAGeneratorThatIsTooWeakForAnyLoad(t *testing.T) {
	_, r := play(t, usual, func(s Step) Observation { return Observation{Blocks: blocks(s, 1, 0), Limited: true} })
	if r.Load != 0 || !r.Ended.Generator() || !strings.Contains(wording.Of(r.Why), "nothing is known about the service") {
		t.Errorf("%+v", r)
	}
}

// The highest load that could be tried is a lower bound. It is held for ten times of the
// objective's latency: a service that is loaded with a tenth more than it can do misses after
// that time.
func TestTheHighestLoadIsHeldLongEnoughForItsQueue(t *testing.T) {
	for _, late := range []time.Duration{50 * time.Millisecond, time.Second} {
		c := usual
		c.Late = late
		steps, r := play(t, c, limitedAt(5000, 1200))
		last := steps[len(steps)-1]
		if want := max(6*time.Second, 10*late); !r.AtLeast || last.Stage != Test || last.Load != r.Load || last.Window != want {
			t.Errorf("objective of %v: held %+v, want %v; %+v", late, last, want, r)
		}
	}
}

// A test window of a few requests that met the objective does not raise the answer; one of
// 1,000 requests of a p99 does.
func TestAFewRequestsDoNotRaiseTheAnswer(t *testing.T) {
	above := 0
	for seed := range uint64(20) {
		for _, k := range []kind{mm1(100, .1, .01, 0), odd[5], mm1(1000, .05, .01, 0)} {
			s := New(k.config())
			w := k.world(seed)
			for step, ok := s.Next(); ok; step, ok = s.Next() {
				s.Saw(w.step(s, step, s.config.Block.Seconds()))
			}
			r := s.Result()
			switch requests := s.testedRequests(r.Tested); {
			case r.Tested <= r.Load:
			case requests >= 1000:
				t.Errorf("%s, seed %d: held %g with %g requests, and breaks at %g", k.name, seed, r.Tested, requests, r.Load)
			default:
				above++
			}
		}
	}
	if above == 0 {
		t.Error("no test window of a few requests met the objective above the answer")
	}
}

// All loads below the generator's limit missed by a little. The search then goes on below the
// lowest of them.
func TestAGeneratorThatIsTooWeakForAClearMiss(t *testing.T) {
	steps, r := play(t, usual, func(s Step) Observation {
		if s.Load > 500 {
			return Observation{Blocks: blocks(s, 1, 0), Limited: true}
		}
		return Observation{Blocks: blocks(s, 0.03, 0)}
	})
	last := steps[len(steps)-1].Load
	if r.Ended != Lowest || r.Why.Kind != finding.MissedAtLowest || r.Why.Load != last || last != usual.First/64 {
		t.Errorf("%+v after %d steps, the last one at %g", r, len(steps), last)
	}
}

// A load that was met for a second is no lower bound if the test window there missed
// because of the generator, however little time is left then.
func TestABoundThatItsTestMissed(t *testing.T) {
	for budget := 20 * time.Second; budget <= time.Minute; budget += 500 * time.Millisecond {
		c := usual
		c.Budget = budget
		var last Step
		limited := false
		_, r := play(t, c, func(s Step) Observation {
			weak := 1200.0
			if s.Stage == Test {
				weak = 900
			}
			o := limitedAt(5000, weak)(s)
			last, limited = s, o.Limited
			return o
		})
		if limited && r.AtLeast && r.Load >= last.Load {
			t.Errorf("in %v: at least %g, but the last window missed at %g", budget, r.Load, last.Load)
		}
	}
}

func TestAGeneratorThatStumblesOnce(t *testing.T) {
	for stumble := range 16 {
		n := 0
		_, r := play(t, usual, func(s Step) Observation {
			o := wall(1234)(s)
			if n == stumble {
				o = Observation{Blocks: blocks(s, 1, 0), Limited: true}
			}
			n++
			return o
		})
		if r.AtLeast || r.Low > 1234 || r.High < 1234 {
			t.Errorf("stumbled at step %d: %+v, want 1234", stumble, r)
		}
	}
}

func TestANeighbourForAWhile(t *testing.T) {
	quiet, n := time.Duration(0), 0
	_, calm := play(t, usual, wall(1000))
	_, r := play(t, usual, func(s Step) Observation {
		o := wall(1000)(s)
		if n++; n >= 8 && n < 12 {
			quiet += s.Window
			o = Observation{Blocks: blocks(s, 0.3, 0), Disturbed: finding.Neighbour}
		}
		return o
	})
	if r.Low > 1000 || r.High < 1000 || r.High-r.Low < calm.High-calm.Low {
		t.Errorf("%+v, want an interval that holds 1000 and is no narrower than %+v", r, calm)
	}
}

func TestANeighbourThatStays(t *testing.T) {
	n := 0
	_, r := play(t, usual, func(s Step) Observation {
		n++
		if n <= 8 {
			return Observation{Blocks: blocks(s, 0, 0)}
		}
		return Observation{Blocks: blocks(s, 0.3, 0), Disturbed: finding.Neighbour}
	})
	if r.Load != 6400 || !r.AtLeast || r.Ended != Disturbed || !strings.Contains(wording.Of(r.Why), "with 6,400 requests") {
		t.Errorf("%+v, want at least 6,400, the highest load that was met", r)
	}
}

// One disturbed window among many in which the generator was the limit is not most
// windows: stopping the others would change nothing.
func TestANeighbourBesideAWeakGenerator(t *testing.T) {
	n := 0
	_, r := play(t, usual, func(s Step) Observation {
		if s.Stage == Bracket && s.Load < 2000 {
			return Observation{Blocks: blocks(s, 0, 0)}
		}
		n++
		o := Observation{Blocks: blocks(s, 0.3, 0), Limited: s.Stage != Bracket}
		if s.Stage != Bracket && o.Disturbed == 0 && n == 6 {
			o.Limited, o.Disturbed = false, finding.Neighbour
		}
		return o
	})
	if r.Ended == Disturbed {
		t.Errorf("%+v, want a lower bound that names the generator", r)
	}
}

// The reason names who it was, and only a neighbour can be stopped.
func TestTheReasonNamesWhoTookTheCPU(t *testing.T) {
	for _, c := range []struct {
		name       string
		early      bool // while the load is doubled
		by         []finding.Source
		want, none string
	}{
		{"a neighbour, early", true, []finding.Source{finding.Neighbour}, "other processes took CPU for", "hypervisor"},
		{"the hypervisor, early", true, []finding.Source{finding.Hypervisor}, "the hypervisor took CPU for", "other processes"},
		{"a neighbour, later", false, []finding.Source{finding.Neighbour}, "other processes took CPU in", "hypervisor"},
		{"the hypervisor, later", false, []finding.Source{finding.Hypervisor}, "the hypervisor took CPU in", "stop them"},
		{"both in turn", false, []finding.Source{finding.Neighbour, finding.Hypervisor}, "other processes or the hypervisor took CPU in", "stop them"},
	} {
		n := 0
		_, r := play(t, usual, func(s Step) Observation {
			o := wall(1000)(s)
			if s.Stage != Bracket || c.early && s.Load > 200 {
				o = Observation{Blocks: blocks(s, 0.3, 0), Disturbed: c.by[n%len(c.by)]}
				n++
			}
			return o
		})
		if r.Load != 0 || !strings.Contains(wording.Of(r.Why), c.want) || strings.Contains(wording.Of(r.Why), c.none) {
			t.Errorf("%s: %+v, want %q and no %q", c.name, r, c.want, c.none)
		}
	}
}

// While the load is doubled, nothing is known yet that a neighbour could make less
// certain: its windows are repeated, and do not count for the budget.
func TestANeighbourWhileTheLoadIsDoubled(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     time.Duration // of the neighbour's traffic
		found bool
	}{
		{"for 20 s", 20 * time.Second, true},
		{"to the end", time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			noisy := time.Duration(0)
			_, calm := play(t, usual, wall(1000))
			_, r := play(t, usual, func(s Step) Observation {
				if s.Load < 400 || noisy >= c.d {
					return wall(1000)(s)
				}
				noisy += s.Settle + s.Window
				return Observation{Blocks: blocks(s, 0.3, 0), Disturbed: finding.Neighbour}
			})
			if !c.found {
				if !r.AtLeast || r.Ended != Disturbed || r.Load < 0.6*400 || r.Load >= 400 || r.Tested != r.Load || !strings.Contains(wording.Of(r.Why), "other processes took CPU") {
					t.Errorf("%+v, want a lower bound below 400, the first load that missed", r)
				}
				return
			}
			calm.Traffic += noisy
			if !reflect.DeepEqual(r, calm) {
				t.Errorf("%+v, want %+v as without the neighbour", r, calm)
			}
		})
	}
}

func TestAServiceThatIsGone(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int
		load  bool // an answer nevertheless
	}{{"at once", 0, false}, {"while bracketing", 3, true}, {"while narrowing", 9, true}} {
		n := 0
		steps, r := play(t, usual, func(s Step) Observation {
			o := wall(1234)(s)
			if n == c.after {
				o = Observation{Gone: "it was OOM-killed three times"}
			}
			n++
			return o
		})
		if len(steps) != c.after+1 || (r.Load > 0) != c.load || !strings.Contains(wording.Of(r.Why), "OOM-killed") {
			t.Errorf("%s: %+v after %d steps", c.name, r, len(steps))
		}
	}
}

// hangs is a service that gives no good answer any more after a load above its
// capacity, or from the middle of that window on. Requests in flight at a window's end
// are then overdue.
func hangs(at float64, middle bool) func(Step) Observation {
	hung := false
	return func(s Step) Observation {
		before := hung
		if hung = hung || s.Load > at; !hung {
			return Observation{Blocks: blocks(s, 0, 0)}
		}
		all := blocks(s, 1, 1)
		last := &all[len(all)-1]
		last.Bad, last.Overdue = last.Bad/2, last.Requests-last.Bad/2
		if middle && !before {
			all[0].Bad, all[0].Late = 0, 0
		}
		return Observation{Blocks: all}
	}
}

func TestAServiceThatStopsAnswering(t *testing.T) {
	short := usual
	short.Budget = 13500 * time.Millisecond // used up by the window in which it hangs
	for name, c := range map[string]struct {
		Config
		middle bool
	}{"with time left": {usual, false}, "with its last window": {short, false}, "in the middle of a window": {usual, true}, "in the middle of its last": {short, true}} {
		steps, r := play(t, c.Config, hangs(2000, c.middle))
		last := steps[len(steps)-1]
		if last.Stage != Recover || last.Load != 50 || !last.Drain {
			t.Errorf("%s: the last step is %+v", name, last)
		}
		if !strings.Contains(wording.Of(r.Why), "at a load of 3,200: the service stopped answering: none of ") || !strings.Contains(wording.Of(r.Why), "none of 50 at 50, a load that it had handled before") {
			t.Errorf("%s: reason %q", name, wording.Of(r.Why))
		}
		if r.Load <= 0 || r.Load > 3200 || r.Low > 2000 || r.High < 2000 || r.AtLeast {
			t.Errorf("%s: %+v", name, r)
		}
		if before := steps[len(steps)-2]; before.Stage != Recover {
			t.Errorf("%s: it was asked once, and one window decides nothing", name)
		}
	}
	// It dies during the check.
	hung := hangs(2000, false)
	_, r := play(t, usual, func(s Step) Observation {
		o := hung(s)
		if s.Stage == Recover {
			o.Gone = "it died"
		}
		return o
	})
	if r.Load != 1600 || r.Low != 1600 || r.High != 3200 || !strings.Contains(wording.Of(r.Why), "at a load of 3,200: it died") {
		t.Errorf("%+v", r)
	}
}

func TestAServiceThatAnswersAgain(t *testing.T) {
	fails := func(s Step) Observation { // all above 2000, and works again below
		bad := 0.0
		if s.Load > 2000 {
			bad = 1
		}
		return Observation{Blocks: blocks(s, 0, bad)}
	}
	if _, r := play(t, usual, fails); strings.Contains(wording.Of(r.Why), "gone") || r.Low > 2000 || r.High < 2000 {
		t.Errorf("%+v", r)
	}
	// Silent for a while at any load, and then as before.
	silent, wasAsked := 0, false
	steps, r := play(t, usual, func(s Step) Observation {
		switch {
		case s.Stage == Recover:
			wasAsked = true
			answer := blocks(s, 0, 0)
			last := &answer[len(answer)-1]
			last.Requests, last.Bad = 1, 1 // one request that fails by chance shows nothing
			return Observation{Blocks: answer}
		case s.Load > 2000 && silent == 0 || silent > 0 && silent < doubtful:
			silent++
			return Observation{Blocks: blocks(s, 1, 1)}
		}
		return fails(s)
	})
	if last := steps[len(steps)-1]; !wasAsked || last.Stage == Recover || strings.Contains(wording.Of(r.Why), "gone") {
		t.Errorf("asked %v, last step %+v: %+v", wasAsked, last, r)
	}
	// Others that take the CPU during the check may be why it does not answer.
	hung, asked := hangs(2000, false), 0
	_, r = play(t, usual, func(s Step) Observation {
		o := hung(s)
		if s.Stage == Recover {
			asked++
			o.Disturbed = finding.Hypervisor
		}
		return o
	})
	if strings.Contains(wording.Of(r.Why), "gone") || asked == 0 || asked%mostUnclear != 0 {
		t.Errorf("asked %d times: %+v", asked, r)
	}
}

func TestAServiceThatDoesNotAnswer(t *testing.T) {
	steps, r := play(t, usual, func(Step) Observation { return Observation{} })
	if last := steps[len(steps)-1]; len(steps) > 10 || last.Load != usual.First/64 || r.Load != 0 || r.Ended != Silent || !strings.Contains(wording.Of(r.Why), "no request ended") {
		t.Errorf("%+v after %d steps", r, len(steps))
	}
}

// Errors are answers, too: of a service that gave only these it is not said that it does
// not answer, although no request is due for seconds at the lowest load.
func TestAServiceThatAnswersWithErrorsOnly(t *testing.T) {
	_, r := play(t, usual, func(s Step) Observation {
		if s.Load <= usual.First/64 {
			return Observation{}
		}
		return Observation{Blocks: []Block{{Requests: 10, Late: 10, Bad: 10}}}
	})
	if r.Ended != Lowest || r.Load != 0 {
		t.Errorf("%+v, want that it misses at the lowest load", r)
	}
}

// At half a request a second a window of one second has none more often than not.
func TestNoRequestIsDueAtALowLoad(t *testing.T) {
	c := usual
	c.First = 0.5
	windows := 0
	_, r := play(t, c, func(s Step) Observation {
		if windows++; windows <= 4 {
			return Observation{}
		}
		return wall(8)(s)
	})
	if r.Ended == Silent || r.Load == 0 {
		t.Errorf("it answers, and %+v", r)
	}
	steps, r := play(t, c, func(Step) Observation { return Observation{} })
	due := 0.0
	for _, s := range steps {
		due += s.Load * s.Window.Seconds()
	}
	if r.Ended != Silent || due < enoughDue || len(steps) > 11 {
		t.Errorf("after %d steps with %v requests due: %+v", len(steps), due, r)
	}
}

func TestTooLittleTime(t *testing.T) {
	c := usual
	c.Budget = time.Second
	if steps, r := play(t, c, wall(100)); len(steps) != 0 || !strings.Contains(wording.Of(r.Why), "too short") {
		t.Errorf("%+v after %d steps", r, len(steps))
	}
	c.Budget = 6 * time.Second
	_, r := play(t, c, wall(1e6))
	if !r.AtLeast || r.Load != 100 || r.Tested != 100 || r.Ended != Time {
		t.Errorf("%+v, want at least 100, tested", r)
	}
}

func TestNoObjective(t *testing.T) {
	for _, c := range []Config{{AllowedLate: -1, AllowedBad: -1}, {AllowedLate: 1, AllowedBad: math.NaN()}} {
		if steps, r := play(t, c, wall(100)); len(steps) != 0 || !strings.Contains(wording.Of(r.Why), "no objective") {
			t.Errorf("%+v after %d steps", r, len(steps))
		}
	}
}

func TestBlocksMissTheObjectiveTogether(t *testing.T) {
	both, late := Config{AllowedLate: 0.01, AllowedBad: 0.001}, Config{AllowedLate: 0.01, AllowedBad: -1}
	for _, c := range []struct {
		name   string
		config Config
		blocks []Block
		want   bool
	}{
		{"nothing seen", both, nil, false},
		{"as many late as may be", both, []Block{{Requests: 100}, {Requests: 100, Late: 2}}, false},
		{"one more", both, []Block{{Requests: 100}, {Requests: 100, Late: 3}}, true},
		{"too many bad", both, []Block{{Requests: 1000}, {Requests: 100, Bad: 2}}, true},
		{"bad ones, where no availability is asked", late, []Block{{Requests: 100, Bad: 100}}, false},
		{"nothing asked", Config{AllowedLate: -1, AllowedBad: 1}, []Block{{Requests: 100, Late: 100, Bad: 100}}, false},
	} {
		if got := c.config.Missed(c.blocks); got != c.want {
			t.Errorf("%s: missed is %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAWindowIsHopeless(t *testing.T) {
	good, bad, late := Block{Requests: 100}, Block{Requests: 100, Bad: 100}, Block{Requests: 100, Late: 100}
	for _, c := range []struct {
		name   string
		blocks []Block
		want   bool
	}{
		{"nothing seen", nil, false},
		{"too little seen", []Block{late}, false},
		{"all good", []Block{good, good, good}, false},
		{"all late", []Block{late, late}, true},
		{"all bad", []Block{bad, bad}, true},
		{"half of each", []Block{{Requests: 100, Late: 50}, {Requests: 100, Bad: 50}}, false},
		{"it was late, and has recovered", []Block{late, late, good}, false},
		{"a burst so late that it might pass", []Block{good, {Requests: 100, Late: 60}}, false},
		{"no request", []Block{{}, {}}, false},
	} {
		s := New(usual)
		s.stage, s.load = Narrow, 200
		s.Next()
		if got := s.Hopeless(c.blocks); got != c.want {
			t.Errorf("%s: hopeless is %v, want %v", c.name, got, c.want)
		}
	}
}

// A window of an overloaded service that is cut short leads to the same answer as a
// complete one.
func TestACutWindowDoesNotBias(t *testing.T) {
	k := mm1(1000, .05, .01, 0)
	whole, cut := sum(k.searches(10), k.truth), summary{}
	var results []Result
	for seed := range 10 {
		w := k.world(uint64(seed))
		w.whole = true
		results = append(results, w.run(k.config()))
	}
	cut = sum(results, k.truth)
	if math.Abs(whole.bias-cut.bias) > 2 || cut.held < 90 {
		t.Errorf("windows cut short: error %+.1f%%; measured whole: %+.1f%%", whole.bias, cut.bias)
	}
}

func TestTheSameObservationsLeadToTheSameSteps(t *testing.T) {
	k := mm1(1000, .05, .01, 0)
	s, w := New(k.config()), k.world(1)
	var steps []Step
	var seen []Observation
	for step, ok := s.Next(); ok; step, ok = s.Next() {
		o := w.step(s, step, 0.5)
		steps, seen = append(steps, step), append(seen, o)
		s.Saw(o)
	}
	again := New(k.config())
	for i, o := range seen {
		step, ok := again.Next()
		if twice, _ := again.Next(); !ok || step != steps[i] || twice != step {
			t.Fatalf("step %d is %+v, was %+v", i, step, steps[i])
		}
		again.Saw(o)
	}
	if _, ok := again.Next(); ok || !reflect.DeepEqual(again.Result(), s.Result()) {
		t.Errorf("the result is %+v, was %+v", again.Result(), s.Result())
	}
}

// A neighbour that takes CPU in some windows and is not detected in others.
func TestANoisyHostDoesNotMislead(t *testing.T) {
	k := mdk(4, 1000, .015, .01, 0)
	held := 0
	for seed := range 10 {
		w := k.world(uint64(seed))
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		s := New(k.config())
		for step, ok := s.Next(); ok; step, ok = s.Next() {
			o := w.step(s, step, 0.5)
			if rng.Float64() < 0.2 {
				o.Disturbed = finding.Neighbour
				for i := range o.Blocks {
					o.Blocks[i].Late = o.Blocks[i].Requests / 2
				}
			}
			s.Saw(o)
		}
		if r := s.Result(); r.Low <= k.breaking() && k.breaking() <= r.High {
			held++
		}
	}
	if held < 9 {
		t.Errorf("the truth was held in %d of 10 searches", held)
	}
}
