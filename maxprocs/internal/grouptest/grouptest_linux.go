// Package grouptest makes control groups of the running kernel for tests, and
// runs test programs in them. It skips a test where the kernel or the rights
// that it would need are missing.
package grouptest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/cgroup/testkit"
)

// Group is a control group with the CPU or the memory controller.
type Group struct {
	Dir        string
	Version    cgroup.Version
	controller cgroup.Controller
}

// New makes a group with the CPU controller right below the highest that can be seen. It
// is removed after the test, as all that are made below it.
func New(t testing.TB) Group {
	t.Helper()
	return newTop(t, cgroup.CPU)
}

// NewMemory makes a group with the memory controller.
func NewMemory(t testing.TB) Group {
	t.Helper()
	return newTop(t, cgroup.Memory)
}

func newTop(t testing.TB, c cgroup.Controller) Group {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a control group")
	}
	self, err := cgroup.Host().Self(c)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := self.Place(c).Get()
	if !ok {
		t.Skipf("needs the %s controller: %v", c, self.Place(c))
	}
	name := fmt.Sprintf("millicore-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
	return newGroup(t, Group{filepath.Join(p.Top, name), p.Version, c})
}

// Below makes a group in g. No process may be in g itself, on v2.
func (g Group) Below(t testing.TB) Group {
	t.Helper()
	if g.Version == cgroup.V2 {
		g.Write(t, "cgroup.subtree_control", "+"+g.controller.String())
	}
	return newGroup(t, Group{filepath.Join(g.Dir, "below"), g.Version, g.controller})
}

func newGroup(t testing.TB, g Group) Group {
	t.Helper()
	if g.Version == cgroup.V2 {
		above := filepath.Dir(g.Dir)
		enabled, err := os.ReadFile(filepath.Join(above, "cgroup.subtree_control"))
		if !strings.Contains(" "+strings.TrimSpace(string(enabled))+" ", " "+g.controller.String()+" ") {
			t.Skipf("needs the %s controller for children of %s: %q, %v", g.controller, above, enabled, err)
		}
	}
	testkit.MakeGroup(t, g.Dir)
	return g
}

// Write writes a file of the group.
func (g Group) Write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.Dir, name), []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

// Limit sets the group's CPU limit; none if it is 0.
func (g Group) Limit(t testing.TB, cpus float64) {
	t.Helper()
	const period = 100_000 // microseconds
	v1, v2 := "-1", "max"
	if cpus > 0 {
		v1 = strconv.Itoa(int(cpus * period))
		v2 = v1
	}
	if g.Version == cgroup.V1 {
		g.Write(t, "cpu.cfs_quota_us", v1)
	} else {
		g.Write(t, "cpu.max", fmt.Sprintf("%s %d", v2, period))
	}
}

// LimitMemory sets the group's memory limit in bytes; none if it is 0.
func (g Group) LimitMemory(t testing.TB, bytes int) {
	t.Helper()
	name, value := "memory.limit_in_bytes", "-1"
	if g.Version == cgroup.V2 {
		name, value = "memory.max", "max"
	}
	if bytes > 0 {
		value = strconv.Itoa(bytes)
	}
	g.Write(t, name, value)
}

// A program that Start starts finds in its environment which group to enter
// first, and what to do then.
const (
	enterEnv = "MILLICORE_TEST_ENTER"
	doEnv    = "MILLICORE_TEST_DO"
)

// Main is to be called first by TestMain of a package that calls Start. Where
// the program is not one that Start has started, it returns. Otherwise it enters
// the group and executes the program again, so that the runtime starts under the
// limit; then it answers each line of its input with the result of do.
func Main(do func(line string) string) {
	if dir := os.Getenv(enterEnv); dir != "" {
		err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte("0"), 0)
		if err == nil {
			os.Unsetenv(enterEnv)
			err = syscall.Exec("/proc/self/exe", os.Args, os.Environ())
		}
		fmt.Println(err)
		os.Exit(1)
	}
	if os.Getenv(doEnv) == "" {
		return
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(do(in.Text()))
	}
	os.Exit(0)
}

// Program is a test program in a group.
type Program struct {
	t       testing.TB
	Process *os.Process
	in      io.Writer
	out     *bufio.Reader
}

// Start starts this test program in the group, with more in its environment and
// after the words of wrapper, if any. It ends with the test.
func (g Group) Start(t testing.TB, env []string, wrapper ...string) Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := append(append([]string{}, wrapper...), self)
	cmd := exec.Command(command[0], command[1:]...)
	for _, one := range os.Environ() {
		if name, _, _ := strings.Cut(one, "="); name != "GOMAXPROCS" && name != "GODEBUG" && name != "GOMEMLIMIT" {
			cmd.Env = append(cmd.Env, one)
		}
	}
	cmd.Env = append(append(cmd.Env, env...), enterEnv+"="+g.Dir, doEnv+"=1")
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
		t.Skipf("needs %s: %v", command[0], err)
	}
	t.Cleanup(func() {
		in.(io.Closer).Close() // ends it, also below a wrapper
		cmd.Wait()
	})
	return Program{t, cmd.Process, in, bufio.NewReader(out)}
}

// Do has a line done, and returns the answer.
func (p Program) Do(line string) string {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	answer, err := p.out.ReadString('\n')
	if err != nil {
		p.t.Fatalf("%s: %q, %v", line, answer, err)
	}
	return strings.TrimSuffix(answer, "\n")
}

// Want has a line done, and wants an answer.
func (p Program) Want(line, want string) {
	p.t.Helper()
	if got := p.Do(line); got != want {
		p.t.Errorf("%s: got %q, want %q", line, got, want)
	}
}

// Until has a line done until the answer is as wanted.
func (p Program) Until(line, want string) {
	p.t.Helper()
	testkit.Until(p.t, fmt.Sprintf("%s: want %q", line, want), func() (bool, any) {
		got := p.Do(line)
		return got == want, got
	})
}
