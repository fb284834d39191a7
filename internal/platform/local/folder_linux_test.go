package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
	"github.com/millicore/millicore/test/testkit"
)

// nobody is a user without rights.
var nobody = &platform.User{Name: "nobody", UID: 65534, GID: 65534}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
}

func TestAUnitRunsAsAnotherUserInTheFolderOfIts(t *testing.T) {
	needRoot(t)
	p := open(t, Options{})
	folder, err := p.Folder(os.TempDir(), nobody)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(folder.Path())
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || info.Mode() != os.ModeDir|0o711 {
		t.Errorf("the folder, which must stay root's: %v, %v", info, err)
	}
	if err := platform.MakeDir(folder.Path(), "data", nobody); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder.Path(), "data/file")
	u := server(t.TempDir())
	u.User, u.Dir = nobody, filepath.Dir(file)
	u.Command = []string{"/proc/self/exe", helper, "write", "file"}
	u.Serves = func(context.Context, string) error {
		_, err := os.Stat(file)
		return err
	}
	pid := start(t, p, u).Replicas()[0].PIDs()[0]
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"Uid:\t65534\t65534\t65534\t65534\n", "Gid:\t65534\t65534\t65534\t65534\n", "Groups:\t65534 \n", "CapEff:\t0000000000000000\n"} {
		if !strings.Contains(string(status), line) {
			t.Errorf("want %q in:\n%s", line, status)
		}
	}
	info, err = os.Stat(file)
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 65534 {
		t.Errorf("the file that it wrote: %v, %v", info, err)
	}
}

func TestSharedMemoryOfAUnitsOwn(t *testing.T) {
	needRoot(t)
	p := open(t, Options{})
	u := server(t.TempDir())
	u.PrivateIPC = true
	pid := start(t, p, u).Replicas()[0].PIDs()[0]
	for _, namespace := range []string{"ipc", "mnt"} {
		theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, namespace))
		if err != nil {
			t.Fatal(err)
		}
		if ours, err := os.Readlink("/proc/self/ns/" + namespace); err != nil || ours == theirs {
			t.Errorf("it shares %s, %v", ours, err)
		}
	}
	if _, err := os.Stat("/dev/shm"); err != nil {
		return // a machine without shared memory as files
	}
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/root/dev/shm", pid))
	if err != nil || len(entries) > 0 {
		t.Errorf("its /dev/shm has %v, %v", entries, err)
	}
}

func TestAFolderThatItsUserCannotReachLiesElsewhere(t *testing.T) {
	needRoot(t)
	var notes []string
	p := open(t, Options{Note: func(note string) { notes = append(notes, note) }})
	shut := filepath.Join(t.TempDir(), "shut")
	if err := os.MkdirAll(filepath.Join(shut, "record"), 0o700); err != nil {
		t.Fatal(err)
	}
	folder, err := p.Folder(filepath.Join(shut, "record"), nobody)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(folder.Path()) != os.TempDir() || len(notes) != 1 || !strings.Contains(notes[0], "user nobody cannot enter /") {
		t.Errorf("folder %s, notes %q", folder.Path(), notes)
	}
	if err := folder.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder.Path()); err == nil {
		t.Errorf("%s is still there", folder.Path())
	}
	own, err := p.Folder(filepath.Join(shut, "record"), nil) // which Close removes
	if err != nil || filepath.Dir(own.Path()) != filepath.Join(shut, "record") {
		t.Errorf("folder %v, %v", own, err)
	}
}

func TestAUnitWithItsOwnProbe(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t.TempDir())
	var asked atomic.Int64
	u.Serves = func(ctx context.Context, address string) error {
		if err := supervise.Accepts(ctx, address); err != nil {
			return err
		}
		if asked.Add(1)%3 != 0 {
			return fmt.Errorf("%s is at work", address)
		}
		return nil
	}
	r := start(t, p, u).Replicas()[0]
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
	get(t, r, "/exit")
	testkit.Until(t, "up again", func() bool {
		c, err := r.Counters()
		return err == nil && c.Restarts > 0 && c.Up
	})
	if n := asked.Load(); n < 6 || n%3 != 0 {
		t.Errorf("asked %d times with those after a restart, want 3 for each", n)
	}
	u = server(t.TempDir())
	u.Ready.Timeout = 100 * time.Millisecond
	refused := errors.New("not today")
	u.Serves = func(context.Context, string) error { return refused }
	if _, err := p.Start(t.Context(), u); !errors.Is(err, refused) {
		t.Errorf("error %v, want that of the unit", err)
	}
}

func TestAUnitIsStoppedByItsOwnSignal(t *testing.T) {
	p := open(t, Options{})
	u := server(t.TempDir())
	u.StopSignal = syscall.SIGQUIT // which the server does not await
	if err := start(t, p, u).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if log := logOf(t, u.Logs); strings.Contains(log, "goodbye") {
		t.Errorf("it was sent TERM:\n%s", log)
	}
}

// What runs as another user ends with millicore too, and its folder is cleaned.
func TestAKilledRunLeavesNothingOfAnotherUser(t *testing.T) {
	needRoot(t)
	open(t, Options{}).Close()
	state := t.TempDir()
	lab := exec.Command("/proc/self/exe", helper, "nobody-lab", state, t.TempDir())
	line := testkit.StartReady(t, lab, "up ")
	var pid int
	var folder string
	if _, err := fmt.Sscanf(line, "up %d %s", &pid, &folder); err != nil {
		t.Fatal(line)
	}
	testkit.Kill(lab)
	testkit.Until(t, "the service gone", func() bool { return gone(pid) })
	if _, err := os.Stat(folder); err != nil {
		t.Fatal(err)
	}
	if _, err := Clean(Options{State: state}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Errorf("%s is still there", folder)
	}
	nothingLeft(t, state)
}

// nobodyLabHelper is a millicore whose service is nobody's, with a folder.
func nobodyLabHelper(state, logs string) {
	p, err := New(Options{State: state})
	if err == nil {
		var f platform.Folder
		if f, err = p.Folder(os.TempDir(), nobody); err == nil {
			u := server(logs)
			u.User = nobody
			var running platform.Unit
			if running, err = p.Start(context.Background(), u); err == nil {
				fmt.Println("up", running.Replicas()[0].PIDs()[0], f.Path())
				stay()
			}
		}
	}
	fmt.Println(err)
	exit(1)
}
