package maxprocs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/cgroup/testkit"
	"github.com/millicore/millicore/maxprocs/internal/grouptest"
)

// The tests named TestReal run this test program in control groups of their own
// in the running kernel.

func inGroup() { grouptest.Main(new(child).do) }

// child is what does what the tests ask for within the group.
type child struct {
	undo func()
	stop context.CancelFunc
}

func (c *child) do(line string) string {
	words := strings.Fields(line)
	switch words[0] {
	case "looks":
		return costOfLooks()
	case "procs":
		return strconv.Itoa(runtime.GOMAXPROCS(0))
	case "set":
		return c.set(words[1:])
	case "stop":
		c.stop()
		return "stopped"
	case "undo":
		c.undo()
		return strconv.Itoa(runtime.GOMAXPROCS(0))
	case "aware":
		return strconv.FormatBool(containerAware())
	case "limit":
		l := Limit()
		return fmt.Sprintf("%v %.6g %s %v", l.State, l.CPUs, l.Dir, l.Err)
	case "burn":
		for i := 0; i < 2; i++ {
			go func() {
				for {
				}
			}()
		}
		return "burning"
	case "periods":
		s := ReadStats()
		if s.Throttling == nil {
			return fmt.Sprint(s.Err)
		}
		return fmt.Sprintf("%d by %q", s.Throttling.Periods, s.Limit.Dir)
	case "use":
		s := ReadStats()
		if s.CPUTime == nil || s.Wait == nil {
			return fmt.Sprint(s.Err)
		}
		return fmt.Sprintf("%d %d", *s.CPUTime, *s.Wait)
	case "memory":
		s := ReadStats()
		if m := s.Memory; m.Limit != nil && m.WorkingSet != nil && m.OOMKills != nil {
			return fmt.Sprintf("%d %v %d", *m.Limit, 0 < *m.WorkingSet && *m.WorkingSet <= *m.Limit, *m.OOMKills)
		}
		return fmt.Sprint(s.Err)
	case "hog":
		eater := exec.Command("/proc/self/exe") // this program again: a small machine has no other
		eater.Stdin = strings.NewReader("eat\n")
		return fmt.Sprint(eater.Run())
	case "eat":
		return strconv.Itoa(len(bytes.Repeat([]byte{1}, 256<<20)))
	case "throttled":
		s := ReadStats()
		counts := s.Throttling
		return fmt.Sprint(counts != nil && counts.Periods >= counts.ThrottledPeriods && counts.ThrottledPeriods > 0 && counts.Throttled > 0 && s.GOMAXPROCS == runtime.GOMAXPROCS(0) && s.Limit.State == Limited)
	}
	return "no such line"
}

func (c *child) set(words []string) string {
	var opts []Option
	for _, word := range words {
		switch word {
		case "floor":
			opts = append(opts, RoundQuotaFunc(Floor))
		case "override":
			opts = append(opts, OverrideDefault())
		case "request":
			opts = append(opts, FromRequest())
		case "follow":
			var ctx context.Context
			ctx, c.stop = context.WithCancel(context.Background())
			opts = append(opts, Follow(ctx))
		}
	}
	var r Result
	r, c.undo = Set(opts...)
	return fmt.Sprintf("%d -> %d, %v", r.Before, r.After, r.Why)
}

// The runtime's own default that looks at the limit and is updated, and none.
var (
	aware   = []string{"GODEBUG=containermaxprocs=1,updatemaxprocs=1"}
	unaware = []string{"GODEBUG=containermaxprocs=0,updatemaxprocs=0"}
)

// twoCPUs skips a test where a limit of 1 CPU makes no difference.
func twoCPUs(t *testing.T) {
	t.Helper()
	if runtime.NumCPU() < 2 {
		t.Skip("needs 2 CPUs")
	}
}

// ownDefault skips a test of what the runtime does by itself.
func ownDefault(t *testing.T) {
	t.Helper()
	if !hasOwnDefault {
		t.Skip("needs Go 1.25, whose runtime looks at the limit")
	}
}

// eight is a wrapper that makes a program see 8 CPUs.
func eight(t *testing.T) []string {
	t.Helper()
	return traced(t, os.DevNull, "-e", "trace=sched_getaffinity", "-e", "inject=sched_getaffinity:poke_exit=@arg3=ff")
}

// traced is a wrapper that writes what a program does to a file.
func traced(t *testing.T, file string, more ...string) []string {
	t.Helper()
	wrapper := append([]string{"strace", "-f", "-qq", "-e", "signal=none", "-o", file}, more...)
	if out, err := exec.Command(wrapper[0], append(wrapper[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("needs strace 6 and the right to trace: %v %s", err, out)
	}
	return wrapper
}

func TestRealLimitOfAGroupAbove(t *testing.T) {
	above := grouptest.New(t)
	g := above.Below(t)
	above.Limit(t, 3)
	p := g.Start(t, aware, eight(t)...)
	p.Want("limit", "limited 3 "+above.Dir+" <nil>")
	p.Want("procs", "8") // the runtime reads its own group only
	p.Want("set", "8 -> 3, the limit, rounded")
	p.Want("undo", "8")
	above.Limit(t, 0.5)
	p.Want("set", "8 -> 2, the minimum")
	p.Want("set override", "2 -> 1, the limit, rounded")
}

func TestRealLowerLimitOfTheOwnGroup(t *testing.T) {
	ownDefault(t)
	twoCPUs(t)
	above := grouptest.New(t)
	g := above.Below(t)
	above.Limit(t, 2)
	g.Limit(t, 0.5)
	p := g.Start(t, aware)
	p.Want("limit", "limited 0.5 "+g.Dir+" <nil>")
	p.Want("set", "2 -> 2, Go's own default")
	p.Want("set override", "2 -> 1, the limit, rounded")
	p.Want("set", "1 -> 2, Go's own default") // given back
}

// Where the limit in effect comes from above, Go's default does not see it. When its own
// group has the lower one, the runtime gets GOMAXPROCS back.
func TestRealFollowingIntoGoDefault(t *testing.T) {
	ownDefault(t)
	above := grouptest.New(t)
	g := above.Below(t)
	above.Limit(t, 3)
	p := g.Start(t, aware, eight(t)...)
	p.Want("set follow", "8 -> 3, the limit, rounded")
	g.Limit(t, 0.5)
	p.Until("procs", "2")
	g.Limit(t, 0)
	p.Until("procs", "3")
}

func TestRealRequest(t *testing.T) {
	g := grouptest.New(t)
	file, weight := "cpu.weight", "118" // 3,072 shares
	if g.Version == cgroup.V1 {
		file, weight = "cpu.shares", "3072"
	}
	g.Write(t, file, weight)
	p := g.Start(t, aware, eight(t)...)
	p.Want("set", "8 -> 8, there is no limit")
	p.Want("set request", "8 -> 3, the CPU request, rounded up")
	g.Limit(t, 2)
	p.Want("set request", "3 -> 2, Go's own default")
}

func TestRealFollowing(t *testing.T) {
	twoCPUs(t)
	for name, env := range map[string][]string{"aware": aware, "unaware": unaware} {
		t.Run(name, func(t *testing.T) {
			above := grouptest.New(t)
			g := above.Below(t)
			p := g.Start(t, env)
			all := strconv.Itoa(runtime.NumCPU())
			p.Want("set follow override", all+" -> "+all+", there is no limit")
			g.Limit(t, 0.5)
			p.Until("procs", "1")
			g.Limit(t, 1.5)
			p.Until("procs", "2")
			g.Limit(t, 0)
			p.Until("procs", all)
			above.Limit(t, 1)
			p.Until("procs", "1")
			p.Want("undo", all)
		})
	}
}

func TestRealEnvironmentWins(t *testing.T) {
	g := grouptest.New(t)
	g.Limit(t, 1)
	p := g.Start(t, []string{"GOMAXPROCS=5"})
	p.Want("set follow", "5 -> 5, GOMAXPROCS is in the environment")
	p.Want("undo", "5")
}

func TestRealThrottling(t *testing.T) {
	above := grouptest.New(t)
	g := above.Below(t)
	above.Limit(t, 0.1) // the own group has no limit, and counts nothing
	p := g.Start(t, nil)
	p.Want("burn", "burning")
	p.Until("throttled", "true")
}

// CPU time is the kernel's count for the group that sets the limit, and threads that are
// throttled wait.
func TestRealUse(t *testing.T) {
	above := grouptest.New(t)
	g := above.Below(t)
	above.Limit(t, 0.1)
	accounting := g
	if g.Version == cgroup.V1 {
		accounting = accounted(t, above, g)
	}
	p := g.Start(t, nil)
	accounting.Write(t, "cgroup.procs", strconv.Itoa(p.Process.Pid))
	p.Want("burn", "burning")
	p.Until("throttled", "true")
	group, err := cgroup.Host().Process(p.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	group, err = group.Above(cgroup.CPU, above.Dir)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := group.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	used := func() time.Duration {
		var s cgroup.CPUStat
		err := reader.ReadCPU(&s)
		usage, ok := s.Usage.Get()
		if err != nil || !ok {
			t.Fatalf("the CPU time of the group above: %v, %v", s.Usage, err)
		}
		return usage
	}
	before := used()
	answer := p.Do("use")
	var nanos, waited int64
	if _, err := fmt.Sscan(answer, &nanos, &waited); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	if after := used(); nanos < int64(before) || nanos > int64(after) || waited <= 0 {
		t.Errorf("got %s, want CPU time from %d to %d", answer, before, after)
	}
}

// accounted makes the same two groups for the controller cpuacct of v1, if that has a
// hierarchy of its own, and returns the lower one.
func accounted(t *testing.T, above, below grouptest.Group) grouptest.Group {
	t.Helper()
	self, err := cgroup.Host().Self(cgroup.CPU, cgroup.CPUAcct)
	if err != nil {
		t.Fatal(err)
	}
	cpu, _ := self.Place(cgroup.CPU).Get()
	accounting, ok := self.Place(cgroup.CPUAcct).Get()
	switch {
	case !ok:
		t.Skipf("needs the controller cpuacct: %v", self.Place(cgroup.CPUAcct))
	case accounting.Top == cpu.Top:
		return below
	}
	for _, g := range []*grouptest.Group{&above, &below} {
		g.Dir = filepath.Join(accounting.Top, strings.TrimPrefix(g.Dir, cpu.Top))
		testkit.MakeGroup(t, g.Dir)
	}
	return below
}

func TestRealMemory(t *testing.T) {
	g := grouptest.NewMemory(t)
	g.LimitMemory(t, 64<<20)
	p := g.Start(t, nil)
	p.Want("memory", "67108864 true 0")
	p.Want("hog", "signal: killed")
	p.Want("memory", "67108864 true 1")
}

// The counters of the group above begin with its limit, when those of the own group have
// grown already.
func TestRealCountersWhenTheLimitingGroupChanges(t *testing.T) {
	above := grouptest.New(t)
	g := above.Below(t)
	g.Limit(t, 0.2)
	p := g.Start(t, nil)
	p.Want("burn", "burning")
	highest := 0
	// grow waits until a group sets the limit, and the counters have grown under it.
	grow := func(dir string) {
		t.Helper()
		from := -1
		testkit.Until(t, "counters that grow by the limit of "+dir, func() (bool, any) {
			answer := p.Do("periods")
			var periods int
			var limiting string
			if _, err := fmt.Sscanf(answer, "%d by %q", &periods, &limiting); err != nil {
				t.Fatalf("%s: %v", answer, err)
			}
			if periods < highest {
				t.Fatalf("got %s after %d", answer, highest)
			}
			highest = periods
			if limiting == dir && from < 0 {
				from = periods
			}
			return from >= 0 && periods >= from+5, answer
		})
	}
	grow(g.Dir)
	g.Limit(t, 0)
	above.Limit(t, 0.1)
	grow(above.Dir)
	g.Limit(t, 0.05)
	grow(g.Dir)
}

func TestRealCPUSet(t *testing.T) {
	ownDefault(t)
	twoCPUs(t)
	g := grouptest.New(t)
	g.Limit(t, 2)
	dir := g.Dir
	if g.Version == cgroup.V1 {
		self, err := cgroup.Host().Self(cgroup.CPUSet)
		if err != nil {
			t.Fatal(err)
		}
		place, ok := self.Place(cgroup.CPUSet).Get()
		if !ok {
			t.Skipf("needs the cpuset controller: %v", self.Place(cgroup.CPUSet))
		}
		dir = filepath.Join(place.Top, filepath.Base(g.Dir))
		testkit.MakeGroup(t, dir)
		mems, err := os.ReadFile(filepath.Join(place.Top, "cpuset.mems"))
		if err != nil {
			t.Fatal(err)
		}
		(grouptest.Group{Dir: dir}).Write(t, "cpuset.mems", string(mems))
	}
	cpus := grouptest.Group{Dir: dir}
	if err := os.WriteFile(filepath.Join(dir, "cpuset.cpus"), []byte("0-1"), 0); err != nil {
		t.Skip("needs the cpuset controller and CPUs 0 and 1:", err)
	}
	p := g.Start(t, aware)
	p.Want("set follow override", "2 -> 2, the limit, rounded")
	if g.Version == cgroup.V1 {
		cpus.Write(t, "cgroup.procs", strconv.Itoa(p.Process.Pid))
	}
	cpus.Write(t, "cpuset.cpus", "0")
	p.Until("procs", "1")
	cpus.Write(t, "cpuset.cpus", "0-1")
	p.Until("procs", "2")
}

// Set reads the limit without a retry, because the runtime has opened the same files
// before, even if it is configured to ignore them.
func TestRealRuntimeOpensTheLimitFirst(t *testing.T) {
	ownDefault(t)
	if patience != 0 {
		t.Fatal("it is patient with what the runtime was not")
	}
	g := grouptest.New(t)
	g.Limit(t, 1)
	limit := "cpu.max"
	if g.Version == cgroup.V1 {
		limit = "cpu.cfs_quota_us"
	}
	for name, env := range map[string][]string{"aware": aware, "unaware": unaware, "GOMAXPROCS": {"GOMAXPROCS=2"}} {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			g.Start(t, env, traced(t, trace, "-e", "trace=openat")...).Do("procs") // which opens nothing
			opened, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"/proc/self/cgroup", "/proc/self/mountinfo", filepath.Join(g.Dir, limit)} {
				if !strings.Contains(string(opened), strconv.Quote(name)) {
					t.Errorf("the runtime has not opened %s, but:\n%s", name, opened)
				}
			}
		})
	}
}

// The following tests detect whether the runtime's own updates are on, from its reaction
// to a change of the limit that nothing else follows. They need more CPUs than most
// test hosts have.

// Without GODEBUG it is the go line that counts: of the workspace, or of this
// module with GOWORK=off.
func TestRealAwareness(t *testing.T) {
	ownDefault(t)
	g := grouptest.New(t)
	g.Limit(t, 4)
	for _, value := range []string{
		"",
		"containermaxprocs=0",
		"containermaxprocs=1",
		"containermaxprocs=0,containermaxprocs=1",
		"containermaxprocs=1,updatemaxprocs=1,containermaxprocs=0",
		"containermaxprocs=0,containermaxprocs=x",
		"containermaxprocs=1,containermaxprocs",
		"containermaxprocs=1,containermaxprocs=",
		"containermaxprocs=1, containermaxprocs=0",
		"updatemaxprocs=0",
	} {
		t.Run(value, func(t *testing.T) {
			p := g.Start(t, []string{"GODEBUG=" + value}, eight(t)...)
			procs, aware := p.Do("procs"), p.Do("aware")
			if !(procs == "4" && aware == "true" || procs == "8" && aware == "false") {
				t.Errorf("the runtime has chosen %s, and is said to be aware of the limit: %s", procs, aware)
			}
			t.Log("aware:", aware)
		})
	}
}

func TestRealOwnUpdatesAreLeftOn(t *testing.T) {
	ownDefault(t)
	g := grouptest.New(t)
	g.Limit(t, 4)
	p := g.Start(t, aware, eight(t)...)
	p.Want("set", "4 -> 4, Go's own default")
	p.Want("set override", "4 -> 4, the limit, rounded")
	g.Limit(t, 6)
	p.Until("procs", "6")
}

func TestRealOwnUpdatesAreGivenBack(t *testing.T) {
	ownDefault(t)
	g := grouptest.New(t)
	g.Limit(t, 3.5)
	p := g.Start(t, aware, eight(t)...)
	p.Want("set floor", "4 -> 3, the limit, rounded")
	p.Want("undo", "4")
	g.Limit(t, 6)
	p.Until("procs", "6")
}

func TestRealOwnUpdatesAreGivenBackWhileFollowing(t *testing.T) {
	ownDefault(t)
	g := grouptest.New(t)
	g.Limit(t, 3.5)
	p := g.Start(t, aware, eight(t)...)
	p.Want("set floor follow", "4 -> 3, the limit, rounded")
	g.Limit(t, 5) // where both are of one mind
	p.Until("procs", "5")
	p.Want("stop", "stopped")
	g.Limit(t, 6.5)
	p.Until("procs", "7") // the runtime's rounding
}

func TestRealOwnUpdatesAreCorrected(t *testing.T) {
	ownDefault(t)
	g := grouptest.New(t)
	g.Limit(t, 4)
	p := g.Start(t, aware, eight(t)...)
	p.Want("set floor follow", "4 -> 4, the limit, rounded")
	g.Limit(t, 5.5) // the runtime may make it 6 for a moment
	p.Until("procs", "5")
}

func TestRealRuntimeThatIsNotAware(t *testing.T) {
	g := grouptest.New(t)
	g.Limit(t, 4)
	p := g.Start(t, unaware, eight(t)...)
	p.Want("set follow", "8 -> 4, the limit, rounded")
	g.Limit(t, 5.5)
	p.Until("procs", "6")
	p.Want("undo", "8")
}
