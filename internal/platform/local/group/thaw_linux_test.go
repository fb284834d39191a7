package group

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/test/testkit"
)

// A service of root that freezes itself ends with its group, too.
func TestAFrozenProcessIsKilled(t *testing.T) {
	r := begin(t)
	self, err := cgroup.Host().Self(cgroup.Freezer)
	if err != nil {
		t.Fatal(err)
	}
	at, ok := self.Place(cgroup.Freezer).Get()
	if !ok || at.Version != cgroup.V1 {
		t.Skip("cgroup v1 only: SIGKILL ends what the freezer of v2 holds")
	}
	g, err := r.Make("frozen", experiment.Limits{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	cmd := occupy(t, g.dirs...)
	dir := path.Join(at.Dir, "millicore-test-"+itoa(os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		testkit.Missing(t, err)
	}
	t.Cleanup(func() {
		_ = set(dir, "freezer.state", "THAWED")
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	for _, one := range [][2]string{{"cgroup.procs", itoa(cmd.Process.Pid)}, {"freezer.state", "FROZEN"}} {
		if err := set(dir, one[0], one[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("it ended with %v, want killed", err)
	}
}
