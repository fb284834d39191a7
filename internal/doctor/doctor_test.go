package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/inspect"
	"github.com/millicore/millicore/internal/runtimes"
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
		{"no throttling, no more parallelism than the limit", watched(goService(2, 2), 0, 412, 0.4), nil},
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
			[]string{"critical: parallelism 8 over a limit of 2 CPUs: throttled in 38% of 412 periods"}},
		{"throttled a little by its parallelism", env(watched(goService(8, 2), 24, 412, 0.6), "GOMAXPROCS", "8"),
			[]string{"warning: parallelism 8 over a limit of 2 CPUs: throttled in 6% of 412 periods"}},
		{"throttled so far, and not during the watch", func() inspect.Process {
			p := env(watched(goService(8, 2), 0, 412, 0.6), "GOMAXPROCS", "8")
			p.Throttling.Since = counts(1570, 4120)
			return p
		}(), []string{"info: parallelism 8 over a limit of 2 CPUs: hardly throttled so far"}},
		{"throttled so far, and the watch saw too little", func() inspect.Process {
			p := env(watched(goService(8, 2), 0, 49, 0.1), "GOMAXPROCS", "8")
			p.Throttling.Since = counts(1570, 4120)
			return p
		}(), []string{"critical: parallelism 8 over a limit of 2 CPUs: throttled in 38% of 4,120 periods"}},
		{"bursts so far, and a watch that was short and used the limit up", func() inspect.Process {
			p := watched(goService(2, 2), 20, 30, 0.9)
			u := 15 * time.Second
			p.Throttling.Since = counts(20, 200)
			p.Throttling.Since.Used = &u
			return p
		}(), []string{"warning: limit of 2 CPUs: throttled in 10% of 200 periods"}},
		{"GOMAXPROCS that Go does not take is as good as none", env(old(since(goService(8, 2), 0, 0), "go1.26.8", oldLine), "GOMAXPROCS", ""),
			[]string{
				"warning: binary built by Go 1.26.8, but its go.mod says go 1.22: not container-aware (DefaultGODEBUG containermaxprocs=0)",
				"info: parallelism 8 over a limit of 2 CPUs: under load it can stand still for 75.0 ms of each 100 ms",
			}},
		{"too few periods to tell", env(since(goService(8, 2), 40, 49), "GOMAXPROCS", "8"),
			[]string{"info: parallelism 8 over a limit of 2 CPUs: under load it can stand still for 75.0 ms of each 100 ms"}},
		{"just periods enough to tell", env(since(goService(8, 2), 40, 50), "GOMAXPROCS", "8"),
			[]string{"critical: parallelism 8 over a limit of 2 CPUs: throttled in 80% of 50 periods"}},
		{"too few periods, and a little too much parallelism", env(since(goService(3, 2), 0, 0), "GOMAXPROCS", "3"),
			[]string{"info: parallelism 3 over a limit of 2 CPUs"}},
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
			[]string{"critical: parallelism 2 over a limit of 1 CPU: throttled in 87% of 103 periods"}},
		{"an old go line", old(watched(goService(8, 2), 157, 412, 0.6), "go1.26.8", oldLine), []string{
			"critical: parallelism 8 over a limit of 2 CPUs: throttled in 38% of 412 periods",
			"warning: binary built by Go 1.26.8, but its go.mod says go 1.22: not container-aware (DefaultGODEBUG containermaxprocs=0)",
		}},
		{"an old go line where seeing the limit gives the same", old(watched(goService(2, 1), 1, 412, 0.6), "go1.26.8", "containermaxprocs=0,decoratemappings=0"), []string{
			"info: parallelism 2 over a limit of 1 CPU: hardly throttled so far",
			"info: binary built by Go 1.26.8, but its go.mod says go 1.24: not container-aware (DefaultGODEBUG containermaxprocs=0)",
		}},
		{"an old go line with GOMAXPROCS set", env(old(watched(goService(2, 2), 0, 412, 0.6), "go1.26.8", oldLine), "GOMAXPROCS", "2"), nil},
		{"switched off by go.mod", old(watched(goService(8, 2), 0, 412, 0.6), "go1.26.8", "containermaxprocs=0"), []string{
			"warning: binary built by Go 1.26.8 with containermaxprocs=0 in its DefaultGODEBUG: not container-aware",
			"info: parallelism 8 over a limit of 2 CPUs: hardly throttled so far",
		}},
		{"an old toolchain", old(since(goService(8, 2), 157, 412), "go1.22.3", ""), []string{
			"critical: parallelism 8 over a limit of 2 CPUs: throttled in 38% of 412 periods",
			"warning: Go 1.22.3 does not look at CPU limits",
		}},
		{"GODEBUG switches it off", env(since(goService(8, 2), 157, 412), "GODEBUG", "containermaxprocs=0"), []string{
			"critical: parallelism 8 over a limit of 2 CPUs: throttled in 38% of 412 periods",
			"warning: built by Go 1.26.8, but GODEBUG has containermaxprocs=0: not container-aware",
		}},
		{"the limit comes from above", inherit(since(goService(8, 2), 157, 412)), []string{
			"critical: parallelism 8 over a limit of 2 CPUs: throttled in 38% of 412 periods",
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
		}(), []string{"warning: throttled while using at most 12% of its limit on average: bursts (52 of 412 periods throttled)"}},
		{"throttled before the watch, which saw too little", func() inspect.Process {
			p := watched(goService(2, 2), 0, 10, 0.01)
			p.Throttling.Since = counts(380, 412)
			used := 82 * time.Second
			p.Throttling.Since.Used = &used
			return p
		}(), []string{"warning: limit of 2 CPUs: throttled in 92% of 412 periods"}},
		{"memory that is short as well", func() inspect.Process {
			p := env(since(goService(8, 2), 0, 0), "GOMAXPROCS", "8")
			set := int64(95 << 20)
			p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: "/a", SetBy: "/a", WorkingSet: &set}
			return p
		}(), []string{
			"warning: uses 95% of its memory limit of 100 MiB",
			"info: parallelism 8 over a limit of 2 CPUs: under load it can stand still for 75.0 ms of each 100 ms",
		}},
		{"a limit that is used up", watched(goService(2, 2), 380, 412, 0.98),
			[]string{"warning: limit of 2 CPUs used up (98% on average): throttled in 92% of 412 periods"}},
		{"throttled for a reason that is not told", watched(goService(2, 2), 80, 412, 0.7),
			[]string{"warning: limit of 2 CPUs: throttled in 19% of 412 periods"}},
		{"parallelism that keeps from the limit", watched(env(goService(1, 4), "GOMAXPROCS", "1"), 0, 412, 0.24),
			[]string{"warning: parallelism 1 under a limit of 4 CPUs: it uses 0.96 CPUs and cannot use more"}},
		{"little parallelism, little use", watched(env(goService(1, 4), "GOMAXPROCS", "1"), 0, 412, 0.1), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, titles(examine(test.of))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// One finding whole, as it is shown.
func TestAFindingWhole(t *testing.T) {
	p := watched(goService(8, 2), 157, 412, 0.6)
	p.Memory = inspect.Memory{State: inspect.Limited, Limit: 256 << 20}
	p.Info.Env = map[string]string{"GOMAXPROCS": "8"}
	got := examine(p)
	want := []Finding{{
		Level: Critical, PID: 42, Name: "api",
		Title: "parallelism 8 over a limit of 2 CPUs: throttled in 38% of 412 periods",
		Evidence: []string{
			"Go 1.26.8: parallelism 8, read (runtime.gomaxprocs in the process's memory); GOMAXPROCS=8 is set",
			"limit of 2 CPUs (200 ms in each 100 ms) set by its own group /pods/api",
			"watched for 50 s: 157 of 412 periods throttled (500 passed), 41.0 ms stopped in each, summed over the CPUs, 60% of the limit used; " +
				"since its start: 157 of 412 periods throttled, 41.0 ms stopped in each, summed over the CPUs",
			"8 threads at once use up a period's quota in 25.0 ms and then stand still for 75.0 ms of each 100 ms",
		},
		Fix: []string{"try GOMAXPROCS=2", "verify: millicore try --cpu 2 --memory 256Mi -- /app/api --port 80"},
	}}
	if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "weight" }, cmp.Ignore())); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A number that the program sets itself is not changed by its environment or its
// go line: the fix says where it is.
func TestAProgramThatSetsItsOwn(t *testing.T) {
	for _, test := range []struct {
		gomaxprocs, evidence, fix string
	}{
		{"4", "; GOMAXPROCS=4 is set in its environment, but the program sets its own",
			"set it to 2 where the program calls runtime.GOMAXPROCS, or take that call out: its environment has no effect"},
		{"", "; by its rule it would be 2: the program sets its own, or its CPUs were others when it started",
			"try GOMAXPROCS=2; if the program calls runtime.GOMAXPROCS itself, which wins, set it to 2 there"},
	} {
		p := since(goService(8, 2), 0, 0)
		if test.gomaxprocs != "" {
			p.Info.Env = map[string]string{"GOMAXPROCS": test.gomaxprocs}
		}
		f := examine(p)
		if len(f) != 1 || !strings.HasSuffix(f[0].Evidence[0], test.evidence) || f[0].Fix[0] != test.fix {
			t.Errorf("GOMAXPROCS=%s: got %+v", test.gomaxprocs, f)
		}
	}
}

// The fix of bursts names the file and the number.
func TestTheBurstThatAbsorbs(t *testing.T) {
	tests := []struct {
		name   string
		change func(*inspect.Process)
		want   string
	}{
		{"v2", func(*inspect.Process) {},
			"a burst of 41.0 ms would absorb them: echo 41000 > /sys/fs/cgroup/pods/api/cpu.max.burst; or raise the limit to 2.5 CPUs"},
		{"v1", func(p *inspect.Process) { p.CPU.Version = 1 },
			"a burst of 41.0 ms would absorb them: echo 41000 > /sys/fs/cgroup/pods/api/cpu.cfs_burst_us; or raise the limit to 2.5 CPUs"},
		{"a kernel without bursts", func(p *inspect.Process) { p.CPU.CanBurst = false },
			"raise the limit to 2.5 CPUs: this kernel cannot save up unused quota"},
		{"a burst that is set", func(p *inspect.Process) { p.CPU.Burst = 50 * time.Millisecond },
			"raise the limit to 2.5 CPUs: the burst of 50.0 ms that is set does not absorb them"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := examine(with(watched(goService(2, 2), 52, 412, 0.12), test.change))
			if len(all) != 1 || strings.Join(all[0].Fix, "") == "" || all[0].Fix[0] != test.want {
				t.Errorf("got %+v", all)
			}
		})
	}
}

// Without a watch bursts are not told from a limit that is used up, and no burst
// is said to help.
func TestTheFixWithoutAWatch(t *testing.T) {
	all := examine(since(goService(2, 2), 380, 412))
	const want = "raise the limit to 2.5 CPUs; or watch it under load with --for 30s"
	if len(all) != 1 || !strings.HasPrefix(all[0].Fix[0], want) {
		t.Errorf("got %+v", all)
	}
}

// The change names what to write, with all that has to stay beside it.
func TestTheChange(t *testing.T) {
	of := func(name runtimes.Name, value int, env map[string]string, flags ...string) inspect.Process {
		p := since(goService(value, 2), 157, 412)
		p.Info.Runtime, p.Info.Version, p.Info.Env, p.Info.Flags, p.Info.Go = name, "", env, flags, nil
		p.Command = append([]string{"/app/api"}, flags...)
		return p
	}
	upper := func(p inspect.Process) inspect.Process {
		p.CPU.Own, p.CPU.SetBy = 0, "/pods"
		return p
	}
	old := goService(8, 2)
	old.Info.Version, old.Info.Go = "go1.26.8", &runtimes.GoFacts{DefaultGODEBUG: oldLine}
	const auto = "import github.com/millicore/millicore/maxprocs/auto, which sees limits above the own group, as Go's own runtime does not; or try GOMAXPROCS=2"
	tests := []struct {
		name  string
		of    inspect.Process
		title string
		want  string
	}{
		{"a JVM", of(runtimes.JVM, 8, nil), "parallelism 8", "try JAVA_TOOL_OPTIONS=-XX:ActiveProcessorCount=2"},
		{"a JVM with other options", of(runtimes.JVM, 8, map[string]string{"JAVA_TOOL_OPTIONS": "-Xss1m -XX:ActiveProcessorCount=8"}),
			"parallelism 8", "try 'JAVA_TOOL_OPTIONS=-Xss1m -XX:ActiveProcessorCount=2'"},
		{"a JVM by its command", of(runtimes.JVM, 8, nil, "-XX:ActiveProcessorCount=8"), "parallelism 8",
			"-XX:ActiveProcessorCount stands in the command, which overrides JAVA_TOOL_OPTIONS: change it there, to 2"},
		{"nginx by its configuration", of(runtimes.Nginx, 8, nil), "parallelism 8",
			"worker_processes stands in nginx's configuration, and nginx refuses it twice: change it there, to 2"},
		{"nginx by its command", of(runtimes.Nginx, 8, nil, "-g", "worker_processes 8;"), "parallelism 8", "try worker_processes 2"},
		{"an old go line", old, "go.mod says go 1.22",
			"write `go 1.25` or later into go.mod and build again, or start it with GODEBUG=containermaxprocs=1,updatemaxprocs=1"},
		{"an old go line under a limit from above", upper(old), "go.mod says go 1.22", auto},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, f := range examine(test.of) {
				if !strings.Contains(f.Title, test.title) {
					continue
				}
				if f.Fix[0] != test.want || !strings.HasPrefix(f.Fix[1], "verify: millicore try --cpu 2 -- /app/api") {
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

func TestStarted(t *testing.T) {
	for want, command := range map[string][]string{
		"/app/api --port 80": {"/app/api", "--port", "80"},
		"nginx -c /etc/n":    {"nginx: master process nginx -c /etc/n"},
		"":                   {"nginx: worker process"},
	} {
		if got := quoted(started(command)); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
	if started(nil) != nil {
		t.Error("no command is no command")
	}
}

// What shares a group is one finding, about the process that counts.
func TestProcessesOfOneGroup(t *testing.T) {
	big := since(goService(8, 2), 157, 412)
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

// What several groups with limits of their own use up together stands in the
// counters of the group above them alone, and is told once.
func TestALimitThatIsShared(t *testing.T) {
	under := func(pid int, throttled int64) inspect.Process {
		p := watched(goService(1, 1), 0, 200, 0.6)
		p.PID = pid
		above := watched(goService(1, 1.5), throttled, 200, 0.97)
		above.CPU.Group, above.CPU.SetBy, above.CPU.Dir = p.CPU.Group, "/pods", "/sys/fs/cgroup/pods"
		p.Shared = []inspect.Shared{{CPU: above.CPU, Throttling: above.Throttling}}
		return p
	}
	want := []string{"warning: limit of 1.5 CPUs of the group /pods above, shared by 2 processes with lower limits of their own: throttled in 50% of 200 periods"}
	got := examine(under(42, 100), under(43, 100))
	if diff := cmp.Diff(want, titles(got)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if fix := "raise the limit to 2 CPUs on /pods; or lower the limits below it, so that together they fit into it"; got[0].Fix[0] != fix {
		t.Errorf("got %q, want %q", got[0].Fix[0], fix)
	}
	if got := examine(under(42, 4), under(43, 4)); len(got) != 0 {
		t.Errorf("hardly throttled: got %v", titles(got))
	}
	direct := watched(goService(2, 1.5), 100, 200, 0.97) // it is judged for itself
	direct.PID, direct.CPU.Dir = 44, "/sys/fs/cgroup/pods"
	if got := titles(examine(under(42, 100), direct)); len(got) != 1 || strings.Contains(got[0], "shared by") {
		t.Errorf("got %v", got)
	}
}

// A burst that the kernel would not take is not advised: a quota is the most.
func TestABurstThatAbsorbsAPart(t *testing.T) {
	all := examine(with(watched(goService(1, 0.2), 52, 412, 0.12), func(*inspect.Process) {}))
	const want = "a burst of 20.0 ms, the most that the kernel saves up, would absorb a part: " +
		"echo 20000 > /sys/fs/cgroup/pods/api/cpu.max.burst; or raise the limit to 0.7 CPUs"
	if len(all) != 1 || all[0].Fix[0] != want {
		t.Errorf("got %+v", all)
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
		{"killed", 10, 2, []string{"critical: the kernel killed 2 processes of its group for want of memory"}},
		{"killed and near", 91, 1, []string{
			"critical: the kernel killed 1 process of its group for want of memory", "warning: uses 91% of its memory limit of 100 MiB"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := test.set << 20
			p := goService(2, 2)
			p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: "/a", SetBy: "/a", WorkingSet: &set, OOMKills: &test.killed}
			if diff := cmp.Diff(test.want, titles(examine(p))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// What fills a limit that is set above several groups is one finding.
func TestMemoryOfSeveralGroups(t *testing.T) {
	set := int64(95 << 20)
	var all []inspect.Process
	for i, group := range []string{"/pod/a", "/pod/b"} {
		p := goService(2, 2)
		p.PID += i
		p.CPU.Dir += group
		p.Memory = inspect.Memory{State: inspect.Limited, Limit: 100 << 20, Group: group, SetBy: "/pod", WorkingSet: &set}
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
		{"Go over", runtimes.Go, map[string]string{"GOMEMLIMIT": "1GiB"}, nil, []string{"warning: GOMEMLIMIT lets the heap grow to 1,024 MiB over a memory limit of 100 MiB"}},
		{"Node by its environment", runtimes.Node, map[string]string{"NODE_OPTIONS": "--trace-gc --max-old-space-size=4096"}, nil,
			[]string{"warning: --max-old-space-size lets the heap grow to 4,096 MiB over a memory limit of 100 MiB"}},
		{"Node by its command, which counts", runtimes.Node, map[string]string{"NODE_OPTIONS": "--max-old-space-size=4096"},
			[]string{"node", "--max_old_space_size=80", "app.js"}, nil},
		{"a JVM", runtimes.JVM, nil, []string{"java", "-Xmx2g", "-jar", "app.jar"}, []string{"warning: -Xmx lets the heap grow to 2,048 MiB over a memory limit of 100 MiB"}},
		{"a JVM overridden", runtimes.JVM, map[string]string{"_JAVA_OPTIONS": "-Xmx64M"}, []string{"java", "-Xmx2g"}, nil},
		{"a number out of range", runtimes.JVM, nil, []string{"java", "-Xmx99999999999t"}, nil},
		{"none said", runtimes.JVM, nil, []string{"java"}, nil},
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

// Libraries that size their pools by the host, seen by their threads.
func TestTold(t *testing.T) {
	python := func(threads int) inspect.Process {
		p := goService(1, 2)
		p.Info = runtimes.Info{Runtime: runtimes.Python, Version: "3.12", Affinity: 8, Threads: threads,
			Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
		return p
	}
	if got := titles(examine(python(5))); got != nil {
		t.Errorf("got %q", got)
	}
	want := []string{"info: os.cpu_count() answers 8 under a limit of 2 CPUs, and the process has 9 threads"}
	if diff := cmp.Diff(want, titles(examine(python(9)))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestGoLine(t *testing.T) {
	for setting, want := range map[string]string{
		"panicnil=1,httplaxcontentlength=1,containermaxprocs=0": "go 1.20 or older",
		"httplaxcontentlength=1,containermaxprocs=0":            "go 1.21",
		oldLine: "go 1.22",
		"containermaxprocs=0,decoratemappings=0,randseednop=0": "go 1.23",
		"containermaxprocs=0,decoratemappings=0":               "go 1.24",
		"containermaxprocs=0":                                  "",
	} {
		if got := goLine(setting); got != want {
			t.Errorf("goLine(%q) = %q, want %q", setting, got, want)
		}
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
