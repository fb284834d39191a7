package maxprocs

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

func TestSetFromALimit(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("250000")
	r, undo := f.set()
	wantProcs(t, 3)
	if r.Before != 7 || r.After != 3 || r.Why != FromLimit || r.Limit.CPUs != 2.5 || r.CPUs != 8 || r.Following || r.Err() != nil {
		t.Errorf("got %+v", r)
	}
	undo()
	wantProcs(t, 7)
	runtime.GOMAXPROCS(3)
	undo()
	wantProcs(t, 3) // an undo is done once
}

func TestSetFromALimitAbove(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("600000")
	f.limitPod("300000")
	if r, _ := f.set(); r.After != 3 || r.Limit.Dir != "/sys/fs/cgroup/pod" {
		t.Errorf("got %+v, want 3 by the pod", r)
	}
	wantProcs(t, 3)
}

func TestSetLeaves(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(f fixture)
		why   Why
		err   bool
	}{
		{"what the environment has", func(f fixture) { f.limit("200000"); t.Setenv("GOMAXPROCS", "42") }, Environment, false},
		{"what the environment has, and is no number", func(f fixture) { f.limit("200000"); t.Setenv("GOMAXPROCS", "") }, Environment, false},
		{"no limit", func(fixture) {}, NoLimit, false},
		{"no control groups", func(f fixture) { os.Remove(f.path("proc/self/cgroup")) }, NoLimit, false},
		{"no /proc", func(f fixture) { os.RemoveAll(f.path("proc")) }, LimitUnknown, true},
		{"a limit that is no number", func(f fixture) { f.limit("asdf") }, LimitUnknown, true},
		{"a group out of sight", func(f fixture) { f.write("proc/self/cgroup", "0::/../other\n") }, LimitUnknown, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begin(t, 7)
			f := newFixture(t)
			tt.spoil(f)
			r, undo := f.set(Min(3))
			os.Unsetenv("GOMAXPROCS")
			wantProcs(t, 7)
			if r.Why != tt.why || (r.Err() != nil) != tt.err || r.Before != 7 || r.After != 7 {
				t.Errorf("got %+v, %v; want %v", r, r.Err(), tt.why)
			}
			runtime.GOMAXPROCS(5)
			undo()
			wantProcs(t, 5) // nothing was done, nothing is undone
		})
	}
}

// A request counts only without a limit, and the kernel's default weight only in a pod.
func TestSetFromARequest(t *testing.T) {
	for _, tt := range []struct {
		name, weight string
		pod          bool
		want         int
		line         string
	}{
		{"3 CPUs", "118", false, 3, "maxprocs: GOMAXPROCS 7 -> 3, the CPU request, rounded up: there is no CPU limit, and the weight stands for a request of 2.997 CPUs"},
		{"half a CPU", "20", true, 2, "maxprocs: GOMAXPROCS 7 -> 2, the minimum: there is no CPU limit, and the weight stands for a request of 0.4884 CPUs"},
		{"more than the CPUs", "400", false, 8, "maxprocs: GOMAXPROCS 7 -> 8, all CPUs: there is no CPU limit, and the weight stands for a request of 10.22 CPUs"},
		{"none", "1", true, 7, "maxprocs: GOMAXPROCS stays 7, there is no CPU limit"},
		{"the default", "100", false, 7, "maxprocs: GOMAXPROCS stays 7, there is no CPU limit"},
		{"the default in a pod", "100", true, 3, "maxprocs: GOMAXPROCS 7 -> 3, the CPU request, rounded up: there is no CPU limit, and the weight stands for a request of 2.537 CPUs"},
		{"not readable", "x", true, 7, "maxprocs: GOMAXPROCS stays 7, there is no CPU limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begin(t, 7)
			f := newFixture(t)
			t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
			if !tt.pod {
				os.Unsetenv("KUBERNETES_SERVICE_HOST")
			}
			f.write("sys/fs/cgroup/pod/box/cpu.weight", tt.weight+"\n")
			r, undo := f.set(FromRequest())
			wantProcs(t, tt.want)
			if r.String() != tt.line {
				t.Errorf("got %s\nwant %s", r, tt.line)
			}
			undo()
			wantProcs(t, 7)
			f.limit("400000")
			if r, _ := f.set(FromRequest()); r.After != 4 || r.Why != FromLimit || r.Request != 0 {
				t.Errorf("with a limit: got %+v", r)
			}
		})
	}
}

func TestSetFollowsARequest(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.write("sys/fs/cgroup/pod/box/cpu.weight", "118\n")
	f.set(FromRequest(), Follow(context.Background()))
	wantProcs(t, 3)
	f.limit("400000")
	untilProcs(t, 4)
	f.write("sys/fs/cgroup/pod/box/cpu.weight", "196\n")
	f.limit("max")
	untilProcs(t, 5)
	f.write("sys/fs/cgroup/pod/box/cpu.weight", "235\n") // noticed when the group is located again
	untilProcs(t, 6)
	f.write("sys/fs/cgroup/pod/box/cpu.weight", "1\n")
	untilProcs(t, 8)
}

// An ancestor that cannot be read may have a lower limit; the one that can be
// read still holds.
func TestSetFromALimitBelowOneThatIsUnreadable(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("200000")
	f.limitPod("asdf")
	if r, _ := f.set(); r.After != 2 || r.Limit.Err == nil || r.Err() != nil {
		t.Errorf("got %+v, want 2, and what could not be read", r)
	}
}

func TestSetWithPatience(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	release := make(chan struct{})
	defer close(release)
	f.host.affinity = func() int { <-release; return 8 } // as a file system that does not answer
	f.host.patience = 1
	r, _ := f.set()
	if r.Why != LimitUnknown || r.Err() == nil || !strings.Contains(r.Err().Error(), "/proc") {
		t.Errorf("got %+v, want an unknown limit, and where to look", r)
	}
	wantProcs(t, 7)
}

func TestSetWithoutPatience(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("200000")
	f.host.patience = 0
	f.set()
	wantProcs(t, 2)
}

func TestLogger(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	var lines []string
	logger := Logger(func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
	say := func(opts ...Option) {
		_, undo := f.set(append(opts, logger)...)
		undo()
	}
	say()
	f.limit("50000")
	say()
	say(RoundQuotaFunc(func(float64) int { return 100 }))
	f.limit("250000")
	say()
	say(Min(4))
	say(RoundQuotaFunc(func(float64) int { return 7 }))
	f.limit("100000")
	say(OverrideDefault())
	f.host.aware = func() bool { return true }
	say()
	f.host.aware = nil
	f.limit("max")
	os.Remove(f.path("sys/fs/cgroup/pod/cgroup.events"))
	f.write("sys/fs/cgroup/cgroup.events", "populated 1\n") // which the root has not
	say()
	os.Remove(f.path("proc/1/mountinfo"))
	say()
	t.Setenv("GOMAXPROCS", "7")
	say()
	os.Unsetenv("GOMAXPROCS")
	want := `maxprocs: GOMAXPROCS stays 7, there is no CPU limit
maxprocs: GOMAXPROCS 7 -> 2, the minimum, above the limit of 0.5 CPUs that /sys/fs/cgroup/pod/box sets
maxprocs: undone, GOMAXPROCS 2 -> 7
maxprocs: GOMAXPROCS 7 -> 8, all CPUs, with the limit of 0.5 CPUs that /sys/fs/cgroup/pod/box sets
maxprocs: undone, GOMAXPROCS 8 -> 7
maxprocs: GOMAXPROCS 7 -> 3, from the limit of 2.5 CPUs that /sys/fs/cgroup/pod/box sets
maxprocs: undone, GOMAXPROCS 3 -> 7
maxprocs: GOMAXPROCS 7 -> 4, the minimum, above the limit of 2.5 CPUs that /sys/fs/cgroup/pod/box sets
maxprocs: undone, GOMAXPROCS 4 -> 7
maxprocs: GOMAXPROCS stays 7, from the limit of 2.5 CPUs that /sys/fs/cgroup/pod/box sets
maxprocs: GOMAXPROCS 7 -> 1, from the limit of 1 CPU that /sys/fs/cgroup/pod/box sets
maxprocs: undone, GOMAXPROCS 1 -> 7
maxprocs: GOMAXPROCS stays 7, Go's own default, with the limit of 1 CPU that /sys/fs/cgroup/pod/box sets
maxprocs: GOMAXPROCS stays 7, no CPU limit is visible from within this namespace
maxprocs: GOMAXPROCS stays 7, the CPU limit is not known: locate the control group of process self: open /proc/1/mountinfo: no such file or directory
maxprocs: GOMAXPROCS stays 7, GOMAXPROCS is in the environment`
	if got := strings.ReplaceAll(strings.Join(lines, "\n"), f.root, ""); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSlog(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	var got bytes.Buffer
	logger := Slog(slog.New(slog.NewTextHandler(&got, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "error" {
			return slog.Attr{}
		}
		return a
	}})))
	say := func() {
		_, undo := f.set(logger)
		undo()
	}
	f.limit("250000")
	say()
	f.limitPod("garbage")
	f.limit("max")
	say()
	want := `level=INFO msg=maxprocs before=7 gomaxprocs=3 why="the limit, rounded" limit_state=limited limit_cpus=2.5 limit_by=/sys/fs/cgroup/pod/box
level=INFO msg="maxprocs undone" before=3 gomaxprocs=7
level=WARN msg=maxprocs before=7 gomaxprocs=7 why="the limit is not known" limit_state=unknown
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

// A later Set takes over from an earlier one, whatever that still follows.
func TestSetAgain(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("300000")
	var changes atomic.Int32
	_, first := f.set(Follow(context.Background()), OnChange(func(Result) { changes.Add(1) }))
	wantProcs(t, 3)
	_, second := f.set(RoundQuotaFunc(Ceil), Min(4))
	wantProcs(t, 4)
	first()
	wantProcs(t, 4)
	f.limit("600000")
	g := newFixture(t) // another host's following, to know that time has passed
	g.limit("500000")
	_, third := g.set(Follow(context.Background()))
	g.limit("600000")
	untilProcs(t, 6)
	third()
	wantProcs(t, 4)
	second()
	wantProcs(t, 4) // it was taken over from too
	if n := changes.Load(); n != 0 {
		t.Errorf("the first Set has made %d changes after the second", n)
	}
}

func TestResultStrings(t *testing.T) {
	if got := Why(99).String(); got != "Why(99)" {
		t.Error(got)
	}
	for why := LimitUnknown; why <= FromCPURequest; why++ {
		if strings.HasPrefix(why.String(), "Why(") {
			t.Errorf("%d has no word", why)
		}
	}
}
