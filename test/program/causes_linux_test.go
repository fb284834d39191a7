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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit"
)

// The baseline of each cause is the same service without the cause. The tail of the
// baseline is the service's own time, and the difference is extra. At 200 requests/s the
// slowest 1% are at least the 20 requests that shares need.
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
measure: {warmup: 1s, duration: 11s, repeats: 1, interval: 500ms}
`

func experimentOf(path, rate, limits, warm string) string {
	return strings.NewReplacer("PATH", path, "RATE", rate, "LIMITS", limits, "WARM", warm).Replace(quiet)
}

// knownCause makes a service slow by exactly one cause.
type knownCause struct {
	path, rate string
	always     string                      // limits of both
	limits     string                      // of the slow one
	slowPath   string                      // "": the same
	flag       summary.Flag                // that the cause itself sets
	warm       string                      // time between its start and its first answer
	each       func(t *testing.T, pid int) // called in the middle of each attempt
	share      func(*summary.Causes) float64
}

// TestKnownCauses measures the cause that Millicore is made for. make test-system has the
// others.
func TestKnownCauses(t *testing.T) {
	t.Run("a quota", knownCause{path: "/spin?us=1300", rate: "200", limits: `cpu: 330m`,
		share: func(c *summary.Causes) float64 { return c.ThrottlingHigh }}.isAttributed)
}

// isAttributed checks that at least 90% of the extra time of the tail is attributed to
// the cause.
func (c knownCause) isAttributed(t *testing.T) {
	path := cmp.Or(c.slowPath, c.path)
	own, slow := calm(t, "", func() *summary.Cell {
		return watched(t, experimentOf(c.path, c.rate, c.always, "0s"), nil)
	}), calm(t, c.flag, func() *summary.Cell {
		return watched(t, experimentOf(path, c.rate, cmp.Or(c.limits, c.always), cmp.Or(c.warm, "0s")), c.each)
	})
	if own.Causes == nil || slow.Causes == nil {
		t.Fatalf("no causes of the tail: without the cause %v, with it %v", own.Causes, slow.Causes)
	}
	if own.Causes.Throttling != 0 {
		t.Errorf("without a limit %v of the tail is throttling, want 0", own.Causes.Throttling)
	}
	// The share of the cause in the mean extra time of the slow tail.
	extra := slow.Causes.MeanMS - own.Causes.MeanMS
	attributed := c.share(slow.Causes) * slow.Causes.MeanMS
	t.Logf("tail %.1f ms, without the cause %.1f ms; attributed as it %.1f ms: %+v", slow.Causes.MeanMS, own.Causes.MeanMS, attributed, shares(slow.Causes))
	if extra < 5 || extra < slow.Causes.MeanMS/2 {
		t.Errorf("the cause added %.1f ms only", extra)
	}
	if before := c.share(own.Causes) * own.Causes.MeanMS; before > 0.1*extra {
		t.Errorf("%.1f ms are attributed to the cause in the baseline", before)
	}
	if low := slow.Causes.Throttling * slow.Causes.MeanMS; low > 1.1*extra || low < 0.3*slow.Causes.ThrottlingHigh*slow.Causes.MeanMS {
		t.Errorf("throttling made at least %.1f ms of %.1f ms extra, want 30 to 110%%", low, extra)
	}
	if attributed < 0.9*extra {
		t.Errorf("%.1f ms of %.1f ms extra are attributed to the cause, want 90%%: %v", attributed, extra, shares(slow.Causes))
	}
}

// patience is how many measurements may be repeated because the machine was not quiet,
// for all cases together.
var patience = 12

// calm repeats a measurement until the machine was quiet. A virtual machine that pauses
// delays everything, which is a cause of its own: a witness outside of the measurement
// detects it. The frames show CPU used by others, unless that is the cause under test.
func calm(t *testing.T, wanted summary.Flag, measure func() *summary.Cell) *summary.Cell {
	t.Helper()
	var pause time.Duration
	var c *summary.Cell
	for {
		ended := witness()
		c = measure()
		if pause = ended(); pause <= bearable(c) && (wanted == summary.FlagBusyNeighbour || !c.Has(summary.FlagBusyNeighbour)) && (c.Host.StealCores == nil || *c.Host.StealCores < 0.1) {
			return c
		}
		if patience == 0 {
			break
		}
		patience--
	}
	t.Skipf("this machine is not quiet enough to isolate a cause: it paused for %v, flags %v, %s", pause, c.Flags, busiest(c))
	return nil
}

// busiest names the processes that used most CPU beside a measurement.
func busiest(c *summary.Cell) string {
	if c.Disturbance == nil || len(c.Disturbance.Neighbours) == 0 {
		return "no neighbours are known"
	}
	return "CPUs of neighbours: " + signals.NeighboursText(c.Disturbance.Neighbours)
}

// bearable is the longest pause of the machine that does not change the tail. A pause
// delays all requests that are due in it, which are many of the slowest 1%.
func bearable(c *summary.Cell) time.Duration {
	least := 25 * time.Millisecond
	if c.Causes == nil {
		return least
	}
	return min(100*time.Millisecond, max(least, time.Duration(c.Causes.MeanMS/4*float64(time.Millisecond))))
}

// witness reads the clock every few milliseconds on each CPU until it is stopped, and
// then returns the longest delay. It has a higher priority than everything that is
// measured and than the neighbours of a test, so that only the machine can delay it.
func witness() (ended func() time.Duration) {
	end, longest := make(chan struct{}), make(chan time.Duration)
	for on := range runtime.NumCPU() {
		go func() {
			runtime.LockOSThread() // never unlocked: the thread keeps its priority and its CPU
			unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), -20)
			var cpu unix.CPUSet
			cpu.Set(on)
			unix.SchedSetaffinity(0, &cpu)
			var most time.Duration
			tick := unix.NsecToTimespec(int64(5 * time.Millisecond))
			for last := time.Now(); ; {
				unix.Nanosleep(&tick, nil) // of this thread: timers of the runtime may wait for another CPU
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

func shares(c *summary.Causes) string {
	var parts []string
	for _, s := range c.Shares() {
		parts = append(parts, s.Name+" "+display.Shares(s.Low, s.High))
	}
	return strings.Join(parts, ", ")
}

// watched runs an experiment of one trial and returns its cell. A disturbed trial is
// repeated, and some causes are disturbances, so each attempt gets the cause.
func watched(t *testing.T, yaml string, each func(t *testing.T, pid int)) *summary.Cell {
	t.Helper()
	needCgroups(t)
	dir, c := command(t, yaml)
	var errs bytes.Buffer
	c.Stderr = &errs
	testkit.Start(t, c)
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

// measured is the number of intervals in the measured part of a trial.
func measured(record string, trial int) (n int) {
	text, err := os.ReadFile(filepath.Join(record, "frames.ndjson"))
	if err != nil {
		return 0 // it does not exist yet
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, fmt.Appendf(nil, `{"trial":%d,`, trial)) && bytes.Contains(line, []byte(`"phase":"measure"`)) && bytes.Contains(line, []byte(`"host":{`)) {
			n++
		}
	}
	return n
}

func summaryOf(t *testing.T, dir string) *summary.Summary {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := new(summary.Summary)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// freeze stops the agents of a run for a time.
func freeze(t *testing.T, pid int, d time.Duration) {
	t.Helper()
	thaw := stopAgents(t, pid)
	defer thaw()
	time.Sleep(d) // this is the cause
}

// stopAgents stops the agents of a run until the returned function is called.
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

// exhaust makes the service allocate more memory than its limit.
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
				// The request kills the service, so its own result is ignored.
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
