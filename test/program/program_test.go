// Package program tests the built programs as a whole, with real control groups and real
// traffic, and checks that they leave nothing behind. Packages have tests of their own.
package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/test/corpus"
	"github.com/millicore/millicore/test/testkit"
)

var bin string // folder with the built programs

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "millicore-bin-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		build := exec.Command("go", "build", "-o", dir+"/", "./cmd/...", "./test/server")
		build.Dir = filepath.Join("..", "..")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			panic("build the programs: " + err.Error() + "\n" + string(out))
		}
		// `make mongodb` builds it: without a cache that takes minutes.
		if built, err := filepath.Abs("../../bin/millicore-mongodb"); err == nil {
			if err := os.Symlink(built, filepath.Join(dir, "millicore-mongodb")); err != nil {
				panic(err)
			}
		}
		bin = dir
		return m.Run()
	}())
}

func TestCommandLine(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			return nil
		},
		Condition: func(word string) (bool, error) {
			if word == "cgroups" {
				return cgroups() == "", nil
			}
			return false, errors.New("unknown condition " + word)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "simulate": simulate},
	})
}

// simulate FILE DIR SHARE writes a simulated record of an experiment, in which a share of
// the answers are errors.
func simulate(ts *testscript.TestScript, _ bool, args []string) {
	share, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	c := corpus.Case{Name: "simulated", File: ts.ReadFile(args[0]), Behaves: func(*experiment.Cell, int) corpus.Behaviour {
		return corpus.Behaviour{Service: corpus.Service{Workers: 4, Work: corpus.Fixed(time.Millisecond), Fails: func(int) float64 { return share }}}
	}}
	ts.Check(c.Write(ts.MkAbs(args[1]), 1))
}

// status WANT COMMAND… runs a command and expects this exit code.
func status(ts *testscript.TestScript, _ bool, args []string) {
	code := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v: %v", args[1:], err)
		}
		code = strings.TrimPrefix(exit.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("%v ended with %s, want %s", args[1:], code, args[0])
	}
}

// cgroups is why limits cannot be set here; "": they can.
func cgroups() string {
	switch {
	case runtime.GOOS != "linux":
		return "needs Linux's cgroups"
	case os.Geteuid() != 0:
		return "needs root, or a delegated cgroup"
	}
	return ""
}

// hurry makes the searches of this test three times as fast. Their answers are less exact:
// it is for tests of what a search does, not of the figure that it finds.
func hurry(t *testing.T) { t.Setenv("MILLICORE_SEARCH_SPEED", "3") }

func needCgroups(t *testing.T) {
	t.Helper()
	testkit.Long(t, "a whole program under real limits")
	if why := cgroups(); why != "" {
		t.Skip(why)
	}
}

// run runs an experiment to its end and returns its summary.
func run(t *testing.T, yaml string, args ...string) (*summary.Summary, string) {
	t.Helper()
	needCgroups(t)
	dir, c := command(t, yaml, args...)
	s := finish(t, c)
	nothingLeft(t, c.Process.Pid)
	return s, dir
}

// finish runs a command that prints a summary, with exit code 0 or 99.
func finish(t *testing.T, c *exec.Cmd) *summary.Summary {
	t.Helper()
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	return testkit.Answer[summary.Summary](t, err, out, errs.String())
}

func command(t *testing.T, yaml string, args ...string) (dir string, c *exec.Cmd) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(yaml, "SERVER", filepath.Join(bin, "server"))), 0o644); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "record")
	c = exec.Command(filepath.Join(bin, "millicore"), append([]string{"run", file, "--json", "--out", dir}, args...)...)
	return dir, c
}

// nothingLeft checks that no processes of the test server remain, and no control groups
// of the run with this pid.
func nothingLeft(t *testing.T, pid int) {
	t.Helper()
	if left := processes(t, filepath.Join(bin, "server")); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
	for _, dir := range groupsOf(pid) {
		t.Errorf("cgroup left behind: %s", dir)
	}
}

func processes(t *testing.T, exe string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == exe {
			found = append(found, filepath.Dir(link))
		}
	}
	return found
}

func groupsOf(pid int) []string {
	var found []string
	prefix := fmt.Sprintf("millicore-%d-", pid)
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), prefix) {
			found = append(found, path)
			return fs.SkipDir
		}
		return nil
	})
	return found
}

const short = `
measure: {warmup: 200ms, duration: 2s, repeats: 1, interval: 500ms}
`

func TestAServiceWithAKnownLatency(t *testing.T) {
	s, _ := run(t, `
name: sleeps
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: "/sleep?ms=50"}, users: 10}`+short)
	c := s.Cells[0]
	// Ten users that wait at least 50 ms each send less than 200 requests/s.
	if *c.RateRPS > 201 || *c.RateRPS < 100 {
		t.Errorf("rate %v, want a little less than 200", *c.RateRPS)
	}
	if c.LatencyMS.P50 < 50 || c.ServiceMS.P50 < 50 {
		t.Errorf("p50 %v ms, want at least the 50 ms that the service sleeps", c.LatencyMS.P50)
	}
	if *c.Availability != 100 {
		t.Errorf("availability %v, want 100", *c.Availability)
	}
	if c.CPU.OfLimit != nil {
		t.Errorf("CPU of limit %v without a limit, want null", *c.CPU.OfLimit)
	}
}

func TestAQuotaThrottles(t *testing.T) {
	s, dir := run(t, `
name: burns
services: {server: {command: [SERVER, --port, "${port}"], env: {GOMAXPROCS: 1}}}
limits: {cpu: "${cpu}", memory: 128Mi}
vary: {cpu: [200m, 400m]}
load: {request: {path: "/burn?ms=5"}, users: 4, timeout: 5s}`+short)
	for i, cpu := range []float64{0.2, 0.4} {
		c := s.Cells[i]
		if *c.CPU.Cores > cpu*1.25 {
			t.Errorf("%s: %v cores used, want about the limit at most", c.Label, *c.CPU.Cores)
		}
		if *c.CPU.ThrottledPeriods == 0 {
			t.Errorf("%s: no throttled period of %d, one busy thread exceeds this limit", c.Label, *c.CPU.Periods)
		}
		if *c.Limits.CPUMillis != int64(cpu*1000) || *c.Limits.MemoryBytes != 128<<20 {
			t.Errorf("%s: limits %+v", c.Label, c.Limits)
		}
	}
	if !(*s.Cells[1].RateRPS > *s.Cells[0].RateRPS) {
		t.Errorf("twice the limit gives %v requests/s, half %v", *s.Cells[1].RateRPS, *s.Cells[0].RateRPS)
	}
	for _, name := range []string{"run.json", "trials.ndjson", "frames.ndjson", "latency.hlog", "summary.json", "report.html"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, want a file that is not empty", name, err)
		}
	}
}

func TestAvailabilityCountsEveryBadAnswer(t *testing.T) {
	s, _ := run(t, `
name: fails
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: "/every?n=4"}, users: 1, requests: 1000}
objective: {availability: 99}
measure: {repeats: 1}`)
	c := s.Cells[0]
	if c.Requests != 1000 || *c.Availability != 75 || c.Errors.Status["500"] != 250 {
		t.Errorf("%d requests, availability %v, %v; want 1000, 75, 250 times 500", c.Requests, *c.Availability, c.Errors.Status)
	}
	if c.Objective == nil || c.Objective.Met == nil || *c.Objective.Met {
		t.Errorf("objective %+v, want missed", c.Objective)
	}
}

// The service fails every fourth request since its start: three trials of six requests
// have 4 failures together if the service is kept, and one each if it is restarted.
func TestAServiceIsKeptBetweenTrials(t *testing.T) {
	for _, c := range []struct {
		restart string
		want    int64
	}{{"true", 3}, {"false", 4}} {
		s, _ := run(t, `
name: kept
services: {server: {command: [SERVER, --port, "${port}"]}}
vary: {n: [4, 1000]}
load: {request: {path: "/every?n=${n}"}, users: 1, requests: 6}
measure: {repeats: 3, restart: `+c.restart+`}`)
		if got := s.Cells[0].Errors.Status["500"]; got != c.want || s.Cells[0].Requests != 18 {
			t.Errorf("restart: %s: %d of %d requests failed, want %d of 18", c.restart, got, s.Cells[0].Requests, c.want)
		}
		if got := s.Cells[1].Errors.Status["500"]; got != 0 {
			t.Errorf("restart: %s: the other cell used the service of the first: %d failures", c.restart, got)
		}
	}
}

// The service is started once for each value of the variation, and its limits are changed.
func TestLimitsAreChangedWhileAServiceRuns(t *testing.T) {
	s, dir := run(t, `
name: resized
services: {server: {command: [SERVER, --port, "${port}"], env: {GOGC: "${gc}"}}}
limits: {cpu: "${cpu}", memory: "${memory}"}
vary: {cpu: [200m, null, "4"], memory: [64Mi, 256Mi], gc: ["100"]}
load: {request: {path: "/spin?us=2000"}, users: 2}
measure: {warmup: 200ms, duration: 1s, interval: 500ms, repeats: 2, resize: true}`)
	started := 0
	filepath.WalkDir(filepath.Join(dir, "logs"), func(path string, d fs.DirEntry, err error) error {
		if text, err := os.ReadFile(path); err == nil && !d.IsDir() {
			started += strings.Count(string(text), "server: pid")
		}
		return err
	})
	if started != 1 {
		t.Errorf("the service was started %d times for 6 cells that differ in their limits only, want once", started)
	}
	for _, c := range s.Cells {
		if c.Restarts == nil || *c.Restarts != 0 || *c.Availability != 100 {
			t.Errorf("%v: restarts %v, availability %v", c.Vary, c.Restarts, *c.Availability)
		}
		switch limit := c.Limits.CPUMillis; {
		case limit == nil:
			if c.CPU.ThrottledPeriods != nil && *c.CPU.ThrottledPeriods != 0 {
				t.Errorf("%v: %d periods throttled without a limit", c.Vary, *c.CPU.ThrottledPeriods)
			}
		case (*c.CPU.ThrottledPeriods > 0) != (*limit == 200): // two users use at most 2 CPUs
			t.Errorf("%v: throttled in %d of %d periods", c.Vary, *c.CPU.ThrottledPeriods, *c.CPU.Periods)
		}
	}
}

func TestAServiceThatNeverAnswersTimesOut(t *testing.T) {
	s, _ := run(t, `
name: never
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: /never}, users: 5, timeout: 300ms}`+short)
	c := s.Cells[0]
	if *c.Availability != 0 || c.Errors.Timeouts != c.Requests || c.Requests < 5 {
		t.Errorf("%d requests, %d timeouts, availability %v; want all timed out", c.Requests, c.Errors.Timeouts, *c.Availability)
	}
	if c.LatencyMS.P50 < 300 {
		t.Errorf("p50 %v ms, want the 300 ms after which a user gives up", c.LatencyMS.P50)
	}
}

func TestAnOOMKillIsRecordedAndTheServiceRestarted(t *testing.T) {
	s, _ := run(t, `
name: grows
services: {server: {command: [SERVER, --port, "${port}"]}}
limits: {memory: 64Mi}
load: {request: {path: "/keep?mb=1"}, rate: 100, timeout: 500ms}
measure: {warmup: 0s, duration: 4s, repeats: 1}`)
	c := s.Cells[0]
	if c.Memory.OOMKills == nil || *c.Memory.OOMKills < 1 || *c.Restarts < 1 {
		t.Errorf("memory %+v, restarts %v; want an OOM kill and a restart", c.Memory, c.Restarts)
	}
	if *c.Availability >= 100 || *c.Availability <= 0 {
		t.Errorf("availability %v, want some good answers and some bad", *c.Availability)
	}
}

func TestDependenciesAreStartedAndObserved(t *testing.T) {
	s, dir := run(t, `
name: depends
services:
  server:
    command: [SERVER, --port, "${port}"]
    env: {DEPENDENCY: "${store.address}"}
    dependencies: [{name: store, command: [SERVER, --port, "${port}"], ready: /ok}]
    actions: [{at: 500ms, request: {method: POST, path: /action}}]
load: {request: {path: /ok}, users: 2}`+short)
	c := s.Cells[0]
	if len(c.Dependencies) != 1 || c.Dependencies[0].Name != "store" || c.Dependencies[0].Cores == nil || c.Dependencies[0].PeakBytes == nil {
		t.Errorf("dependencies %+v, want the store's CPU and memory", c.Dependencies)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "logs", "trial-001", "*"))
	if err != nil || len(logs) != 2 {
		t.Fatalf("logs %v (%v), want one of the service and one of its dependency", logs, err)
	}
	var all []byte
	for _, path := range logs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	if !bytes.Contains(all, []byte("dependency 127.0.0.1:")) {
		t.Errorf("the service did not get the address of its dependency:\n%s", all)
	}
	if n := bytes.Count(all, []byte("server: action")); n != 1 {
		t.Errorf("the action was sent %d times, want once:\n%s", n, all)
	}
}

// The lab's own requests (readiness, actions, metrics) use the protocol of the load.
func TestProtocols(t *testing.T) {
	for _, protocol := range experiment.Protocols {
		t.Run(protocol, func(t *testing.T) {
			insecure := ""
			if protocol == "https" || protocol == "h2" {
				insecure = ", insecure: true"
			}
			s, dir := run(t, `
name: protocol
services:
  server:
    command: [SERVER, --port, "${port}", --protocol, `+protocol+`]
    ready: /ok
    metrics: {path: /metrics, dependency: dependency_seconds}
    actions: [{at: 500ms, request: {method: POST, path: /action}}]
load: {request: {path: "/ask?every=1&ms=5"}, users: 2, protocol: `+protocol+insecure+`}`+short)
			c := s.Cells[0]
			if c.Requests < 50 || *c.Availability != 100 {
				t.Errorf("%d requests, availability %v, errors %+v", c.Requests, *c.Availability, c.Errors)
			}
			if c.WaitsMS == nil || c.WaitsMS.Mean < 5 {
				t.Errorf("waits %+v, want those of 5 ms of its metrics", c.WaitsMS)
			}
			text, err := os.ReadFile(filepath.Join(dir, "logs", "trial-001", "trial001-server-0.log"))
			if n := bytes.Count(text, []byte("server: action")); err != nil || n != 1 {
				t.Errorf("the action was sent %d times, want once (%v):\n%s", n, err, text)
			}
		})
	}
}

func TestOpenLoopSendsAtItsRate(t *testing.T) {
	s, _ := run(t, `
name: open
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: /ok}, rate: 500, spacing: even}
measure: {warmup: 0s, duration: 2s, repeats: 1, interval: 500ms}`)
	c := s.Cells[0]
	if c.Requests != 1000 {
		t.Errorf("%d requests, want 500/s for 2 s: 1000", c.Requests)
	}
}

func TestTwoAgentsAndTwoReplicasShareTheLoad(t *testing.T) {
	s, dir := run(t, `
name: shared
services: {server: {command: [SERVER, --port, "${port}"]}}
limits: {cpu: 500m, burst: 250m, replicas: 2}
load: {request: {path: /ok}, rate: 400, spacing: even, agents: 2}
measure: {warmup: 0s, duration: 2s, repeats: 1, interval: 500ms}`)
	c := s.Cells[0]
	if c.Requests != 800 || *c.Availability != 100 {
		t.Errorf("%d requests, availability %v; want both agents' 800, all good", c.Requests, *c.Availability)
	}
	if c.CPU.Limit == nil || *c.CPU.Limit != 1 || c.Limits.Replicas != 2 {
		t.Errorf("limit %v cores, want both replicas' 1", c.CPU.Limit)
	}
	var replicas, agents [2]bool
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range r.Frames() {
		switch {
		case err != nil:
			t.Fatal(err)
		case f.Server != nil && *f.Server.CPU > 0:
			replicas[f.Index] = true
		case f.Client != nil && f.Client.Good > 0:
			agents[*f.Agent] = true
		}
	}
	if replicas != [2]bool{true, true} || agents != [2]bool{true, true} {
		t.Errorf("replicas that worked %v, agents that worked %v; want all", replicas, agents)
	}
}

func TestEachLevelOfStagesIsAStep(t *testing.T) {
	s, _ := run(t, `
name: stages
services: {server: {command: [SERVER, --port, "${port}"]}}
load:
  request: {path: "/sleep?ms=20"}
  users: {stages: [{duration: 0s, target: 2}, {duration: 1s, target: 2}, {duration: 500ms, target: 8}, {duration: 1s, target: 8}]}
objective: {p99: 10s}
measure: {warmup: 0s, repeats: 1, interval: 250ms}`)
	c := s.Cells[0]
	if len(c.Steps) != 2 || c.Steps[0].Target != 2 || c.Steps[1].Target != 8 {
		t.Fatalf("steps %+v, want the levels of 2 and 8 users", c.Steps)
	}
	if c.LatencyMS != nil {
		t.Error("quantiles over two levels and a ramp: they describe no level")
	}
	if c.Steps[1].RateRPS <= c.Steps[0].RateRPS || c.Steps[0].LatencyMS.P50 < 20 {
		t.Errorf("steps %+v, want more from 8 users than from 2, and at least 20 ms", c.Steps)
	}
	if c.Objective.Met == nil || !*c.Objective.Met {
		t.Errorf("objective %+v, want met at both levels", c.Objective)
	}
}

func TestAServiceThatCannotStartDoesNotAffectOthers(t *testing.T) {
	s, _ := run(t, `
name: halfbroken
services:
  broken: {command: [SERVER, --port, "${port}", --fail]}
  server: {command: [SERVER, --port, "${port}"]}
load: {request: {path: /ok}, users: 1}
objective: {availability: 50}
measure: {warmup: 0s, duration: 500ms, repeats: 3, interval: 250ms}`)
	if c := s.Cells[0]; c.Trials != 0 || c.LatencyMS != nil || c.Objective.Met != nil {
		t.Errorf("the broken one: %d trials, latency %v, objective %+v; want nothing", c.Trials, c.LatencyMS, c.Objective)
	}
	if c := s.Cells[1]; c.Trials != 3 || *c.Availability != 100 {
		t.Errorf("the other: %d trials, want 3", c.Trials)
	}
	if !strings.Contains(fmt.Sprint(s.Findings), "failing as requested") {
		t.Errorf("findings %v, want the output of the broken one", s.Findings)
	}
}

func TestARecordIsNotOverwritten(t *testing.T) {
	needCgroups(t)
	dir, c := command(t, "name: x\nservices: {s: {command: [SERVER]}}\nload: {request: {path: /ok}, users: 1}\n")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 2 || !bytes.Contains(out, []byte("is not empty")) {
		t.Errorf("%v: %s; want a refusal with exit code 2", err, out)
	}
}

func TestAnInterruptedRunHasAReport(t *testing.T) {
	needCgroups(t)
	dir, c := command(t, `
name: long
services: {server: {command: [SERVER, --port, "${port}"]}}
load: {request: {path: "/sleep?ms=5"}, users: 2}
measure: {warmup: 0s, duration: 10m, repeats: 1, interval: 200ms}`)
	start(t, c)
	waitForFrames(t, dir, 5)
	c.Process.Signal(os.Interrupt)
	err := c.Wait()
	if c.ProcessState.ExitCode() != 130 {
		t.Errorf("ended with %v, want 130, as an interrupt does", err)
	}
	nothingLeft(t, c.Process.Pid)
	s := report(t, dir)
	if !s.Experiment.Interrupted || s.Cells[0].Trials != 1 || s.Cells[0].Requests == 0 {
		t.Errorf("%+v: want the interrupted trial's requests", s.Experiment)
	}
	if _, err := os.Stat(filepath.Join(dir, "report.html")); err != nil {
		t.Error(err)
	}
}

func TestAKilledRunHasARecordAndIsCleanedUp(t *testing.T) {
	needCgroups(t)
	dir, c := command(t, `
name: killed
services: {server: {command: [SERVER, --port, "${port}", --deaf]}}
limits: {cpu: 500m}
load: {request: {path: "/sleep?ms=5"}, users: 2}
measure: {warmup: 0s, duration: 10m, repeats: 1, interval: 200ms}`)
	start(t, c)
	waitForFrames(t, dir, 5)
	testkit.Kill(c)

	s := report(t, dir)
	if s.Cells[0].Requests == 0 || s.Cells[0].CPU.Periods == nil || !s.Experiment.Interrupted {
		t.Errorf("%+v: want the measurement before the kill", s.Cells[0])
	}
	out, err := exec.Command(filepath.Join(bin, "millicore"), "clean").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("removed ")) {
		t.Errorf("clean: %v\n%s", err, out)
	}
	nothingLeft(t, c.Process.Pid)
}

func start(t *testing.T, c *exec.Cmd) {
	t.Helper()
	var errs bytes.Buffer
	c.Stderr = &errs
	t.Cleanup(func() { // after the process has ended
		if t.Failed() {
			t.Logf("standard error:\n%s", &errs)
		}
	})
	testkit.Start(t, c)
}

// waitForFrames waits until the record has n lines of frames.
func waitForFrames(t *testing.T, dir string, n int) {
	t.Helper()
	testkit.Until(t, "the record has frames", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "frames.ndjson"))
		return err == nil && bytes.Count(text, []byte("\n")) >= 3*n
	})
}

func report(t *testing.T, dir string) *summary.Summary {
	t.Helper()
	c := exec.Command(filepath.Join(bin, "millicore"), "report", dir, "--json")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("report: %v", err)
	}
	var s summary.Summary
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}
