package cgroup

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/cgroup/testkit"
)

// The tests named TestReal make control groups of their own in the running
// kernel, with the help of what is here.

const childEnv = "MILLICORE_CGROUP_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(child(job))
	}
	os.Exit(m.Run())
}

// child is the process inside a group. It starts its job after a line of input, and
// ends with its parent.
func child(job string) int {
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return 1
	}
	name, size, _ := strings.Cut(job, " ")
	switch name {
	case "burn":
		go func() {
			for {
			}
		}()
	case "hold":
		n, err := strconv.Atoi(size)
		if err != nil {
			return 1
		}
		// Mapped by hand, so that the size does not depend on Go's runtime.
		b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			return 1
		}
		for i := 0; i < n; i += 4096 {
			b[i] = 1
		}
		fmt.Println("held")
	case "namespace":
		runtime.LockOSThread()
		if err := syscall.Unshare(syscall.CLONE_NEWCGROUP); err != nil {
			fmt.Println("skip:", err)
			break
		}
		g, err := Host().Self()
		fmt.Println(g.CPULimit().CPUs, err)
		parent, err := Host().Process(os.Getppid())
		fmt.Println(parent.Place(CPU), err)
	}
	in.ReadString('\n')
	return 0
}

// realGroup is a group in the running kernel: a directory in each hierarchy.
type realGroup struct {
	version Version // of the CPU controller
	dirs    map[Controller]string
}

// newRealGroup makes a group, or skips the test with what is missing for it.
func newRealGroup(t testing.TB) realGroup {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a control group")
	}
	mounts, err := Host().mounts()
	if err != nil {
		t.Fatal(err)
	}
	r := realGroup{dirs: map[Controller]string{}}
	name := fmt.Sprintf("millicore-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
	for _, m := range mounts {
		dir := filepath.Join(m.point, name)
		for c := Controller(0); c < controllers; c++ {
			if m.version == V1 && c != Unified && hasItem(m.controllers, c.String()) || m.version == V2 && c == Unified {
				r.dirs[c] = dir
			}
		}
	}
	r.version = V1
	if r.dirs[CPU] == "" {
		r.version = V2
		if r.dirs[Unified] == "" {
			t.Skip("needs a cgroup file system")
		}
		enabled, err := os.ReadFile(filepath.Join(filepath.Dir(r.dirs[Unified]), "cgroup.subtree_control"))
		for _, c := range []string{"cpu", "memory"} {
			if !strings.Contains(" "+strings.TrimSpace(string(enabled))+" ", " "+c+" ") {
				t.Skipf("needs the %s controller for children of the v2 root: %q, %v", c, enabled, err)
			}
		}
	}
	for _, dir := range r.dirs {
		testkit.MakeGroup(t, dir)
	}
	return r
}

// dir returns the directory of a controller.
func (r realGroup) dir(t testing.TB, c Controller) string {
	t.Helper()
	if dir := r.dirs[c]; dir != "" {
		return dir
	}
	if r.dirs[Unified] == "" {
		t.Skipf("needs the %s controller", c)
	}
	return r.dirs[Unified]
}

func (r realGroup) at(t testing.TB) Group {
	t.Helper()
	var dirs []string
	for _, dir := range r.dirs {
		dirs = append(dirs, dir)
	}
	g, err := Host().At(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

// limitCPU sets a quota in microseconds per 100 ms.
func limitCPU(t testing.TB, version Version, dir string, quota int) {
	t.Helper()
	if version == V1 {
		write(t, dir, "cpu.cfs_period_us", "100000")
		write(t, dir, "cpu.cfs_quota_us", strconv.Itoa(quota))
	} else {
		write(t, dir, "cpu.max", fmt.Sprintf("%d 100000", quota))
	}
}

func (r realGroup) limitMemory(t testing.TB, bytes int) {
	t.Helper()
	name := "memory.max"
	if r.dirs[Memory] != "" {
		name = "memory.limit_in_bytes"
	}
	write(t, r.dir(t, Memory), name, strconv.Itoa(bytes))
}

// running is a child process in a group.
type running struct {
	*exec.Cmd
	out *bufio.Reader
}

// run starts a child, moves it into dirs and lets it begin. It ends with the
// test.
func run(t testing.TB, job string, dirs ...string) running {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+job)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for _, dir := range dirs {
		write(t, dir, "cgroup.procs", strconv.Itoa(cmd.Process.Pid))
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	return running{cmd, bufio.NewReader(out)}
}

func (r realGroup) open(t testing.TB) *Reader {
	t.Helper()
	reader, err := r.at(t).Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
	return reader
}

// cpuDirs are those in which a busy process is counted and limited.
func (r realGroup) cpuDirs(t testing.TB) []string {
	if r.version == V2 {
		return []string{r.dirs[Unified]}
	}
	return []string{r.dir(t, CPU), r.dir(t, CPUAcct)}
}

func above0[T int | int64 | time.Duration](v Value[T]) bool {
	n, ok := v.Get()
	return ok && n > 0
}
