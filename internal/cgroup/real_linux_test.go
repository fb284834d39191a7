package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup/testkit"
)

func TestRealThrottling(t *testing.T) {
	r := newRealGroup(t)
	dir := r.dir(t, CPU)
	limitCPU(t, r.version, dir, 10000)
	g, reader := r.at(t), r.open(t)

	limit := g.CPULimit()
	if limit.State != Limited || limit.CPUs != 0.1 || limit.Dir != dir || limit.Hidden || limit.Err != nil {
		t.Errorf("got %+v, want 0.1 CPU by %s", limit, dir)
	}
	child := run(t, "burn", r.cpuDirs(t)...)
	testkit.Until(t, "the group's CPU time is counted", func() (bool, any) {
		var s CPUStat
		if err := reader.ReadCPU(&s); err != nil {
			t.Fatal(err)
		}
		local := s.ThrottledLocal.State() == Absent || above0(s.ThrottledLocal)
		return local && above0(s.Usage) && above0(s.User) && s.System.State() == Measured &&
			above0(s.Periods) && above0(s.ThrottledPeriods) && above0(s.Throttled), s
	})
	found, err := Host().Process(child.Process.Pid)
	if p, _ := found.Place(CPU).Get(); err != nil || p.Dir != dir {
		t.Errorf("got %v, %v; want the child in %s", found.Place(CPU), err, dir)
	}
}

// cpu.stat counts the group's own limit only; cpu.stat.local also that of an
// ancestor.
func TestRealThrottlingByAncestor(t *testing.T) {
	r := newRealGroup(t)
	parent := r.dir(t, CPU)
	limitCPU(t, r.version, parent, 10000)
	if r.version == V2 {
		write(t, parent, "cgroup.subtree_control", "+cpu")
	}
	dir := filepath.Join(parent, "leaf")
	testkit.MakeGroup(t, dir)
	g, err := Host().At(dir)
	if err != nil {
		t.Fatal(err)
	}
	if own := g.OwnCPULimit(); own.State != Unlimited {
		t.Errorf("got own limit %+v, want unlimited", own)
	}
	if limit := g.CPULimit(); limit.State != Limited || limit.CPUs != 0.1 || limit.Dir != parent {
		t.Errorf("got %+v, want 0.1 CPU by %s", limit, parent)
	}
	reader, err := g.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var s CPUStat
	if err := reader.ReadCPU(&s); err != nil {
		t.Fatal(err)
	}
	if s.ThrottledLocal.State() == Absent {
		t.Skip("needs cpu.stat.local, Linux 6.6")
	}
	run(t, "burn", dir)
	testkit.Until(t, "the group is throttled", func() (bool, any) {
		if err := reader.ReadCPU(&s); err != nil {
			t.Fatal(err)
		}
		return above0(s.ThrottledLocal), s
	})
	if n, ok := s.ThrottledPeriods.Get(); !ok || n != 0 {
		t.Errorf("got %v throttled periods, want 0: the group has no limit", s.ThrottledPeriods)
	}
}

func TestRealMemory(t *testing.T) {
	const limit, held = 256 << 20, 32 << 20
	r := newRealGroup(t)
	r.limitMemory(t, limit)
	g, reader := r.at(t), r.open(t)
	if got := g.MemoryLimit(); got.State != Limited || got.Bytes != limit || got.Dir != r.dir(t, Memory) || got.Err != nil {
		t.Errorf("got %+v, want %d", got, limit)
	}
	child := run(t, fmt.Sprint("hold ", held), r.dir(t, Memory))
	if line, err := child.out.ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	testkit.Until(t, "the group's memory is counted", func() (bool, any) {
		var s MemoryStat
		if err := reader.ReadMemory(&s); err != nil {
			t.Fatal(err)
		}
		atLeast := func(v Value[int64]) bool { n, ok := v.Get(); return ok && n >= held }
		peak := s.Peak.State() == Absent || atLeast(s.Peak)
		return peak && atLeast(s.Current) && atLeast(s.Anon) && atLeast(s.WorkingSet()) &&
			s.File.State() == Measured && s.InactiveFile.State() == Measured, s
	})
}

func TestRealOOMKill(t *testing.T) {
	if swaps, err := os.ReadFile("/proc/swaps"); err != nil || strings.Count(string(swaps), "\n") > 1 {
		t.Skip("needs a host without swap, so that a process runs out of memory")
	}
	r := newRealGroup(t)
	r.limitMemory(t, 16<<20)
	reader := r.open(t)
	child := run(t, fmt.Sprint("hold ", 256<<20), r.dir(t, Memory))
	if line, err := child.out.ReadString('\n'); err == nil {
		t.Fatalf("the child was not killed: %q", line)
	}
	child.Wait()
	var s MemoryStat
	if err := reader.ReadMemory(&s); err != nil {
		t.Fatal(err)
	}
	for _, v := range []Value[int64]{s.OOMKillsLocal, s.OOMKills} {
		if n, ok := v.Get(); v.State() == Unreadable || ok && n != 1 {
			t.Errorf("got %v kills, want 1", v)
		}
	}
	if s.OOMKillsLocal.State() == Absent && s.OOMKills.State() == Absent {
		t.Error("no count of OOM kills at all")
	}
}

func TestRealUnlimited(t *testing.T) {
	r := newRealGroup(t)
	g := r.at(t)
	// What limits the whole hierarchy is not known here, only that the group
	// adds nothing to it.
	parent, err := Host().At(filepath.Dir(r.dir(t, CPU)), filepath.Dir(r.dir(t, Memory)))
	if err != nil {
		t.Fatal(err)
	}
	if got := g.OwnCPULimit(); got.State != Unlimited || got.Period != 100*time.Millisecond || got.Err != nil {
		t.Errorf("got own limit %+v, want unlimited per 100 ms", got)
	}
	if got, want := g.CPULimit(), parent.CPULimit(); got.State != want.State || got.CPUs != want.CPUs || got.Err != nil {
		t.Errorf("got %+v, want %+v as above it", got, want)
	}
	if got, want := g.MemoryLimit(), parent.MemoryLimit(); got.State != want.State || got.Bytes != want.Bytes || got.Err != nil {
		t.Errorf("got %+v, want %+v as above it", got, want)
	}
}

func TestRealCPUSet(t *testing.T) {
	r := newRealGroup(t)
	dir := r.dir(t, CPUSet)
	g := r.at(t)
	switch got := g.CPUs(); {
	case r.dirs[CPUSet] != "" && got.State() != Absent:
		t.Errorf("v1: got %v before it was set, want absent", got)
	case r.dirs[CPUSet] == "" && !above0(got):
		t.Errorf("v2: got %v before it was set, want the CPUs of an ancestor", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "cpuset.cpus"), []byte("0"), 0); err != nil {
		t.Skip("needs the cpuset controller:", err)
	}
	if got := g.CPUs(); got != ValueOf(1) {
		t.Errorf("got %v, want 1", got)
	}
}

func TestRealPressure(t *testing.T) {
	r := newRealGroup(t)
	dir := r.dirs[Unified]
	if dir == "" {
		t.Skip("needs the v2 hierarchy, which alone has pressure")
	}
	reader := r.open(t)
	var p Pressure
	if err := reader.ReadPressure(&p); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]Value[Stall]{"cpu": p.CPU.Some, "memory": p.Memory.Some, "io": p.IO.Some} {
		if v.State() == Unreadable {
			t.Errorf("%s: %v", name, v)
		}
	}
	if p.CPU.Some.State() == Absent {
		t.Skip("needs a kernel with pressure stall information")
	}
	if err := os.WriteFile(filepath.Join(dir, "cgroup.pressure"), []byte("0"), 0); err != nil {
		t.Skip("needs cgroup.pressure, Linux 6.1:", err)
	}
	if err := reader.ReadPressure(&p); err != nil || p.CPU.Some.State() == Measured {
		t.Errorf("switched off: got %v, %v; want no measurement and no gone group", p.CPU.Some, err)
	}
	if err := r.open(t).ReadPressure(&p); err != nil || p.CPU.Some.State() != Absent {
		t.Errorf("opened while switched off: got %v, %v; want absent", p.CPU.Some, err)
	}
}

func TestRealGroupGone(t *testing.T) {
	r := newRealGroup(t)
	limitCPU(t, r.version, r.dir(t, CPU), 50000)
	g, reader := r.at(t), r.open(t)
	for _, dir := range r.dirs {
		testkit.RemoveGroup(t, dir)
	}
	cpu := CPUStat{Usage: ValueOf(time.Second), Periods: ValueOf[int64](1), ThrottledLocal: ValueOf(time.Second)}
	for name, err := range map[string]error{
		"ReadThrottling": reader.ReadThrottling(new(CPUStat)),
		"ReadCPU":        reader.ReadCPU(&cpu),
		"ReadMemory":     reader.ReadMemory(new(MemoryStat)),
	} {
		if !errors.Is(err, ErrGone) || !errors.Is(err, syscall.ENODEV) {
			t.Errorf("%s: got %v, want gone by ENODEV", name, err)
		}
	}
	for _, v := range []State{cpu.Usage.State(), cpu.Periods.State(), cpu.ThrottledLocal.State(), cpu.Bursts.State()} {
		if v != Unreadable {
			t.Errorf("got %v, want unreadable", v)
		}
	}
	if got := g.CPULimit(); got.State != Unknown || !errors.Is(got.Err, ErrGone) {
		t.Errorf("got %+v, want unknown: gone", got)
	}
	if _, err := g.Open(); !errors.Is(err, ErrGone) {
		t.Errorf("open: got %v, want gone", err)
	}
}

func TestRealSelf(t *testing.T) {
	g, err := Host().Self()
	if err != nil {
		t.Fatal(err)
	}
	if g.Place(CPU).State() != Measured {
		t.Skipf("needs a visible control group of its own: %v", g.Place(CPU))
	}
	if limit := g.CPULimit(); limit.State == Unknown || limit.Err != nil {
		t.Errorf("got %+v, want a known limit", limit)
	}
	if n, ok := Host().Affinity(0).Get(); !ok || n < 1 {
		t.Errorf("got affinity %v", Host().Affinity(0))
	}
	reader, err := g.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var s CPUStat
	if err := reader.ReadCPU(&s); err != nil || s.Usage.State() == Unreadable {
		t.Errorf("got usage %v, %v", s.Usage, err)
	}
}

// A process that enters a cgroup namespace without new mounts sees its own group as /, in a
// mount that begins at a parent, and those of others above it.
func TestRealNamespace(t *testing.T) {
	r := newRealGroup(t)
	limitCPU(t, r.version, r.dir(t, CPU), 50000)
	child := run(t, "namespace", r.cpuDirs(t)...)
	line, err := child.out.ReadString('\n')
	if strings.HasPrefix(line, "skip:") {
		t.Skip("needs cgroup namespaces:", line)
	}
	if err != nil || line != "0.5 <nil>\n" {
		t.Errorf("got %q, %v; want the limit of its own group", line, err)
	}
	self, err := Host().Self()
	if err != nil {
		t.Fatal(err)
	}
	if line, err = child.out.ReadString('\n'); err != nil || line != fmt.Sprintln(self.Place(CPU), nil) {
		t.Errorf("got %q, %v; want the parent's group, %v", line, err, self.Place(CPU))
	}
}

func TestRealPopulated(t *testing.T) {
	r := newRealGroup(t)
	g, dir := r.at(t), r.dir(t, PIDs)
	is := func(want bool) {
		t.Helper()
		if got, ok := g.Populated().Get(); !ok || got != want {
			t.Errorf("got %v, want %v", g.Populated(), want)
		}
	}
	is(false)
	child := run(t, "burn", dir)
	is(true)
	write(t, filepath.Dir(dir), "cgroup.procs", fmt.Sprint(child.Process.Pid))
	is(false)
}

func TestRealFrozen(t *testing.T) {
	r := newRealGroup(t)
	g, dir := r.at(t), r.dir(t, Freezer)
	child := run(t, "burn", dir)
	name, frozen, thawed := "freezer.state", "FROZEN", "THAWED"
	if r.dirs[Freezer] == "" {
		name, frozen, thawed = "cgroup.freeze", "1", "0"
	}
	process, err := Host().Process(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, state := range []string{thawed, frozen, thawed} {
		write(t, dir, name, state)
		for _, g := range []Group{g, process} {
			want := state == frozen
			testkit.Until(t, fmt.Sprintf("frozen is %v", want), func() (bool, any) {
				got, ok := g.Frozen().Get()
				return ok && got == want, g.Frozen()
			})
		}
	}
}

// The limits that a group itself sets, below those of its parent.
func TestRealOwnLimits(t *testing.T) {
	r := newRealGroup(t)
	r.limitMemory(t, 64<<20)
	parent := r.dir(t, Memory)
	if r.dirs[Memory] == "" {
		write(t, parent, "cgroup.subtree_control", "+memory")
	}
	dir := filepath.Join(parent, "leaf")
	testkit.MakeGroup(t, dir)
	g, err := Host().At(dir)
	if err != nil {
		t.Fatal(err)
	}
	if own := g.OwnMemoryLimit(); own.State != Unlimited || own.Err != nil {
		t.Errorf("got %+v, want no limit", own)
	}
	if all := g.MemoryLimit(); all.State != Limited || all.Bytes != 64<<20 {
		t.Errorf("got %+v, want the parent's", all)
	}
	own := r.at(t).OwnMemoryLimit()
	if own.State != Limited || own.Bytes != 64<<20 || own.Dir != parent {
		t.Errorf("got %+v, want 64 MiB by %s", own, parent)
	}
}
