package capacity

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
)

// serverSums are the sums of one frame of 10 s with 100 periods.
func serverSums(cores, limit float64, throttledPeriods *int64, throttled *float64) *sums.Server {
	t := sums.New()
	cpu, periods := 10*cores, int64(100)
	s := &signals.Server{CPU: &cpu, Up: true}
	if limit > 0 {
		s.CPULimit = &limit
	}
	if throttledPeriods != nil {
		s.Periods, s.ThrottledPeriods, s.Throttled = &periods, throttledPeriods, throttled
	}
	t.Add(&signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, Of: "go", End: 10e9, Server: s}, "go")
	return &t.Server
}

func TestAnUsedLimitLimitsOnlyIfTheKernelStops(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		name    string
		server  *sums.Server
		stopped bool
		by      string
	}{
		{"one thread under one CPU, never throttled", serverSums(0.97, 1, n(0), new(0.0)), false, ""},
		{"one thread under one CPU, a millisecond in 28% of the periods", serverSums(0.99, 1, n(28), new(0.028)), false, ""},
		{"one thread under half a CPU", serverSums(0.5, 0.5, n(100), new(5.0)), true, summary.ByCPULimit},
		{"two threads under 1.5 CPUs", serverSums(1.5, 1.5, n(100), new(5.0)), true, summary.ByCPULimit},
		{"four threads under one CPU, with a rest", serverSums(0.91, 1, n(62), new(8.0)), true, summary.ByService},
		{"less than the limit on average", serverSums(0.86, 1, n(45), new(7.0)), true, summary.ByService},
		{"only the periods are known, and few are throttled", serverSums(0.99, 1, n(28), nil), false, ""},
		{"only the periods are known, and most are throttled", serverSums(0.99, 1, n(87), nil), true, summary.ByCPULimit},
		{"throttling is not known, and one thread may be busy", serverSums(0.97, 1, nil, nil), false, summary.ByService},
		{"throttling is not known, and no number of threads explains the use", serverSums(0.49, 0.5, nil, nil), false, summary.ByCPULimit},
		{"no limit", serverSums(0.99, 0, nil, nil), false, ""},
	} {
		all := sums.New()
		all.Server = *c.server
		if got := stopped(c.server); got != c.stopped {
			t.Errorf("%s: stopped %v", c.name, got)
		}
		if by, evidence := (Stretch{Sums: all}).ownLimit(); by != c.by {
			t.Errorf("%s: limited by %q (%s), want %q", c.name, by, wording.Of(evidence), c.by)
		}
	}
}

// Late requests at 0.2 of 0.33 CPUs waited for no limit. Where it then stops the service in
// every period of the overload, "neither its CPU limit" is refuted; where it is not used up
// there, it is not.
func TestALimitThatTheOverloadUsesUpIsNotExcluded(t *testing.T) {
	few, all := int64(5), int64(100)
	for _, c := range []struct {
		over *sums.Server
		want finding.Kind
	}{
		{serverSums(0.33, 0.33, &all, new(5.0)), finding.LimitOrLock},
		{serverSums(0.25, 0.33, &few, new(0.1)), finding.NothingUsedUp},
	} {
		low, over := sums.New(), sums.New()
		low.Server, over.Server = *serverSums(0.2, 0.33, &few, new(0.1)), *c.over
		by, shown := (Stretch{Sums: low, over: []overload{{load: 100, sums: over}}}).used(nil)
		if by != summary.ByService || shown.Kind != c.want {
			t.Errorf("limited by %q: %s, want kind %v", by, wording.Of(shown), c.want)
		}
	}
}

// A service that one worker serves uses less than a core, beside a generator: with a
// third of the CPUs idle, no request waits for one for long.
func TestAHostWithIdleCPUIsNotTheLimit(t *testing.T) {
	for idle, want := range map[float64]string{0.67: "", 0.3: "", 0.1: summary.ByHost} {
		all := sums.New()
		cpu := 9.0
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, Of: "go", End: 10e9, Server: &signals.Server{CPU: &cpu, Up: true}}, "go")
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, End: 10e9, Host: &signals.Host{CPUs: 2, Idle: idle, Busy: 2 - idle}}, "go")
		s := Stretch{Sums: all, over: []overload{{load: 2212, sums: all}}}
		if by, evidence := s.busy(); by != want {
			t.Errorf("%v of 2 CPUs idle: limited by %q (%s), want %q", idle, by, wording.Of(evidence), want)
		}
	}
}

// One busy thread uses a core, and so does what a generator leaves of a host with two CPUs:
// only idle CPU distinguishes them.
func TestABusyThreadIsTheLimitOnlyBesideIdleCPU(t *testing.T) {
	for idle, want := range map[float64]string{0.8: summary.ByParallelism, 0.3: summary.ByParallelism, 0.12: summary.ByHost, 0: summary.ByHost} {
		all := sums.New()
		cpu := 9.9
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, Of: "nginx", End: 10e9, Server: &signals.Server{CPU: &cpu, Up: true}}, "nginx")
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, End: 10e9, Host: &signals.Host{CPUs: 2, Idle: idle, Busy: 2 - idle}}, "nginx")
		s := Stretch{Sums: all, over: []overload{{load: 45000, sums: all}}}
		by, evidence := s.busy()
		if by != want || strings.Contains(wording.Of(evidence), "may be the limit as well") != (want == summary.ByHost) {
			t.Errorf("%v of 2 CPUs idle: limited by %q (%s), want %q", idle, by, wording.Of(evidence), want)
		}
	}
}

// The values are those of the table of Erlang C in textbooks.
func TestErlangC(t *testing.T) {
	for _, c := range []struct {
		n           int
		share, want float64
	}{{1, 0.74, 0.74}, {2, 0.5, 1. / 3}, {4, 0.8, 0.5964}, {1, 1, 1}, {3, 1.2, 1}, {4, 0, 0}} {
		if got := erlangC(c.n, c.share); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%d servers, %v busy: %v, want %v", c.n, c.share, got, c.want)
		}
	}
}

func TestWholeCores(t *testing.T) {
	for cores, want := range map[float64]int{0.1: 0, 0.5: 0, 0.74: 0, 0.93: 0, 0.97: 1, 1.0: 1, 1.08: 1, 1.2: 0, 1.9: 0, 1.97: 2, 2.5: 0, 2.95: 3, 3.2: 0} {
		if got, _ := wholeCores(cores); got != want {
			t.Errorf("%v cores: %d threads, want %d", cores, got, want)
		}
	}
}

func TestFindingsThatExcludeEachOtherAreWithheld(t *testing.T) {
	for _, c := range []struct {
		name      string
		by        string
		tail      summary.Causes
		throttled int64 // of 100 periods of the windows that tested the answer
		waits     bool
		want      string // a part of the contradiction; "": it stands
	}{
		{"a limit, and a tail that is not throttled", summary.ByCPULimit, summary.Causes{Rest: 1}, 60, false, "0% of the time of its slowest requests at the breaking point is throttling"},
		{"a limit, and the tail below it was not throttled at all", summary.ByCPULimit, summary.Causes{Rest: 1}, 0, false, ""},
		{"a limit, and a throttled tail", summary.ByThrottling, summary.Causes{Throttling: 0.6, Rest: 0.4}, 60, false, ""},
		{"busy threads, and a throttled tail", summary.ByParallelism, summary.Causes{Throttling: 0.6, Rest: 0.4}, 60, false, "60% of the time"},
		{"busy threads, and a few throttled requests", summary.ByParallelism, summary.Causes{Requests: 19, Throttling: 0.6, Rest: 0.4}, 60, false, ""},
		{"a lock or a pool, and a tail of the dependency", summary.ByService, summary.Causes{Dependency: 0.7, Rest: 0.3}, 0, true, ""},
		{"the dependency, and none of the tail", summary.ByDependency, summary.Causes{Rest: 1}, 0, true, "0% of the time"},
		{"the dependency, which is not reported", summary.ByDependency, summary.Causes{Rest: 1}, 0, false, ""},
		{"errors, and the generator's tail", summary.ByErrors, summary.Causes{Generator: 0.6, Rest: 0.4}, 0, false, ""},
		{"the generator's tail", summary.ByParallelism, summary.Causes{Generator: 0.3, GeneratorQueue: 0.3, Rest: 0.4}, 0, false, "60% of the time"},
		{"the generator was the limit anyway", summary.ByGenerator, summary.Causes{Generator: 1}, 0, false, ""},
	} {
		periods := int64(100)
		cell := summary.Cell{CPU: summary.CPU{Periods: &periods, ThrottledPeriods: &c.throttled}, Causes: &c.tail,
			Breaking: &summary.BreakingPoint{RateRPS: new(100.0), LimitedBy: c.by, Shown: []finding.Finding{recorded("the figures")}}}
		if c.waits {
			cell.WaitsMS = &summary.Waits{}
		}
		WithholdRefuted(&cell)
		b := worded(cell.Breaking)
		if (b.Contradiction == "") != (c.want == "") || !strings.Contains(b.Contradiction, c.want) || (b.LimitedBy == "") != (c.want != "") {
			t.Errorf("%s: limited by %q, contradiction %q, want %q", c.name, b.LimitedBy, b.Contradiction, c.want)
		}
	}
}

// unclearAt is a breaking point that the limit or a lock may explain.
func unclearAt(b *summary.BreakingPoint) *summary.BreakingPoint {
	b.Shown = []finding.Finding{{Kind: finding.LimitOrLock, Use: finding.Use{OfLimit: new(0.95)}}}
	return b
}

func TestALimitThatCostsNoLoadIsNotTheLimit(t *testing.T) {
	at := func(load float64, by string) *summary.BreakingPoint {
		return &summary.BreakingPoint{RateRPS: &load, LimitedBy: by}
	}
	ends := func(b *summary.BreakingPoint, low, high float64) *summary.BreakingPoint {
		b.Low, b.High = &low, &high
		return b
	}
	bound := at(100, summary.ByGenerator)
	bound.AtLeast = true
	for _, c := range []struct {
		name        string
		under, free *summary.BreakingPoint
		withheld    bool
	}{
		{"the same without it", at(100, summary.ByCPULimit), at(101, summary.ByService), true},
		{"less without it", at(100, summary.ByThrottling), at(90, summary.ByService), true},
		{"more without it", at(100, summary.ByCPULimit), at(200, summary.ByHost), false},
		{"limited by something else", at(100, summary.ByParallelism), at(101, summary.ByParallelism), false},
		{"its own parallelism, and more without it", ends(at(100, summary.ByParallelism), 95, 105), ends(at(126, summary.ByParallelism), 120, 130), true},
		{"its own parallelism, and intervals that overlap", ends(at(100, summary.ByParallelism), 90, 122), ends(at(126, summary.ByParallelism), 120, 130), false},
		{"more without it, within both intervals", ends(at(100, summary.ByCPULimit), 82, 112), ends(at(108, summary.ByService), 90, 118), true},
		{"more without it than one start holds", ends(at(100, summary.ByCPULimit), 95, 105), ends(at(108, summary.ByService), 90, 118), false},
		{"the limit or a lock, and more without it", unclearAt(ends(at(100, summary.ByService), 95, 105)), ends(at(126, summary.ByParallelism), 120, 130), true},
		{"the limit or a lock, and the same without it", unclearAt(at(100, summary.ByService)), at(101, summary.ByParallelism), true},
		{"the limit or a lock, and intervals that overlap", unclearAt(ends(at(100, summary.ByService), 90, 122)), ends(at(126, summary.ByParallelism), 120, 130), false},
		{"only a bound without it", at(100, summary.ByCPULimit), bound, false},
		{"not searched without it", at(100, summary.ByCPULimit), nil, false},
	} {
		if got := withoutLimit(c.under, c.free); (got != c.under) != c.withheld || byLimit(got) && c.withheld && *c.free.Load() < 120 || c.under.LimitedBy == "" {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	limited, free := "1", "2"
	cells := []summary.Cell{
		{Service: "go", Limits: summary.Limits{CPUMillis: new(int64(1000)), Replicas: 1}, Vary: map[string]*string{"cpu": &limited}, Breaking: at(100, summary.ByCPULimit)},
		{Service: "go", Limits: summary.Limits{Replicas: 1}, Vary: map[string]*string{"cpu": &free}, Breaking: at(100, summary.ByService)},
		{Service: "other", Limits: summary.Limits{CPUMillis: new(int64(1000)), Replicas: 1}, Breaking: at(100, summary.ByCPULimit)},
	}
	WithholdUnlimited(cells, nil)
	if cells[0].Breaking.LimitedBy != summary.ByService || cells[2].Breaking.LimitedBy != summary.ByCPULimit {
		t.Errorf("%+v, %+v", cells[0].Breaking, cells[2].Breaking)
	}
}

// A service that pauses misses its objective without the limit at lower loads than the
// breaking point that its search under the limit found by chance.
func TestALimitIsNotNamedBesideMissesWithoutIt(t *testing.T) {
	late := finding.Finding{Kind: finding.PerhapsLateAtAnyLoad, Load: 95, Share: 0.06, Allowed: 0.01}
	for _, c := range []struct {
		name     string
		why      finding.Finding
		missed   float64
		withheld bool
	}{
		{"late at lower loads", late, 66, true},
		{"late at higher loads only", late, 120, false},
		{"no answer for another reason", finding.Finding{Kind: finding.Interrupted}, 66, false},
	} {
		load, met, missed := 80.0, true, false
		cells := []summary.Cell{
			{Service: "go", Limits: summary.Limits{CPUMillis: new(int64(500)), Replicas: 1}, Breaking: &summary.BreakingPoint{RateRPS: &load, LimitedBy: summary.ByCPULimit}},
			{Service: "go", Limits: summary.Limits{Replicas: 1}, Breaking: &summary.BreakingPoint{Why: []finding.Finding{c.why}},
				Steps: []summary.Step{{Target: 54, Met: &met}, {Target: c.missed, Met: &missed}}},
		}
		WithholdUnlimited(cells, nil)
		if b := cells[0].Breaking; (b.LimitedBy == "") != c.withheld || (b.Refuted.Other == c.missed) != c.withheld {
			t.Errorf("%s: limited by %q, refuted by %+v", c.name, b.LimitedBy, b.Refuted)
		}
	}
}

// A record of `millicore try` has a service for each setting, and one for the server
// without its limit.
func TestALimitThatCostsAServerNoLoadIsNotTheLimitOfItsSettings(t *testing.T) {
	server := &experiment.Server{Name: "server", Settings: []experiment.Setup{
		{Service: "as-is", Label: "as it is"}, {Service: "slower", Label: "GOMAXPROCS=1"}, {Service: "alike", Label: "GOMAXPROCS=2"},
		{Service: "better", Label: "GOMAXPROCS=4"}, {Service: "two", Label: "2 replicas"}, {Label: "GOMAXPROCS=3", NoEffect: "it has no effect"},
		{Service: "as-is-500m", Label: "as it is"}, {Service: "alike-500m", Label: "GOMAXPROCS=2"}, {Service: "free", Label: "without the CPU limit"}}}
	cell := func(service string, load float64, millis, replicas int64) summary.Cell {
		c := summary.Cell{Service: service, Breaking: &summary.BreakingPoint{RateRPS: &load, LimitedBy: summary.ByThrottling}, Limits: summary.Limits{Replicas: int(replicas)}}
		if millis > 0 {
			c.Limits.CPUMillis = &millis
		} else {
			c.Breaking.LimitedBy = summary.ByService
		}
		return c
	}
	cells := []summary.Cell{cell("as-is", 100, 1000, 1), cell("slower", 80, 1000, 1), cell("alike", 103, 1000, 1), cell("better", 150, 1000, 1),
		cell("two", 100, 1000, 2), cell("as-is-500m", 60, 500, 1), cell("alike-500m", 100, 500, 1), cell("free", 101, 0, 1)}
	WithholdUnlimited(cells, server)
	got := map[string]string{}
	for i := range cells {
		got[cells[i].Service] = cells[i].Breaking.LimitedBy
	}
	want := map[string]string{"as-is": summary.ByService, "slower": summary.ByThrottling, "alike": summary.ByService, "better": summary.ByThrottling, "two": summary.ByThrottling,
		"as-is-500m": summary.ByThrottling, "alike-500m": summary.ByThrottling, "free": summary.ByService}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("limited by (-want +got):\n%s", d)
	}
	server.Settings[len(server.Settings)-1].UnknownLimits = true
	cells = []summary.Cell{cell("as-is", 100, 1000, 1), cell("free", 101, 0, 1)}
	if WithholdUnlimited(cells, server); cells[0].Breaking.LimitedBy != summary.ByThrottling {
		t.Error("a server whose limits are not known counts as one without a limit")
	}
}

// The CPU limit of a dependency is a cause by the thresholds that hold for the service's
// own. A burst of a database stops it in a period or two, at a few percent of its limit.
func TestADependencysLimitLimitsByTheSameThresholds(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		name     string
		db       *sums.Server
		by       string
		evidence string
	}{
		{"one burst at 5% of its limit", serverSums(0.05, 1, n(1), new(0.08)), summary.ByService, ""},
		{"four bursts at 30% of its limit", serverSums(0.3, 1, n(4), new(0.4)), summary.ByService, ""},
		{"bursts in a quarter of the periods", serverSums(0.5, 1, n(25), new(2.0)), summary.ByService, ""},
		{"bursts in most of the periods", serverSums(0.85, 1, n(85), new(6.0)), summary.ByDependency, "db was throttled in 85% of the periods"},
		{"its limit is used up", serverSums(0.97, 1, n(90), new(6.0)), summary.ByDependency, "db used 97% of its own CPU limit, throttled in 90% of the periods"},
		{"one thread fills its limit, and is not stopped", serverSums(0.99, 1, n(5), new(0.005)), summary.ByService, ""},
	} {
		all := sums.New()
		all.Server, all.Deps = *serverSums(0.5, 1, n(0), new(0.0)), map[string]*sums.Server{"db": c.db}
		if by, evidence := (Stretch{Sums: all}).inside(nil); by != c.by || !strings.HasPrefix(wording.Evidence(evidence), c.evidence) {
			t.Errorf("%s: limited by %q (%s), want %q (%s)", c.name, by, wording.Evidence(evidence), c.by, c.evidence)
		}
	}
}
