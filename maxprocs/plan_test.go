package maxprocs

import (
	"errors"
	"math"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
)

// seen is a view of a host of 8 CPUs whose process is limited by its own group.
func seen(cpus float64) view {
	limit := cgroup.CPULimit{State: cgroup.Limited, CPUs: cpus, Dir: "/sys/fs/cgroup/a"}
	return view{limit: limit, own: limit, affinity: 8, cpus: 8, groups: true}
}

func TestPlan(t *testing.T) {
	pinned := seen(6)
	pinned.affinity, pinned.cpus = 3, 3
	single := seen(0.25)
	single.affinity, single.cpus = 1, 1
	requestedOf := func(v view, cpus float64) view {
		v.request = cpus
		return v
	}
	requested := view{limit: cgroup.CPULimit{State: cgroup.Unlimited}, cpus: 8, request: 2.1}
	one := requested
	one.cpus = 1
	aware := func(own, inEffect view) view {
		inEffect.own, inEffect.aware = own.limit, func() bool { return true }
		return inEffect
	}
	above := seen(1)
	above.limit.Dir = "/sys/fs/cgroup"
	for _, tt := range []struct {
		name string
		opts []Option
		view view
		want int
		why  Why
	}{
		{"a whole limit", nil, seen(2), 2, FromLimit},
		{"up by default", nil, seen(1.5), 2, FromLimit},
		{"up by default, hardly above a whole limit", nil, seen(2.1), 3, FromLimit},
		{"down", []Option{RoundQuotaFunc(Floor)}, seen(2.9), 2, FromLimit},
		{"up", []Option{RoundQuotaFunc(Ceil)}, seen(2.1), 3, FromLimit},
		{"up, nothing to round", []Option{RoundQuotaFunc(Ceil)}, seen(2), 2, FromLimit},
		{"to the nearest, below a half", []Option{RoundQuotaFunc(Round)}, seen(2.4), 2, FromLimit},
		{"to the nearest, a half", []Option{RoundQuotaFunc(Round)}, seen(2.5), 3, FromLimit},
		{"no function is up", []Option{RoundQuotaFunc(Floor), RoundQuotaFunc(nil)}, seen(2.2), 3, FromLimit},
		{"a function of one's own", []Option{RoundQuotaFunc(func(c float64) int { return int(2 * c) })}, seen(2.5), 5, FromLimit},
		{"a function without sense", []Option{RoundQuotaFunc(func(float64) int { return math.MinInt })}, seen(2), 1, Minimum},
		{"a function without measure", []Option{RoundQuotaFunc(func(float64) int { return math.MaxInt })}, seen(2), 8, AllCPUs},
		{"less than one CPU", nil, seen(0.25), 2, Minimum},
		{"less than one CPU, with one CPU", nil, single, 1, AllCPUs},
		{"less than one CPU, at least 1", []Option{Min(1)}, seen(0.25), 1, FromLimit},
		{"less than one CPU, by choice", []Option{OverrideDefault()}, seen(0.25), 1, FromLimit},
		{"less than one CPU, rounded down", []Option{RoundQuotaFunc(Floor)}, seen(0.25), 1, Minimum},
		{"below the minimum", []Option{Min(3)}, seen(2), 3, Minimum},
		{"a minimum below 1 is ignored", []Option{Min(5), Min(-1)}, seen(2), 5, Minimum},
		{"an option that is nil", []Option{nil, Min(3)}, seen(2), 3, Minimum},
		{"a minimum above the CPUs", []Option{Min(100)}, seen(2), 8, AllCPUs},
		{"a limit above the CPUs", nil, seen(12), 8, AllCPUs},
		{"a limit of all CPUs", nil, seen(8), 8, FromLimit},
		{"a limit above the affinity", nil, pinned, 3, AllCPUs},
		{"a limit beyond all numbers", nil, seen(math.Inf(1)), 8, AllCPUs},
		{"no number at all", nil, seen(math.NaN()), 2, Minimum},
		{"Go sees it", nil, aware(seen(1), seen(1)), 0, GoDefault},
		{"Go sees it, and is overridden", []Option{OverrideDefault()}, aware(seen(1), seen(1)), 1, FromLimit},
		{"Go sees it, and the rounding is chosen", []Option{RoundQuotaFunc(Floor)}, aware(seen(2.5), seen(2.5)), 2, FromLimit},
		{"Go sees it, and the minimum is chosen", []Option{Min(1)}, aware(seen(1), seen(1)), 1, FromLimit},
		{"Go sees a higher one", nil, aware(seen(3), above), 2, Minimum},
		{"Go sees none", nil, aware(view{limit: cgroup.CPULimit{State: cgroup.Unlimited}}, above), 2, Minimum},
		{"no limit", []Option{Min(3)}, view{limit: cgroup.CPULimit{State: cgroup.Unlimited}, cpus: 8}, 0, NoLimit},
		{"no limit, and a request that does not count", nil, requested, 0, NoLimit},
		{"no limit, and a request", []Option{FromRequest()}, requested, 3, FromCPURequest},
		{"no limit, and a request, which is always rounded up", []Option{FromRequest(), RoundQuotaFunc(Floor)}, requested, 3, FromCPURequest},
		{"no limit, and a request below the minimum", []Option{FromRequest(), Min(4)}, requested, 4, Minimum},
		{"no limit, and a request above the CPUs", []Option{FromRequest()}, requestedOf(one, 3), 1, AllCPUs},
		{"a limit beside a request", []Option{FromRequest()}, requestedOf(seen(4), 3), 4, FromLimit},
		{"no limit and no request", []Option{FromRequest()}, view{limit: cgroup.CPULimit{State: cgroup.Unlimited}, cpus: 8}, 0, NoLimit},
		{"not known", []Option{Min(3)}, view{limit: cgroup.CPULimit{Err: errors.New("refused")}, cpus: 8}, 0, LimitUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, why := optionsOf(tt.opts).plan(tt.view)
			if got != tt.want || why != tt.why {
				t.Errorf("got %d, %v; want %d, %v", got, why, tt.want, tt.why)
			}
		})
	}
}

func TestRuntimeDefault(t *testing.T) {
	above := seen(1) // by a group above, which the runtime does not read
	above.own = cgroup.CPULimit{State: cgroup.Unlimited}
	for _, tt := range []struct {
		name  string
		view  view
		aware bool
		want  int
	}{
		{"rounds up", seen(2.1), true, 3},
		{"a whole limit", seen(3), true, 3},
		{"goes no lower than 2", seen(0.5), true, 2},
		{"goes no higher than the CPUs", seen(100), true, 8},
		{"reads its own group only", above, true, 8},
		{"is not aware", seen(2), false, 8},
	} {
		if got := runtimeDefault(tt.view, tt.aware); got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
	if seen(3).isDefault(5) {
		t.Error("neither the limit nor all CPUs, and taken for a default")
	}
	if all := seen(100); hasOwnDefault && !all.isDefault(8) {
		t.Error("all CPUs with and without the limit, and not taken for a default")
	}
	one := seen(0.5)
	one.affinity = 1
	if got := runtimeDefault(one, true); got != 1 {
		t.Errorf("one CPU: got %d, want 1", got)
	}
}

func TestNext(t *testing.T) {
	const old = 0 // a runtime without a default of its own
	stay := move{}
	for _, tt := range []struct {
		name    string
		state   state
		planned int
		why     Why
		now     int
		def     int
		want    move
	}{
		{"the first time", state{}, 1, FromLimit, 8, 2, move{procs: 1}},
		{"the first time, and the runtime is right", state{}, 2, FromLimit, 2, 2, stay},
		{"the first time, and the runtime would be right", state{}, 3, FromLimit, 8, 3, move{procs: 3, byDefault: true}},
		{"an old runtime", state{}, 2, FromLimit, 8, old, move{procs: 2}},
		{"no limit from the start", state{}, 0, NoLimit, 5, 8, stay},
		{"not known from the start", state{}, 0, LimitUnknown, 5, 8, stay},

		{"the limit is as it was", state{planned: 1, ours: true, changed: true}, 1, FromLimit, 1, 2, stay},
		{"the limit has risen", state{planned: 1, ours: true, changed: true}, 3, FromLimit, 1, 4, move{procs: 3}},
		{"the limit has come to where the runtime is right", state{planned: 1, ours: true, changed: true}, 4, FromLimit, 1, 4, move{procs: 4, byDefault: true}},
		{"the runtime was faster, and is right", state{planned: 2}, 4, FromLimit, 4, 4, stay},
		{"the runtime was faster, and rounds otherwise", state{planned: 2}, 2, FromLimit, 3, 3, move{procs: 2}},
		{"the program has set another value", state{planned: 2, ours: true, changed: true}, 2, FromLimit, 8, 2, stay},
		{"the program has, where the runtime had been right", state{planned: 2}, 2, FromLimit, 8, 2, stay},
		{"the program has, with an old runtime", state{planned: 2, ours: true, changed: true}, 2, FromLimit, 8, old, stay},
		{"the program has, and then the limit has changed", state{planned: 2, ours: true, changed: true}, 3, FromLimit, 8, 4, move{procs: 3}},
		{"the limit can no longer be read", state{planned: 1, ours: true, changed: true}, 0, LimitUnknown, 1, 2, stay},

		{"Go sees it from the start", state{}, 0, GoDefault, 2, 2, stay},
		{"Go sees it, and the program has set another value before", state{}, 0, GoDefault, 7, 2, stay},
		{"Go sees the limit that has come", state{planned: 1, ours: true, changed: true}, 0, GoDefault, 1, 2, move{giveBack: true}},
		{"Go has had it back", state{changed: true}, 0, GoDefault, 1, 2, stay},

		{"the limit was removed", state{planned: 1, ours: true, changed: true}, 0, NoLimit, 1, 8, move{procs: 8, byDefault: true}},
		{"the limit was removed, with an old runtime", state{planned: 1, ours: true, changed: true}, 0, NoLimit, 1, old, move{procs: 8}},
		{"the limit was removed, and the runtime was faster", state{planned: 2}, 0, NoLimit, 8, 8, stay},
		{"the limit was removed long ago", state{changed: true}, 0, NoLimit, 5, 8, stay},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.state.next(tt.planned, tt.why, tt.now, seen(2), func(procs int) bool { return procs == tt.def }); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestGODEBUG(t *testing.T) {
	for _, tt := range []struct {
		name, program, environment string
		want                       bool
	}{
		{"nothing said", "", "", true},
		{"by the go line", "containermaxprocs=0,tlsmlkem=0,updatemaxprocs=0", "", false},
		{"by the environment", "", "gctrace=0,containermaxprocs=0", false},
		{"the environment is last", "containermaxprocs=0", "containermaxprocs=1", true},
		{"the last one counts", "", "containermaxprocs=1,containermaxprocs=0", false},
		{"what is no number does not count", "containermaxprocs=0", "containermaxprocs=yes,containermaxprocs", false},
		{"another setting", "updatemaxprocs=0", "xcontainermaxprocs=0", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := godebug(tt.program, tt.environment, "containermaxprocs"); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
