package docker

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/test/dockerd"
	"github.com/millicore/millicore/test/testkit"
)

var bench = dockerd.Bench{Root: filepath.Join("..", ".."), Build: []string{"./cmd/..."}, Changes: []string{`CMD ["--contained"]`}}

func TestMain(m *testing.M) { os.Exit(bench.Run(m)) }

// file writes an experiment.
func file(t *testing.T, yaml string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(yaml, "IMAGE", dockerd.Image)), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// run runs an experiment to its end and returns its summary.
func run(t *testing.T, on, what string, args ...string) (*summary.Summary, string) {
	t.Helper()
	bench.Need(t)
	dir := filepath.Join(t.TempDir(), "record")
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), append([]string{"run", what, "--on", on, "--json", "--out", dir}, args...)...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	s := testkit.Answer[summary.Summary](t, err, out, errs.String())
	bench.NothingLeft(t)
	return s, dir
}

// refused runs a command that must fail, and returns its output.
func refused(t *testing.T, code int, args ...string) string {
	t.Helper()
	bench.Need(t)
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), args...)
	c.Dir = t.TempDir()
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Errorf("%v: %v, want exit code %d\n%s", args, err, code, out)
	}
	if entries, err := os.ReadDir(c.Dir); err != nil || len(entries) > 0 {
		t.Errorf("%v: %v, %v: it began", args, entries, err)
	}
	bench.NothingLeft(t)
	return string(out)
}

func text(t *testing.T, parts ...string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(parts...))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file %s, %v", filepath.Join(parts...), err)
	}
	var all strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}

// throttled is the share of a cell's periods that were throttled.
func throttled(c *summary.Cell) float64 {
	return float64(*c.CPU.ThrottledPeriods) / float64(*c.CPU.Periods)
}

// With half a CPU one busy thread is already throttled. With quick's own limit of 1 CPU
// the share depends on the other processes of this machine, on any platform.
func TestQuickComesOutAsOnThisMachineItself(t *testing.T) {
	args := []string{"--set", "limits.cpu=500m", "--set", "measure.repeats=1"}
	for attempt := 1; ; attempt++ {
		docker, dockerDir := run(t, "docker", "quick", args...)
		local, localDir := run(t, "local", "quick", args...)
		alike := true
		for i := range docker.Cells {
			d, l := throttled(&docker.Cells[i]), throttled(&local.Cells[i])
			t.Logf("%s: %.0f%% of the periods are throttled on docker, %.0f%% locally", docker.Cells[i].Label, 100*d, 100*l)
			alike = alike && math.Abs(d-l) <= 0.1
		}
		if attempt == 1 {
			holds(t, dockerDir, docker)
		}
		switch {
		case alike:
			return
		case !disturbed(t, dockerDir) && !disturbed(t, localDir):
			t.Fatal("docker and local differ by more than 10 points")
		case attempt == 2:
			t.Skip("others used this machine's CPUs: it was never quiet enough to compare")
		}
	}
}

// disturbed reports whether a trial had a busy neighbour.
func disturbed(t *testing.T, dir string) bool {
	return strings.Contains(text(t, dir, record.TrialsFile), `"outcome":"`+string(record.Disturbed)+`"`)
}

// holds checks whether a record has everything that a local one has.
func holds(t *testing.T, dir string, s *summary.Summary) {
	t.Helper()
	var r record.Run
	if err := json.Unmarshal([]byte(text(t, dir, record.RunFile)), &r); err != nil {
		t.Fatal(err)
	}
	if r.Platform != "docker" || r.Host.Runtimes["docker"] == "" {
		t.Errorf("platform %q, runtimes %v", r.Platform, r.Host.Runtimes)
	}
	if windows := text(t, dir, record.WindowsFile); !strings.Contains(windows, `"kind":"throttled"`) {
		t.Errorf("windows:\n%.500s", windows)
	}
	if frames := text(t, dir, record.FramesFile); !strings.Contains(frames, `"throttled_periods":`) {
		t.Errorf("frames:\n%.500s", frames)
	}
	for _, c := range s.Cells {
		if c.Causes == nil || c.CPU.Cores == nil || c.Memory.PeakBytes == nil {
			t.Errorf("%s: causes %v, CPU %+v, memory %+v", c.Label, c.Causes, c.CPU, c.Memory)
		}
	}
	if logs := text(t, dir, record.LogsDir, "*", "*.log"); !strings.Contains(logs, "millicore-go listening on") {
		t.Errorf("logs:\n%s", logs)
	}
}

func TestADeathForWantOfMemoryIsInTheRecord(t *testing.T) {
	s, dir := run(t, "docker", file(t, `
name: keeps
services: {server: {image: "IMAGE", ready: /ok}}
limits: {memory: 48Mi}
load: {request: {path: "/keep?mb=16"}, rate: 5}
measure: {warmup: 0s, duration: 4s, repeats: 1, interval: 500ms}
docker: {network: host}`))
	c := s.Cells[0]
	if c.Memory.OOMKills == nil || *c.Memory.OOMKills < 1 || *c.Restarts < 1 {
		t.Errorf("memory %+v, %d restarts", c.Memory, *c.Restarts)
	}
	if windows := text(t, dir, record.WindowsFile); !strings.Contains(windows, `"kind":"down"`) {
		t.Errorf("windows:\n%.500s", windows)
	}
	if logs := text(t, dir, record.LogsDir, "*", "*.log"); !strings.Contains(logs, "it reached its limit of 50331648 bytes; restarting it in 1s") {
		t.Errorf("logs:\n%s", logs)
	}
}

func TestReplicasAndADependencyMeetInTheRunsNetwork(t *testing.T) {
	s, dir := run(t, "docker", file(t, `
name: meets
services:
  server:
    image: "IMAGE"
    env: {DEPENDENCY: "${db.address}"}
    ready: /ok
    port: 8081
    dependencies: [{name: db, image: "IMAGE", ready: /ok, limits: {cpu: 500m}}]
limits: {replicas: 2}
load: {request: {path: /ok}, users: 4}
measure: {warmup: 0s, duration: 1s, repeats: 1, interval: 500ms}`))
	if c := s.Cells[0]; *c.Availability != 100 || c.CPU.OfLimit != nil || c.Limits.Replicas != 2 {
		t.Errorf("availability %v, CPU %+v, limits %+v", *c.Availability, c.CPU, c.Limits)
	}
	logs := text(t, dir, record.LogsDir, "trial-001", "*-server-*.log")
	if strings.Count(logs, "server: pid 1 dependency ") != 2 || strings.Count(logs, ":8080\n") != 2 {
		t.Errorf("logs:\n%s", logs)
	}
}

// underWay starts a run and returns when its first container runs.
func underWay(t *testing.T) *exec.Cmd {
	t.Helper()
	bench.Need(t)
	c := exec.Command(filepath.Join(bench.Programs(), "millicore"), "run", "quick", "--on", "docker", "--out", filepath.Join(t.TempDir(), "record"))
	testkit.Start(t, c)
	testkit.Until(t, "the run has a container", func() bool {
		groups, err := bench.Daemon().Groups()
		if err != nil {
			t.Fatal(err)
		}
		return len(groups) > 0
	})
	return c
}

func TestAnInterruptedRunLeavesNothing(t *testing.T) {
	c := underWay(t)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("%v, want exit code 130", err)
	}
	bench.NothingLeft(t)
}

func TestAKilledRunIsCleaned(t *testing.T) {
	c := underWay(t)
	c.Process.Kill()
	c.Wait()
	out, err := exec.Command(filepath.Join(bench.Programs(), "millicore"), "clean", "--on", "docker").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, what := range []string{"removed container millicore-", "removed network millicore-", "removed image millicore-go:"} {
		if !strings.Contains(string(out), what) {
			t.Errorf("%s\nwant in it: %s", out, what)
		}
	}
	bench.NothingLeft(t)
}

func TestRefusals(t *testing.T) {
	bench.Need(t)
	simple := func(service string) string {
		return file(t, `
name: x
services: {s: `+service+`}
load: {request: {path: /}, users: 1}`)
	}
	for _, c := range []struct {
		name string
		code int
		args []string
		want string
	}{
		{"another platform", 2, []string{"run", "quick", "--on", "podman"}, "--on podman: want one of local, docker"},
		{"a command", 2, []string{"run", simple(`{command: [./server]}`), "--on", "docker"}, "set image: to one that contains it, or use --on local"},
		{"an image that is not available", 1, []string{"run", simple(`{image: "127.0.0.1:1/nothing:1"}`), "--on", "docker"}, "docker pull 127.0.0.1:1/nothing:1"},
		{"a sample service that was not built", 1, []string{"run", simple(`{workload: node}`), "--on", "docker"}, "docker build -t millicore-node -f workloads/node/Dockerfile workloads"},
		{"an image on this machine", 2, []string{"run", simple(`{image: nginx}`)}, "use --on docker"},
	} {
		if out := refused(t, c.code, c.args...); !strings.Contains(out, c.want) {
			t.Errorf("%s: %s\nwant in it: %s", c.name, out, c.want)
		}
	}
	t.Setenv("DOCKER_HOST", "unix:///tmp/millicore-no-daemon.sock")
	if out := refused(t, 1, "run", "quick", "--on", "docker"); !strings.Contains(out, "no Docker daemon answers at unix:///tmp/millicore-no-daemon.sock; start it") {
		t.Error(out)
	}
	if out := refused(t, 1, "clean", "--on", "docker"); !strings.Contains(out, "no Docker daemon answers") {
		t.Error(out)
	}
}
