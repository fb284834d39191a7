package guard

import (
	"maps"
	"os/exec"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/test/testkit"
)

// A new process belongs to the replica of its parent, however many new ones are between.
func TestNewProcessesBelongToTheReplicaOfTheirParent(t *testing.T) {
	p := &Processes[string]{Members: map[int]*Member[string]{}, listed: map[int]bool{}}
	p.Take(10, proc.Stat{Started: 1}, "web")
	p.Take(20, proc.Stat{Started: 1}, "db")
	fresh := map[int]proc.Stat{
		11: {Parent: 10}, 9: {Parent: 12}, 12: {Parent: 11}, // of web
		21: {Parent: 20},
		30: {Parent: 1}, 31: {Parent: 30}, // nobody's
	}
	p.descend(fresh)
	got := map[int]string{}
	for pid, m := range p.Members {
		got[pid] = m.Of
	}
	if d := cmp.Diff(map[int]string{9: "web", 10: "web", 11: "web", 12: "web", 20: "db", 21: "db"}, got); d != "" {
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
			m := Settled(time.Now(), func(time.Time) *Member[string] {
				time.Sleep(c.each)
				if looks++; looks > c.seen {
					return nil
				}
				return &Member[string]{PID: looks}
			})
			if (m != nil) != c.outside || looks != c.wantLook {
				t.Errorf("%s: %+v after %d looks, want %d", c.name, m, looks, c.wantLook)
			}
		})
	}
}

// A process that runs is outside if it is in no group of its replica; one that ended is not.
func TestOutside(t *testing.T) {
	p := &Processes[string]{Members: map[int]*Member[string]{}, listed: map[int]bool{}}
	c := exec.Command("sleep", "600")
	testkit.Start(t, c)
	stat, err := proc.ReadStat(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	p.Take(c.Process.Pid, stat, "web")
	testkit.Until(t, "it ran and is outside", func() bool {
		m := p.Outside("web", nil, nil)
		return m != nil && m.PID == c.Process.Pid
	})
	here := map[int]bool{c.Process.Pid: true}
	if m := p.Outside("web", here, here); m != nil {
		t.Errorf("%+v is outside of its own group", m)
	}
	testkit.Kill(c)
	if m := p.Outside("web", nil, nil); m != nil {
		t.Errorf("%+v has ended", m)
	}
}
