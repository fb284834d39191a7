package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
	"github.com/millicore/millicore/test/testkit"
)

func TestEachReplicaHasItsPortLimitsAndLog(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.Limits = experiment.Limits{CPUMillis: 500, Memory: 64 << 20, Replicas: 2}
	u.Ready.Path = "/healthz"
	replicas := start(t, p, u).Replicas()
	if len(replicas) != 2 || replicas[0].Address() == replicas[1].Address() {
		t.Fatalf("replicas %v", replicas)
	}
	for i, r := range replicas {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if !c.Up || c.Restarts != 0 || *c.CPULimit != 0.5 || *c.MemoryLimit != 64<<20 || *c.OOMKills != 0 {
			t.Errorf("replica %d: %+v", i, c)
		}
		if *c.CPU <= 0 || *c.Memory <= 0 || *c.MemoryPeak < *c.Memory || *c.MemoryPeak > 64<<20 || c.Periods == nil {
			t.Errorf("replica %d: CPU %v s, memory %v of peak %v, periods %v", i, *c.CPU, *c.Memory, *c.MemoryPeak, c.Periods)
		}
	}
	files, _ := os.ReadDir(u.Logs)
	if len(files) != 2 || files[0].Name() != "trial001-server-0.log" || files[1].Name() != "trial001-server-1.log" {
		t.Errorf("logs: %v", files)
	}
}

func TestBusyServiceIsThrottled(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.Limits = experiment.Limits{CPUMillis: 200, Replicas: 1}
	r := start(t, p, u).Replicas()[0]
	mustGet(t, r, "/burn")
	testkit.Until(t, "throttled in five periods", func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return *c.ThrottledPeriods >= 5 && *c.Throttled > 0 && *c.Periods >= *c.ThrottledPeriods
	})
}

func TestCPUSetOfAReplica(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.Limits.CPUSet = "0"
	if !p.run.Has(cgroup.CPUSet) {
		t.Skip("no cpuset controller here")
	}
	if cpus := mustGet(t, start(t, p, u).Replicas()[0], "/cpus"); cpus != "0" {
		t.Errorf("the service may run on CPUs %s, want 0", cpus)
	}
}

func TestCommandAndEnvironmentOfAReplica(t *testing.T) {
	p := open(t, Options{})
	t.Setenv("GOMAXPROCS", "3")
	t.Setenv("SHELL_OWN", "kept")
	t.Setenv("UNWANTED", "x")
	u := server(t.TempDir())
	u.Command = append(u.Command, "--port=${port}", "${db.address}")
	u.Vars = map[string]string{"db.address": "127.0.0.1:5432"}
	u.Env = map[string]string{"DB": "postgres://${db.address}/", "GOGC": "50"}
	u.Unset = []string{"UNWANTED"}
	r := start(t, p, u).Replicas()[0]
	port := strings.TrimPrefix(r.Address(), "127.0.0.1:")
	if args := mustGet(t, r, "/args"); !strings.HasSuffix(args, "serve --port="+port+" 127.0.0.1:5432") {
		t.Errorf("arguments %q", args)
	}
	env := strings.Split(strings.TrimSpace(mustGet(t, r, "/env")), "\n")
	for _, want := range []string{"PORT=" + port, "SHELL_OWN=kept", "DB=postgres://127.0.0.1:5432/", "GOGC=50"} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
	for _, line := range env {
		if strings.HasPrefix(line, "GOMAXPROCS=") || strings.HasPrefix(line, "UNWANTED=") {
			t.Errorf("%s was passed on", line)
		}
	}
}

func TestFailingToStart(t *testing.T) {
	p := open(t, Options{})
	bin := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(bin, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "#!/bin/sh\n", 0o644)
	noInterpreter := file("no-interpreter", "#!/nonexistent/interpreter\n", 0o755)
	noFormat := file("no-format", "hello\n", 0o755)
	t.Setenv("PATH", bin)
	for _, test := range []struct {
		name    string
		unit    func(*platform.UnitSpec)
		want    []string
		wrapped error
	}{
		{"not in PATH", func(u *platform.UnitSpec) { u.Command, u.Dir = []string{"nonesuch"}, bin },
			[]string{`start "server": replica 0: command "nonesuch" not found in PATH=` + bin, "(./nonesuch is " + filepath.Join(bin, "nonesuch") + ")"}, nil},
		{"in PATH, not executable", func(u *platform.UnitSpec) { u.Command = []string{"plain"} },
			[]string{plain, "chmod +x"}, fs.ErrPermission},
		{"no such file", func(u *platform.UnitSpec) { u.Command, u.Dir = []string{"./nonesuch"}, bin },
			[]string{filepath.Join(bin, "nonesuch")}, fs.ErrNotExist},
		{"a folder", func(u *platform.UnitSpec) { u.Command = []string{bin} }, []string{"is a folder"}, nil},
		{"interpreter missing", func(u *platform.UnitSpec) { u.Command = []string{noInterpreter} },
			[]string{noInterpreter, "interpreter"}, fs.ErrNotExist},
		{"not a program", func(u *platform.UnitSpec) { u.Command = []string{"no-format"} },
			[]string{noFormat, "exec format error", "#!"}, nil},
		{"no such working folder", func(u *platform.UnitSpec) { u.Dir = "/nonexistent" },
			[]string{"enter the folder /nonexistent"}, fs.ErrNotExist},
		{"unknown name", func(u *platform.UnitSpec) { u.Env = map[string]string{"A": "${prot}"} }, []string{"env A", "${prot}"}, nil},
		{"dies before it is ready", func(u *platform.UnitSpec) { u.Command[2] = "dying" },
			[]string{"ended before it was ready", "exit status 7", "\n\tline one\n\tline two"}, supervise.ErrDied},
		{"out of memory before it is ready", func(u *platform.UnitSpec) {
			u.Command[2] = "hungry"
			u.Limits.Memory = 24 << 20
		}, []string{"killed: out of memory", "25165824 bytes"}, supervise.ErrDied},
		{"never listens", func(u *platform.UnitSpec) { u.Command[2], u.Ready.Timeout = "deaf", notServing },
			[]string{"not ready within 5s", "connection refused", "I do not listen"}, nil},
		{"answers badly", func(u *platform.UnitSpec) { u.Ready = experiment.Ready{Path: "/broken", Timeout: notServing} },
			[]string{"not ready within 5s", "GET /broken answers 503"}, nil},
		{"impossible limit", func(u *platform.UnitSpec) { u.Limits.CPUMillis = 1 }, []string{"raise the limit to 10m"}, nil},
		{"an image", func(u *platform.UnitSpec) { u.Command, u.Image = nil, "postgres" }, []string{"--on docker"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			u := server(t.TempDir())
			test.unit(&u)
			_, err := p.Start(t.Context(), u)
			if err == nil {
				t.Fatal("it started")
			}
			if test.wrapped != nil && !errors.Is(err, test.wrapped) {
				t.Errorf("the error does not wrap %v", test.wrapped)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error: %v\nwant in it: %s", err, part)
				}
			}
		})
	}
	t.Cleanup(func() {
		if len(p.parts) != 0 || p.ports.Taken() != 0 {
			t.Errorf("%d parts and %d ports are still held", len(p.parts), p.ports.Taken())
		}
	})
}

func TestAllReplicasOrNone(t *testing.T) {
	p := open(t, Options{})
	u := doing(t, "once", filepath.Join(t.TempDir(), "mark"))
	u.Limits.Replicas = 3
	if _, err := p.Start(t.Context(), u); err == nil || !strings.Contains(err.Error(), "I am the second") {
		t.Fatalf("error %v", err)
	}
}

func TestStartIsCancelled(t *testing.T) {
	p := open(t, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("interrupted")
	time.AfterFunc(50*time.Millisecond, func() { cancel(reason) })
	if _, err := p.Start(ctx, doing(t, "deaf")); !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
}

func TestClosedPlatformStartsNothing(t *testing.T) {
	p := open(t, Options{})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Start(t.Context(), server(t.TempDir())); err == nil {
		t.Error("it started")
	}
	if err := p.Close(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestNothingIsHeldOpen(t *testing.T) {
	p := open(t, Options{Agent: "/proc/self/exe"})
	descriptors := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	cycle := func() {
		u := start(t, p, server(t.TempDir()))
		a, err := p.Agent(t.Context(), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.Close(), u.Stop(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	cycle() // the first opens what a Go program keeps
	before := descriptors()
	cycle()
	testkit.Until(t, "as many descriptors as before", func() bool { return descriptors() <= before })
}

func BenchmarkCounters(b *testing.B) {
	p, err := New(Options{State: b.TempDir()})
	if err != nil {
		b.Skip(err)
	}
	defer p.Close()
	u, err := p.Start(b.Context(), server(b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := u.Replicas()[0].Counters(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCheck(t *testing.T) {
	p := open(t, Options{})
	cell := func(change func(*experiment.Cell)) experiment.Cell {
		c := experiment.Cell{Service: experiment.Service{Name: "s", Command: []string{"x"}}, Limits: experiment.Limits{CPUMillis: 500, Replicas: 1}}
		change(&c)
		return c
	}
	e := &experiment.Experiment{Cells: []experiment.Cell{cell(func(*experiment.Cell) {})}}
	if err := p.Check(e); err != nil {
		t.Errorf("a plain experiment: %v", err)
	}
	bad := func(c *experiment.Cell) {
		c.Service.Image = "nginx"
		c.Service.Dependencies = []experiment.Dependency{{Name: "db", Limits: experiment.Limits{CPUMillis: 2}}}
		c.Service.Autoscale = &experiment.Autoscale{Min: 1, Max: 2, CPUPercent: 60}
	}
	e.Cells = []experiment.Cell{cell(bad), cell(bad)}
	err := p.Check(e)
	want := []string{`service "s" is an image`, "needs --on kubernetes; or set limits.replicas", `dependency "db": CPU limit 2m`}
	for _, part := range want {
		if err == nil || strings.Count(err.Error(), part) != 1 {
			t.Errorf("error: %v\nwant in it, once: %s", err, part)
		}
	}
	if p.Name() != "local" {
		t.Error(p.Name())
	}
}

func TestNoWay(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become nobody")
	}
	err := asNobody(t)
	for part, want := range map[string]bool{"no way to limit processes here": true, "run millicore": true, "systemd-run --user": false, "--on docker": false} {
		if strings.Contains(err, part) != want {
			t.Errorf("error: %s\nwant in it: %s: %v", err, part, want)
		}
	}
	if n := strings.Count(err, "\n"); n != 0 {
		t.Errorf("the error has %d lines more than one: %s", n, fmt.Sprintf("%q", err))
	}
}
