package doctor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/maxprocs/cgroup"
	"github.com/millicore/millicore/test/vm/prebuilt"
)

// The tests named TestReal start real programs of each runtime in real control
// groups of their own, with the help of what is here. The limits of those that are
// to be throttled are low: a hypervisor that takes most of the machine must still
// leave more than them.

// cage is a pair of groups, one in the other, of each hierarchy that counts.
type cage struct {
	t      *testing.T
	cpu    string         // directory of the inner group, of the CPU controller
	kind   cgroup.Version // of that group
	leaves []string       // the inner group's directories
	watch  time.Duration  // before it is examined
}

// newCage makes the groups with limits in CPUs (0: none), or skips the test with
// what is missing.
func newCage(t *testing.T, outer, inner float64) *cage {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make control groups")
	}
	self, err := cgroup.Host().Self()
	if err != nil {
		t.Fatal(err)
	}
	c := &cage{t: t}
	name := fmt.Sprintf(cagePrefix+"%d-%s", os.Getpid(), strings.NewReplacer("/", "-", ",", "", " ", "-").Replace(t.Name()))
	made := map[string]bool{}
	for _, controller := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory} {
		place, ok := self.Place(controller).Get()
		if !ok {
			t.Skipf("needs the %s controller: %v", controller, self.Place(controller))
		}
		sweep(t, place.Top)
		parent := filepath.Join(place.Top, name)
		leaf := filepath.Join(parent, "leaf")
		if made[leaf] {
			continue
		}
		made[leaf] = true
		for _, dir := range []string{parent, leaf} {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Skipf("needs control groups that can be made: %v", err)
			}
			t.Cleanup(func() { removeGroup(t, dir) })
			if place.Version == cgroup.V2 && dir == parent {
				if err := os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+cpu +memory"), 0); err != nil {
					t.Skipf("needs the CPU and memory controllers in children of the root: %v", err)
				}
			}
		}
		c.leaves = append(c.leaves, leaf)
		if controller == cgroup.CPU {
			c.cpu, c.kind = leaf, place.Version
			limit(t, place.Version, parent, outer)
			limit(t, place.Version, leaf, inner)
		}
	}
	return c
}

// limit sets the inner group's limit in CPUs.
func (c *cage) limit(cpus float64) { limit(c.t, c.kind, c.cpu, cpus) }

// cagePrefix begins the names of these groups; the pid of the test follows.
const cagePrefix = "millicore-doctor-"

// sweep removes what a test left that was itself killed, and so ran no cleanup:
// groups named after a process that is no more, with what runs in them.
func sweep(t *testing.T, top string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(top, cagePrefix+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), cagePrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err != nil || syscall.Kill(pid, 0) != syscall.ESRCH {
			continue
		}
		leaf := filepath.Join(dir, "leaf")
		if inside, err := pidsIn(leaf); err == nil {
			killAll(inside)
		}
		removeGroup(t, leaf)
		removeGroup(t, dir)
	}
}

func limit(t *testing.T, version cgroup.Version, dir string, cpus float64) {
	t.Helper()
	if cpus == 0 {
		return
	}
	name, text := "cpu.max", fmt.Sprintf("%d 100000", int(cpus*100000))
	if version == cgroup.V1 {
		name, text = "cpu.cfs_quota_us", strconv.Itoa(int(cpus*100000))
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

func removeGroup(t *testing.T, dir string) {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
		if time.Now().After(end) {
			t.Errorf("remove a test's control group: %v", err)
			return
		}
	}
}

// enter is a shell's program that enters groups, then becomes the command.
const enter = `n=$1; shift; while [ $n -gt 0 ]; do echo $$ > "$1/cgroup.procs" || exit 98; shift; n=$((n-1)); done; exec "$@"`

// start runs a command in the groups until the test ends, and returns once it has
// written a line that begins with ready; at once for "".
func (c *cage) start(ready string, env []string, command ...string) int {
	c.t.Helper()
	args := append([]string{"-c", enter, "sh", strconv.Itoa(len(c.leaves))}, c.leaves...)
	cmd := exec.Command("sh", append(args, command...)...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GOMAXPROCS=") && !strings.HasPrefix(variable, "GODEBUG=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		c.kill()
		cmd.Wait()
	})
	for lines := bufio.NewScanner(out); ready != ""; {
		if !lines.Scan() {
			cmd.Wait()
			c.t.Fatalf("%s ended before it wrote %q: %s", command[0], ready, said.String())
		}
		if strings.HasPrefix(lines.Text(), ready) {
			break
		}
	}
	return cmd.Process.Pid
}

// pids are the processes in the cage.
func (c *cage) pids() []int {
	c.t.Helper()
	all, err := pidsIn(c.cpu)
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

func pidsIn(dir string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var all []int
	for field := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		all = append(all, pid)
	}
	return all, nil
}

// kill ends the processes in the cage, which the test put there.
func (c *cage) kill() { killAll(c.pids()) }

func killAll(pids []int) {
	for _, pid := range pids {
		if process, err := os.FindProcess(pid); err == nil {
			process.Kill()
		}
	}
}

// watched has the cage watched before it is examined, until the watch has seen
// periods enough for a finding.
func (c *cage) watched() { c.watch = fewest * 120 * time.Millisecond }

// scan looks at the host, with a watch that saw periods enough if there is to be one.
func (c *cage) scan() inspect.Host {
	c.t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; {
		host, err := inspect.New("").Scan(context.Background(), inspect.Only{}, c.watch)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, p := range host.Processes {
			if c.watch == 0 || slices.Contains(c.pids(), p.PID) && process(host, &p).counts != nil {
				return host
			}
		}
		if time.Now().After(end) {
			c.t.Fatal("no watch has seen 50 periods of the group's limit in two minutes")
		}
	}
}

// examined are the findings about the processes in the cage, in short.
func (c *cage) examined() string {
	c.t.Helper()
	host := c.scan()
	inside := map[int]bool{}
	for _, pid := range c.pids() {
		inside[pid] = true
	}
	var text strings.Builder
	for _, f := range Examine(host) {
		if inside[f.PID] {
			fmt.Fprintf(&text, "%s: %s\n", f.Level, f.Title)
		}
	}
	return text.String()
}

// built builds the tests' program with a go line; with an argument it keeps four
// threads busy.
func built(t *testing.T, line string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := prebuilt.WriteSource(dir, line); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", "program"}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs a Go toolchain: %v: %s", err, out)
	}
	return filepath.Join(dir, "program")
}

// packaged is where the sample services keep the programs that npm gave them.
const packaged = "../../../workloads/node_modules/.bin"

func installed(t *testing.T, name string) string {
	t.Helper()
	if path, err := filepath.Abs(filepath.Join(packaged, name)); err == nil && executable(path) {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// found checks what is found in a cage: every text of want, and none of not.
func found(t *testing.T, c *cage, want, not []string) {
	t.Helper()
	text := c.examined()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("not found: %q; found:\n%s", w, text)
		}
	}
	for _, n := range not {
		if strings.Contains(text, n) {
			t.Errorf("found: %q, in\n%s", n, text)
		}
	}
}

func several(t *testing.T) {
	t.Helper()
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs: on one, no parallelism is above a limit")
	}
}
