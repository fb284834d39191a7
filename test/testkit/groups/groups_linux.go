package groups

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/test/testkit"
)

// Group is a control group with the controllers for CPU and memory: a directory in
// each of their hierarchies on v1, one directory on v2.
type Group struct {
	CPU     string         // the directory that limits CPU
	Version cgroup.Version // of the CPU controller
	memory  string         // the directory that limits memory
	dirs    []string
}

// prefix begins the names of these groups. The pid of the test follows.
const prefix = "millicore-testkit-"

// New makes a group right below the highest that can be seen. When the test ends, what
// runs in it is killed, and the group is removed.
func New(t testing.TB) *Group {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make control groups")
	}
	self, err := cgroup.Host().Self()
	if err != nil {
		t.Fatal(err)
	}
	g := &Group{}
	name := fmt.Sprintf("%s%d-%s", prefix, os.Getpid(), strings.NewReplacer("/", "-", ",", "", " ", "-").Replace(t.Name()))
	for _, controller := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory} {
		place, ok := self.Place(controller).Get()
		if !ok {
			t.Skipf("needs the %s controller: %v", controller, self.Place(controller))
		}
		sweep(place.Top)
		dir := filepath.Join(place.Top, name)
		switch controller {
		case cgroup.CPU:
			g.CPU, g.Version = dir, place.Version
		case cgroup.Memory:
			g.memory = dir
		}
		g.make(t, dir)
	}
	return g
}

// Below makes a group in g. On v2 no process may be in g itself.
func (g *Group) Below(t testing.TB, name string) *Group {
	t.Helper()
	for _, dir := range g.dirs {
		file := filepath.Join(dir, "cgroup.subtree_control")
		if _, err := os.Stat(file); err != nil {
			continue // v1
		}
		if err := os.WriteFile(file, []byte("+cpu +memory"), 0); err != nil {
			t.Skipf("needs the CPU and memory controllers in children of the root: %v", err)
		}
	}
	below := &Group{CPU: filepath.Join(g.CPU, name), Version: g.Version, memory: filepath.Join(g.memory, name)}
	for _, dir := range g.dirs {
		below.make(t, filepath.Join(dir, name))
	}
	return below
}

// make makes a directory of the group, once: hierarchies can be mounted together.
func (g *Group) make(t testing.TB, dir string) {
	t.Helper()
	for _, made := range g.dirs {
		if made == dir {
			return
		}
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, os.ErrExist) {
		t.Fatal(err) // a test has one group of a name
	} else if err != nil {
		t.Skipf("needs control groups that can be made: %v", err)
	}
	g.dirs = append(g.dirs, dir)
	t.Cleanup(func() { remove(t, dir) })
}

// Remove removes the group before the test ends, with what runs in it.
func (g *Group) Remove(t testing.TB) {
	t.Helper()
	for _, dir := range g.dirs {
		remove(t, dir)
	}
}

// remove kills what runs in a directory, and removes it when the kernel has let go of
// the last process.
func remove(t testing.TB, dir string) {
	t.Helper()
	testkit.Value(t, "the control group is removed", func() (struct{}, error) {
		kill(dir)
		err := os.Remove(dir)
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return struct{}{}, err
	})
}

// LimitCPU limits the group to a number of CPUs; 0 is no limit.
func (g *Group) LimitCPU(t testing.TB, cpus float64) {
	t.Helper()
	const period = 100_000 // microseconds
	quota := strconv.Itoa(int(cpus * period))
	switch {
	case g.Version == cgroup.V1 && cpus == 0:
		write(t, g.CPU, "cpu.cfs_quota_us", "-1")
	case g.Version == cgroup.V1:
		write(t, g.CPU, "cpu.cfs_quota_us", quota)
	case cpus == 0:
		write(t, g.CPU, "cpu.max", fmt.Sprintf("max %d", period))
	default:
		write(t, g.CPU, "cpu.max", fmt.Sprintf("%s %d", quota, period))
	}
}

// Favour lets the group's processes run before others that compete for CPU, so that
// the group's limit stops them, and not a busy machine.
func (g *Group) Favour(t testing.TB) {
	t.Helper()
	if g.Version == cgroup.V1 {
		write(t, g.CPU, "cpu.shares", "262144") // the most; the default is 1024
	} else {
		write(t, g.CPU, "cpu.weight", "10000") // the most; the default is 100
	}
}

// LimitMemory limits the group's memory in bytes.
func (g *Group) LimitMemory(t testing.TB, bytes int64) {
	t.Helper()
	name := "memory.max"
	if _, err := os.Stat(filepath.Join(g.memory, name)); err != nil {
		name = "memory.limit_in_bytes"
	}
	write(t, g.memory, name, strconv.FormatInt(bytes, 10))
}

// SlowMemory sets memory.high in bytes: above it the kernel slows the processes and kills
// none. It skips the test where the kernel has none.
func (g *Group) SlowMemory(t testing.TB, bytes int64) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(g.memory, "memory.high")); err != nil {
		t.Skip("cgroup v2 only: memory.high")
	}
	write(t, g.memory, "memory.high", strconv.FormatInt(bytes, 10))
}

// Add moves a process into the group.
func (g *Group) Add(t testing.TB, pid int) {
	t.Helper()
	for _, dir := range g.dirs {
		write(t, dir, "cgroup.procs", strconv.Itoa(pid))
	}
}

// enter is a shell's program that enters groups, then becomes the command.
const enter = `n=$1; shift; while [ $n -gt 0 ]; do echo $$ > "$1/cgroup.procs" || exit 98; shift; n=$((n-1)); done; exec "$@"`

// Command is a command that enters the group before its program starts.
func (g *Group) Command(name string, args ...string) *exec.Cmd {
	all := append([]string{"-c", enter, "sh", strconv.Itoa(len(g.dirs))}, g.dirs...)
	return exec.Command("sh", append(append(all, name), args...)...)
}

// PIDs are the processes in the group.
func (g *Group) PIDs(t testing.TB) []int {
	t.Helper()
	all, err := pids(g.CPU)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Kill kills the processes in the group.
func (g *Group) Kill() { kill(g.CPU) }

func kill(dir string) {
	all, _ := pids(dir) // none if it is gone
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func pids(dir string) (all []int, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	for field := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		all = append(all, pid)
	}
	return all, nil
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

// sweep kills and removes what a killed test left, because it ran no cleanup: groups
// named after a process that has ended. What cannot be removed yet, the next test
// removes.
func sweep(top string) {
	left, _ := filepath.Glob(filepath.Join(top, prefix+"*"))
	for _, dir := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if pid, err := strconv.Atoi(owner); err != nil || syscall.Kill(pid, 0) != syscall.ESRCH {
			continue
		}
		below, _ := filepath.Glob(filepath.Join(dir, "*/cgroup.procs"))
		for _, file := range append(below, filepath.Join(dir, "cgroup.procs")) {
			kill(filepath.Dir(file))
			os.Remove(filepath.Dir(file))
		}
	}
}
