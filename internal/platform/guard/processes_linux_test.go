package guard

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/test/testkit"
	"github.com/millicore/millicore/test/testkit/groups"
)

// A new process belongs to the replica of its parent, however many new ones are between.
func TestNewProcessesBelongToTheReplicaOfTheirParent(t *testing.T) {
	var p Processes
	p.Add(Process{PID: 10, Started: 1})
	fresh := map[int]proc.Stat{
		11: {Parent: 10}, 9: {Parent: 12}, 12: {Parent: 11},
		30: {Parent: 1}, 31: {Parent: 30}, // nobody's
	}
	p.adopt(fresh)
	if d := cmp.Diff([]int{9, 10, 11, 12}, slices.Sorted(maps.Keys(p.members))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int{30, 31}, slices.Sorted(maps.Keys(fresh))); d != "" {
		t.Error("left: ", d)
	}
}

// On a busy machine each look takes longer than a process may settle.
func TestAProcessIsOutsideIfThatIsSeenSeveralTimes(t *testing.T) {
	for _, c := range []struct {
		name     string
		each     time.Duration // that a look takes
		seen     int           // looks at which a process is outside
		wantLook int
		outside  bool
	}{
		{"never", time.Millisecond, 0, 1, false},
		{"always", time.Millisecond, 1000, 16, true},
		{"for a while", time.Millisecond, 10, 11, false},
		{"a slow machine, twice", time.Second, 2, 3, false},
		{"a slow machine, always", time.Second, 1000, 5, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			one, found := settled(func() (Process, bool) {
				time.Sleep(c.each)
				looks++
				return Process{PID: looks}, looks <= c.seen
			})
			if found != c.outside || looks != c.wantLook {
				t.Errorf("%s: %+v after %d looks, want %d", c.name, one, looks, c.wantLook)
			}
		})
	}
}

// A process that was seen in the group of its replica is one of the replica's after somebody
// moved it to another group, until it ends.
func TestAProcessThatWasMovedOut(t *testing.T) {
	top := groups.New(t)
	own, other := top.Below(t, "own"), top.Below(t, "other")
	var p Processes
	outside := func(want string) {
		t.Helper()
		if _, why := p.Outside([]string{own.CPU}); want == "" && why != "" || !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
	c := exec.Command("sleep", "600")
	testkit.Start(t, c)
	outside("") // nobody's
	own.Add(t, c.Process.Pid)
	outside("")
	other.Add(t, c.Process.Pid)
	outside("(sleep) left its control group: it is in " + other.CPU)
	own.Add(t, c.Process.Pid)
	outside("")
	other.Add(t, c.Process.Pid)
	testkit.Kill(c)
	outside("")
}

// A process must be in the group in each hierarchy, or in a group below it.
func TestInside(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"cpu": "7\n8\n9\n", "cpu/below": "10\n", "memory": "7\n10\n11\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, name), 0o755), os.WriteFile(filepath.Join(dir, name, "cgroup.procs"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	each, any, err := inside([]string{filepath.Join(dir, "cpu"), filepath.Join(dir, "memory")})
	if err != nil {
		t.Fatal(err)
	}
	for pid, want := range map[int][2]bool{7: {true, true}, 8: {false, true}, 10: {true, true}, 11: {false, true}, 12: {false, false}} {
		if each[pid] != want[0] || any[pid] != want[1] {
			t.Errorf("process %d: in each %v, in any %v; want %v", pid, each[pid], any[pid], want)
		}
	}
}
