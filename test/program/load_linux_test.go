package program

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/front/traffic"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/groups"
)

// loaded is the output of `millicore load --json`.
type loaded struct {
	summary.Cell
	Replay     traffic.Replay
	Thresholds []struct {
		Threshold string
		Value     *float64
		Kept      bool
	}
}

// serving starts the test server, and returns its address and pid.
func serving(t *testing.T, args ...string) (address string, pid int) {
	t.Helper()
	testkit.Long(t, "a whole program under load")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	c := exec.Command(filepath.Join(bin, "server"), append([]string{"--port", port}, args...)...)
	testkit.Start(t, c)
	testkit.Value(t, "the server accepts connections", func() (net.Conn, error) { return net.Dial("tcp", address) }).Close()
	return address, c.Process.Pid
}

// load runs `millicore load --json` to its end.
func load(t *testing.T, code int, args ...string) *loaded {
	t.Helper()
	temp := t.TempDir()
	c := exec.Command(filepath.Join(bin, "millicore"), append([]string{"load", "--json"}, args...)...)
	c.Env = append(os.Environ(), "TMPDIR="+temp)
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	var exit *exec.ExitError
	if got := c.ProcessState.ExitCode(); got != code || err != nil && !errors.As(err, &exit) {
		t.Fatalf("exit code %d, want %d (%v):\n%s", got, code, err, &errs)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left behind", left[0].Name())
	}
	r := new(loaded)
	if err := json.Unmarshal(out, r); err != nil {
		t.Fatalf("%v in:\n%s\n%s", err, out, &errs)
	}
	return r
}

func TestLoad(t *testing.T) {
	address, _ := serving(t)
	r := load(t, 0, "-n", "500", "-c", "5", "--threshold", "rate>0", "http://"+address+"/sleep?ms=2")
	if r.Requests != 500 || *r.Availability != 100 || r.LatencyMS.P50 < 2 || r.LatencyMS.P50 > 1000 {
		t.Errorf("%d requests, %v%% available, p50 %v ms", r.Requests, *r.Availability, r.LatencyMS.P50)
	}
	if len(r.Thresholds) != 1 || !r.Thresholds[0].Kept {
		t.Errorf("thresholds %+v", r.Thresholds)
	}
	if r.CPU.Cores != nil || r.Host.ForeignCores != nil {
		t.Errorf("no process was observed, but CPU %v, foreign %v was measured", *r.CPU.Cores, *r.Host.ForeignCores)
	}
	r = load(t, 99, "-R", "100", "-d", "1s", "--threshold", "p50<1ms", "--threshold", "errors<50%", "http://"+address+"/sleep?ms=20")
	if r.Thresholds[0].Kept || !r.Thresholds[1].Kept || *r.Thresholds[0].Value < 20 {
		t.Errorf("thresholds %+v", r.Thresholds)
	}
	r = load(t, 0, "-n", "50", "-c", "1", "--status", "404", "http://"+address+"/not-there")
	if *r.Availability != 100 {
		t.Errorf("%v%% of the answers with the accepted status are good", *r.Availability)
	}
	// A load that changes is reported as a whole: the ramp and the level after it.
	r = load(t, 0, "--stages", "1s:4,2s:4", "--threshold", "p99<10s", "http://"+address+"/sleep?ms=2")
	if *r.Availability != 100 || r.LatencyMS == nil || r.LatencyMS.P50 < 2 || !r.Thresholds[0].Kept || len(r.Steps) != 1 {
		t.Fatalf("%d requests, latency %+v, thresholds %+v, steps %+v", r.Requests, r.LatencyMS, r.Thresholds, r.Steps)
	}
	if step := r.Steps[0]; step.RateRPS*step.Seconds >= float64(r.Requests) {
		t.Errorf("%d requests in all, %v at the level", r.Requests, step.RateRPS*step.Seconds)
	}
	r = load(t, 0, "-n", "50", "-c", "1", "--contains", "nonsense", "http://"+address+"/sleep?ms=0")
	if r.Errors.Failed != 50 || *r.Availability != 0 {
		t.Errorf("%d failed a check, %v%% available", r.Errors.Failed, *r.Availability)
	}
}

// A service without a good answer is a result, not a failure of the tool.
func TestLoadWithoutAGoodAnswer(t *testing.T) {
	address, _ := serving(t)
	url, out := "http://"+address+"/not-there", filepath.Join(t.TempDir(), "kept")
	for _, c := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-R", "20", "-d", "1"}, 0, `no good answer(?s:.*)404`, ` +0:0\d +0/s  p50 +–  p99 +–  errors +\d+  in flight +\d+`},
		{[]string{"-R", "20", "-d", "1", "--threshold", "errors<1%"}, 99, `errors<1%  missed, 100`, ""},
		{[]string{"-n", "5", "-c", "1", "--csv", "--out", out}, 0, `^cell,`, ""},
		{[]string{"--out", out}, 2, `^$`, "kept"},
	} {
		run := exec.Command(filepath.Join(bin, "millicore"), append(append([]string{"load"}, c.args...), url)...)
		var stdout, stderr strings.Builder
		run.Stdout, run.Stderr = &stdout, &stderr
		run.Run()
		if code := run.ProcessState.ExitCode(); code != c.code || !regexp.MustCompile(c.stdout).MatchString(stdout.String()) || !regexp.MustCompile(c.stderr).MatchString(stderr.String()) {
			t.Errorf("%v: exit code %d, want %d with %q and %q:\n%s\n%s", c.args, code, c.code, c.stdout, c.stderr, &stdout, &stderr)
		}
	}
	for _, name := range []string{"report.html", "summary.json", "latency.hlog"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
}

// The server runs under a limit that Millicore did not set, as a container does.
func TestLoadReportsTheThrottlingOfItsTarget(t *testing.T) {
	needCgroups(t)
	address, pid := serving(t)
	limited(t, pid, 0.2)
	r := load(t, 0, "-c", "4", "-d", "3s", "--pid", strconv.Itoa(pid), "http://"+address+"/burn?ms=10")
	if r.Limits.CPUMillis == nil || *r.Limits.CPUMillis != 200 {
		t.Errorf("a limit of 200m was detected as %v", r.Limits.CPUMillis)
	}
	if r.CPU.Cores == nil || *r.CPU.Cores <= 0 || *r.CPU.Cores > 0.3 || r.CPU.ThrottledPeriods == nil || *r.CPU.ThrottledPeriods == 0 {
		t.Errorf("CPU %+v", r.CPU)
	}
	if r.Memory.PeakBytes == nil || *r.Memory.PeakBytes > 1<<30 {
		t.Errorf("memory %+v; want that of a small server", r.Memory)
	}
	if r.Host.ForeignCores == nil || r.Generator.Cores == nil {
		t.Errorf("this machine, where the target runs, was not recorded: %+v", r.Host)
	}
	if r.Trials != 1 {
		t.Errorf("%d trials", r.Trials)
	}
}

// The server is killed and remains a zombie, whose files are still readable.
func TestLoadReportsThatItsTargetEnded(t *testing.T) {
	address, pid := serving(t)
	time.AfterFunc(2500*time.Millisecond, func() { syscall.Kill(pid, syscall.SIGKILL) })
	out, err := exec.Command(filepath.Join(bin, "millicore"), "load", "--json", "-c", "2", "-d", "5s", "--pid", strconv.Itoa(pid), "http://"+address+"/sleep?ms=5").Output()
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		summary.Cell
		Ended *float64 `json:"target_ended_s"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	if r.Ended == nil || *r.Ended < 1 || *r.Ended > 4 {
		t.Errorf("killed about 2 s after the load began; ended %v", r.Ended)
	}
	if r.CPU.Cores == nil || r.Memory.PeakBytes == nil {
		t.Errorf("the measurement before the end is lost: %+v", r.CPU)
	}
}

// limited puts a process into its own control groups with a limit in CPUs.
func limited(t *testing.T, pid int, cpus float64) {
	t.Helper()
	g := groups.New(t)
	g.LimitCPU(t, cpus)
	g.Add(t, pid)
}

// An interrupted load reports what it measured, and leaves nothing behind.
func TestLoadIsInterrupted(t *testing.T) {
	address, _ := serving(t)
	temp := t.TempDir()
	c := exec.Command(filepath.Join(bin, "millicore"), "load", "-R", "100", "-d", "10m", "http://"+address+"/sleep?ms=1")
	c.Env = append(os.Environ(), "TMPDIR="+temp)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	c.Stderr = &stderr
	testkit.Start(t, c)
	frames := func() bool {
		all, _ := filepath.Glob(filepath.Join(temp, "millicore-load-*", "record", "frames.ndjson"))
		if len(all) == 0 {
			return false
		}
		f, err := os.Open(all[0])
		if err != nil {
			return false
		}
		defer f.Close()
		n := 0
		for lines := bufio.NewReader(f); ; n++ {
			if _, err := lines.ReadString('\n'); err != nil {
				return n >= 2
			}
		}
	}
	testkit.Until(t, "the record has frames", frames)
	if out, err := cleaned(temp); err != nil || strings.Contains(out, "millicore-load-") {
		t.Errorf("a running load was removed (%v): %s", err, out)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != 130 || !strings.Contains(string(text), "requests/s") {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	if text := stderr.String(); !strings.Contains(text, "no record is kept without --out") || strings.Contains(text, "the record holds") {
		t.Errorf("there is no record: %s", text)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left behind", left[0].Name())
	}
}

// cleaned runs `millicore clean` with another temporary folder.
func cleaned(temp string) (string, error) {
	c := exec.Command(filepath.Join(bin, "millicore"), "clean")
	c.Env = append(os.Environ(), "TMPDIR="+temp)
	out, err := c.CombinedOutput()
	return string(out), err
}

// clean removes what a killed load leaves behind. The agent has ended with the load.
func TestAKilledLoadIsCleanedUp(t *testing.T) {
	address, _ := serving(t)
	temp := t.TempDir()
	c := exec.Command(filepath.Join(bin, "millicore"), "load", "-R", "100", "-d", "10m", "http://"+address+"/ok")
	c.Env = append(os.Environ(), "TMPDIR="+temp)
	testkit.Start(t, c)
	agent := filepath.Join(bin, "millicore-agent")
	testkit.Until(t, "it has an agent", func() bool { return len(processes(t, agent)) > 0 })
	testkit.Kill(c)
	if out, err := cleaned(temp); err != nil || !strings.Contains(out, "removed "+temp) {
		t.Errorf("%v: %s", err, out)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left behind", left[0].Name())
	}
	testkit.Until(t, "the agent has ended", func() bool { return len(processes(t, agent)) == 0 })
}
