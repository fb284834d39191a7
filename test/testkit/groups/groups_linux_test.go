package groups

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/test/testkit"
)

func TestAGroupEndsWithItsTest(t *testing.T) {
	var dirs []string
	t.Run("a test", func(t *testing.T) {
		parent := New(t)
		g := parent.Below(t, "leaf")
		parent.LimitCPU(t, 0.5)
		g.LimitMemory(t, 64<<20)
		entered, added := g.Command("sleep", "600"), exec.Command("sleep", "600")
		testkit.Start(t, entered)
		testkit.Start(t, added)
		g.Add(t, added.Process.Pid)
		testkit.Until(t, "both programs are in the group", func() bool {
			all := g.PIDs(t)
			return slices.Contains(all, entered.Process.Pid) && slices.Contains(all, added.Process.Pid)
		})
		at, err := cgroup.Host().At(g.dirs...)
		if err != nil {
			t.Fatal(err)
		}
		if limit := at.CPULimit(); limit.CPUs != 0.5 {
			t.Errorf("CPU limit %+v, want the parent's 0.5", limit)
		}
		if limit := at.MemoryLimit(); limit.Bytes != 64<<20 {
			t.Errorf("memory limit %+v, want 64 MiB", limit)
		}
		dirs = append(parent.dirs, g.dirs...)
	})
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is left", dir)
		}
	}
}

// The next test removes what a killed test left.
func TestGroupsOfKilledTestsAreSwept(t *testing.T) {
	g := New(t)
	ended := exec.Command("true")
	testkit.Start(t, ended)
	ended.Wait()
	top := filepath.Dir(g.CPU)
	left := filepath.Join(top, fmt.Sprintf("%s%d-left", prefix, ended.Process.Pid))
	for _, dir := range []string{left, filepath.Join(left, "leaf")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sleeper := exec.Command("sleep", "600")
	testkit.Start(t, sleeper)
	write(t, filepath.Join(left, "leaf"), "cgroup.procs", strconv.Itoa(sleeper.Process.Pid))
	testkit.Until(t, "what was left is removed", func() bool {
		sweep(top)
		_, err := os.Stat(left)
		return os.IsNotExist(err)
	})
	if _, err := os.Stat(g.CPU); err != nil {
		t.Errorf("the group of a living test is gone: %v", err)
	}
}
