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

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/testkit"
)

// search runs an experiment, with an action during the run.
func search(t *testing.T, yaml string, meanwhile func(record string, millicore int)) *summary.Cell {
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
	s := testkit.Answer[summary.Summary](t, err, out.Bytes(), errs.String())
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
// of that the p99 is far below 100 ms on any machine. It takes half a minute: the only
// search of full length in make test.
func TestASearchFindsTheCapacity(t *testing.T) { findsTheCapacity(t, "", 1, 200) }

// findsTheCapacity searches with the given limits and agents, and compares the breaking
// point with the requests per second that the replicas serve together.
func findsTheCapacity(t *testing.T, limits string, agents int, capacity float64) {
	cell := search(t, `
name: serial
services: {server: {command: [SERVER, --port, "${port}"]}}
`+limits+`
load: {request: {path: "/serial?ms=5"}, agents: `+fmt.Sprint(agents)+`, find: breaking-point}`+brief, nil)
	b := cell.Breaking
	if undecided(b) {
		t.Skip(b.Reason)
	}
	if b.RateRPS == nil {
		t.Fatalf("no breaking point: %s", b.Reason)
	}
	if *b.RateRPS > 1.025*capacity || *b.Low > capacity {
		t.Errorf("it breaks at %v (from %v on), want less than the %v that it can serve", *b.RateRPS, *b.Low, capacity)
	}
	if *b.RateRPS < capacity/2 {
		t.Errorf("it breaks at %v, want more than half of the %v that it can serve", *b.RateRPS, capacity)
	}
	if *b.Low > *b.RateRPS || b.High != nil && *b.High < *b.RateRPS {
		t.Errorf("%v lies outside its interval", *b.RateRPS)
	}
	if slices.Contains([]string{summary.ByCPULimit, summary.ByThrottling, summary.ByMemory, summary.ByErrors}, b.LimitedBy) {
		t.Errorf("limited by %q: it has no limit and waits for its own lock", b.LimitedBy)
	}
	if cell.Causes != nil && cell.Causes.Throttling != 0 {
		t.Errorf("%v of the tail is throttling, of a service without a limit", cell.Causes.Throttling)
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
