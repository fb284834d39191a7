package diagnosis_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
	"github.com/millicore/millicore/internal/show/diagnosis"
	"github.com/millicore/millicore/test/testkit/golden"
)

// most is the number of words that stand before the table.
const most = 60

const second = time.Second

// api is a Go service under a limit of 2 CPUs on a host of 8, seen for 10 s.
func api(pid, parallelism int, used float64, throttled int64) inspect.Process {
	spent := time.Duration(used * float64(10*second))
	counts := inspect.Counts{Length: 10 * second, Periods: 100, Throttled: throttled, Stopped: time.Duration(throttled) * 40 * time.Millisecond, Used: &spent}
	p := inspect.Process{
		PID: pid, Name: "api", Command: []string{"/app/api", "--port", "80"}, Port: 80, User: 1000, Used: spent,
		Info: runtimes.Info{PID: pid, Runtime: runtimes.Go, Version: "go1.26.8", Affinity: 8, Go: &runtimes.GoFacts{Aware: true},
			Parallelism: runtimes.Parallelism{Value: parallelism, Source: runtimes.Read, From: "its memory"}},
		CPU: inspect.CPULimit{State: inspect.Limited, CPUs: 2, Own: 2, Period: 100 * time.Millisecond, Version: 2, CanBurst: true,
			Group: fmt.Sprintf("/pods/%d", pid), SetBy: fmt.Sprintf("/pods/%d", pid), Dir: fmt.Sprintf("/sys/fs/cgroup/pods/%d", pid)},
		Throttling: &inspect.Throttling{Since: counts, Watch: &counts},
	}
	p.Ruled, p.Why = runtimes.Default(p.Info, runtimes.Limit{CPUs: 2, Leaf: 2}, runtimes.Machine{Online: 8, Affinity: 8})
	return p
}

// full is a process that uses a share of a memory limit.
func full(p inspect.Process, share float64) inspect.Process {
	used := int64(share * (256 << 20))
	p.Memory = inspect.Memory{State: inspect.Limited, Limit: 256 << 20, Group: p.CPU.Group, SetBy: p.CPU.Group, WorkingSet: &used, Unreclaimable: &used}
	return p
}

func host(all ...inspect.Process) inspect.Host {
	return inspect.Host{Online: 8, Watched: 10 * second, Processes: all}
}

// hosts are what the golden file has.
func hosts() map[string]inspect.Host {
	other := inspect.Process{PID: 7, Name: "loop", CPU: inspect.CPULimit{State: inspect.Unlimited}, Used: 76 * second}
	unseen := inspect.Process{PID: 8, Name: "hidden", User: -1, Unseen: []string{"its environment could not be read: permission denied; run as root"}}
	crowded, idle, inUse := api(42, 2, 0.4, 10), 0.0, 8.0
	crowded.Threads = &threads.Use{Length: 10 * second, Read: 9, Busy: 2, Full: 2, Ran: 4 * second, Waited: 16 * second, BusyRan: 4 * second, BusyWaited: 16 * second}
	short := host(crowded, other)
	short.Idle, short.InUse = &idle, &inUse
	shared := api(43, 2, 0.4, 0)
	above := api(43, 2, 2, 60)
	above.CPU.CPUs, above.CPU.Group, above.CPU.SetBy, above.CPU.Dir = 3, "/pods", "/pods", "/sys/fs/cgroup/pods"
	shared.Shared = []inspect.Shared{{CPU: above.CPU, Throttling: above.Throttling}}
	beside := api(44, 2, 0.4, 0)
	beside.Shared = shared.Shared
	spinning := api(42, 8, 2, 90)
	spinning.Info = runtimes.Info{PID: 42, Runtime: runtimes.Unknown, Affinity: 8}
	spinning.Threads = &threads.Use{Length: 10 * second, Read: 8, Busy: 8, Full: 8, Ran: 20 * second, Waited: 60 * second, BusyRan: 20 * second, BusyWaited: 60 * second}
	stale := api(42, 8, 1.9, 38)
	stale.Info.Go = &runtimes.GoFacts{DefaultGODEBUG: "containermaxprocs=0,tlssha1=1"}
	stale.Ruled = 8
	killed := full(api(42, 2, 0.5, 0), 0.5)
	killed.Kills = []inspect.Kill{{Ago: 3 * time.Minute, PID: 42, Name: "api", Group: killed.Memory.Group}}
	unwatched := host(api(42, 2, 0, 0))
	unwatched.Watched = 0
	unwatched.Processes[0].Throttling.Watch = nil
	return map[string]inspect.Host{
		"nothing":                         host(api(42, 2, 1, 0), other),
		"no process has a limit":          host(other),
		"without a watch":                 unwatched,
		"only an observation":             host(api(42, 8, 0.5, 0)),
		"parallelism above the limit":     host(api(42, 8, 1.9, 38), other, unseen),
		"one process":                     host(api(42, 8, 1.9, 38)),
		"two services":                    host(api(42, 8, 1.9, 38), full(api(43, 2, 1, 0), 0.95), other),
		"bursts":                          host(api(42, 2, 0.4, 20), other),
		"used up":                         host(api(42, 2, 2, 90), other),
		"threads that may spin":           host(spinning, other),
		"it cannot use its limit":         host(api(42, 1, 1, 0), other),
		"others take the CPU":             short,
		"a parent's limit":                host(shared, beside),
		"its runtime ignores the limit":   host(stale, other),
		"killed for memory":               host(killed, other),
		"a process that may not be seen":  host(unseen),
		"a process of a hostile name":     host(inspect.Process{PID: 9, Name: "x", Refused: "x is a named\npipe"}, named(api(42, 8, 1.9, 38), "a\x1b[31m\nb")),
		"three services and observations": host(api(42, 8, 1.9, 38), api(43, 8, 1.9, 20), api(44, 2, 0.4, 20), api(45, 8, 0.5, 0)),
	}
}

func named(p inspect.Process, name string) inspect.Process {
	p.Name = name
	return p
}

func TestDefaultOutput(t *testing.T) {
	var b strings.Builder
	all := hosts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := all[name]
		findings := doctor.Examine(h)
		of := diagnosis.Of(h, findings)
		words := 0
		for _, line := range slices.Concat(of.Lines(), of.Caveats) {
			words += len(strings.Fields(line))
		}
		if words > most {
			t.Errorf("%s: %d words, want at most %d", name, words, most)
		}
		fmt.Fprintf(&b, "== %s\n", name)
		if err := diagnosis.Write(&b, h, findings, diagnosis.View{}, display.Terminal{Width: 80}); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b)
	}
	golden.Check(t, "doctor.txt", b.String())
	for i, line := range strings.Split(b.String(), "\n") {
		if display.Width(line) > 80 && !strings.Contains(line, "/") {
			t.Errorf("line %d is wider than 80 columns: %s", i+1, line)
		}
	}
}

// A finding that recommends a change has an action, and its cause.
func TestEachChangeHasAnAction(t *testing.T) {
	for name, h := range hosts() {
		for _, f := range doctor.Examine(h) {
			if got := f.Action(); (got != "") != (f.Level > doctor.Info) || f.Level > doctor.Info && (f.Rule.Problem() == "" || f.Limit == "") {
				t.Errorf("%s: %s: action %q, problem %q, limit %q", name, f.Title, got, f.Rule, f.Limit)
			}
		}
	}
}

// The details have each finding, and what could not be read.
func TestDetails(t *testing.T) {
	h := hosts()["parallelism above the limit"]
	var b strings.Builder
	if err := diagnosis.Write(&b, h, doctor.Examine(h), diagnosis.View{Details: true}, display.Terminal{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"→ verify: millicore try --cpu 2", "Process 8: its environment could not be read"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
