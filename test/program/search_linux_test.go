package program

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/testkit"
)

// search is run with an action during the run.
func search(t *testing.T, yaml string, meanwhile func(record string, millicore int)) *analysis.CellSummary {
	t.Helper()
	needCgroups(t)
	dir, c := command(t, yaml)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	testkit.Start(t, c)
	if meanwhile != nil {
		meanwhile(dir, c.Process.Pid)
	}
	err := c.Wait()
	s := testkit.Answer[analysis.Summary](t, err, out.Bytes(), errs.String())
	nothingLeft(t, c.Process.Pid)
	if s.Cells[0].Breaking == nil {
		t.Fatalf("a search without a result or a reason:\n%s", &out)
	}
	t.Logf("%+v flags %v", *s.Cells[0].Breaking, s.Cells[0].Flags)
	return &s.Cells[0]
}

const brief = `
measure: {warmup: 500ms, duration: 20s}
objective: {p99: 100ms, availability: 99.9}
`

// Each replica serves one request at a time in 5 ms, so less than 200 per second. At half
// of that the p99 is far below 100 ms on any machine.
func TestASearchFindsTheCapacity(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits string
		agents string
		holds  float64
	}{
		{"one replica", "", "1", 200},
		{"two replicas and two agents", "limits: {replicas: 2}", "2", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := search(t, `
name: serial
services: {server: {command: [SERVER, --port, "${port}"]}}
`+c.limits+`
load: {request: {path: "/serial?ms=5"}, agents: `+c.agents+`, find: breaking-point}`+brief, nil)
			b := cell.Breaking
			if undecided(b) {
				t.Skip(b.Reason)
			}
			if b.RateRPS == nil {
				t.Fatalf("no breaking point: %s", b.Reason)
			}
			if *b.RateRPS > 1.025*c.holds || *b.Low > c.holds {
				t.Errorf("it breaks at %v (from %v on), want less than the %v that it can serve", *b.RateRPS, *b.Low, c.holds)
			}
			if *b.RateRPS < c.holds/2 {
				t.Errorf("it breaks at %v, want more than half of the %v that it can serve", *b.RateRPS, c.holds)
			}
			if *b.Low > *b.RateRPS || b.High != nil && *b.High < *b.RateRPS {
				t.Errorf("%v lies outside its interval", *b.RateRPS)
			}
			if slices.Contains([]string{analysis.ByCPULimit, analysis.ByThrottling, analysis.ByMemory, analysis.ByErrors}, b.LimitedBy) {
				t.Errorf("limited by %q: it has no limit and waits for its own lock", b.LimitedBy)
			}
			if cell.Causes != nil && cell.Causes.Throttling != 0 {
				t.Errorf("%v of the tail is throttling, of a service without a limit", cell.Causes.Throttling)
			}
		})
	}
}

func TestASearchOfAFailingServiceHasAReason(t *testing.T) {
	for _, c := range []struct {
		name, path, limits string
		short              bool // less traffic: the service must recover again and again
		found              bool // a breaking point may be found
		by                 []string
		reason             string
	}{
		{name: "always 500", path: "/status?code=500", by: []string{analysis.ByErrors}},
		{name: "crashes under load", path: "/crash?above=20", found: true, by: []string{analysis.ByErrors}},
		{name: "stops answering under load", path: "/hang?above=20", found: true, reason: "stopped answering"},
		{name: "is killed for memory again and again", path: "/keep?mb=4", limits: "limits: {memory: 64Mi}", short: true, found: true, by: []string{analysis.ByMemory}},
		{name: "never answers", path: "/never", reason: "objective"},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			measure := brief
			if c.short {
				measure = strings.Replace(brief, "20s", "12s", 1)
			}
			got := search(t, `
name: fails
services: {server: {command: [SERVER, --port, "${port}"]}}
`+c.limits+`
load: {request: {path: "`+c.path+`"}, timeout: 500ms, find: breaking-point}`+measure, nil)
			b := got.Breaking
			if b.Load() != nil && !c.found {
				t.Errorf("it breaks at %v, though it never met the objective", *b.Load())
			}
			if b.Load() == nil && b.Reason == "" {
				t.Error("no breaking point, and no reason")
			}
			if undecided(b) { // a reason is a result too
				t.Skip(b.Reason)
			}
			// A search takes at most four times its traffic, and a last wait for a
			// service that died.
			if took := time.Since(began); took > 2*time.Minute {
				t.Errorf("it took %v", took)
			}
			// If other processes took CPU, a search discards windows, and may not find
			// the reason.
			unseen := t.Errorf
			if slices.Contains(got.Flags, "search_disturbed") {
				unseen = t.Skipf
			}
			if c.by != nil && !slices.Contains(c.by, b.LimitedBy) {
				unseen("limited by %q (%s), want %q; flags %v", b.LimitedBy, b.Evidence, c.by, got.Flags)
			}
			if !strings.Contains(b.Reason, c.reason) {
				unseen("reason %q, want %q in it; flags %v", b.Reason, c.reason, got.Flags)
			}
		})
	}
	t.Run("crashes at its start", func(t *testing.T) {
		needCgroups(t)
		_, c := command(t, `
name: fails
services: {server: {command: [SERVER, --port, "${port}", --fail]}}
load: {request: {path: /ok}, find: breaking-point}`+brief)
		out, err := c.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no trial could be completed") {
			t.Errorf("%v:\n%s", err, out)
		}
		nothingLeft(t, c.Process.Pid)
	})
}

// A limited generator is not reported as the limit of the service, in an open loop (its
// requests are late) and in a closed loop (none is).
func TestAWeakGeneratorIsALowerBound(t *testing.T) {
	for _, load := range []string{"", ", users: 4"} {
		t.Run("request"+load, func(t *testing.T) {
			c := search(t, `
name: weak
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: /ok}, find: breaking-point`+load+`}`+strings.Replace(brief, "100ms", "50ms", 1), func(_ string, pid int) {
				testkit.Until(t, "the agent has a control group", func() bool { return agentGroup(pid) != "" })
				quota(t, agentGroup(pid), 5) // percent of a CPU: some thousand requests/s
			})
			b := c.Breaking
			if undecided(b) {
				t.Skip(b.Reason)
			}
			if !b.AtLeast && b.Load() != nil {
				t.Errorf("it breaks at %v, limited by %q: want a lower bound", *b.Load(), b.LimitedBy)
			}
			if b.LimitedBy != analysis.ByGenerator {
				t.Errorf("limited by %q (%s), want the generator", b.LimitedBy, b.Evidence)
			}
			if !slices.Contains(c.Flags, "lower_bound") && b.Load() != nil {
				t.Errorf("flags %q", c.Flags)
			}
		})
	}
}

// An agent that gets almost no CPU is distinguished from a service that does not answer.
func TestASilentAgentFailsItsTrial(t *testing.T) {
	needCgroups(t)
	dir, c := command(t, `
name: silent
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: /ok}, find: breaking-point}`+brief)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	testkit.Start(t, c)
	testkit.Until(t, "the first trial is measured", func() bool { return measured(dir, 1) > 0 })
	stopAgents(t, c.Process.Pid)
	if err := c.Wait(); err == nil || !strings.Contains(out.String(), "it sent nothing for") {
		t.Errorf("%v, want that the agent was silent:\n%s", err, &out)
	}
	nothingLeft(t, c.Process.Pid)
}

func TestANeighbourDuringASearchIsReported(t *testing.T) {
	c := search(t, `
name: neighbour
services: {server: {command: [SERVER, --port, "${port}"]}}
limits: {cpu: 500m}
load: {request: {path: "/spin?us=2000"}, find: breaking-point}`+brief, func(record string, _ int) {
		testkit.Until(t, "the third step has ended", func() bool {
			steps, _ := os.ReadFile(filepath.Join(record, "steps.ndjson"))
			return bytes.Count(steps, []byte("\n")) >= 3
		})
		hogs(t, 6*time.Second, 0, 1, 0)
	})
	b := c.Breaking
	if !slices.Contains(c.Flags, "search_disturbed") || !c.DisturbedBy(analysis.Neighbours) {
		t.Errorf("flags %q, disturbed by %q: want search_disturbed, by neighbours", c.Flags, b.DisturbedBy)
	}
	// The effect of the neighbour is reported: discarded windows, or no result. If the
	// hypervisor took CPU too, the effect may be larger.
	if d := c.Disturbance; !strings.Contains(b.Reason, "other processes took CPU") && !c.DisturbedBy(analysis.Hypervisor) && (d == nil || d.Disturbed == 0) {
		t.Errorf("%v, reason %q, %+v: want that other processes took CPU", b.Load(), b.Reason, d)
	}
}

// agentGroup is the cpu group of the agent of a run; "" while there is none.
func agentGroup(pid int) (found string) {
	for _, root := range []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"} {
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && strings.Contains(path, fmt.Sprintf("/millicore-%d-", pid)) && strings.Contains(d.Name(), "-agent-") {
				found = path
			}
			return nil
		})
		if _, err := os.Stat(root); err == nil { // the groups of other hierarchies limit no CPU, and may exist earlier
			return found
		}
	}
	return ""
}

// quota limits a group to a percentage of a CPU.
func quota(t *testing.T, dir string, percent int) {
	t.Helper()
	file, text := filepath.Join(dir, "cpu.cfs_quota_us"), fmt.Sprint(percent*1000)
	if _, err := os.Stat(file); err != nil {
		file, text = filepath.Join(dir, "cpu.max"), text+" 100000"
	}
	if err := os.WriteFile(file, []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

// hogs starts a process on each of the given CPUs that uses it for a time. They are not
// part of the measurement.
func hogs(t *testing.T, d time.Duration, cpus ...int) {
	t.Helper()
	var all []*exec.Cmd
	for _, on := range cpus {
		c := exec.Command("sh", "-c", "while :; do :; done")
		testkit.Start(t, c)
		all = append(all, c)
		var cpu unix.CPUSet
		cpu.Set(on % runtime.NumCPU())
		if err := unix.SchedSetaffinity(c.Process.Pid, &cpu); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(d) // this long is the disturbance
	for _, c := range all {
		testkit.Kill(c)
	}
}
