package group

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/meter"
)

var itoa = strconv.Itoa

func TestLimitsAreSet(t *testing.T) {
	r := begin(t)
	g, err := r.Make("limited", experiment.Limits{
		CPUMillis: 500, BurstMillis: 250, Period: 50 * time.Millisecond, Memory: 64 << 20,
	}, 1)
	if err != nil {
		t.Fatal(err)
	}
	cpu := at(t, g.dirs...).OwnCPULimit()
	if cpu.Quota != 25*time.Millisecond || cpu.Period != 50*time.Millisecond {
		t.Errorf("quota %v of %v, want 25ms of 50ms", cpu.Quota, cpu.Period)
	}
	if burst, ok := cpu.Burst.Get(); !ok || burst != 12500*time.Microsecond {
		t.Errorf("burst %v, want 12.5ms", cpu.Burst)
	}
	if memory := at(t, g.dirs...).MemoryLimit(); memory.Bytes != 64<<20 {
		t.Errorf("memory limit %+v, want 64 MiB", memory)
	}
	g.Unlimit()
	if cpu := at(t, g.dirs...).OwnCPULimit(); cpu.State != cgroup.Unlimited {
		t.Errorf("after Unlimit: %+v", cpu)
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if err := g.Remove(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestLimitsAreChanged(t *testing.T) {
	r := begin(t)
	l := experiment.Limits{CPUMillis: 500, BurstMillis: 500, Period: 50 * time.Millisecond, Memory: 64 << 20}
	g, err := r.Make("resized", l, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []experiment.Limits{
		{CPUMillis: 200, Memory: 32 << 20}, // the quota is below the burst
		{},
		{CPUMillis: 1000, BurstMillis: 1000, Memory: 128 << 20},
	} {
		if err := r.Resize(g, l); err != nil {
			t.Fatalf("%+v: %v", l, err)
		}
		cpu, memory := at(t, g.dirs...).OwnCPULimit(), at(t, g.dirs...).MemoryLimit()
		if limited := cpu.State == cgroup.Limited; limited != (l.CPUMillis > 0) || limited && int64(1000*cpu.CPUs) != l.CPUMillis {
			t.Errorf("%+v: CPU limit %+v", l, cpu)
		}
		if burst, ok := cpu.Burst.Get(); ok && burst != meter.BandwidthOf(l).Burst {
			t.Errorf("%+v: burst %v", l, burst)
		}
		if limited := memory.State == cgroup.Limited; limited != (l.Memory > 0) || limited && memory.Bytes != l.Memory {
			t.Errorf("%+v: memory limit %+v", l, memory)
		}
	}
	if err := r.Resize(g, experiment.Limits{CPUMillis: 1}); err == nil {
		t.Error("a quota below the kernel's smallest was taken")
	}
}

func TestCPUSetConfines(t *testing.T) {
	r := begin(t)
	if !r.Has(cgroup.CPUSet) {
		t.Skip("no cpuset controller here")
	}
	g, err := r.Make("confined", experiment.Limits{CPUSet: "0"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	cmd := occupy(t, g.dirs...)
	if n, ok := cgroup.Host().Affinity(cmd.Process.Pid).Get(); !ok || n != 1 {
		t.Errorf("the process may run on %d CPUs, want 1", n)
	}
	if _, err := r.Make("beside", experiment.Limits{CPUMillis: 500}, 1); err != nil {
		t.Errorf("a group without a cpuset beside it: %v", err)
	}
	_, err = r.Make("impossible", experiment.Limits{CPUSet: "4000"}, 1)
	if err == nil || !strings.Contains(err.Error(), "the CPUs here are 0") {
		t.Errorf("a CPU that is not there: %v", err)
	}
}

func TestRefusedLimitsLeaveNothing(t *testing.T) {
	r := begin(t)
	if _, err := r.Make("bad", experiment.Limits{CPUMillis: 1}, 1); err == nil {
		t.Error("a quota below the kernel's smallest was taken")
	}
	if _, err := r.Make("bad", experiment.Limits{}, 1); err != nil {
		t.Errorf("the name is still taken: %v", err)
	}
}

func TestLimitsAboveTheCallersOwnAreRefused(t *testing.T) {
	r := begin(t)
	outer, err := r.Make("outer", experiment.Limits{CPUMillis: 500, Memory: 64 << 20}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// A run whose homes are in that group.
	inner := &Run{}
	for i, h := range r.homes {
		inner.homes = append(inner.homes, &home{Home: Home{Version: h.Version, Dir: outer.dirs[i], Controllers: h.Controllers}})
	}
	for _, test := range []struct {
		name   string
		limits experiment.Limits
		want   string // a part of the error; empty: none
	}{
		{"the same", experiment.Limits{CPUMillis: 500, Memory: 64 << 20}, ""},
		{"none", experiment.Limits{}, ""},
		{"more CPU", experiment.Limits{CPUMillis: 501}, "is itself limited to 500m"},
		{"more memory", experiment.Limits{Memory: 64<<20 + 1}, "is itself limited to 67108864"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := inner.Check(test.limits)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestOptionalHomeIsDoneWithout(t *testing.T) {
	w, state := way(t), t.TempDir()
	w.Homes = append(w.Homes, Home{Version: cgroup.V2, Dir: "/sys/fs/cgroup/nonexistent", Optional: true})
	r, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Make("without", experiment.Limits{CPUMillis: 500}, 1); err != nil {
		t.Error(err)
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, w, state)
	w.Homes[len(w.Homes)-1].Optional = false
	if _, err := Begin(w, state); err == nil || !strings.Contains(err.Error(), "make control groups in /sys/fs/cgroup/nonexistent") {
		t.Errorf("one that is not optional: %v", err)
	}
	nothingLeft(t, w, state)
}

func TestSignalReachesEveryProcess(t *testing.T) {
	r := begin(t)
	g, err := r.Make("two", experiment.Limits{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	one, two := occupy(t, g.dirs...), occupy(t, g.dirs...)
	if empty, err := g.Empty(); err != nil || empty {
		t.Errorf("empty %v, %v", empty, err)
	}
	if err := g.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []interface{ Wait() error }{one, two} {
		if err := cmd.Wait(); err == nil || err.Error() != "exit status 10" {
			t.Errorf("it ended with %v, want exit status 10", err)
		}
	}
	if empty, err := g.Empty(); err != nil || !empty {
		t.Errorf("empty %v, %v", empty, err)
	}
}

func TestRemoveKillsAlsoInNestedGroups(t *testing.T) {
	r := begin(t)
	g, err := r.Make("nested", experiment.Limits{CPUMillis: 100}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range g.dirs {
		if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var deep []string
	for _, dir := range g.dirs {
		deep = append(deep, filepath.Join(dir, "a", "b"))
	}
	cmd := occupy(t, deep...)
	if err := g.Signal(syscall.SIGTERM); err != nil { // it ignores that
		t.Fatal(err)
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended with %v, want killed", err)
	}
}

func TestTheCallerComesBack(t *testing.T) {
	before, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Begin(way(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	after, _ := os.ReadFile("/proc/self/cgroup")
	if string(before) != string(after) {
		t.Errorf("this process was in\n%s and is now in\n%s", before, after)
	}
}
