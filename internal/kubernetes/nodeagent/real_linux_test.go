package nodeagent

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/signals"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// spinning is the argument by which this test's program is a process that joins
// the groups of the files that come after it, and uses all of a CPU.
const spinning = "__spin"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == spinning {
		for _, file := range os.Args[2:] {
			if err := os.WriteFile(file, []byte("0"), 0); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		for {
		}
	}
	os.Exit(m.Run())
}

// groups begins the making of groups, which ends with the test; without a way to
// make any the test is skipped, except in CI, which is to have one.
func groups(t testing.TB) *group.Run {
	t.Helper()
	facts, err := group.Survey()
	if err != nil {
		t.Fatal(err)
	}
	w, err := facts.Way()
	if err == nil && len(w.Rerun) > 0 {
		err = w.Exec() // all tests, from the beginning
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	r, err := group.Begin(w, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.End(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// contain makes a group with the name of a container's.
func contain(t testing.TB, r *group.Run, id string, l experiment.Limits) *group.Group {
	t.Helper()
	g, err := r.Make("cri-containerd-"+id+".scope", l, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// spin starts a process in a group.
func spin(t *testing.T, g *group.Group) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{spinning}, g.Joins()...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// A process that uses all of a CPU under a limit of 0.2 is stopped for most of
// each period; windows and counters report it, through the protocol.
func TestARealContainer(t *testing.T) {
	r := groups(t)
	const quota, memory = 20 * ms, 64 << 20
	g := contain(t, r, id, experiment.Limits{CPUMillis: 200, Memory: memory})
	ours, theirs := net.Pipe()
	agent := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { agent <- Serve(ctx, theirs, NewFinder("/sys/fs/cgroup")) }()
	c := NewClient(ours, 0)
	c.Interval(100 * ms)
	w := c.Watch("containerd://"+id, "", 0, 0)
	before := counters(t, w)
	began := time.Now()
	spin(t, g)

	var windows []signals.Window
	for deadline := time.Now().Add(20 * time.Second); len(windows) < 10; time.Sleep(20 * ms) {
		windows = append(windows, w.Windows()...)
		if time.Now().After(deadline) {
			t.Fatalf("%d windows in 20 s: %+v", len(windows), windows)
		}
	}
	seen := time.Now()
	after := until(t, w, func(c signals.Counters, err error) bool { return err == nil && c.At.After(seen) })
	var reported time.Duration
	for i, v := range windows {
		reported += time.Duration(v.Throttled)
		if v.Start < began.UnixNano() || v.End > time.Now().UnixNano() || v.End < v.Start || i > 0 && v.Start < windows[i-1].End {
			t.Errorf("window %d of %d: %+v", i, len(windows), v)
		}
	}
	frame := signals.Between(before, after)
	if n := *frame.ThrottledPeriods; n < int64(len(windows)) || *frame.Throttled < reported.Seconds() {
		t.Errorf("%d periods throttled for %v s; the windows before were %d, of %v", n, *frame.Throttled, len(windows), reported)
	}
	if mean := reported / time.Duration(len(windows)); mean < 40*ms || mean > 100*ms {
		t.Errorf("windows of %v on average, want about %v", mean, 100*ms-quota)
	}
	if after.CPULimit == nil || *after.CPULimit != 0.2 || after.MemoryLimit == nil || *after.MemoryLimit != memory || after.Memory == nil || *frame.CPU <= 0 {
		t.Errorf("counters %+v", after)
	}

	// Resized, and then gone.
	if err := r.Resize(g, experiment.Limits{CPUMillis: 500, Memory: memory}); err != nil {
		t.Fatal(err)
	}
	until(t, w, func(c signals.Counters, err error) bool { return err == nil && *c.CPULimit == 0.5 })
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	until(t, w, func(_ signals.Counters, err error) bool { return err != nil && strings.Contains(err.Error(), "gone") })
	cancel()
	if err := <-agent; err != nil {
		t.Error(err)
	}
	<-c.Done()
}

func counters(t *testing.T, w *Watched) signals.Counters {
	t.Helper()
	return until(t, w, func(_ signals.Counters, err error) bool { return err == nil })
}

// until takes counters until they are as wanted.
func until(t *testing.T, w *Watched, wanted func(signals.Counters, error) bool) signals.Counters {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * ms) {
		c, err := w.Counters()
		if wanted(c, err) {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatalf("still %+v, %v", c, err)
		}
	}
}

// A node agent needs neither root nor a capability: what it reads is for everyone.
func TestAUserOfNoPowerReadsTheGroups(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	r := groups(t)
	contain(t, r, id, experiment.Limits{CPUMillis: 200, Memory: 64 << 20})
	const nobody = 65532 // as in the image
	done := make(chan error)
	go func() {
		done <- func() error {
			// The thread alone becomes that user, and ends with this function: it is
			// never unlocked.
			runtime.LockOSThread()
			for _, call := range []uintptr{unix.SYS_SETRESGID, unix.SYS_SETRESUID} {
				if _, _, errno := unix.RawSyscall(call, nobody, nobody, nobody); errno != 0 {
					return errno
				}
			}
			if uid := unix.Geteuid(); uid != nobody {
				return fmt.Errorf("still user %d", uid)
			}
			g, err := NewFinder("/sys/fs/cgroup").Find(id, "")
			if err != nil {
				return err
			}
			m, err := meter.New(g, experiment.Limits{})
			if err != nil {
				return err
			}
			defer m.Close()
			c, err := m.Counters()
			if err == nil && (c.CPU == nil || c.Throttled == nil || c.Memory == nil || c.OOMKills == nil) {
				err = fmt.Errorf("not all could be read: %+v", c)
			}
			if limit := g.OwnCPULimit(); err == nil && limit.State != cgroup.Limited {
				err = limit.Err
			}
			if limit := g.MemoryLimit(); err == nil && limit.State != cgroup.Limited {
				err = limit.Err
			}
			if err == nil {
				_, err = meter.ReadHost()
			}
			return err
		}()
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// BenchmarkContainers measures a second of watching: a hundred pulses and one
// reading of the counters for each container.
func BenchmarkContainers(b *testing.B) {
	for _, n := range []int{1, 10, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := groups(b)
			ours, theirs := net.Pipe()
			ctx, cancel := context.WithCancel(b.Context())
			agent := make(chan error, 1)
			go func() { agent <- Serve(ctx, theirs, NewFinder("/sys/fs/cgroup")) }()
			go io.Copy(io.Discard, ours)
			for i := range n {
				name := fmt.Sprintf("%064x", i+1)
				contain(b, r, name, experiment.Limits{CPUMillis: 200, Memory: 64 << 20})
				fmt.Fprintf(ours, `{"watch":{"id":%d,"container":"%s","pod":""}}`+"\n", i+1, name)
			}
			time.Sleep(time.Second) // until all are found
			before, began := used(b), time.Now()
			for b.Loop() {
				time.Sleep(time.Second)
			}
			share := (used(b) - before).Seconds() / time.Since(began).Seconds()
			b.ReportMetric(100*share, "%CPU")
			b.ReportMetric(100*share/float64(n), "%CPU/container")
			cancel()
			<-agent
		})
	}
}

// BenchmarkFind measures the search for a container on this machine.
func BenchmarkFind(b *testing.B) {
	r := groups(b)
	contain(b, r, id, experiment.Limits{CPUMillis: 200})
	f := NewFinder("/sys/fs/cgroup")
	for b.Loop() {
		if _, err := f.Find(id, ""); err != nil {
			b.Fatal(err)
		}
	}
}

// used is the CPU time of this process.
func used(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
