package group

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/test/testkit"
)

// stubborn is the argument by which this test's program is a process that
// ignores SIGTERM and ends with status 10 by SIGUSR1. (Whether HUP and INT end a
// process depends on who started the tests: nohup, or a shell in the background,
// has its descendants ignore them.)
const stubborn = "__stubborn"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == stubborn {
		signal.Ignore(syscall.SIGTERM)
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGUSR1)
		os.Stdout.WriteString("here\n")
		<-signals
		os.Exit(10)
	}
	os.Exit(m.Run())
}

// way is how groups are made here; without one the test is skipped, except in
// CI, which is to have one.
func way(t *testing.T) Way {
	t.Helper()
	facts, err := Survey()
	if err != nil {
		t.Fatal(err)
	}
	w, err := facts.Way()
	if err == nil && len(w.Rerun) > 0 {
		err = w.Exec() // all tests, from the beginning
	}
	if err != nil {
		testkit.Missing(t, err)
	}
	return w
}

// begin begins a run that ends with the test, of which nothing is left then.
func begin(t *testing.T) *Run {
	t.Helper()
	w, state := way(t), t.TempDir()
	r, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.End(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, w, state)
	})
	return r
}

// nothingLeft checks that all runs of this process are gone, with their ledgers.
func nothingLeft(t *testing.T, w Way, state string) {
	t.Helper()
	for _, h := range w.Homes {
		if found, _ := filepath.Glob(filepath.Join(h.Dir, prefix+itoa(os.Getpid())+"-*")); len(found) > 0 {
			t.Errorf("%v is left", found)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(state, "*")); len(files) > 0 {
		t.Errorf("%v is left", files)
	}
}

// occupy starts a stubborn process and moves it into directories.
func occupy(t *testing.T, dirs ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", stubborn)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	testkit.StartReady(t, cmd, "here")
	for _, dir := range dirs {
		if err := set(dir, "cgroup.procs", itoa(cmd.Process.Pid)); err != nil {
			t.Fatal(err)
		}
	}
	return cmd
}

// at is the reader's view of a group.
func at(t *testing.T, dirs ...string) cgroup.Group {
	t.Helper()
	g, err := cgroup.Host().At(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}
