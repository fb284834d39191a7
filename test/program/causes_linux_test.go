package program

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/analysis"
)

// The baseline of each cause is the same service without it: what its tail
// takes is the service's own, and the rest is extra.
const quiet = `
name: causes
services:
  server:
    command: [SERVER, --port, "${port}", --warm, WARM]
    ready: /ok
    env: {GOMAXPROCS: 2}
    metrics: {dependency: dependency_seconds}
limits: {LIMITS}
load: {request: {path: "PATH"}, rate: RATE, timeout: 5s}
measure: {warmup: 1s, duration: 6s, repeats: 1, interval: 500ms}
`

func experimentOf(path, rate, limits, warm string) string {
	return strings.NewReplacer("PATH", path, "RATE", rate, "LIMITS", limits, "WARM", warm).Replace(quiet)
}

// TestAKnownCauseIsTold makes a service slow by exactly one known cause, and
// wants at least 90% of what that adds to the tail to be told as that cause.
func TestAKnownCauseIsTold(t *testing.T) {
	for _, c := range []struct {
		name       string
		path, rate string
		always     string                      // limits of both
		limits     string                      // of the slow one
		slowPath   string                      // "": the same
		flag       analysis.Flag               // that the cause itself raises
		warm       string                      // how long it is up before it answers
		each       func(t *testing.T, pid int) // done in the middle of each attempt
		share      func(*analysis.Causes) float64
	}{
		{name: "a quota", path: "/spin?us=5000", rate: "60", limits: `cpu: 400m`,
			share: func(c *analysis.Causes) float64 { return c.Throttling }},
		{name: "a dependency that sleeps", path: "/ask?ms=0&every=20", slowPath: "/ask?ms=200&every=20", rate: "200",
			share: func(c *analysis.Causes) float64 { return c.Dependency }},
		{name: "a frozen generator", path: "/ok", rate: "200",
			each:  func(t *testing.T, pid int) { freeze(t, pid, 600*time.Millisecond) },
			share: func(c *analysis.Causes) float64 { return c.Generator }},
		// The service keeps to one CPU and competes for it with three hogs; the
		// agent needs little of another, which one hog keeps busy, and is on time.
		{name: "a hog outside", path: "/spin?us=3000", rate: "150", always: `cpuset: "1"`, flag: "busy_neighbour",
			each:  func(t *testing.T, pid int) { hogs(t, 2*time.Second, 0, 1, 1, 1) },
			share: func(c *analysis.Causes) float64 { return c.Neighbours }},
		// Those that are refused have no latency; those that wait for a service
		// that listens again and does not answer yet do.
		{name: "an OOM restart", path: "/ok", rate: "100", limits: `memory: 64Mi`, warm: "800ms",
			each:  func(t *testing.T, pid int) { exhaust(t) },
			share: func(c *analysis.Causes) float64 { return c.Restart }},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := cmp.Or(c.slowPath, c.path)
			own, slow := calm(t, "", func() *analysis.CellSummary {
				return watched(t, experimentOf(c.path, c.rate, c.always, "0s"), nil)
			}), calm(t, c.flag, func() *analysis.CellSummary {
				return watched(t, experimentOf(path, c.rate, cmp.Or(c.limits, c.always), cmp.Or(c.warm, "0s")), c.each)
			})
			if own.Causes == nil || slow.Causes == nil {
				t.Fatalf("no causes of the tail: without the cause %v, with it %v", own.Causes, slow.Causes)
			}
			if own.Causes.Throttling != 0 {
				t.Errorf("without a limit %v of the tail is throttling, want 0", own.Causes.Throttling)
			}
			// In what the slow tail takes on average, how much is the cause's, of
			// how much there is beyond the baseline's?
			extra := slow.Causes.MeanMS - own.Causes.MeanMS
			told := c.share(slow.Causes) * slow.Causes.MeanMS
			t.Logf("tail %.1f ms, without the cause %.1f ms; told as it %.1f ms: %+v", slow.Causes.MeanMS, own.Causes.MeanMS, told, shares(slow.Causes))
			if extra < 5 || extra < slow.Causes.MeanMS/2 {
				t.Errorf("the cause added %.1f ms only", extra)
			}
			if before := c.share(own.Causes) * own.Causes.MeanMS; before > 0.1*extra {
				t.Errorf("%.1f ms are told as %s where it is not", before, c.name)
			}
			if told < 0.9*extra {
				t.Errorf("%.1f ms of %.1f ms extra are told as %s, want 90%%: %v", told, extra, c.name, shares(slow.Causes))
			}
		})
	}
}

// patience is how many more times something is measured again because the machine
// was not quiet, over all cases together.
var patience = 6

// calm gives what was measured while the machine itself went on. A virtual
// machine that is stopped for a while delays everything at once, and that is a
// cause too: a witness that belongs to nothing that is measured tells of it, and
// the frames tell of CPU that others took, which is no disturbance where it is wanted.
func calm(t *testing.T, wanted analysis.Flag, measure func() *analysis.CellSummary) *analysis.CellSummary {
	t.Helper()
	var pause time.Duration
	var c *analysis.CellSummary
	for {
		ended := witness()
		c = measure()
		if pause = ended(); pause <= bearable(c) && !slices.ContainsFunc(analysis.Flags{analysis.FlagCPUStolen, analysis.FlagBusyNeighbour}, func(flag analysis.Flag) bool {
			return flag != wanted && c.Has(flag)
		}) {
			return c
		}
		if patience == 0 {
			break
		}
		patience--
	}
	t.Skipf("this machine is not quiet enough to see one cause alone: it stood still for %v, flags %v", pause, c.Flags)
	return nil
}

// bearable is the longest pause of the machine that leaves a tail what it is. A
// pause holds up all that is due in it, which is many of the slowest hundredth.
func bearable(c *analysis.CellSummary) time.Duration {
	least := 25 * time.Millisecond
	if c.Causes == nil {
		return least
	}
	return min(100*time.Millisecond, max(least, time.Duration(c.Causes.MeanMS/4*float64(time.Millisecond))))
}

// witness looks at the clock every few milliseconds, on each CPU, until it is
// ended, and then tells the longest time that it missed. It outranks all that is
// measured, and the neighbours of a test, so that only the machine can keep it
// from looking.
func witness() (ended func() time.Duration) {
	end, longest := make(chan struct{}), make(chan time.Duration)
	for on := range runtime.NumCPU() {
		go func() {
			runtime.LockOSThread() // for good: the thread keeps its rank and its CPU
			unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20)
			var cpu unix.CPUSet
			cpu.Set(on)
			unix.SchedSetaffinity(0, &cpu)
			var most time.Duration
			tick := unix.NsecToTimespec(int64(5 * time.Millisecond))
			for last := time.Now(); ; {
				unix.Nanosleep(&tick, nil) // of this thread: the runtime's timers may wait for another CPU
				most, last = max(most, time.Since(last)), time.Now()
				select {
				case <-end:
					longest <- most
					return
				default:
				}
			}
		}()
	}
	return func() (most time.Duration) {
		close(end)
		for range runtime.NumCPU() {
			most = max(most, <-longest)
		}
		return most
	}
}

func shares(c *analysis.Causes) string {
	var parts []string
	for _, s := range c.Shares() {
		parts = append(parts, s.Name+" "+strconv.FormatFloat(100*s.Value, 'f', 1, 64)+"%")
	}
	return strings.Join(parts, ", ")
}

// watched runs an experiment of one trial and gives its cell. A trial that was
// disturbed is repeated, and some causes are disturbances: each attempt gets its
// own.
func watched(t *testing.T, yaml string, each func(t *testing.T, pid int)) *analysis.CellSummary {
	t.Helper()
	needCgroups(t)
	dir, c := command(t, yaml)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for done, over := 0, false; !over; {
		select {
		case err := <-ended:
			if over = true; err != nil {
				t.Fatalf("%v\n%s", err, &errs)
			}
		case <-tick.C:
			if each != nil && measured(dir, done+1) >= 3 {
				done++
				each(t, c.Process.Pid)
			}
		}
	}
	s := summaryOf(t, dir)
	nothingLeft(t, c.Process.Pid)
	return &s.Cells[0]
}

// measured is how many intervals of a trial's measured part a record holds.
func measured(record string, trial int) (n int) {
	text, err := os.ReadFile(filepath.Join(record, "frames.ndjson"))
	if err != nil {
		return 0 // not made yet
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, fmt.Appendf(nil, `{"trial":%d,`, trial)) && bytes.Contains(line, []byte(`"phase":"measure"`)) && bytes.Contains(line, []byte(`"host":{`)) {
			n++
		}
	}
	return n
}

func summaryOf(t *testing.T, dir string) *analysis.Summary {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := new(analysis.Summary)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// freeze stops the agents of a run for a while.
func freeze(t *testing.T, pid int, d time.Duration) {
	t.Helper()
	thaw := stopAgents(t, pid)
	defer thaw()
	time.Sleep(d) // this long is the cause
}

// stopAgents stops the agents of a run until they are thawed.
func stopAgents(t *testing.T, pid int) (thaw func()) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(agentGroup(pid), "cgroup.procs"))
	if err != nil {
		t.Fatal(err)
	}
	var stopped []int
	for _, line := range strings.Fields(string(text)) {
		agent, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(agent, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		stopped = append(stopped, agent)
	}
	return func() {
		for _, agent := range stopped {
			syscall.Kill(agent, syscall.SIGCONT)
		}
	}
}

// exhaust lets the service keep more memory than it may.
func exhaust(t *testing.T) {
	t.Helper()
	for _, dir := range processes(t, filepath.Join(bin, "server")) {
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		words := strings.Split(string(line), "\x00")
		for i, word := range words {
			if word == "--port" && i+1 < len(words) {
				// It dies of the request, so the request's own end says nothing.
				client := http.Client{Timeout: 5 * time.Second}
				if answer, err := client.Get("http://127.0.0.1:" + words[i+1] + "/keep?mb=200"); err == nil {
					answer.Body.Close()
				}
				return
			}
		}
	}
	t.Fatal("the service is not there")
}
