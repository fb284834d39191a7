package group

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/host/proc"
)

// die ends a run as a SIGKILL would: the lock is gone, everything else stays.
func (r *Run) die() { r.ledger.file.Close() }

// A ledger that was never completed is removed, also if the machine's clock was set back
// since.
func TestSweepRemovesAnIncompleteLedger(t *testing.T) {
	state := t.TempDir()
	for name, age := range map[string]time.Duration{"begun": 0, "old": time.Hour, "of-the-future": -365 * 24 * time.Hour} {
		file := filepath.Join(state, prefix+name+".new-1")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Sweep(state); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(state, "*"))
	if want := []string{filepath.Join(state, prefix+"begun.new-1")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q is left (%v), want %q", left, err, want)
	}
}

func TestSweepRemovesWhatADeadRunLeft(t *testing.T) {
	w, state := way(t), t.TempDir()
	dead, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	g, err := dead.Make("service", experiment.Limits{CPUMillis: 100, CPUSet: cpuset(dead)}, 1)
	if err != nil {
		t.Fatal(err)
	}
	left := occupy(t, g.dirs...)
	dead.die()
	swept, err := Sweep(state)
	if err != nil {
		t.Fatal(err)
	}
	if len(swept.Removed) != len(dead.homes) || len(swept.Living) != 0 {
		t.Errorf("swept %+v, want the %d directories of the run", swept, len(dead.homes))
	}
	if err := left.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("its process ended with %v, want killed", err)
	}
	nothingLeft(t, w, state)
}

// cpuset is a cpuset that the run can have.
func cpuset(r *Run) string {
	if r.Check(experiment.Limits{CPUSet: "0"}) != nil {
		return ""
	}
	return "0"
}

func TestSweepLeavesALivingRunAlone(t *testing.T) {
	w, state := way(t), t.TempDir()
	r, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	g, err := r.Make("service", experiment.Limits{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	occupy(t, g.dirs...)
	swept, err := Sweep(state)
	if diff := cmp.Diff(Swept{Living: []int{os.Getpid()}}, swept); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if empty, err := g.Empty(); err != nil || empty {
		t.Errorf("its process is gone (%v)", err)
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
	nothingLeft(t, w, state)
}

func TestSweepLeavesAloneWhatItCannotProve(t *testing.T) {
	w, state := way(t), t.TempDir()
	h := w.Homes[0]
	// The first has the name of a run's directory but is in no ledger; the
	// ledger that lists the second knows another inode; the third is listed as
	// about to be made only, and is not empty.
	foreign := filepath.Join(h.Dir, prefix+"test-foreign-"+itoa(os.Getpid()))
	reborn, announced := foreign+"-reborn", foreign+"-announced"
	var occupants []string
	for _, dir := range []string{foreign, reborn, announced} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Skip(err) // no processes may be here but in a leaf
		}
		t.Cleanup(func() { os.Remove(dir) })
		occupants = append(occupants, dir)
	}
	l, err := newLedger(state, prefix+"dead")
	if err != nil {
		t.Fatal(err)
	}
	inode, _ := inodeOf(reborn)
	for _, e := range []entry{{Make: reborn}, {Made: &made{Dir: reborn, Inode: inode + 1}}, {Make: announced}} {
		if err := l.write(e); err != nil {
			t.Fatal(err)
		}
	}
	l.file.Close()
	for _, dir := range occupants {
		occupy(t, dir)
	}
	swept, err := Sweep(state)
	if err != nil || len(swept.Removed) > 0 {
		t.Errorf("swept %+v, %v; want nothing", swept, err)
	}
	for _, dir := range occupants {
		if all, err := pids(dir, ""); err != nil || len(all) != 1 {
			t.Errorf("%s has the processes %v (%v), want its one", dir, all, err)
		}
	}
}

func TestSweepOfALedgerFromBeforeAReboot(t *testing.T) {
	w, state := way(t), t.TempDir()
	r, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(r.ledger.path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(state, prefix+"old"+ledgerSuffix)
	if err := os.WriteFile(other, []byte(strings.Replace(string(text), proc.BootID(), "another-boot", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if swept, err := Sweep(state); err != nil || len(swept.Removed) > 0 {
		t.Errorf("swept %+v, %v; want nothing", swept, err)
	}
	if exists(other) {
		t.Error("the ledger is still there")
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
}

func TestTwoRunsInOneGroup(t *testing.T) {
	state := t.TempDir()
	w := way(t)
	first, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	// Where v2 moved this process into a leaf, the second finds itself there.
	second, err := Begin(way(t), state)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.End(); err != nil {
		t.Errorf("end the first: %v", err)
	}
	if _, err := second.Make("still", experiment.Limits{CPUMillis: 500}, 1); err != nil {
		t.Errorf("the second can make no groups any more: %v", err)
	}
	if err := second.End(); err != nil {
		t.Errorf("end the second: %v", err)
	}
	if _, err := Sweep(state); err != nil {
		t.Error(err)
	}
	nothingLeft(t, w, state)
}

func TestStateFolderOfOthersIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := newLedger(dir, prefix+"x"); err == nil || !strings.Contains(err.Error(), "alone") {
		t.Errorf("a folder that anybody can write was taken: %v", err)
	}
}

func TestParseLedger(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       book
		fails      bool
	}{
		{name: "empty"},
		{
			name: "whole",
			text: `{"begin":{"boot":"b","pid":7,"time":"2026-01-01T00:00:00Z"}}` + "\n" +
				`{"make":"/a/x"}` + "\n" + `{"made":{"dir":"/a/x","inode":42}}` + "\n" +
				`{"leaf":{"home":"/a","leaf":"/a/x/lab","controllers":["cpu"]}}` + "\n",
			want: book{
				begin:  beginning{Boot: "b", PID: 7},
				maybe:  []string{"/a/x"},
				made:   []made{{Dir: "/a/x", Inode: 42}},
				leaves: []moved{{Home: "/a", Leaf: "/a/x/lab", Controllers: []string{"cpu"}}},
			},
		},
		{name: "cut short", text: `{"make":"/a/x"}` + "\n" + `{"made":{"dir":"/a`, want: book{maybe: []string{"/a/x"}}},
		{name: "folders", text: `{"folder":{"dir":"/d/x"}}` + "\n" + `{"folder":{"dir":"/d/y"}}` + "\n" + `{"folder":{"dir":"/d/x","inode":7}}` + "\n",
			want: book{folders: map[string]made{"/d/x": {Dir: "/d/x", Inode: 7}, "/d/y": {Dir: "/d/y"}}}},
		{name: "not ours", text: "hello\n", fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseLedger([]byte(test.text))
			got.begin.Time = test.want.begin.Time
			if (err != nil) != test.fails {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(book{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzParseLedger(f *testing.F) {
	f.Add([]byte(`{"make":"/a/x"}` + "\n" + `{"made":{"dir":"/a/x","inode":42}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := parseLedger(text)
		if err != nil {
			return
		}
		// What is in a ledger's whole lines does not depend on what follows.
		if again, err := parseLedger(append(slices.Clone(text), []byte("\x00")...)); err == nil && len(again.made) < len(b.made) {
			t.Errorf("%d directories, and %d with a torn line after them", len(b.made), len(again.made))
		}
	})
}
