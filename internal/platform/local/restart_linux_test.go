package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

func TestDeadServiceIsStartedAgain(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t.TempDir())
	r := start(t, p, u).Replicas()[0]
	before, err := r.Counters()
	if err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 2; n++ {
		get(t, r, "/exit")
		testkit.Until(t, "up again", func() bool {
			c, err := r.Counters()
			if err != nil {
				t.Fatal(err)
			}
			return c.Restarts == n && c.Up
		})
		mustGet(t, r, "/healthz")
	}
	after, err := r.Counters()
	if err != nil {
		t.Fatal(err)
	}
	if *after.CPU <= *before.CPU {
		t.Errorf("CPU went from %v to %v s: the counters began again", *before.CPU, *after.CPU)
	}
	if log := logOf(t, u.Logs); strings.Count(log, "it ended with exit status 9; restarting it in") != 2 {
		t.Errorf("log:\n%s", log)
	}
}

func TestServiceOutOfMemoryIsCountedAndStartedAgain(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t.TempDir())
	u.Limits.Memory = 32 << 20
	r := start(t, p, u).Replicas()[0]
	get(t, r, "/eat")
	testkit.Until(t, "up again", func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return c.Restarts == 1 && c.Up && *c.OOMKills >= 1
	})
	ender, ok := platform.As[platform.EndReporter](r)
	if !ok {
		t.Fatal("the replica does not report its end")
	}
	if how, _ := ender.LastEnd(); how != "it was killed: out of memory: it reached its limit of 33554432 bytes" {
		t.Errorf("its end: %s", how)
	}
	if log := logOf(t, u.Logs); !strings.Contains(log, "killed: out of memory: it reached its limit of 33554432 bytes") {
		t.Errorf("log:\n%s", log)
	}
}

func TestServiceIsDownWhileItWaitsForItsRestart(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Hour})
	u := start(t, p, server(t.TempDir()))
	r := u.Replicas()[0]
	get(t, r, "/exit")
	testkit.Until(t, "down", func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return !c.Up && c.Restarts == 0
	})
	if err := u.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWhatADeadServiceLeftIsKilledBeforeItsRestart(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t.TempDir())
	r := start(t, p, u).Replicas()[0]
	child := stubbornChild(t, r.(*replica), u.Logs)
	get(t, r, "/exit")
	testkit.Until(t, "its child killed", func() bool { return gone(child) })
}

// stubbornChild lets a service start a child that ignores TERM.
func stubbornChild(t *testing.T, r *replica, logs string) (pid int) {
	t.Helper()
	mustGet(t, r, "/child")
	testkit.Until(t, "a child", func() bool {
		_, after, found := strings.Cut(logOf(t, logs), "stubborn ")
		if found {
			_, err := fmt.Sscan(after, &pid)
			found = err == nil
		}
		return found
	})
	return pid
}

func TestStopLetsAServiceSayGoodbyeOnce(t *testing.T) {
	p := open(t, Options{})
	logs := t.TempDir()
	u := start(t, p, server(logs))
	if err := u.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if log := logOf(t, logs); strings.Count(log, "goodbye") != 1 || strings.Contains(log, "again") {
		t.Errorf("log:\n%s", log)
	}
	if err := u.Stop(t.Context()); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if _, err := u.Replicas()[0].Counters(); err == nil {
		t.Error("counters of a group that is gone")
	}
}

func TestStopKillsWhatIgnoresIt(t *testing.T) {
	p := open(t, Options{})
	logs := t.TempDir()
	u := start(t, p, server(logs))
	child := stubbornChild(t, u.Replicas()[0].(*replica), logs)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // instead of the whole grace
	defer cancel()
	if err := u.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if !gone(child) {
		t.Error("the service's child is still there")
	}
	if log := logOf(t, logs); !strings.Contains(log, "goodbye") || !strings.Contains(log, "killing them") {
		t.Errorf("log:\n%s", log)
	}
}

func TestAKilledRunIsCleaned(t *testing.T) {
	open(t, Options{}).Close() // skips where there are no groups
	state, logs := t.TempDir(), t.TempDir()
	lab, address := startLab(t, state, logs)
	child := stubbornChild(t, &replica{address: address}, logs)

	// While it lives it is left alone.
	cleaned, err := Clean(Options{State: state})
	if err != nil || len(cleaned.Removed) != 0 || len(cleaned.Living) != 1 || cleaned.Living[0] != lab.Process.Pid {
		t.Errorf("cleaned %+v, %v; want the living run left alone", cleaned, err)
	}
	mustGet(t, &replica{address: address}, "/healthz")

	testkit.Kill(lab)
	if gone(child) {
		t.Fatal("the service's child died with the run: there is nothing to clean")
	}
	cleaned, err = Clean(Options{State: state})
	if err != nil || len(cleaned.Removed) == 0 || len(cleaned.Living) != 0 {
		t.Errorf("cleaned %+v, %v", cleaned, err)
	}
	if !gone(child) {
		t.Error("the service's child is still there")
	}
	for _, dir := range cleaned.Removed {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	}
	nothingLeft(t, state)
}

// workingHelper is a millicore that waits for a program which it started itself, such as
// `python3 --version`.
func workingHelper(state string) {
	if _, err := New(Options{State: state}); err != nil {
		fmt.Println(err)
		exit(3)
	}
	child := exec.Command("/proc/self/exe", helper, "stubborn")
	child.Stdout = os.Stdout
	_ = child.Run()
}

func TestWhatAKilledRunStartedForItselfIsCleaned(t *testing.T) {
	open(t, Options{}).Close() // skips where there are no groups
	state := t.TempDir()
	lab := exec.Command("/proc/self/exe", helper, "working", state)
	var child int
	if _, err := fmt.Sscanf(testkit.StartReady(t, lab, "stubborn "), "stubborn %d", &child); err != nil {
		t.Fatal(err)
	}
	testkit.Kill(lab)
	if gone(child) {
		t.Fatal("the program died with the run: there is nothing to clean")
	}
	if _, err := Clean(Options{State: state}); err != nil {
		t.Fatal(err)
	}
	if !gone(child) {
		t.Error("the program is still there")
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	nothingLeft(t, state)
}

func TestTheNextStartCleans(t *testing.T) {
	open(t, Options{}).Close()
	state := t.TempDir()
	lab, _ := startLab(t, state, t.TempDir())
	testkit.Kill(lab)
	var notes []string
	p := open(t, Options{State: state, Note: func(note string) { notes = append(notes, note) }})
	if len(notes) != 1 || !strings.Contains(notes[0], "that a killed run left") {
		t.Errorf("notes %q", notes)
	}
	p.Close()
}

// A dry run makes and removes nothing, and still checks the limits.
func TestADryRunLeavesEverything(t *testing.T) {
	open(t, Options{}).Close()
	state := t.TempDir()
	lab, _ := startLab(t, state, t.TempDir())
	testkit.Kill(lab)
	before, _ := filepath.Glob(filepath.Join(state, "*"))
	p, err := New(Options{State: state, DryRun: true, Note: func(note string) { t.Errorf("note %q", note) }})
	if err != nil {
		t.Fatal(err)
	}
	e := &experiment.Experiment{Cells: []experiment.Cell{{Service: experiment.Service{Name: "s", Image: "x"}, Limits: experiment.Limits{CPUMillis: 100, Memory: 64 << 20, Replicas: 1}}}}
	if err := p.Check(e); err == nil || !strings.Contains(err.Error(), "is an image") || strings.Contains(err.Error(), "limit") {
		t.Errorf("%v; want the image refused and the limits accepted", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	after, _ := filepath.Glob(filepath.Join(state, "*"))
	if len(before) == 0 || !slices.Equal(before, after) {
		t.Errorf("%q before the dry run, %q after it", before, after)
	}
	if cleaned, err := Clean(Options{State: state}); err != nil || len(cleaned.Removed) == 0 {
		t.Errorf("cleaned %+v, %v; want what the killed run left", cleaned, err)
	}
}

// startLab starts another millicore and returns the address of its service.
func startLab(t *testing.T, state, logs string) (*exec.Cmd, string) {
	t.Helper()
	lab := exec.Command("/proc/self/exe", helper, "lab", state, logs)
	return lab, strings.TrimPrefix(testkit.StartReady(t, lab, "up "), "up ")
}

// asNobody tries New as a user who may do nothing, and returns its error.
func asNobody(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	for _, folder := range []string{state, state + "/.."} {
		if err := os.Chmod(folder, 0o711); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(state, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", helper, "lab", state, state)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Env = []string{"PATH=/nonexistent"} // no systemd-run
	out, err := cmd.Output()
	if err == nil {
		t.Fatal("nobody could make groups")
	}
	return strings.TrimSpace(string(out))
}

func TestLimitsAreChangedInPlace(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.Limits = experiment.Limits{CPUMillis: 200, Replicas: 2}
	running := start(t, p, u)
	resize := running.(platform.Resizer).Resize
	var pids [][]int
	for _, r := range running.Replicas() {
		pids = append(pids, r.PIDs())
	}
	if err := resize(t.Context(), experiment.Limits{CPUMillis: 500, Memory: 128 << 20, Replicas: 2}); err != nil {
		t.Fatal(err)
	}
	for i, r := range running.Replicas() {
		c, err := r.Counters()
		if err != nil || *c.CPULimit != 0.5 || *c.MemoryLimit != 128<<20 || c.Restarts != 0 || !slices.Equal(r.PIDs(), pids[i]) {
			t.Errorf("replica %d: %+v, %v, pids %v, were %v", i, c, err, r.PIDs(), pids[i])
		}
	}
	if err := resize(t.Context(), experiment.Limits{CPUMillis: 1, Replicas: 2}); err == nil || !strings.Contains(err.Error(), "resize replica 0: CPU limit 1m") {
		t.Errorf("an impossible limit: %v", err)
	}
}
