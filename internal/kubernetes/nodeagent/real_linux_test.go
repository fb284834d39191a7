package nodeagent

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/groups"
)

// contain makes a group with the name of a container's, under a limit of 0.2 CPUs.
func contain(t testing.TB, parent *groups.Group, id string) *groups.Group {
	t.Helper()
	g := parent.Below(t, "cri-containerd-"+id+".scope")
	g.LimitCPU(t, 0.2)
	g.LimitMemory(t, memory)
	return g
}

const memory = 64 << 20

// A process that uses all of a CPU under a limit of 0.2 is stopped for most of
// each period; windows and counters report it, through the protocol.
func TestARealContainer(t *testing.T) {
	parent := groups.New(t)
	parent.Favour(t)
	g := contain(t, parent, id)
	ours, theirs := net.Pipe()
	agent := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { agent <- Serve(ctx, theirs, NewFinder("/sys/fs/cgroup")) }()
	c := NewClient(ours, 0)
	c.Interval(100 * ms)
	w := c.Watch("containerd://"+id, "", 0, 0)
	before := counters(t, w)
	began := time.Now()
	testkit.Start(t, g.Command("sh", "-c", "while :; do :; done"))

	var windows []signals.Window
	testkit.Until(t, "there are ten throttle windows", func() bool {
		windows = append(windows, w.Windows()...)
		return len(windows) >= 10
	})
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
	// On a busy machine the process uses its quota late in a period, and windows are short.
	mean, kernel := reported/time.Duration(len(windows)), time.Duration(*frame.Throttled/float64(*frame.ThrottledPeriods)*1e9)
	if mean < kernel/2 || mean > 2*kernel || mean > 100*ms {
		t.Errorf("windows of %v on average; the kernel counted %v in each throttled period", mean, kernel)
	}
	if after.CPULimit == nil || *after.CPULimit != 0.2 || after.MemoryLimit == nil || *after.MemoryLimit != memory || after.Memory == nil || *frame.CPU <= 0 {
		t.Errorf("counters %+v", after)
	}

	// Resized, and then gone.
	g.LimitCPU(t, 0.5)
	until(t, w, func(c signals.Counters, err error) bool { return err == nil && *c.CPULimit == 0.5 })
	g.Remove(t)
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
	return testkit.Value(t, "counters are as wanted", func() (signals.Counters, error) {
		c, err := w.Counters()
		if wanted(c, err) {
			return c, nil
		}
		return c, fmt.Errorf("still %+v, %w", c, err)
	})
}

// A node agent needs neither root nor a capability: what it reads is for everyone.
func TestAUserOfNoPowerReadsTheGroups(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	contain(t, groups.New(t), id)
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

// BenchmarkContainers measures a second of watching: a hundred samples and one
// reading of the counters for each container.
func BenchmarkContainers(b *testing.B) {
	for _, n := range []int{1, 10, 50} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			parent := groups.New(b)
			ours, theirs := net.Pipe()
			ctx, cancel := context.WithCancel(b.Context())
			agent := make(chan error, 1)
			go func() { agent <- Serve(ctx, theirs, NewFinder("/sys/fs/cgroup")) }()
			go io.Copy(io.Discard, ours)
			for i := range n {
				name := fmt.Sprintf("%064x", i+1)
				contain(b, parent, name)
				fmt.Fprintf(ours, `{"watch":{"id":%d,"container":"%s","pod":""}}`+"\n", i+1, name)
			}
			time.Sleep(time.Second) // all are found in the next turn of the finder
			before, began := used(b), time.Now()
			for b.Loop() {
				time.Sleep(time.Second) // one second is what is measured
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
	contain(b, groups.New(b), id)
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

// BenchmarkOwn measures what a reading of a container's own limits adds to its counters.
func BenchmarkOwn(b *testing.B) {
	contain(b, groups.New(b), id)
	g, err := NewFinder("/sys/fs/cgroup").Find(id, "")
	if err != nil {
		b.Fatal(err)
	}
	before := used(b)
	for b.Loop() {
		if own := ownOf(g); own == nil || own.Memory != memory {
			b.Fatalf("%+v", own)
		}
	}
	b.ReportMetric(float64((used(b)-before).Microseconds())/float64(b.N), "us-CPU/op")
}
