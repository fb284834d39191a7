package capacity

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// rampsOf are the ramps of an experiment's first cell.
func rampsOf(e *experiment.Experiment, trials ...[]fixture.Level) *Ramps {
	c := &e.Cells[0]
	r := &Ramps{Goal: objective.Of(e, c), Users: c.Load.Users != nil, Agents: c.Load.Agents, Levels: LevelsOf(e, c)}
	for i, levels := range trials {
		t := RampTrial{Number: i + 1}
		if r.Levels != nil {
			for range r.Levels.Held {
				t.Levels = append(t.Levels, sums.New())
			}
		}
		for k, level := range levels {
			for _, f := range level.Frames(1 + k) {
				if f.Server != nil || f.Waits != nil {
					f.Of = c.Service.Name
				}
				t.Levels[k].Add(f, c.Service.Name)
			}
		}
		r.Trials = append(r.Trials, t)
	}
	return r
}

// ramped returns the breaking point of one trial or several.
func ramped(e *experiment.Experiment, trials ...[]fixture.Level) *summary.BreakingPoint {
	r := rampsOf(e, trials...)
	b := worded(r.BreakingPoint(r.Steps()))
	if b != nil && b.LimitedBy == summary.ByService { // its figures have a test of their own
		b.Evidence = itself
	}
	return b
}

const (
	itself = "neither its CPU limit, nor memory, nor errors: its own parallelism, locks or queues; it used 50% of its CPU limit"
	lagged = "1% of the requests were sent more than 50.0 ms late"
)

func TestABreakingPointIsReadFromTheLevelsOfARamp(t *testing.T) {
	// at is a breaking point between two levels of a ramp of four.
	at := func(low, high float64, by, evidence, reason string) *summary.BreakingPoint {
		return &summary.BreakingPoint{RateRPS: &low, Low: &low, High: &high, EvidenceAt: []float64{high, high}, LimitedBy: by, Evidence: evidence, Reason: reason, TrafficS: 4, Searches: 1}
	}
	atLeast := func(low float64, by, evidence, reason string) *summary.BreakingPoint {
		return &summary.BreakingPoint{RateRPS: &low, Low: &low, AtLeast: true, LimitedBy: by, Evidence: evidence, Reason: reason, TrafficS: 4, Searches: 1}
	}
	full := fixture.Level{Latency: time.Second, CPU: 0.97, Throttled: 9}
	for _, c := range []struct {
		name   string
		levels []fixture.Level
		want   *summary.BreakingPoint
	}{
		{"the last level before the first that misses", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Slow, fixture.Slow},
			at(200, 300, summary.ByService, itself, "")},
		{"the first level misses", []fixture.Level{fixture.Slow, fixture.Slow, fixture.Slow, fixture.Slow},
			&summary.BreakingPoint{High: new(100.0), EvidenceAt: []float64{100.0, 100.0}, LimitedBy: summary.ByService, Evidence: itself, Reason: "the first level, 100, already misses the objective; start lower", TrafficS: 4}},
		{"none misses", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Fine, fixture.Fine},
			atLeast(400, "", "", "every level met the objective; raise the load further")},
		{"the last misses", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Fine, fixture.Slow},
			at(300, 400, summary.ByService, itself, "")},
		{"one in the middle misses, and the next meets it again: the first counts", []fixture.Level{fixture.Fine, fixture.Slow, fixture.Fine, fixture.Slow},
			at(100, 200, summary.ByService, itself, "200 misses the objective and 300 meets it again: the first miss counts")},
		{"two meet it again", []fixture.Level{fixture.Fine, fixture.Slow, fixture.Fine, fixture.Fine},
			at(100, 200, summary.ByService, itself, "200 misses the objective and 300 and 400 meet it again: the first miss counts")},

		{"too many errors, and quick ones", []fixture.Level{fixture.Fine, {Status500: 1}, fixture.Slow, fixture.Slow},
			at(100, 200, summary.ByErrors, "0.99% of the requests got no good answer (1 got an error status)", "")},
		{"errors of a queue: the good answers take longer with them", []fixture.Level{fixture.Fine, {Latency: 40 * time.Millisecond, Status500: 5}, {Latency: 60 * time.Millisecond, Status500: 50}, {Latency: 60 * time.Millisecond, Status500: 90}},
			at(100, 200, summary.ByService, itself, "")},
		{"errors by a rate: the good answers take as long with them", []fixture.Level{fixture.Fine, {Status500: 5}, {Status500: 50}, {Status500: 90}},
			at(100, 200, summary.ByErrors, "4.76% of the requests got no good answer (5 got an error status)", "")},
		{"nothing but errors", []fixture.Level{fixture.Fine, {Good: -1, Status500: 50}, fixture.Slow, fixture.Slow},
			at(100, 200, summary.ByErrors, "100% of the requests got no good answer (50 got an error status)", "")},
		{"errors beside latency that broke first", []fixture.Level{fixture.Fine, {Latency: time.Second, Status500: 1}, fixture.Fine, fixture.Fine},
			at(100, 200, summary.ByService, itself, "200 misses the objective and 300 and 400 meet it again: the first miss counts")},

		{"limited by its CPU, and killed above it", []fixture.Level{{CPU: 0.4}, {Latency: time.Second, CPU: 0.95, Throttled: 8}, {Latency: time.Second, CPU: 0.2, OOM: 1}, full},
			at(100, 200, summary.ByCPULimit, "it used 95% of its CPU limit, throttled in 80% of the periods (6.25 ms per throttled period, summed over CPUs)", "")},
		{"throttled in too few periods for a verdict", []fixture.Level{fixture.Fine, fixture.Fine, {Latency: time.Second, Throttled: 2}, fixture.Slow},
			at(200, 300, summary.ByService, itself, "")},
		{"limited by throttling", []fixture.Level{fixture.Fine, fixture.Fine, {Latency: time.Second, Throttled: 3}, full},
			at(200, 300, summary.ByThrottling, "it was throttled in 30% of the periods (16.7 ms per throttled period, summed over CPUs), though it used 50% of its CPU limit on average", "")},
		{"throttled in few periods where it falls behind", []fixture.Level{fixture.Fine, fixture.Fine, {Latency: time.Second, Throttled: 3, CPU: 0.95}, {Latency: time.Second, Throttled: 3, CPU: 0.96}},
			at(200, 300, summary.ByService, itself, "")},
		{"throttled in half of the periods where it falls behind", []fixture.Level{fixture.Fine, fixture.Fine, {Latency: time.Second, Throttled: 5, CPU: 0.95}, {Latency: time.Second, Throttled: 5, CPU: 0.96}},
			at(200, 300, summary.ByService, itself, "")},
		{"requests mostly wait for the dependency", []fixture.Level{fixture.Fine, {Latency: 200 * time.Millisecond, Waited: 18}, fixture.Slow, fixture.Slow},
			at(100, 200, summary.ByDependency, "a request took 200 ms, of which it waited 180 ms for a dependency, or a pool of calls to it", "")},
		{"the dependency is a small part", []fixture.Level{fixture.Fine, {Latency: 200 * time.Millisecond, Waited: 2}, fixture.Slow, fixture.Slow},
			at(100, 200, summary.ByService, itself, "")},
		{"limited by its CPU while it waits", []fixture.Level{fixture.Fine, {Latency: 200 * time.Millisecond, Waited: 18, CPU: 0.95}, full, full},
			at(100, 200, summary.ByCPULimit, "it used 95% of its CPU limit, throttled in 0% of the periods", "")},
		{"limited by memory", []fixture.Level{fixture.Fine, fixture.Fine, {Latency: time.Second, OOM: 1, CPU: 0.99}, fixture.Slow},
			at(200, 300, summary.ByMemory, "1 OOM kill in the windows above it", "")},

		{"the generator was the limit", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Late, fixture.Late},
			atLeast(200, summary.ByGenerator, lagged, "at 300 the generator was the limit; the service may handle more")},
		{"the host was the limit", []fixture.Level{fixture.Fine, {Latency: time.Second, Idle: 0.01}, {Latency: time.Second, Idle: 0.01}, fixture.Late},
			atLeast(100, summary.ByHost, "0.01 of 2 CPUs were idle", "at 200 the host was the limit; the service may handle more")},
		{"the generator was the limit throughout", []fixture.Level{fixture.Late, fixture.Late, fixture.Late, fixture.Late},
			&summary.BreakingPoint{LimitedBy: summary.ByGenerator, Evidence: lagged, Reason: "at 100 the generator was the limit, so nothing is known about the service", TrafficS: 4}},
		{"the generator stumbles where a higher level shows that the service does not", []fixture.Level{fixture.Late, fixture.Fine, fixture.Late, fixture.Fine},
			atLeast(400, "", "", "every level met the objective; raise the load further")},
		{"the generator stumbles right below the level that misses: the ends lie further apart", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Late, fixture.Slow},
			at(200, 400, summary.ByService, itself, "at 300 the generator was the limit, not the service")},
		{"the generator is the limit below the first judged level, which misses", []fixture.Level{fixture.Late, fixture.Slow, fixture.Slow, fixture.Slow},
			&summary.BreakingPoint{High: new(200.0), EvidenceAt: []float64{200.0, 200.0}, LimitedBy: summary.ByService, Evidence: itself, Reason: "200 misses the objective, and at the lower level 100 the generator was the limit, not the service; start lower", TrafficS: 4}},
		{"the agent lags, but the service is at its limit", []fixture.Level{fixture.Fine, {Latency: 200 * time.Millisecond, Lag: 50 * time.Millisecond, CPU: 0.95, Throttled: 9}, fixture.Late, fixture.Late},
			at(100, 200, summary.ByCPULimit, "it used 95% of its CPU limit, throttled in 90% of the periods (5.56 ms per throttled period, summed over CPUs)", "")},
		{"a neighbour where it misses", []fixture.Level{fixture.Fine, fixture.Beside, fixture.Slow, fixture.Slow},
			atLeast(100, "", "", fixture.Besides(200))},
		{"a neighbour at the last level", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Fine, fixture.Beside},
			atLeast(300, "", "", fixture.Besides(400))},
		{"a neighbour where it misses, and a level above it shows that it bears more", []fixture.Level{fixture.Fine, fixture.Beside, fixture.Fine, fixture.Slow},
			at(300, 400, summary.ByService, itself, "")},
		{"a neighbour at all levels above one", []fixture.Level{fixture.Fine, fixture.Beside, fixture.Beside, fixture.Beside},
			atLeast(100, "", "", fixture.Besides(200))},
		{"a neighbour at the first level, which misses", []fixture.Level{fixture.Beside, fixture.Slow, fixture.Slow, fixture.Slow},
			&summary.BreakingPoint{Reason: fixture.Besides(100), TrafficS: 4}},
		{"the hypervisor where it misses", []fixture.Level{fixture.Fine, {Latency: time.Second, Steal: 0.8}, fixture.Slow, fixture.Slow},
			atLeast(100, "", "", "200 misses the objective while the hypervisor took 0.80 CPUs; this miss does not count")},
		{"both where it misses", []fixture.Level{fixture.Fine, {Latency: time.Second, Steal: 0.5, Foreign: 0.5}, fixture.Slow, fixture.Slow},
			atLeast(100, "", "", "200 misses the objective while other processes used 0.50 CPUs and the hypervisor took 0.50 CPUs; this miss does not count")},
		{"no request ends beside a neighbour", []fixture.Level{fixture.Fine, {Good: -1, Foreign: 0.8}, fixture.Slow, fixture.Slow},
			atLeast(100, "", "", fixture.Besides(200))},
		{"errors beside a neighbour may be the neighbour's", []fixture.Level{fixture.Fine, {Status500: 50, Foreign: 0.8}, fixture.Fine, fixture.Slow},
			at(300, 400, summary.ByService, itself, "")},
		{"a neighbour, but that nothing is answered shows that it is the service", []fixture.Level{fixture.Fine, {Good: -1, Status500: 50, Foreign: 0.8}, fixture.Fine, fixture.Slow},
			at(100, 200, summary.ByErrors, "100% of the requests got no good answer (50 got an error status)", "200 misses the objective and 300 meets it again: the first miss counts; at 200 other processes used 0.80 CPUs")},
		{"a neighbour where the objective is met counts for the service", []fixture.Level{fixture.Fine, {Foreign: 0.8}, fixture.Slow, fixture.Slow},
			at(200, 300, summary.ByService, itself, "")},
		{"the generator stumbles, and then a neighbour", []fixture.Level{fixture.Fine, fixture.Late, fixture.Beside, fixture.Slow},
			atLeast(100, summary.ByGenerator, lagged, "at 200 the generator was the limit; the service may handle more")},
		{"a neighbour elsewhere", []fixture.Level{{Foreign: 0.8}, fixture.Slow, {Latency: time.Second, Foreign: 0.8}, fixture.Slow},
			at(100, 200, summary.ByService, itself, "")},

		{"no request ends at the first level", []fixture.Level{fixture.Mute, fixture.Fine, fixture.Slow, fixture.Slow},
			at(200, 300, summary.ByService, itself, "")},
		{"no request ends below the level that misses: the ends lie further apart", []fixture.Level{fixture.Fine, fixture.Mute, fixture.Slow, fixture.Slow},
			at(100, 300, summary.ByService, itself, "")},
		{"no request ends at the last levels", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Mute, fixture.Mute},
			atLeast(200, "", "", "no request ended at the levels above 200")},
		{"no request ends below the first judged level, which misses", []fixture.Level{fixture.Mute, fixture.Mute, fixture.Slow, fixture.Slow},
			&summary.BreakingPoint{High: new(300.0), EvidenceAt: []float64{300.0, 300.0}, LimitedBy: summary.ByService, Evidence: itself, Reason: "300 misses the objective, and no request ended at any lower level; hold each level longer", TrafficS: 4}},
		{"no request ends at all", []fixture.Level{fixture.Mute, fixture.Mute, fixture.Mute, fixture.Mute},
			&summary.BreakingPoint{Reason: "no request ended at any level", TrafficS: 4}},
		{"the trial was cut off", []fixture.Level{fixture.Fine, fixture.Fine},
			&summary.BreakingPoint{RateRPS: new(200.0), Low: new(200.0), AtLeast: true, Reason: "no request ended at the levels above 200", TrafficS: 2, Searches: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, ramped(fixture.Ramp(100, 200, 300, 400), c.levels)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestManyLevelsMeetTheObjectiveAgain(t *testing.T) {
	got := ramped(fixture.Ramp(100, 200, 300, 400, 500, 1_000_000, 2_500_000.5), []fixture.Level{fixture.Fine, fixture.Slow, fixture.Fine, fixture.Fine, fixture.Slow, fixture.Fine, fixture.Fine})
	if want := "200 misses the objective and 4 levels above it, up to 2,500,000.5, meet it again: the first miss counts"; got.Reason != want {
		t.Errorf("reason %q, want %q", got.Reason, want)
	}
}

// A service that refuses most requests and answers few quickly has the best latency of
// all.
func TestWithoutAnAvailabilityWhoGotNoAnswerDidNotGetItInTime(t *testing.T) {
	e := fixture.Ramp(100, 200, 300)
	e.Objective.Availability = 0
	for _, c := range []struct {
		name  string
		level fixture.Level
		by    string
	}{
		{"half of them refused", fixture.Level{Status500: 100}, summary.ByErrors},
		{"all of them refused", fixture.Level{Good: -1, Status500: 100}, summary.ByErrors},
		{"few slow, few refused, more together than may be late", fixture.Level{Good: 1000, Status500: 11}, summary.ByErrors},
		{"as many refused as may be late", fixture.Level{Good: 1000, Status500: 10}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ramped(e, []fixture.Level{fixture.Fine, c.level, fixture.Fine})
			want := &summary.BreakingPoint{RateRPS: new(100.0), Low: new(100.0), High: new(200.0), EvidenceAt: []float64{200.0, 200.0}, TrafficS: 3, Searches: 1, LimitedBy: c.by, Evidence: got.Evidence,
				Reason: "200 misses the objective and 300 meets it again: the first miss counts"}
			if c.by == "" {
				want = &summary.BreakingPoint{RateRPS: new(300.0), Low: new(300.0), AtLeast: true, TrafficS: 3, Searches: 1, Reason: "every level met the objective; raise the load further"}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestABreakingPointOfAvailabilityAlone(t *testing.T) {
	e := fixture.Ramp(100, 200)
	e.Objective = &experiment.Objective{Availability: 99}
	got := ramped(e, []fixture.Level{fixture.Slow, {Status500: 5}})
	want := &summary.BreakingPoint{RateRPS: new(100.0), Low: new(100.0), High: new(200.0), EvidenceAt: []float64{200.0, 200.0}, LimitedBy: summary.ByErrors, Evidence: "4.76% of the requests got no good answer (5 got an error status)", TrafficS: 2, Searches: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestARampOfUsersBreaksAtUsers(t *testing.T) {
	e := fixture.Ramp(10, 20)
	e.Cells[0].Load.Users, e.Cells[0].Load.Rate = e.Cells[0].Load.Rate, nil
	got := ramped(e, []fixture.Level{fixture.Fine, fixture.Slow})
	want := &summary.BreakingPoint{Users: new(10.0), Low: new(10.0), High: new(20.0), EvidenceAt: []float64{20.0, 20.0}, LimitedBy: summary.ByService, Evidence: itself, TrafficS: 2, Searches: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWhatIsNoRamp(t *testing.T) {
	constant, unasked := fixture.Experiment(experiment.Load{Rate: &experiment.Target{Value: 100}}), fixture.Ramp(100, 200)
	constant.Objective = fixture.Ramp(1).Objective
	unasked.Objective = nil
	for name, got := range map[string]*summary.BreakingPoint{
		"a constant load":      ramped(constant, []fixture.Level{}),
		"no objective":         ramped(unasked, []fixture.Level{fixture.Fine, fixture.Slow}),
		"one level":            ramped(fixture.Ramp(100), []fixture.Level{fixture.Fine}),
		"a load that is eased": ramped(fixture.Ramp(300, 200, 100), []fixture.Level{fixture.Slow, fixture.Slow, fixture.Fine}),
		"no trial":             ramped(fixture.Ramp(100, 200)),
		"nothing measured":     ramped(fixture.Ramp(100, 200), []fixture.Level{}),
	} {
		if got != nil {
			t.Errorf("%s: %+v, want no breaking point", name, got)
		}
	}
}

func TestALevelThatIsNotAboveTheOthersIsLeftOut(t *testing.T) {
	// A peak between rests: the service does not recover from 300, but handled 400
	// before.
	got := ramped(fixture.Ramp(100, 400, 100, 300, 400, 500), []fixture.Level{fixture.Fine, fixture.Fine, fixture.Slow, fixture.Slow, fixture.Slow, fixture.Slow})
	want := &summary.BreakingPoint{RateRPS: new(400.0), Low: new(400.0), High: new(500.0), EvidenceAt: []float64{500.0, 500.0}, LimitedBy: summary.ByService, Evidence: itself, TrafficS: 6, Searches: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSeveralTrialsOfARamp(t *testing.T) {
	// broken is a trial that misses the objective from a level on.
	broken := func(from int) []fixture.Level {
		levels := []fixture.Level{fixture.Fine, fixture.Fine, fixture.Fine, fixture.Fine}
		for i := from; i < len(levels); i++ {
			levels[i] = fixture.Slow
		}
		return levels
	}
	trials := func(from ...int) (all [][]fixture.Level) {
		for _, f := range from {
			all = append(all, broken(f))
		}
		return all
	}
	type point struct {
		Load, Low, High *float64
		AtLeast         bool
		Searches        int
		Reason          string
	}
	for _, c := range []struct {
		name   string
		trials [][]fixture.Level
		want   point
	}{
		{"agree", trials(2, 2, 2), point{Load: new(200.0), Low: new(200.0), High: new(300.0), Searches: 3}},
		{"differ: the levels of all together, and the ends of each", trials(2, 1, 3), point{Load: new(100.0), Low: new(100.0), High: new(400.0), Searches: 3}},
		{"one never misses: no upper end", trials(2, 4), point{Load: new(200.0), Low: new(200.0), Searches: 2}},
		{"none misses", trials(4, 4), point{Load: new(400.0), Low: new(400.0), AtLeast: true, Searches: 2, Reason: "every level met the objective; raise the load further"}},
		{"one misses at once, and all together", trials(0, 3), point{High: new(100.0), Reason: "the first level, 100, already misses the objective; start lower"}},
		{"nine, of which one breaks early: its own end lies outside the interval of the median",
			append(trials(3, 3, 3, 3, 3, 3, 3, 3), []fixture.Level{{Good: 1, Latency: time.Second}, fixture.Slow, fixture.Slow, fixture.Slow}),
			point{Load: new(100.0), Low: new(100.0), High: new(400.0), Searches: 9}},
		{"one of little weight misses at once: the lower end is 0",
			append(trials(3, 3), []fixture.Level{{Good: 1, Latency: time.Second}, fixture.Fine, fixture.Fine, fixture.Slow}),
			point{Load: new(300.0), Low: new(0.0), High: new(400.0), Searches: 3}},
		{"one was disturbed where it missed: no upper end", append(trials(2, 2, 2, 2), []fixture.Level{fixture.Fine, fixture.Fine, fixture.Beside, fixture.Slow}),
			point{Load: new(200.0), Low: new(200.0), Searches: 5, Reason: "in 1 of 5 trials others took CPU at the level that missed the objective"}},
		{"all were", [][]fixture.Level{{fixture.Fine, fixture.Fine, fixture.Beside, fixture.Slow}, {fixture.Fine, fixture.Fine, fixture.Beside, fixture.Slow}}, point{Load: new(200.0), Low: new(200.0), AtLeast: true, Searches: 2, Reason: fixture.Besides(300)}},
		{"nine, of which one was: the interval of the median is closed", append(trials(2, 2, 2, 2, 2, 2, 2, 2), []fixture.Level{fixture.Fine, fixture.Fine, fixture.Beside, fixture.Slow}),
			point{Load: new(200.0), Low: new(200.0), High: new(300.0), Searches: 9}},
		{"one says nothing", append(trials(2, 2), []fixture.Level{fixture.Mute, fixture.Mute, fixture.Mute, fixture.Mute}), point{Load: new(200.0), Low: new(200.0), High: new(300.0), Searches: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := ramped(fixture.Ramp(100, 200, 300, 400), c.trials...)
			got := point{b.Load(), b.Low, b.High, b.AtLeast, b.Searches, b.Reason}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if b.TrafficS != 4 {
				t.Errorf("%v s of traffic, want those of a trial: 4", b.TrafficS)
			}
		})
	}
}
