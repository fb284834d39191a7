package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/groups"
	"github.com/millicore/millicore/test/vm/prebuilt"
)

// The tests named TestReal start real programs of each runtime in real control
// groups of their own, with the help of what is here. The limits of those that are
// to be throttled are low: a hypervisor that takes most of the machine must still
// leave more than them.

// cage is a control group in another one. Programs run in the inner one.
type cage struct {
	*groups.Group
	t     *testing.T
	watch time.Duration // before it is examined
}

// newCage makes the groups with limits in CPUs (0: none).
func newCage(t *testing.T, outer, inner float64) *cage {
	t.Helper()
	testkit.Long(t, "real programs under real limits")
	parent := groups.New(t)
	parent.Favour(t) // how many threads competed is seen only if they get CPUs at once
	c := &cage{t: t, Group: parent.Below(t, "leaf")}
	parent.LimitCPU(t, outer)
	c.limit(inner)
	return c
}

// limit sets the inner group's limit in CPUs.
func (c *cage) limit(cpus float64) { c.LimitCPU(c.t, cpus) }

// start runs a command in the group until the test ends, and returns once it has
// written a line that begins with ready; at once for "".
func (c *cage) start(ready string, env []string, command ...string) int {
	c.t.Helper()
	cmd := c.Command(command[0], command[1:]...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GOMAXPROCS=") && !strings.HasPrefix(variable, "GODEBUG=") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	if ready == "" {
		testkit.Start(c.t, cmd)
	} else {
		testkit.StartReady(c.t, cmd, ready)
	}
	c.t.Cleanup(c.Kill) // descendants hold its output
	return cmd.Process.Pid
}

// pids are the processes in the cage.
func (c *cage) pids() []int { return c.PIDs(c.t) }

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
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs a Go toolchain: %v: %s", err, out)
	}
	return filepath.Join(dir, "program")
}

// packaged is where the sample services keep the programs that npm gave them.
const packaged = "../../../workloads/node_modules/.bin"

func installed(t *testing.T, name string) string {
	t.Helper()
	if path, err := filepath.Abs(filepath.Join(packaged, name)); err == nil && isExecutable(path) {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

func isExecutable(path string) bool {
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
