package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// rampTo is an experiment whose load jumps to each target and holds it for 1 s, after
// a warm-up of 1 s.
func rampTo(targets ...float64) *experiment.Experiment {
	target := &experiment.Target{}
	for _, v := range targets {
		target.Stages = append(target.Stages, experiment.Stage{Target: v}, experiment.Stage{Duration: time.Second, Target: v})
	}
	e := testExperiment(experiment.Load{Rate: target, Agents: 1})
	e.Objective = &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond, Availability: 99.9}
	return e
}

// shown is what one level of a ramp shows in its second. The zero value is 100 good
// answers within 10 ms, at half of the CPU limit.
type shown struct {
	good      int64 // 0: 100; -1: no request ended
	latency   time.Duration
	status500 int64
	cpu       float64       // 0: 0.5 cores of 1
	throttled int64         // of 10 periods
	lag       time.Duration // of the generator, for a tenth of the requests
	foreign   float64       // cores
	steal     float64       // cores
	idle      float64       // cores of 2; 0: 1
	oom       int64
	waited    float64 // seconds that all requests together waited for the dependency
}

var (
	fine = shown{}
	slow = shown{latency: 200 * time.Millisecond}
	mute = shown{good: -1}
	// late: the generator caused the miss.
	late = shown{latency: 200 * time.Millisecond, lag: 50 * time.Millisecond}
	// beside: a neighbour may have caused the miss.
	beside = shown{latency: time.Second, foreign: 0.8, cpu: 0.97}
)

// besides is the reason for a level that shows beside.
func besides(level float64) string {
	return number(level) + " misses the objective while other processes used 0.80 CPUs; this miss does not count"
}

// frames are the frames of one interval.
func (s shown) frames(seq int) []*signals.Frame {
	c := client(seq, signals.Measure, 0, 0)
	if s.good >= 0 {
		latency := s.latency
		if latency == 0 {
			latency = 10 * time.Millisecond
		}
		good := s.good
		if good == 0 {
			good = 100
		}
		c = client(seq, signals.Measure, good, latency)
	}
	if s.status500 > 0 {
		c.Client.Status["500"] = s.status500
	}
	for range 10 {
		if s.lag > 0 {
			c.Client.SendLag.Record(s.lag)
		}
	}
	cpu, idle := s.cpu, s.idle
	if cpu == 0 {
		cpu = 0.5
	}
	if idle == 0 {
		idle = 1
	}
	v := server(seq, signals.Measure, cpu, 10, s.throttled)
	v.Server.OOMKills = &s.oom
	h := &signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Start: int64(seq) * 1e9, End: int64(seq+1) * 1e9,
		Host: &signals.Host{CPUs: 2, Idle: idle, Foreign: s.foreign, Steal: s.steal}}
	frames := []*signals.Frame{c, v, h}
	if s.waited > 0 {
		frames = append(frames, &signals.Frame{Trial: 1, Seq: seq, Phase: signals.Measure, Start: int64(seq) * 1e9, End: int64(seq+1) * 1e9,
			Waits: &signals.Waits{Bounds: []float64{1}, Counts: []int64{100, 0}, Sum: s.waited}})
	}
	return frames
}

// rampsOf are the ramps of an experiment's first cell.
func rampsOf(e *experiment.Experiment, trials ...[]shown) *ramps {
	c := &e.Cells[0]
	r := &ramps{goal: goalOf(e, c), users: c.Load.Users != nil, agents: c.Load.Agents, levels: levelsOf(e, c)}
	for i, levels := range trials {
		t := rampTrial{number: i + 1}
		if r.levels != nil {
			for range r.levels.held {
				t.levels = append(t.levels, sums.New())
			}
		}
		for k, level := range levels {
			for _, f := range level.frames(1 + k) {
				if f.Server != nil || f.Waits != nil {
					f.Of = c.Service.Name
				}
				t.levels[k].Add(f, c.Service.Name)
			}
		}
		r.trials = append(r.trials, t)
	}
	return r
}

// ramped returns the breaking point of one trial or several.
func ramped(e *experiment.Experiment, trials ...[]shown) *summary.BreakingPoint {
	r := rampsOf(e, trials...)
	b := r.breakingPoint(r.steps())
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
	for _, c := range []struct {
		name   string
		levels []shown
		want   *summary.BreakingPoint
	}{
		{"the last level before the first that misses", []shown{fine, fine, slow, slow},
			at(200, 300, summary.ByService, itself, "")},
		{"the first level misses", []shown{slow, slow, slow, slow},
			&summary.BreakingPoint{High: new(100.0), EvidenceAt: []float64{100.0, 100.0}, LimitedBy: summary.ByService, Evidence: itself, Reason: "the first level, 100, already misses the objective; start lower", TrafficS: 4}},
		{"none misses", []shown{fine, fine, fine, fine},
			atLeast(400, "", "", "every level met the objective; raise the load further")},
		{"the last misses", []shown{fine, fine, fine, slow},
			at(300, 400, summary.ByService, itself, "")},
		{"one in the middle misses, and the next meets it again: the first counts", []shown{fine, slow, fine, slow},
			at(100, 200, summary.ByService, itself, "200 misses the objective and 300 meets it again: the first miss counts")},
		{"two meet it again", []shown{fine, slow, fine, fine},
			at(100, 200, summary.ByService, itself, "200 misses the objective and 300 and 400 meet it again: the first miss counts")},

		{"too many errors, and quick ones", []shown{fine, {status500: 1}, slow, slow},
			at(100, 200, summary.ByErrors, "0.99% of the requests got no good answer (1 got an error status)", "")},
		{"nothing but errors", []shown{fine, {good: -1, status500: 50}, slow, slow},
			at(100, 200, summary.ByErrors, "100% of the requests got no good answer (50 got an error status)", "")},
		{"errors beside latency that broke first", []shown{fine, {latency: time.Second, status500: 1}, fine, fine},
			at(100, 200, summary.ByService, itself, "200 misses the objective and 300 and 400 meet it again: the first miss counts")},

		{"limited by its CPU, as that level shows and no other", []shown{{cpu: 0.4}, {latency: time.Second, cpu: 0.95, throttled: 8}, {latency: time.Second, cpu: 0.2, oom: 1}, slow},
			at(100, 200, summary.ByCPULimit, "it used 95% of its CPU limit, throttled in 80% of the periods (6.25 ms per throttled period, summed over CPUs)", "")},
		{"throttled in too few periods for a verdict", []shown{fine, fine, {latency: time.Second, throttled: 2}, slow},
			at(200, 300, summary.ByService, itself, "")},
		{"limited by throttling", []shown{fine, fine, {latency: time.Second, throttled: 3}, slow},
			at(200, 300, summary.ByThrottling, "it was throttled in 30% of the periods (16.7 ms per throttled period, summed over CPUs), though it used 50% of its CPU limit on average", "")},
		{"requests mostly wait for the dependency", []shown{fine, {latency: 200 * time.Millisecond, waited: 18}, slow, slow},
			at(100, 200, summary.ByDependency, "a request took 200 ms, of which it waited 180 ms for a dependency", "")},
		{"the dependency is a small part", []shown{fine, {latency: 200 * time.Millisecond, waited: 2}, slow, slow},
			at(100, 200, summary.ByService, itself, "")},
		{"limited by its CPU while it waits", []shown{fine, {latency: 200 * time.Millisecond, waited: 18, cpu: 0.95}, slow, slow},
			at(100, 200, summary.ByCPULimit, "it used 95% of its CPU limit, throttled in 0% of the periods", "")},
		{"limited by memory", []shown{fine, fine, {latency: time.Second, oom: 1, cpu: 0.99}, slow},
			at(200, 300, summary.ByMemory, "1 OOM kill in the windows above it", "")},

		{"the generator was the limit", []shown{fine, fine, late, late},
			atLeast(200, summary.ByGenerator, lagged, "at 300 the generator was the limit; the service may handle more")},
		{"the host was the limit", []shown{fine, {latency: time.Second, idle: 0.01}, {latency: time.Second, idle: 0.01}, late},
			atLeast(100, summary.ByHost, "0.01 of 2 CPUs were idle", "at 200 the host was the limit; the service may handle more")},
		{"the generator was the limit throughout", []shown{late, late, late, late},
			&summary.BreakingPoint{LimitedBy: summary.ByGenerator, Evidence: lagged, Reason: "at 100 the generator was the limit, so nothing is known about the service", TrafficS: 4}},
		{"the generator stumbles where a higher level shows that the service does not", []shown{late, fine, late, fine},
			atLeast(400, "", "", "every level met the objective; raise the load further")},
		{"the generator stumbles right below the level that misses: the ends lie further apart", []shown{fine, fine, late, slow},
			at(200, 400, summary.ByService, itself, "at 300 the generator was the limit, not the service")},
		{"the generator is the limit below the first judged level, which misses", []shown{late, slow, slow, slow},
			&summary.BreakingPoint{High: new(200.0), EvidenceAt: []float64{200.0, 200.0}, LimitedBy: summary.ByService, Evidence: itself, Reason: "200 misses the objective, and at the lower level 100 the generator was the limit, not the service; start lower", TrafficS: 4}},
		{"the agent lags, but the service is at its limit", []shown{fine, {latency: 200 * time.Millisecond, lag: 50 * time.Millisecond, cpu: 0.95}, late, late},
			at(100, 200, summary.ByCPULimit, "it used 95% of its CPU limit, throttled in 0% of the periods", "")},
		{"a neighbour where it misses", []shown{fine, beside, slow, slow},
			atLeast(100, "", "", besides(200))},
		{"a neighbour at the last level", []shown{fine, fine, fine, beside},
			atLeast(300, "", "", besides(400))},
		{"a neighbour where it misses, and a level above it shows that it bears more", []shown{fine, beside, fine, slow},
			at(300, 400, summary.ByService, itself, "")},
		{"a neighbour at all levels above one", []shown{fine, beside, beside, beside},
			atLeast(100, "", "", besides(200))},
		{"a neighbour at the first level, which misses", []shown{beside, slow, slow, slow},
			&summary.BreakingPoint{Reason: besides(100), TrafficS: 4}},
		{"the hypervisor where it misses", []shown{fine, {latency: time.Second, steal: 0.8}, slow, slow},
			atLeast(100, "", "", "200 misses the objective while the hypervisor took 0.80 CPUs; this miss does not count")},
		{"both where it misses", []shown{fine, {latency: time.Second, steal: 0.5, foreign: 0.5}, slow, slow},
			atLeast(100, "", "", "200 misses the objective while other processes used 0.50 CPUs and the hypervisor took 0.50 CPUs; this miss does not count")},
		{"no request ends beside a neighbour", []shown{fine, {good: -1, foreign: 0.8}, slow, slow},
			atLeast(100, "", "", besides(200))},
		{"errors beside a neighbour may be the neighbour's", []shown{fine, {status500: 50, foreign: 0.8}, fine, slow},
			at(300, 400, summary.ByService, itself, "")},
		{"a neighbour, but that nothing is answered shows that it is the service", []shown{fine, {good: -1, status500: 50, foreign: 0.8}, fine, slow},
			at(100, 200, summary.ByErrors, "100% of the requests got no good answer (50 got an error status)", "200 misses the objective and 300 meets it again: the first miss counts; at 200 other processes used 0.80 CPUs")},
		{"a neighbour where the objective is met counts for the service", []shown{fine, {foreign: 0.8}, slow, slow},
			at(200, 300, summary.ByService, itself, "")},
		{"the generator stumbles, and then a neighbour", []shown{fine, late, beside, slow},
			atLeast(100, summary.ByGenerator, lagged, "at 200 the generator was the limit; the service may handle more")},
		{"a neighbour elsewhere", []shown{{foreign: 0.8}, slow, {latency: time.Second, foreign: 0.8}, slow},
			at(100, 200, summary.ByService, itself, "")},

		{"no request ends at the first level", []shown{mute, fine, slow, slow},
			at(200, 300, summary.ByService, itself, "")},
		{"no request ends below the level that misses: the ends lie further apart", []shown{fine, mute, slow, slow},
			at(100, 300, summary.ByService, itself, "")},
		{"no request ends at the last levels", []shown{fine, fine, mute, mute},
			atLeast(200, "", "", "no request ended at the levels above 200")},
		{"no request ends below the first judged level, which misses", []shown{mute, mute, slow, slow},
			&summary.BreakingPoint{High: new(300.0), EvidenceAt: []float64{300.0, 300.0}, LimitedBy: summary.ByService, Evidence: itself, Reason: "300 misses the objective, and no request ended at any lower level; hold each level longer", TrafficS: 4}},
		{"no request ends at all", []shown{mute, mute, mute, mute},
			&summary.BreakingPoint{Reason: "no request ended at any level", TrafficS: 4}},
		{"the trial was cut off", []shown{fine, fine},
			&summary.BreakingPoint{RateRPS: new(200.0), Low: new(200.0), AtLeast: true, Reason: "no request ended at the levels above 200", TrafficS: 2, Searches: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, ramped(rampTo(100, 200, 300, 400), c.levels)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestManyLevelsMeetTheObjectiveAgain(t *testing.T) {
	got := ramped(rampTo(100, 200, 300, 400, 500, 1_000_000, 2_500_000.5), []shown{fine, slow, fine, fine, slow, fine, fine})
	if want := "200 misses the objective and 4 levels above it, up to 2,500,000.5, meet it again: the first miss counts"; got.Reason != want {
		t.Errorf("reason %q, want %q", got.Reason, want)
	}
}

// A service that refuses most requests and answers few quickly has the best latency of
// all.
func TestWithoutAnAvailabilityWhoGotNoAnswerDidNotGetItInTime(t *testing.T) {
	e := rampTo(100, 200, 300)
	e.Objective.Availability = 0
	for _, c := range []struct {
		name  string
		level shown
		by    string
	}{
		{"half of them refused", shown{status500: 100}, summary.ByErrors},
		{"all of them refused", shown{good: -1, status500: 100}, summary.ByErrors},
		{"few slow, few refused, more together than may be late", shown{good: 1000, status500: 11}, summary.ByErrors},
		{"as many refused as may be late", shown{good: 1000, status500: 10}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ramped(e, []shown{fine, c.level, fine})
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
	e := rampTo(100, 200)
	e.Objective = &experiment.Objective{Availability: 99}
	got := ramped(e, []shown{slow, {status500: 5}})
	want := &summary.BreakingPoint{RateRPS: new(100.0), Low: new(100.0), High: new(200.0), EvidenceAt: []float64{200.0, 200.0}, LimitedBy: summary.ByErrors, Evidence: "4.76% of the requests got no good answer (5 got an error status)", TrafficS: 2, Searches: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestARampOfUsersBreaksAtUsers(t *testing.T) {
	e := rampTo(10, 20)
	e.Cells[0].Load.Users, e.Cells[0].Load.Rate = e.Cells[0].Load.Rate, nil
	got := ramped(e, []shown{fine, slow})
	want := &summary.BreakingPoint{Users: new(10.0), Low: new(10.0), High: new(20.0), EvidenceAt: []float64{20.0, 20.0}, LimitedBy: summary.ByService, Evidence: itself, TrafficS: 2, Searches: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestWhatIsNoRamp(t *testing.T) {
	constant, unasked := testExperiment(experiment.Load{Rate: &experiment.Target{Value: 100}}), rampTo(100, 200)
	constant.Objective = rampTo(1).Objective
	unasked.Objective = nil
	for name, got := range map[string]*summary.BreakingPoint{
		"a constant load":      ramped(constant, []shown{}),
		"no objective":         ramped(unasked, []shown{fine, slow}),
		"one level":            ramped(rampTo(100), []shown{fine}),
		"a load that is eased": ramped(rampTo(300, 200, 100), []shown{slow, slow, fine}),
		"no trial":             ramped(rampTo(100, 200)),
		"nothing measured":     ramped(rampTo(100, 200), []shown{}),
	} {
		if got != nil {
			t.Errorf("%s: %+v, want no breaking point", name, got)
		}
	}
}

func TestALevelThatIsNotAboveTheOthersIsLeftOut(t *testing.T) {
	// A peak between rests: the service does not recover from 300, but handled 400
	// before.
	got := ramped(rampTo(100, 400, 100, 300, 400, 500), []shown{fine, fine, slow, slow, slow, slow})
	want := &summary.BreakingPoint{RateRPS: new(400.0), Low: new(400.0), High: new(500.0), EvidenceAt: []float64{500.0, 500.0}, LimitedBy: summary.ByService, Evidence: itself, TrafficS: 6, Searches: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestSeveralTrialsOfARamp(t *testing.T) {
	// broken is a trial that misses the objective from a level on.
	broken := func(from int) []shown {
		levels := []shown{fine, fine, fine, fine}
		for i := from; i < len(levels); i++ {
			levels[i] = slow
		}
		return levels
	}
	trials := func(from ...int) (all [][]shown) {
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
		trials [][]shown
		want   point
	}{
		{"agree", trials(2, 2, 2), point{Load: new(200.0), Low: new(200.0), High: new(300.0), Searches: 3}},
		{"differ: the levels of all together, and the ends of each", trials(2, 1, 3), point{Load: new(100.0), Low: new(100.0), High: new(400.0), Searches: 3}},
		{"one never misses: no upper end", trials(2, 4), point{Load: new(200.0), Low: new(200.0), Searches: 2}},
		{"none misses", trials(4, 4), point{Load: new(400.0), Low: new(400.0), AtLeast: true, Searches: 2, Reason: "every level met the objective; raise the load further"}},
		{"one misses at once, and all together", trials(0, 3), point{High: new(100.0), Reason: "the first level, 100, already misses the objective; start lower"}},
		{"nine, of which one breaks early: its own end lies outside the interval of the median",
			append(trials(3, 3, 3, 3, 3, 3, 3, 3), []shown{{good: 1, latency: time.Second}, slow, slow, slow}),
			point{Load: new(100.0), Low: new(100.0), High: new(400.0), Searches: 9}},
		{"one of little weight misses at once: the lower end is 0",
			append(trials(3, 3), []shown{{good: 1, latency: time.Second}, fine, fine, slow}),
			point{Load: new(300.0), Low: new(0.0), High: new(400.0), Searches: 3}},
		{"one was disturbed where it missed: no upper end", append(trials(2, 2, 2, 2), []shown{fine, fine, beside, slow}),
			point{Load: new(200.0), Low: new(200.0), Searches: 5, Reason: "in 1 of 5 trials others took CPU at the level that missed the objective"}},
		{"all were", [][]shown{{fine, fine, beside, slow}, {fine, fine, beside, slow}}, point{Load: new(200.0), Low: new(200.0), AtLeast: true, Searches: 2, Reason: besides(300)}},
		{"nine, of which one was: the interval of the median is closed", append(trials(2, 2, 2, 2, 2, 2, 2, 2), []shown{fine, fine, beside, slow}),
			point{Load: new(200.0), Low: new(200.0), High: new(300.0), Searches: 9}},
		{"one says nothing", append(trials(2, 2), []shown{mute, mute, mute, mute}), point{Load: new(200.0), Low: new(200.0), High: new(300.0), Searches: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := ramped(rampTo(100, 200, 300, 400), c.trials...)
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
