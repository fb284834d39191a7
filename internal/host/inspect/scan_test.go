package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/runtimes"
)

const (
	dockerID = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	podID    = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
)

func (h tree) scan(only Only) Host {
	h.t.Helper()
	host, err := New(h.root).Scan(context.Background(), only, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return host
}

// self is this test's executable: a Go program.
func self(t testing.TB) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// Workers of parallel queries are noted before they end.
func TestQueryWorkers(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.process(10, 1, "postgres", "/", "/usr/lib/postgresql/15/bin/postgres", "postgres", "-D", "data")
	h.process(11, 10, "postgres", "/", "/usr/lib/postgresql/15/bin/postgres", "postgres: u d 127.0.0.1(42988) SELECT")
	for pid, name := range map[int]string{12: "postgres: parallel worker for PID 11", 13: "postgres: main: parallel worker for PID 11"} {
		h.write(fmt.Sprintf("proc/%d/stat", pid), statLine(pid, "postgres", 'S', 10, 0))
		h.write(fmt.Sprintf("proc/%d/cmdline", pid), name)
	}
	if host := h.scan(Only{}); !cmp.Equal(host.QueryWorkers, map[int][]int{10: {12, 13}}) {
		t.Errorf("%v", host.QueryWorkers)
	}
}

func TestScanOfATree(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.group("/pods", 2, 412, 157)
	h.group("/pods/"+podID, 0, 0, 0)
	h.process(1, 0, "init", "/", "/sbin/init", "/sbin/init")
	h.process(10, 1, "api", "/pods/"+podID, self(t), "/app/api", "--port", "80")
	h.write("proc/2/stat", statLine(2, "kworker/0:1", 'I', 0, kernelThread))
	h.write("proc/3/stat", statLine(3, "dead) Z (", 'Z', 1, 0))
	h.write("proc/4/status", "Name:\tgone\n") // ended while it is looked at
	host := h.scan(Only{})
	if host.Online != 8 || host.KernelThreads != 1 || host.Zombies != 1 || host.Ended != 1 || len(host.Processes) != 2 {
		t.Fatalf("got %+v", host)
	}
	p := host.Processes[1]
	if p.PID != 10 || p.Parent != 1 || p.Name != "api" || p.Shown() != "/app/api --port 80" || p.User != 1000 ||
		p.Container != podID[:12] || p.ContainerID != podID || p.Used != 3*time.Second {
		t.Errorf("got %+v", p)
	}
	want := CPULimit{
		State: Limited, CPUs: 2, Period: 100 * time.Millisecond, CanBurst: true, Version: 2,
		Group: "/pods/" + podID, SetBy: "/pods", Dir: "/sys/fs/cgroup/pods",
	}
	if diff := cmp.Diff(want, p.CPU); diff != "" || !p.CPU.Inherited() {
		t.Errorf("-want +got\n%s", diff)
	}
	if m := p.Memory; m.State != Limited || m.Limit != 256<<20 || m.WorkingSet == nil || *m.WorkingSet != 100_000_000 || *m.OOMKills != 0 {
		t.Errorf("memory: %+v", m)
	}
	if th := p.Throttling; th == nil || th.Since.Periods != 412 || th.Since.Throttled != 157 || th.Since.PerThrottled() != 40*time.Millisecond ||
		th.Watch != nil || *th.Since.Used != 5*time.Second {
		t.Errorf("throttling: %+v", th)
	}
	// The tree's process has no memory to read: its GOMAXPROCS is the rule's.
	if i := p.Info; i.Runtime != runtimes.Go || i.Parallelism.Value != 8 || i.Parallelism.Source != runtimes.Predicted {
		t.Errorf("runtime: %+v", i)
	}
	if p := host.Processes[0]; p.CPU.State != Unlimited || p.Throttling != nil {
		t.Errorf("init: %+v", p)
	}
}

func TestAWatchCountsTheDifference(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "", "a")
	s := New(h.root)
	now := time.Unix(1000, 0)
	s.now = func() time.Time { return now }
	s.sleep = func(_ context.Context, d time.Duration) {
		now = now.Add(d)
		h.group("/a", 1, 160, 40)
		h.write("proc/10/stat", strings.Replace(statLine(10, "a", 'S', 1, 0), " 250 50 ", " 300 50 ", 1))
	}
	host, err := s.Scan(context.Background(), Only{}, 6*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	p := host.Processes[0]
	if p.Throttling == nil || p.Throttling.Watch == nil {
		t.Fatalf("got %+v", p)
	}
	w := p.Throttling.Watch
	if w.Periods != 60 || w.Throttled != 30 || w.Length != 6*time.Second || w.Share() != 0.5 || p.Throttling.Since.Periods != 160 ||
		p.Used != 500*time.Millisecond {
		t.Errorf("watch %+v, used %s", w, p.Used)
	}
}

func TestOnly(t *testing.T) {
	h := newTree(t)
	h.group("/docker/"+dockerID, 1, 0, 0)
	h.group("/system.slice/web.service", 1, 0, 0)
	h.process(10, 1, "a", "/docker/"+dockerID, "", "a")
	h.process(11, 1, "b", "/system.slice/web.service", "", "b")
	h.write("proc/12/stat", statLine(12, "kthreadd", 'S', 0, kernelThread))
	h.write("proc/13/stat", statLine(13, "z", 'Z', 1, 0))
	h.process(20, 1, "server", "/system.slice/pool.service", "", "server")
	h.process(21, 20, "server", "/system.slice/pool.service", "", "server")
	h.process(22, 20, "sh", "/system.slice/pool.service", "", "sh")
	h.process(23, 21, "server", "/system.slice/pool.service", "", "server")
	host, err := New(h.root).Scan(context.Background(), Only{PID: 20}, 0)
	if err != nil || len(host.Processes) != 2 || host.Processes[0].PID != 20 || host.Processes[1].PID != 21 {
		t.Errorf("a process with a worker: %+v, %v", host.Processes, err)
	}
	for _, test := range []struct {
		only Only
		pid  int
		why  string
	}{
		{Only{PID: 11}, 11, ""},
		{Only{Container: "web"}, 11, ""},
		{Only{Container: dockerID}, 10, ""},
		{Only{Container: dockerID[:12]}, 10, ""},
		{Only{Container: dockerID[:3]}, 0, "not found"}, // too short for an id
		{Only{Container: "other"}, 0, "--container other"},
		{Only{PID: 99}, 0, "--pid 99: no such process"},
		{Only{PID: 12}, 0, "a kernel thread"},
		{Only{PID: 13}, 0, "it has ended"},
	} {
		host, err := New(h.root).Scan(context.Background(), test.only, 0)
		if test.pid == 0 {
			if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), test.why) {
				t.Errorf("%s: got %v", test.only, err)
			}
			continue
		}
		if err != nil || len(host.Processes) != 1 || host.Processes[0].PID != test.pid {
			t.Errorf("%s: got %+v, %v", test.only, host.Processes, err)
		}
		if !host.Partial {
			t.Errorf("%s: other processes exist, but Partial is false", test.only)
		}
	}
	if host, err := New(h.root).Scan(context.Background(), Only{}, 0); err != nil || host.Partial {
		t.Errorf("all of them: got %+v, %v", host, err)
	}
}

// The limit of a group that is not visible from here is unknown, and not guessed.
func TestOutsideOfTheNamespace(t *testing.T) {
	h := newTree(t)
	h.process(10, 1, "a", "/../other", self(t), "a")
	p := h.scan(Only{}).Processes[0]
	if p.CPU.State != Unknown || p.CPU.Why == "" || p.Info.Parallelism.Value != 0 || p.Throttling != nil ||
		!strings.Contains(strings.Join(p.Unseen, "; "), "its CPU limit could not be read: "+p.CPU.Why) {
		t.Errorf("got %+v", p)
	}
	// An empty table would say that there is no limit.
	w := New(h.root).Watch(Only{})
	defer w.Close()
	if seen, err := w.Look(); err == nil || !strings.Contains(err.Error(), p.CPU.Why) {
		t.Errorf("got %v, %v", seen, err)
	}
}

// A limit above the lowest one is reported too, with its counters: the groups below
// count throttling by their own limit only.
func TestALimitThatGroupsShare(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.group("/pod", 1.5, 200, 100)
	h.group("/pod/between", 0, 0, 0)
	h.group("/pod/between/a", 1, 200, 3)
	h.group("/pod/b", 1, 200, 2)
	h.process(10, 1, "a", "/pod/between/a", "", "a")
	h.process(11, 1, "b", "/pod/b", "", "b")
	h.process(12, 1, "c", "/pod", "", "c")
	for i, p := range h.scan(Only{}).Processes {
		if i == 2 {
			if len(p.Shared) != 0 || p.CPU.SetBy != "/pod" {
				t.Errorf("%s: %+v", p.Name, p.Shared)
			}
			continue
		}
		if len(p.Shared) != 1 || p.Throttling.Since.Throttled > 3 {
			t.Fatalf("%s: %+v", p.Name, p.Shared)
		}
		above := p.Shared[0]
		if above.CPU.CPUs != 1.5 || above.CPU.SetBy != "/pod" || above.CPU.Dir != "/sys/fs/cgroup/pod" || above.CPU.Group != p.CPU.Group ||
			above.Throttling == nil || above.Throttling.Since.Throttled != 100 {
			t.Errorf("%s: %+v", p.Name, above)
		}
	}
}

// /proc has threads too, though it does not list them: one stands for its process.
func TestAThreadIsOfItsProcess(t *testing.T) {
	h := newTree(t)
	h.group("/a", 2, 0, 0)
	h.process(10, 1, "a", "/a", "", "a")
	h.process(11, 1, "worker", "/a", "", "a")
	h.write("proc/11/status", "Name:\tworker\nTgid:\t10\nPid:\t11\n")
	host := h.scan(Only{PID: 11})
	if len(host.Processes) != 1 || host.Processes[0].PID != 10 {
		t.Errorf("got %+v", host)
	}
}

// A line of mountinfo may pass 64 KiB: the layers of overlay mounts stand in it.
func TestALongMountinfo(t *testing.T) {
	h := newTree(t)
	layers := strings.Repeat("/var/lib/docker/overlay2/l/ABCDEFGHIJKLMNOPQRSTUVWXYZ:", 2000)
	h.write("proc/1/mountinfo", "21 20 0:30 / / rw - overlay overlay rw,lowerdir="+layers+"\n30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n")
	h.group("/a", 1.5, 10, 0)
	h.process(10, 1, "a", "/a", "", "a")
	if p := h.scan(Only{}).Processes[0]; p.CPU.CPUs != 1.5 {
		t.Errorf("got %+v", p.CPU)
	}
}

func TestWithoutProc(t *testing.T) {
	if _, err := New(filepath.Join(t.TempDir(), "none")).Scan(context.Background(), Only{}, 0); err == nil {
		t.Error("no error on a host without /proc")
	}
}
