package capacity

import (
	"slices"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// awakeFor returns a frame of a replica whose threads that hardly slept used so many CPUs, of
// half a second.
func awakeFor(seq int, cores, awake float64) *signals.Frame {
	limit := 0.8
	return &signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Of: "node", Start: int64(seq) * 5e8, End: int64(seq+1) * 5e8,
		Server: &signals.Server{Up: true, CPU: new(cores / 2), CPULimit: &limit, Periods: new(int64(5)), ThrottledPeriods: new(int64(5)), Throttled: new(0.4),
			Threads: &signals.Threads{Seconds: 0.5, Count: 8, Full: 1, Top: 0.5, Awake: awake / 2}}}
}

// Threads that never sleep are named beside what they use up.
func TestThreadsThatNeverSleepBesideALimit(t *testing.T) {
	of := func(cores, awake float64) *sums.Total {
		all := sums.New()
		for seq := range 4 {
			all.Add(awakeFor(seq, cores, awake), "node")
		}
		return all
	}
	over := []overload{{300, of(0.8, 0.8)}}
	for name, c := range map[string]struct {
		s    Stretch
		want bool
	}{
		"at low loads, too":                    {Stretch{below: of(0.7, 0.5), quiet: of(0.8, 0.8)}, true},
		"only with load":                       {Stretch{below: of(0.7, 0.5), quiet: of(0, 0)}, false},
		"where it kept up, though late":        {Stretch{kept: of(0.7, 0.5), quiet: of(0.8, 0.8)}, true},
		"not where it met the objective":       {Stretch{below: of(0.7, 0), kept: of(0.7, 0.5), quiet: of(0.8, 0.8)}, false},
		"no low load":                          {Stretch{quiet: of(0.8, 0.8)}, false},
		"a ramp, which has no time without it": {Stretch{below: of(0.7, 0.5)}, false},
	} {
		c.s.Sums, c.s.Open, c.s.over = over[0].sums, true, over
		by, shown := c.s.inside(nil)
		got := slices.ContainsFunc(shown, func(f finding.Finding) bool { return f.Kind == finding.AlsoAwake && f.Share == 1 })
		if by != summary.ByCPULimit || got != c.want {
			t.Errorf("%s: %s, %+v", name, by, shown)
		}
	}
}

// A limit that spinning threads use up stops requests at any load. Then the windows that the
// service kept up with show that its threads hardly sleep, and no others.
func TestAtLoadsThatItKeptUpWith(t *testing.T) {
	e := fixture.Search()
	loads := []float64{400, 100, 200, 350}
	s := Replay(e, &e.Cells[0], []signals.SearchStep{{Step: 0, Load: loads[0], First: 0, Last: 0}, {Step: 1, Load: loads[1], First: 1, Last: 1},
		{Step: 2, Load: loads[2], First: 2, Last: 2}, {Step: 3, Load: loads[3], First: 3, Last: 3}})
	for i, load := range loads {
		answered := int64(load) // of one second
		if load == 200 {
			answered = 100
		}
		s.Add(fixture.Client(i, signals.Measure, answered, 150*time.Millisecond))
		f := awakeFor(i, 0.8, float64(i))
		f.Of = s.plan.Service.Name
		s.Add(f)
	}
	above := &Stretch{Goal: objective.Of(e, &e.Cells[0]), Open: true, over: s.overloads()}
	kept := keptUp([]*Replayed{s}, above)
	if kept == nil || kept.Server.Threads().Awake != 1 {
		t.Fatalf("%+v, want that at 100 requests/s", kept)
	}
	if above.Open = false; keptUp([]*Replayed{s}, above) != nil {
		t.Error("of users it is not known")
	}
}
