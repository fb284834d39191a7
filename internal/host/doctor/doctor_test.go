package doctor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/heaps"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

const oldLine = "asynctimerchan=1,containermaxprocs=0,decoratemappings=0,updatemaxprocs=0"

// goService is a Go service of a given parallelism under a limit that its own
// group sets, in CPUs, on a host of 8.
func goService(parallelism int, limit float64) inspect.Process {
	return inspect.Process{
		PID: 42, Name: "api", Command: []string{"/app/api", "--port", "80"}, User: 1000,
		Info: runtimes.Info{
			PID: 42, Runtime: runtimes.Go, Version: "go1.26.8", Affinity: 8, Threads: 12, Go: &runtimes.GoFacts{Aware: true},
			Parallelism: runtimes.Parallelism{Value: parallelism, Source: runtimes.Read, From: "runtime.gomaxprocs in the process's memory"},
		},
		CPU: inspect.CPULimit{
			State: inspect.Limited, CPUs: limit, Own: limit, Period: 100 * time.Millisecond, Version: 2, CanBurst: true,
			Group: "/pods/api", SetBy: "/pods/api", Dir: "/sys/fs/cgroup/pods/api",
		},
		Throttling: &inspect.Throttling{},
	}
}

// with changes a process.
func with(p inspect.Process, change func(*inspect.Process)) inspect.Process {
	info := *p.Info.Go
	throttling := *p.Throttling
	p.Info.Go, p.Throttling = &info, &throttling
	change(&p)
	return p
}

// watched is a watch of 50 s, in which used is the share of a limit.
func watched(p inspect.Process, throttled, periods int64, used float64) inspect.Process {
	return with(p, func(p *inspect.Process) {
		w := counts(throttled, periods)
		w.Length = 50 * time.Second
		u := time.Duration(used * p.CPU.CPUs * float64(w.Length))
		w.Used = &u
		p.Throttling.Watch, p.Throttling.Since = &w, counts(throttled, periods)
		p.Used = u
	})
}

// since is what was counted since the group was made.
func since(p inspect.Process, throttled, periods int64) inspect.Process {
	return with(p, func(p *inspect.Process) { p.Throttling.Since = counts(throttled, periods) })
}

func counts(throttled, periods int64) inspect.Counts {
	return inspect.Counts{Throttled: throttled, Periods: periods, Stopped: time.Duration(throttled) * 41 * time.Millisecond}
}

// ruled sets what the runtime's rule gives.
func ruled(p inspect.Process) inspect.Process {
	p.Ruled, p.Why = runtimes.Default(p.Info, runtimes.Limit{CPUs: p.CPU.CPUs, Leaf: p.CPU.Own}, runtimes.Machine{Online: 8, Affinity: p.Info.Affinity})
	return p
}

func examine(all ...inspect.Process) []Finding {
	for i := range all {
		all[i] = ruled(all[i])
	}
	return Examine(inspect.Host{Online: 8, Processes: all})
}

// titles are the findings in short: level and title.
func titles(all []Finding) []string {
	var short []string
	for _, f := range all {
		short = append(short, f.Level.String()+": "+f.Title)
	}
	return short
}

func TestExamine(t *testing.T) {
	old := func(p inspect.Process, version, godebug string) inspect.Process {
		return with(p, func(p *inspect.Process) {
			p.Info.Version, p.Info.Go.Aware, p.Info.Go.DefaultGODEBUG = version, false, godebug
		})
	}
	env := func(p inspect.Process, name, value string) inspect.Process {
		p.Info.Env = map[string]string{name: value}
		return p
	}
	inherit := func(p inspect.Process) inspect.Process {
		p.CPU.Own, p.CPU.SetBy, p.CPU.Dir = 0, "/pods", "/sys/fs/cgroup/pods"
		return p
	}
	tests := []struct {
		name string
		of   inspect.Process
		want []string
	}{
		{"no throttling, parallelism within the limit", watched(goService(2, 2), 0, 412, 0.4), nil},
		{"no limit", func() inspect.Process {
			p := goService(8, 2)
			p.CPU, p.Throttling = inspect.CPULimit{State: inspect.Unlimited}, nil
			return p
		}(), nil},
		{"a limit that is not known", func() inspect.Process {
			p := goService(8, 2)
			p.CPU, p.Throttling = inspect.CPULimit{State: inspect.Unknown, Why: "cannot be seen from here"}, nil
			return p
		}(), nil},
		{"throttled by its parallelism", env(watched(goService(8, 2), 157, 412, 0.6), "GOMAXPROCS", "8"),
			[]string{"critical: parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods"}},
		{"throttled a little by its parallelism", env(watched(goService(8, 2), 24, 412, 0.6), "GOMAXPROCS", "8"),
			[]string{"info: parallelism 8 exceeds the limit of 2 CPUs: throttled in 5.8% of 412 periods"}},
		{"throttled before the watch only", func() inspect.Process {
			p := env(watched(goService(8, 2), 0, 412, 0.6), "GOMAXPROCS", "8")
			p.Throttling.Since = counts(1570, 4120)
			return p
		}(), []string{"info: parallelism 8 exceeds the limit of 2 CPUs: rarely throttled during the watch"}},
		{"throttled before a watch that was too short", func() inspect.Process {
			p := env(watched(goService(8, 2), 0, 49, 0.1), "GOMAXPROCS", "8")
			p.Throttling.Since = counts(1570, 4120)
			return p
		}(), []string{"info: parallelism 8 exceeds the limit of 2 CPUs: under load it can be throttled for 75.0 ms of each 100 ms"}},
		{"bursts before a short watch that used the limit up", func() inspect.Process {
			p := watched(goService(2, 2), 20, 30, 0.9)
			u := 15 * time.Second
			p.Throttling.Since = counts(20, 200)
			p.Throttling.Since.Used = &u
			return p
		}(), nil},
		{"throttled at its start, then idle", func() inspect.Process {
			p := watched(goService(1, 0.2), 0, 17, 0.01)
			p.Throttling.Since = counts(21, 67)
			return p
		}(), nil},
		{"an invalid GOMAXPROCS is ignored", env(old(since(goService(8, 2), 0, 0), "go1.26.8", oldLine), "GOMAXPROCS", ""),
			[]string{
				"info: parallelism 8 exceeds the limit of 2 CPUs: under load it can be throttled for 75.0 ms of each 100 ms",
				"info: binary built with Go 1.26.8, but its go.mod says go 1.22: not container-aware (DefaultGODEBUG containermaxprocs=0)",
			}},
		{"too few periods", env(watched(goService(8, 2), 40, 49, 0.97), "GOMAXPROCS", "8"),
			[]string{"info: parallelism 8 exceeds the limit of 2 CPUs: under load it can be throttled for 75.0 ms of each 100 ms"}},
		{"just enough periods", env(watched(goService(8, 2), 40, 50, 0.97), "GOMAXPROCS", "8"),
			[]string{"critical: parallelism 8 exceeds the limit of 2 CPUs: throttled in 80% of 50 periods"}},
		{"too few periods, parallelism slightly above the limit", env(since(goService(3, 2), 0, 0), "GOMAXPROCS", "3"),
			[]string{"info: parallelism 3 exceeds the limit of 2 CPUs"}},
		{"a limit that the host's CPUs cannot exceed", func() inspect.Process {
			p := env(since(goService(8, 2), 0, 412), "GOMAXPROCS", "8")
			p.Info.Affinity = 2
			return p
		}(), nil},
		{"the runtime's minimum, throttled", watched(goService(2, 1), 90, 103, 0.9),
			[]string{"warning: limit of 1 CPU with GOMAXPROCS 2, the runtime's minimum: throttled in 87% of 103 periods"}},
		{"the runtime's minimum, not throttled", watched(goService(2, 1), 1, 103, 0.9),
			[]string{"info: limit of 1 CPU with GOMAXPROCS 2, the runtime's minimum: measure with `millicore try`"}},
		{"that minimum by choice", env(watched(goService(2, 1), 90, 103, 0.9), "GOMAXPROCS", "2"),
			[]string{"critical: parallelism 2 exceeds the limit of 1 CPU: throttled in 87% of 103 periods"}},
		{"an old go line, and bursts", old(watched(goService(8, 2), 157, 412, 0.6), "go1.26.8", oldLine), []string{
			"critical: parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods",
			"info: binary built with Go 1.26.8, but its go.mod says go 1.22: not container-aware (DefaultGODEBUG containermaxprocs=0)",
		}},
		{"an old go line", old(watched(goService(8, 2), 157, 412, 0.9), "go1.26.8", oldLine), []string{
			"critical: parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods",
			"warning: binary built with Go 1.26.8, but its go.mod says go 1.22: not container-aware (DefaultGODEBUG containermaxprocs=0)",
		}},
		{"an old go line where seeing the limit gives the same", func() inspect.Process {
			p := old(watched(goService(2, 1), 1, 412, 0.6), "go1.26.8", "containermaxprocs=0,decoratemappings=0")
			p.Info.Affinity = 2
			return p
		}(), []string{
			"info: parallelism 2 exceeds the limit of 1 CPU: rarely throttled during the watch",
			"info: binary built with Go 1.26.8, but its go.mod says go 1.24: not container-aware (DefaultGODEBUG containermaxprocs=0)",
		}},
		{"an old go line with GOMAXPROCS set", env(old(watched(goService(2, 2), 0, 412, 0.6), "go1.26.8", oldLine), "GOMAXPROCS", "2"), nil},
		{"switched off by go.mod", old(watched(goService(8, 2), 0, 412, 0.6), "go1.26.8", "containermaxprocs=0"), []string{
			"info: parallelism 8 exceeds the limit of 2 CPUs: rarely throttled during the watch",
			"info: binary built with Go 1.26.8 with containermaxprocs=0 in its DefaultGODEBUG: not container-aware",
		}},
		{"an old toolchain", old(watched(goService(8, 2), 157, 412, 0.97), "go1.22.3", ""), []string{
			"critical: parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods",
			"warning: Go 1.22.3 ignores CPU limits",
		}},
		{"GODEBUG switches it off", env(watched(goService(8, 2), 157, 412, 0.97), "GODEBUG", "containermaxprocs=0"), []string{
			"critical: parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods",
			"warning: built with Go 1.26.8, but GODEBUG has containermaxprocs=0: not container-aware",
		}},
		{"the limit comes from above", inherit(watched(goService(8, 2), 157, 412, 0.97)), []string{
			"critical: parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods",
			"warning: limit of 2 CPUs comes from the parent group /pods",
		}},
		{"the limit comes from above, and is kept", inherit(since(goService(2, 2), 0, 412)), nil},
		{"bursts", watched(goService(2, 2), 52, 412, 0.12),
			[]string{"warning: throttled while using 12% of its limit on average: bursts (52 of 412 periods throttled)"}},
		{"bursts, which no watch saw", func() inspect.Process {
			p := since(goService(2, 2), 52, 412)
			used := 10 * time.Second // of 82.4 s in the periods that were counted
			p.Throttling.Since.Used = &used
			return p
		}(), nil},
		{"throttled before the watch, which saw too little", func() inspect.Process {
			p := watched(goService(2, 2), 0, 10, 0.01)
			p.Throttling.Since = counts(380, 412)
			used := 82 * time.Second
			p.Throttling.Since.Used = &used
			return p
		}(), nil},
		{"short of memory too", func() inspect.Process {
			p := env(since(goService(8, 2), 0, 0), "GOMAXPROCS", "8")
			set := int64(95 << 20)
			p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: "/a", SetBy: "/a", Unreclaimable: &set}
			return p
		}(), []string{
			"warning: uses 95% of its memory limit of 100 MiB",
			"info: parallelism 8 exceeds the limit of 2 CPUs: under load it can be throttled for 75.0 ms of each 100 ms",
		}},
		{"a limit that is used up", watched(goService(2, 2), 380, 412, 0.98),
			[]string{"warning: limit of 2 CPUs used up (98% on average): throttled in 92% of 412 periods"}},
		{"throttled for an unknown reason", watched(goService(2, 2), 80, 412, 0.7),
			[]string{"info: limit of 2 CPUs: throttled in 19% of 412 periods"}},
		{"parallelism too low to reach the limit", watched(env(goService(1, 4), "GOMAXPROCS", "1"), 0, 412, 0.24),
			[]string{"warning: parallelism 1 under a limit of 4 CPUs: it uses 0.96 CPUs and cannot use more"}},
		{"little parallelism, little use", watched(env(goService(1, 4), "GOMAXPROCS", "1"), 0, 412, 0.1), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := examine(test.of)
			if diff := cmp.Diff(test.want, titles(all)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, f := range all { // the levels say whether a change is recommended
				if change := len(f.Fix) > 0 && !strings.HasPrefix(f.Fix[0], "measure: "); change != (f.Level > Info) {
					t.Errorf("%s: a change is recommended: %v: %q", f.Level, change, f.Fix)
				}
			}
		})
	}
}

// A thread that wakes often waits out the stops of its group, as Go's monitor does, and is none
// that the parallelism does not count. One that computes is. The figures of the first are those of
// a program with four busy goroutines under 0.2 of 2 CPUs.
func TestTheMinimumBesideOtherThreads(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name string
		ran  time.Duration // of the third thread, which waited for the rest
		want string
	}{
		{"Go's monitor", 6 * ms, "warning: limit of 200m CPU with GOMAXPROCS 2, the runtime's minimum: throttled in 100% of 100 periods"},
		{"a library's thread", 660 * ms, "critical: parallelism 2 exceeds the limit of 200m CPU: throttled in 100% of 100 periods"},
	} {
		p := watched(goService(2, 0.2), 100, 100, 1)
		p.Info.Affinity = 2
		before := threads.Reading{At: time.Unix(1000, 0), Of: map[int]proc.Schedstat{1: {}, 2: {}, 3: {}}}
		now := threads.Reading{At: time.Unix(1010, 0), Of: map[int]proc.Schedstat{
			1: {Ran: 943 * ms, Waited: 9061 * ms, Turns: 105}, 2: {Ran: 1051 * ms, Waited: 8947 * ms, Turns: 90},
			3: {Ran: test.ran, Waited: 9004*ms - test.ran, Turns: 120},
		}}
		p.Threads = now.Since(&before)
		if got := titles(examine(p)); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// One finding with all its fields.
func TestAFindingWhole(t *testing.T) {
	p := watched(goService(8, 2), 157, 412, 0.95)
	p.Memory = inspect.Memory{State: inspect.Limited, Limit: 256 << 20}
	p.Info.Env = map[string]string{"GOMAXPROCS": "8"}
	got := examine(p)
	used, throttled := 0.95, 157.0/412
	want := []Finding{{
		Level: Critical, PID: 42, Name: "api", Rule: ParallelismAboveLimit, Limit: "2 CPUs", Used: &used, Throttled: &throttled,
		Title: "parallelism 8 exceeds the limit of 2 CPUs: throttled in 38% of 412 periods",
		Evidence: []string{
			"Go 1.26.8: parallelism 8, read (runtime.gomaxprocs in the process's memory); GOMAXPROCS=8 is set",
			"limit of 2 CPUs (200 ms in each 100 ms) set by its own group /pods/api",
			"watched for 50 s: 157 of 412 periods throttled (500 elapsed), 41.0 ms each, summed over the CPUs, 95% of the limit used; " +
				"since the group was created: 157 of 412 periods throttled, 41.0 ms each, summed over the CPUs",
			"about 2.4 threads wanted to run at once in throttled periods, and shared a limit of 2 CPUs",
		},
		Fix: []string{"try GOMAXPROCS=2", "verify: millicore try --cpu 2 --memory 256Mi --env GOMAXPROCS=8 -- /app/api --port 80"},
		Mechanism: "more threads than the limit has CPUs use the quota up early; then the kernel stops all threads until the next period, " +
			"and the requests in work and those that arrive wait",
		Expect:     Effect{Saturated: "lower p99, about the same throughput", Ordinary: "little change"},
		Confidence: Medium,
		Changes:    []Change{{Env: map[string]string{"GOMAXPROCS": "2"}, Value: 2}},
	}}
	if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "weight" || p.String() == "Process" }, cmp.Ignore())); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A program that calls runtime.GOMAXPROCS ignores its environment and its go line:
// the fix names the call.
func TestAProgramThatSetsItsOwn(t *testing.T) {
	for _, test := range []struct {
		gomaxprocs, evidence, fix string
	}{
		{"4", "; GOMAXPROCS=4 is set in its environment, but the program sets its own value",
			"change the program's call of runtime.GOMAXPROCS to 2, or remove the call: it overrides the environment"},
		{"", "; the runtime's default is 2 here: the program sets its own value, or the CPUs changed after it started",
			"change the program's call of runtime.GOMAXPROCS to 2, or remove the call: it overrides the environment"},
	} {
		p := watched(goService(8, 2), 157, 412, 0.97)
		if test.gomaxprocs != "" {
			p.Info.Env = map[string]string{"GOMAXPROCS": test.gomaxprocs}
		}
		f := examine(p)
		if len(f) != 1 || !strings.HasSuffix(f[0].Evidence[0], test.evidence) || f[0].Fix[0] != test.fix {
			t.Errorf("GOMAXPROCS=%s: got %+v", test.gomaxprocs, f)
		}
		if c := f[0].Changes[0]; c.Env != nil || c.Setting != "runtime.GOMAXPROCS" || c.Value != 2 {
			t.Errorf("GOMAXPROCS=%s: the change is %+v", test.gomaxprocs, c)
		}
	}
}

// Nothing about a program that sets its own number advises the variable: neither the text
// nor the changes. automaxprocs leaves the number to the variable.
func TestTheVariableThatHasNoEffect(t *testing.T) {
	advises := func(p inspect.Process) bool {
		all := examine(p)
		if len(all) == 0 {
			t.Fatal("nothing is found")
		}
		var b strings.Builder
		for _, f := range all {
			b.WriteString(strings.Join(f.Fix, "\n"))
			for _, c := range f.Changes {
				fmt.Fprintf(&b, "%q", slices.Collect(maps.Keys(c.Env)))
			}
		}
		return strings.Contains(b.String(), "GOMAXPROCS=") || strings.Contains(b.String(), `"GOMAXPROCS"`) || strings.Contains(b.String(), "set GOMAXPROCS")
	}
	many := watched(goService(8, 0.8), 410, 412, 1) // it could use one thread at saturation
	many.Info.Affinity = 2
	one := watched(goService(1, 1.7), 0, 412, 1/1.7)
	old := with(watched(goService(16, 2), 400, 412, 0.97), func(p *inspect.Process) { p.Info.Version, p.Info.Go.Aware = "go1.22.3", false })
	for name, p := range map[string]inspect.Process{"8 in code": many, "1 in code": one, "an old toolchain, 16 in code": old} {
		if advises(p) {
			t.Errorf("%s: the variable is advised", name)
		}
	}
	for name, p := range map[string]inspect.Process{
		"automaxprocs":       with(one, func(p *inspect.Process) { p.Info.Go.Automaxprocs = "v1.6.0" }),
		"by the environment": with(one, func(p *inspect.Process) { p.Info.Env = map[string]string{"GOMAXPROCS": "1"} }),
	} {
		if !advises(p) {
			t.Errorf("%s: the variable is not advised", name)
		}
	}
}

// Two processes of a group: the throttling is in the finding about the busy one, and is not
// denied in the one about the other.
func TestAnIdleProcessInAThrottledGroup(t *testing.T) {
	idle := watched(goService(8, 0.8), 53, 62, 1)
	idle.Info.Env, idle.Used = map[string]string{"GOMAXPROCS": "8"}, 0
	busy := idle
	busy.PID, busy.Name, busy.Used = 43, "gunicorn", *idle.Throttling.Watch.Used
	busy.Info = runtimes.Info{PID: 43, Runtime: runtimes.Python, Affinity: 8, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
	want := []string{"warning: limit of 800m CPU used up (100% on average): throttled in 85% of 62 periods", "info: parallelism 8 exceeds the limit of 800m CPU"}
	if diff := cmp.Diff(want, titles(examine(idle, busy))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The fix of bursts names the file and the number, which is at most the quota: that is the
// kernel's maximum.
func TestTheBurstThatAbsorbs(t *testing.T) {
	two := goService(2, 2)
	tests := []struct {
		name   string
		of     inspect.Process
		change func(*inspect.Process)
		want   string
	}{
		{"v2", two, func(*inspect.Process) {},
			"a burst of 41.0 ms would absorb them: echo 41000 > /sys/fs/cgroup/pods/api/cpu.max.burst; or raise the limit to 2.5 CPUs"},
		{"v1", two, func(p *inspect.Process) { p.CPU.Version = 1 },
			"a burst of 41.0 ms would absorb them: echo 41000 > /sys/fs/cgroup/pods/api/cpu.cfs_burst_us; or raise the limit to 2.5 CPUs"},
		{"a kernel without bursts", two, func(p *inspect.Process) { p.CPU.CanBurst = false },
			"raise the limit to 2.5 CPUs: this kernel has no CPU burst"},
		{"a burst that is set", two, func(p *inspect.Process) { p.CPU.Burst = 50 * time.Millisecond },
			"raise the limit to 2.5 CPUs: the burst of 50.0 ms that is set does not absorb them"},
		{"more than the quota", goService(1, 0.2), func(*inspect.Process) {},
			"a burst of 20.0 ms (the kernel's maximum) would absorb a part: echo 20000 > /sys/fs/cgroup/pods/api/cpu.max.burst; or raise the limit to 700m CPU"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := examine(with(watched(test.of, 52, 412, 0.12), test.change))
			if len(all) != 1 || all[0].Fix[0] != test.want {
				t.Errorf("got %+v", all)
			}
		})
	}
}

// Throttling before the watch is evidence only, not a finding: it may be from the
// start-up alone.
func TestThrottlingBeforeTheWatch(t *testing.T) {
	all := examine(since(goService(8, 2), 380, 412))
	const history = "since the group was created: 380 of 412 periods throttled"
	if len(all) != 1 || all[0].Level != Info || !strings.Contains(strings.Join(all[0].Evidence, "; "), history) || strings.Contains(all[0].Title, "throttled in") {
		t.Errorf("got %+v", all)
	}
}

// Where the CPU time was not measured, bursts cannot be distinguished from a limit
// that is used up, unless nearly every period used its quota.
func TestThrottlingOfAnUnknownUse(t *testing.T) {
	p := watched(goService(2, 2), 380, 412, 0.12)
	p.Throttling.Watch.Used = nil
	all := examine(p)
	if len(all) != 1 || all[0].Title != "limit of 2 CPUs: throttled in 92% of 412 periods" || !strings.Contains(all[0].Fix[0], "may absorb them") {
		t.Errorf("got %+v", all)
	}
	// A burst carries unused quota over, of which there is none.
	p = watched(goService(2, 2), 480, 500, 0.12)
	p.Throttling.Watch.Used = nil
	all = examine(p)
	if len(all) != 1 || all[0].Title != "limit of 2 CPUs used up (96% on average): throttled in 96% of 500 periods" || strings.Contains(all[0].Fix[0], "burst") {
		t.Errorf("got %+v", all)
	}
}

// The change names the complete new value, with the other options that it must keep.
func TestTheChange(t *testing.T) {
	of := func(name runtimes.Name, value int, env map[string]string, flags ...string) inspect.Process {
		p := watched(goService(value, 2), 157, 412, 0.97)
		if value == 1 {
			p = watched(goService(1, 2), 0, 412, 0.5) // all that it can
		}
		p.Info.Runtime, p.Info.Version, p.Info.Env, p.Info.Flags, p.Info.Go = name, "", env, flags, nil
		p.Command = append([]string{"/app/api"}, flags...)
		return p
	}
	upper := func(p inspect.Process) inspect.Process {
		p.CPU.Own, p.CPU.SetBy = 0, "/pods"
		return p
	}
	old := watched(goService(8, 2), 157, 412, 0.97)
	old.Info.Version, old.Info.Go = "go1.26.8", &runtimes.GoFacts{DefaultGODEBUG: oldLine}
	const auto = "import github.com/millicore/millicore/maxprocs/auto, which also reads the limits of parent groups (Go's runtime reads only its own group); or try GOMAXPROCS=2"
	const collector = "; unless -XX:+Use…GC is set, the JVM takes the collector Serial with 1 processor, and G1 from 2 processors and 1,792 MiB on"
	tests := []struct {
		name  string
		of    inspect.Process
		title string
		want  string
	}{
		{"a JVM", of(runtimes.JVM, 1, nil), "parallelism 1", "try JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2" + collector},
		{"a JVM with other options", of(runtimes.JVM, 1, map[string]string{"JAVA_TOOL_OPTIONS": "-Xss1m -XX:ActiveProcessorCount=1"}),
			"parallelism 1", "try 'JAVA_TOOL_OPTIONS=-Xss1m -XX:ActiveProcessorCount=2'" + collector},
		{"a JVM by its command", of(runtimes.JVM, 1, nil, "-XX:ActiveProcessorCount=1"), "parallelism 1",
			"-XX:ActiveProcessorCount is set in the command, which overrides JAVA_TOOL_OPTIONS: change it there, to 2"},
		{"nginx by its configuration", of(runtimes.Nginx, 8, nil), "parallelism 8",
			"worker_processes is set in nginx's configuration, and nginx rejects a second value: change it there, to 2"},
		{"nginx by its command", of(runtimes.Nginx, 8, nil, "-g", "worker_processes 8;"), "parallelism 8", "try worker_processes 2"},
		{"an old go line", old, "go.mod says go 1.22",
			"set `go 1.25` or later in go.mod and rebuild, or start it with GODEBUG=containermaxprocs=1,updatemaxprocs=1"},
		{"an old go line under a limit from above", upper(old), "go.mod says go 1.22", auto},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, f := range examine(test.of) {
				if !strings.Contains(f.Title, test.title) {
					continue
				}
				if f.Fix[0] != test.want || !strings.HasPrefix(f.Fix[1], "verify: millicore try --cpu 2 ") || !strings.Contains(f.Fix[1], " -- /app/api") {
					t.Errorf("got %q", f.Fix)
				}
				return
			}
			t.Errorf("no finding %q", test.title)
		})
	}
}

// On a machine with fewer CPUs than the limit no more than those are advised.
func TestTheChangeOnASmallMachine(t *testing.T) {
	p := watched(goService(1, 16), 0, 412, 0.06)
	p.Info.Env = map[string]string{"GOMAXPROCS": "1"}
	all := examine(p)
	if len(all) != 1 || all[0].Fix[0] != "try GOMAXPROCS=8" {
		t.Errorf("got %+v", all)
	}
}

// advised is the parallelism that a finding advises under the same limit; 0: none does.
func advised(all []Finding) int {
	number := regexp.MustCompile(`(?:GOMAXPROCS|ActiveProcessorCount|WEB_CONCURRENCY|DOTNET_PROCESSOR_COUNT|TOKIO_WORKER_THREADS|change it there, to )=?(\d+)`)
	for _, f := range all {
		for _, fix := range f.Fix {
			if strings.HasPrefix(fix, "raise the limit") || strings.HasPrefix(fix, "verify: ") || strings.HasPrefix(fix, "measure: ") {
				continue
			}
			if found := number.FindStringSubmatch(fix); found != nil {
				n, _ := strconv.Atoi(found[1])
				return n
			}
		}
	}
	return 0
}

// Less parallelism is advised only to threads that were seen to compete for the
// limit, and never to what may be waiting.
func TestFewerAreAdvised(t *testing.T) {
	type change = func(*inspect.Process)
	of := func(name runtimes.Name) change {
		return func(p *inspect.Process) {
			p.Info.Runtime, p.Info.Go, p.Info.Version = name, nil, ""
		}
	}
	// busy is a watch of 10 s; stopped is for how long in a throttled period.
	busy := func(parallelism int, limit float64, throttled, periods int64, used float64, stopped time.Duration) inspect.Process {
		p := watched(goService(parallelism, limit), throttled, periods, used)
		p.Throttling.Watch.Stopped = time.Duration(throttled) * stopped
		p.Info.Env = map[string]string{"GOMAXPROCS": strconv.Itoa(parallelism)}
		return p
	}
	const ms = time.Millisecond
	workers := func(name runtimes.Name, n int) change {
		return func(p *inspect.Process) {
			of(name)(p)
			p.Info.Workers, p.Info.Env = n, nil
			if name == runtimes.Python {
				p.Info.Server = "gunicorn"
			}
			p.Info.Parallelism = runtimes.Parallelism{Value: n, Source: runtimes.Read}
		}
	}
	tests := []struct {
		name   string
		of     inspect.Process
		change change
		want   int
	}{
		{"they compete", busy(8, 2, 25, 100, 0.85, 100*ms), nil, 2},
		{"they compete under a fraction", busy(8, 1.5, 41, 101, 0.92, 39*ms), nil, 2},
		{"throttled in less of the periods", busy(8, 2, 24, 100, 0.85, 100*ms), nil, 0},
		{"with less of the limit used", busy(8, 2, 25, 100, 0.84, 100*ms), nil, 0},
		{"in too few periods", busy(8, 2, 49, 49, 1, 100*ms), nil, 0},
		{"of hardly more threads than the limit feeds", busy(8, 2, 90, 100, 1, 19*ms), nil, 0},
		{"of one thread, under less than a CPU", busy(4, 0.5, 100, 100, 1, 50*ms), nil, 0},
		{"of two, under less than a CPU", busy(4, 0.5, 100, 100, 1, 128*ms), nil, 2},
		{"of another process", busy(8, 2, 90, 100, 1, 100*ms), func(p *inspect.Process) { p.Used /= 3 }, 0},
		{"where the CPU time was not measured", busy(8, 2, 90, 100, 1, 100*ms), func(p *inspect.Process) { p.Throttling.Watch.Used = nil }, 0},
		{"where the host's CPUs are far fewer", busy(8, 2, 90, 100, 1, 100*ms), func(p *inspect.Process) { p.Info.Affinity = 2 }, 2},
		{"where the host's CPUs are fewer", busy(7, 2, 90, 100, 1, 100*ms), func(p *inspect.Process) { p.Info.Affinity = 2 }, 0},
		{"the runtime's minimum, at saturation", busy(2, 1, 88, 101, 0.97, 48*ms), func(p *inspect.Process) { p.Info.Env = nil }, 0},
		{"the runtime's minimum, at ordinary load", busy(2, 1, 1, 61, 0.74, 30*ms), func(p *inspect.Process) { p.Info.Env = nil }, 0},
		{"Tokio", busy(8, 2, 90, 100, 1, 100*ms), func(p *inspect.Process) {
			of(runtimes.Rust)(p)
			p.Info.Tokio, p.Info.Parallelism.Source = true, runtimes.Declared
		}, 2},
		{"Rust without it", busy(8, 2, 90, 100, 1, 100*ms), of(runtimes.Rust), 0},
		{"a JVM", busy(8, 2, 90, 100, 1, 100*ms), of(runtimes.JVM), 0},
		{".NET", busy(8, 2, 90, 100, 1, 100*ms), of(runtimes.DotNet), 0},
		{"workers that wait", busy(4, 0.5, 0, 71, 0.12, 0), workers(runtimes.Python, 4), 0},
		{"workers that may wait", busy(4, 0.5, 71, 71, 1, 150*ms), workers(runtimes.Python, 4), 0},
		{"nginx", busy(8, 2, 90, 100, 1, 100*ms), workers(runtimes.Nginx, 8), 2},
		{"nginx, whose workers used little", busy(8, 2, 90, 100, 1, 100*ms), func(p *inspect.Process) { workers(runtimes.Nginx, 8)(p); p.Used /= 3 }, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := test.of
			if test.change != nil {
				p = with(p, test.change)
			}
			all := examine(p)
			if got := advised(all); got != test.want {
				t.Errorf("%d is advised, want %d: %+v", got, test.want, all)
			}
			if len(all) == 0 && test.want == 0 && p.Info.Affinity > 2 {
				t.Error("no finding")
			}
		})
	}
}

// The CPU time of a server's workers is its own.
func TestWorkersCompete(t *testing.T) {
	master := watched(goService(8, 2), 90, 100, 0.99)
	master.Throttling.Watch.Stopped = 90 * 100 * time.Millisecond
	master.Info = runtimes.Info{PID: 42, Runtime: runtimes.Nginx, Affinity: 8, Workers: 2, Parallelism: runtimes.Parallelism{Value: 8, Source: runtimes.Read}}
	worker, all := master, []inspect.Process{master}
	worker.Parent, worker.Info.Workers, worker.Info.Parallelism.Value = 42, 0, 1
	for range 2 {
		worker.PID++
		worker.Used = master.Used / 2
		all = append(all, worker)
	}
	all[0].Used = 0
	if got := advised(examine(all...)); got != 2 {
		t.Errorf("%d is advised, want 2", got)
	}
	other := worker // it used the CPU time instead of the workers
	other.PID, other.Info.Runtime, other.Used = 50, runtimes.Unknown, master.Used
	for i := range all {
		all[i].Used /= 10
	}
	if got := advised(examine(append(all, other)...)); got != 0 {
		t.Errorf("%d is advised, want none", got)
	}
}

// Processes of one group give one finding, about the process that represents it.
func TestProcessesOfOneGroup(t *testing.T) {
	big := watched(goService(8, 2), 157, 412, 0.97)
	big.Info.Env = map[string]string{"GOMAXPROCS": "8"}
	big.Used = time.Second
	shell := big
	shell.PID, shell.Name, shell.Used = 41, "sh", 0
	shell.Info = runtimes.Info{PID: 41, Runtime: runtimes.Unknown, Program: "sh"}
	all := examine(shell, big)
	if len(all) != 1 || all[0].PID != 42 || !strings.Contains(all[0].Evidence[1], "shared by 2 processes") {
		t.Errorf("got %+v", all)
	}
}

// Throttling by a limit that several groups with lower limits share is counted only
// in the parent group, and reported once.
func TestALimitThatIsShared(t *testing.T) {
	under := func(pid int, throttled int64) inspect.Process {
		p := watched(goService(1, 1), 0, 200, 0.6)
		p.PID = pid
		above := watched(goService(1, 1.5), throttled, 200, 0.97)
		above.CPU.Group, above.CPU.SetBy, above.CPU.Dir = p.CPU.Group, "/pods", "/sys/fs/cgroup/pods"
		p.Shared = []inspect.Shared{{CPU: above.CPU, Throttling: above.Throttling}}
		return p
	}
	want := []string{"warning: limit of 1.5 CPUs of the parent group /pods, shared by 2 processes with lower limits of their own: throttled in 50% of 200 periods"}
	got := examine(under(42, 100), under(43, 100))
	if diff := cmp.Diff(want, titles(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if fix := "raise the limit to 2 CPUs on /pods; or lower the limits of the groups below it, so that their sum fits into it"; got[0].Fix[0] != fix {
		t.Errorf("got %q, want %q", got[0].Fix[0], fix)
	}
	if got := examine(under(42, 4), under(43, 4)); len(got) != 0 {
		t.Errorf("rarely throttled: got %v", titles(got))
	}
	direct := watched(goService(2, 1.5), 100, 200, 0.97) // it is judged for itself
	direct.PID, direct.CPU.Dir = 44, "/sys/fs/cgroup/pods"
	if got := titles(examine(under(42, 100), direct)); len(got) != 1 || strings.Contains(got[0], "shared by") {
		t.Errorf("got %v", got)
	}
}

func TestMemory(t *testing.T) {
	tests := []struct {
		name   string
		set    int64 // working set in MiB, of 100
		killed int64
		want   []string
	}{
		{"plenty", 50, 0, nil},
		{"near", 91, 0, []string{"warning: uses 91% of its memory limit of 100 MiB"}},
		{"full", 98, 0, []string{"critical: uses 98% of its memory limit of 100 MiB"}},
		{"killed", 10, 2, []string{"critical: the kernel killed 2 processes of its group: out of memory"}},
		{"killed and near", 91, 1, []string{
			"critical: the kernel killed 1 process of its group: out of memory", "warning: uses 91% of its memory limit of 100 MiB"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := test.set << 20
			p := goService(2, 2)
			p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: "/a", SetBy: "/a", Unreclaimable: &set, OOMKills: &test.killed}
			if diff := cmp.Diff(test.want, titles(examine(p))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A memory limit on the parent of several groups gives one finding.
func TestMemoryOfSeveralGroups(t *testing.T) {
	set := int64(95 << 20)
	var all []inspect.Process
	for i, group := range []string{"/pod/a", "/pod/b"} {
		p := goService(2, 2)
		p.PID += i
		p.CPU.Dir += group
		p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: group, SetBy: "/pod", Unreclaimable: &set}
		all = append(all, p)
	}
	got := examine(all...)
	if len(got) != 1 || got[0].Evidence[0] != "memory limit of 100 MiB set by /pod, above its own group /pod/a" {
		t.Errorf("got %+v", got)
	}
}

func TestHeap(t *testing.T) {
	tests := []struct {
		name    string
		runtime runtimes.Name
		env     map[string]string
		command []string
		want    []string
	}{
		{"Go within", runtimes.Go, map[string]string{"GOMEMLIMIT": "90MiB"}, nil, nil},
		{"Go off", runtimes.Go, map[string]string{"GOMEMLIMIT": "off"}, nil, nil},
		{"Go over", runtimes.Go, map[string]string{"GOMEMLIMIT": "1GiB"}, nil, []string{"warning: GOMEMLIMIT allows a heap of 1 GiB, above the memory limit of 100 MiB"}},
		{"Node by its environment", runtimes.Node, map[string]string{"NODE_OPTIONS": "--trace-gc --max-old-space-size=4096"}, nil,
			[]string{"warning: --max-old-space-size allows a heap of 4 GiB, above the memory limit of 100 MiB"}},
		{"Node by its command, which counts", runtimes.Node, map[string]string{"NODE_OPTIONS": "--max-old-space-size=4096"},
			[]string{"node", "--max_old_space_size=80", "app.js"}, nil},
		{"a JVM", runtimes.JVM, nil, []string{"java", "-Xmx2g", "-jar", "app.jar"}, []string{"warning: -Xmx allows a heap of 2 GiB, above the memory limit of 100 MiB"}},
		{"a JVM overridden", runtimes.JVM, map[string]string{"_JAVA_OPTIONS": "-Xmx64M"}, []string{"java", "-Xmx2g"}, nil},
		{"a number out of range", runtimes.JVM, nil, []string{"java", "-Xmx99999999999t"}, nil},
		{"no setting", runtimes.JVM, nil, []string{"java"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := goService(1, 2)
			p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: "/a", SetBy: "/a"}
			p.Info.Threads = 0
			p.Info.Runtime, p.Info.Env, p.Command = test.runtime, test.env, test.command
			if diff := cmp.Diff(test.want, titles(examine(p))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A maximum above the limit is an observation without a change while the group is far from
// its limit and nothing was killed.
func TestAHeapThatDoesNoHarm(t *testing.T) {
	kills := int64(1)
	for _, test := range []struct {
		name  string
		used  int64 // MiB of 100
		kills *int64
		want  Level
	}{
		{"far from the limit", 69, nil, Info},
		{"on its way", 71, nil, Warning},
		{"far again after a kill", 20, &kills, Warning},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := goService(1, 2)
			used := test.used << 20
			p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: "/a", SetBy: "/a", Unreclaimable: &used, OOMKills: test.kills}
			p.Info.Threads = 0
			p.Info.Runtime, p.Info.Env, p.Command = runtimes.JVM, nil, []string{"java", "-Xmx2g", "-jar", "app.jar"}
			for _, f := range examine(p) {
				if !strings.Contains(f.Title, "allows a heap") {
					continue
				}
				if f.Level != test.want || (len(f.Changes) == 0) != (test.want == Info) {
					t.Errorf("got %v with %d changes, want %v", f.Level, len(f.Changes), test.want)
				}
				return
			}
			t.Error("no finding about the heap")
		})
	}
}

// A heap size is advised only if the configured maximum is known and above the
// limit, and no other process shares the limit: a larger heap than the present one
// gets a service killed whose memory is outside the heap.
func TestTheFigureForAHeap(t *testing.T) {
	env := func(name, value string) map[string]string { return map[string]string{name: value} }
	tests := []struct {
		name    string
		runtime runtimes.Name
		env     map[string]string
		command []string
		shared  bool // with another process
		partial bool
		want    int // MiB of 400; 0: none
		outside bool
		fix     string // how it begins
	}{
		{"Node with V8's own maximum", runtimes.Node, nil, []string{"node", "app.js"}, false, false, 0, true, "raise the memory limit"},
		{"Node with a heap well below", runtimes.Node, env("NODE_OPTIONS", "--max-old-space-size=300"), nil, false, false, 0, true, "--max-old-space-size is well below the limit"},
		{"Node with a heap just below", runtimes.Node, env("NODE_OPTIONS", "--max-old-space-size=360"), nil, false, false, 0, true, "raise the memory limit"},
		{"Node with a heap above", runtimes.Node, env("NODE_OPTIONS", "--max-old-space-size=401"), nil, false, false, 300, true, "if the live heap fits into it, lower --max-old-space-size to 300 MiB"},
		{"Node with a heap above, by its command", runtimes.Node, nil, []string{"node", "--max-old-space-size=4096", "app.js"}, false, false, 300, true, ""},
		{"several Nodes with a heap above", runtimes.Node, env("NODE_OPTIONS", "--max-old-space-size=4096"), nil, true, false, 0, false, "2 processes share the limit: set --max-old-space-size"},
		{"a JVM with its own maximum", runtimes.JVM, nil, []string{"java", "-jar", "app.jar"}, false, false, 0, true, "raise the memory limit"},
		{"a JVM with a share of the limit", runtimes.JVM, env("JAVA_TOOL_OPTIONS", "-XX:MaxRAMPercentage=75"), []string{"java"}, false, false, 0, true, "raise the memory limit"},
		{"a JVM with a heap well below", runtimes.JVM, nil, []string{"java", "-Xmx100m"}, false, false, 0, true, "-Xmx is well below the limit"},
		{"a JVM with a heap just below", runtimes.JVM, nil, []string{"java", "-Xmx337m"}, false, false, 0, true, "raise the memory limit: the maximum heap size leaves 63 MiB"},
		{"a JVM with a heap of the whole limit", runtimes.JVM, nil, []string{"java", "-Xmx400m"}, false, false, 0, true, "raise the memory limit: the maximum heap size leaves 0 B"},
		{"a JVM with a heap above", runtimes.JVM, nil, []string{"java", "-Xmx1g"}, false, false, 300, true, "if the live heap fits into it, lower -Xmx to 300 MiB"},
		{"a JVM with a heap above, by its other name", runtimes.JVM, nil, []string{"java", "-XX:MaxHeapSize=1g"}, false, false, 300, true, "if the live heap fits into it, lower -XX:MaxHeapSize to 300 MiB"},
		{"Go without a limit of its own", runtimes.Go, nil, nil, false, false, 360, false, "try GOMEMLIMIT=360MiB"},
		{"Go with one above", runtimes.Go, env("GOMEMLIMIT", "1GiB"), nil, false, false, 360, false, "try GOMEMLIMIT=360MiB"},
		{"Go with one just below", runtimes.Go, env("GOMEMLIMIT", "390MiB"), nil, false, false, 360, false, "try GOMEMLIMIT=360MiB"},
		{"Go with one below", runtimes.Go, env("GOMEMLIMIT", "360MiB"), nil, false, false, 0, true, "GOMEMLIMIT is already below the limit"},
		{"Go whose GOMEMLIMIT is off", runtimes.Go, env("GOMEMLIMIT", "off"), nil, false, false, 0, false, "raise the memory limit"},
		{"Go beside another process", runtimes.Go, nil, nil, true, false, 0, false, "2 processes share the limit: set GOMEMLIMIT"},
		{"Go where others may not have been looked at", runtimes.Go, nil, nil, false, true, 360, false, "if no other process shares the limit: try GOMEMLIMIT=360MiB"},
		{"another runtime", runtimes.Ruby, nil, nil, false, false, 0, false, "raise the memory limit"},
	}
	figure := regexp.MustCompile(`(?:GOMEMLIMIT=|lower [^ ]+ to )(\d+) ?MiB`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := int64(380 << 20)
			p := goService(1, 2)
			p.Info.Threads, p.Info.Runtime, p.Info.Env, p.Command = 0, test.runtime, test.env, test.command
			p.Memory = inspect.Memory{State: inspect.Limited, Limit: 400 << 20, Group: "/a", SetBy: "/a", Unreclaimable: &set}
			host := inspect.Host{Online: 8, Partial: test.partial, Processes: []inspect.Process{ruled(p)}}
			if test.shared {
				p.PID, p.Memory.Group = 43, "/a/b"
				host.Processes = append(host.Processes, ruled(p))
			}
			var all []Finding
			for _, f := range Examine(host) {
				if strings.HasPrefix(f.Title, "uses 95% of its memory limit") {
					all = append(all, f)
				}
			}
			if len(all) != 1 || len(all[0].Fix) != 1 {
				t.Fatalf("got %+v", all)
			}
			fix, got := all[0].Fix[0], 0
			if found := figure.FindStringSubmatch(fix); found != nil {
				got, _ = strconv.Atoi(found[1])
			}
			if got != test.want || strings.Contains(fix, "outside the heap") != test.outside || !strings.HasPrefix(fix, test.fix) {
				t.Errorf("got %d MiB (%s), want %d MiB (%s), the cause outside the heap: %v", got, fix, test.want, test.fix, test.outside)
			}
			if bytes := heaps.Of(p).Bytes; got > 0 && bytes > 0 && int64(got)<<20 >= bytes {
				t.Errorf("%d MiB is no less than the present %s", got, size(bytes))
			}
		})
	}
}

// Libraries that size their pools by the host, seen by their threads.
func TestReported(t *testing.T) {
	python := func(threads int) inspect.Process {
		p := goService(1, 2)
		p.Info = runtimes.Info{Runtime: runtimes.Python, Version: "3.12", Affinity: 8, Threads: threads,
			Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
		return p
	}
	if got := titles(examine(python(5))); got != nil {
		t.Errorf("got %q", got)
	}
	want := []string{"info: os.cpu_count() reports 8 CPUs under a limit of 2 CPUs; the process has 9 threads"}
	if diff := cmp.Diff(want, titles(examine(python(9)))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The name includes the container, which distinguishes processes of the same name, and words
// of the process are quoted for the shell.
func TestWordsOfTheProcess(t *testing.T) {
	p := watched(goService(8, 2), 157, 412, 0.95)
	p.Container, p.Command = "cart", []string{"/a'b", "$(reboot)", "\x1b]0;title\a"}
	f := examine(p)[0]
	if fix := strings.Join(f.Fix, "\n"); f.Name != "cart/api" || strings.Contains(fix, "\x1b") || !strings.Contains(fix, `-- '/a'\''b' '$(reboot)' '␛]0;title␇'`) {
		t.Errorf("got %s, %s", f.Name, fix)
	}
}

func TestLevels(t *testing.T) {
	for _, level := range []Level{Info, Warning, Critical} {
		if got, err := ParseLevel(level.String()); err != nil || got != level {
			t.Errorf("%s: got %s, %v", level, got, err)
		}
	}
	if _, err := ParseLevel("loud"); err == nil {
		t.Error("loud is no level")
	}
	all := []Finding{{Level: Warning}}
	if !AtLeast(all, Warning) || AtLeast(all, Critical) || AtLeast(nil, Info) {
		t.Error("a warning is at least a warning, and no more")
	}
}
