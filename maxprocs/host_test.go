package maxprocs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/cgroup/testkit"
)

const mountinfoV2 = "30 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

// fixture is a host of 8 CPUs with cgroup v2, whose process is in the group
// /pod/box, with nothing limited.
type fixture struct {
	t    testing.TB
	root string
	host host
}

func newFixture(t testing.TB) fixture {
	t.Helper()
	root := tempDir(t)
	f := fixture{t, root, host{
		fs:       cgroup.NewFS(root),
		affinity: func() int { return 8 },
		numCPU:   8,
		patience: time.Minute,
		interval: time.Millisecond,
	}}
	f.write("proc/self/cgroup", "0::/pod/box\n")
	f.write("proc/1/mountinfo", mountinfoV2)
	f.write("sys/fs/cgroup/pod/cgroup.events", "populated 1\n")
	f.limit("max")
	f.limitPod("max")
	return f
}

// tempDir is t.TempDir in memory, where there is such a file system: on a disk,
// replacing a file can wait for the disk.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "millicore-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// write replaces a file at once, as the kernel's are. A limit keeps its file, which may
// be open.
func (f fixture) write(name, text string) {
	f.t.Helper()
	name = f.path(name)
	if file, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil && filepath.Base(name) == "cpu.max" {
		defer file.Close()
		if _, err := file.WriteAt([]byte(text), 0); err != nil {
			f.t.Fatal(err)
		}
		if err := file.Truncate(int64(len(text))); err != nil {
			f.t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		f.t.Fatal(err)
	}
}

func (f fixture) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// limit sets the quota of the process's group in microseconds per 100 ms.
func (f fixture) limit(quota string) {
	f.t.Helper()
	f.write("sys/fs/cgroup/pod/box/cpu.max", quota+" 100000\n")
}

// limitPod sets that of the group above.
func (f fixture) limitPod(quota string) {
	f.t.Helper()
	f.write("sys/fs/cgroup/pod/cpu.max", quota+" 100000\n")
}

// set calls Set on the host of the fixture. What it does ends with the test.
func (f fixture) set(opts ...Option) (Result, func()) {
	f.t.Helper()
	r, undo := f.host.set(optionsOf(opts))
	f.t.Cleanup(undo)
	return r, undo
}

// begin sets GOMAXPROCS for a test, which leaves it as it finds it.
func begin(t testing.TB, procs int) {
	t.Helper()
	before := runtime.GOMAXPROCS(procs)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func wantProcs(t testing.TB, want int) {
	t.Helper()
	if got := runtime.GOMAXPROCS(0); got != want {
		t.Errorf("GOMAXPROCS is %d, want %d", got, want)
	}
}

func untilProcs(t testing.TB, want int) {
	t.Helper()
	testkit.Until(t, fmt.Sprintf("GOMAXPROCS is %d", want), func() (bool, any) {
		got := runtime.GOMAXPROCS(0)
		return got == want, got
	})
}

func TestLook(t *testing.T) {
	f := newFixture(t)
	f.limit("300000")
	f.limitPod("150000")
	f.host.affinity = func() int { return 4 }
	v := f.host.look()
	if v.limit.CPUs != 1.5 || v.limit.Dir != "/sys/fs/cgroup/pod" || v.own.CPUs != 3 || v.affinity != 4 || v.cpus != 4 || !v.groups {
		t.Errorf("got %+v, want 1.5 CPUs by the pod, 3 by its own group, 4 CPUs", v)
	}

	f.host.affinity = func() int { return 16 } // CPUs that came after the start
	if v := f.host.look(); v.affinity != 16 || v.cpus != 8 {
		t.Errorf("got %d CPUs of %d, want 8 of 16: never above NumCPU", v.cpus, v.affinity)
	}
	f.host.affinity = func() int { return 0 } // not known
	if v := f.host.look(); v.affinity != 8 || v.cpus != 8 {
		t.Errorf("got %d CPUs of %d, want 8 of 8", v.cpus, v.affinity)
	}
}

func TestAffinity(t *testing.T) {
	want, ok := cgroup.Host().Affinity(0).Get()
	if !ok {
		t.Skip("needs /proc/self/status:", cgroup.Host().Affinity(0))
	}
	if got := affinity(); got != want {
		t.Errorf("got %d CPUs, /proc/self/status has %d", got, want)
	}
}
