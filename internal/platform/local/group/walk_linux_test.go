package group

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// nested makes a tree of directories as a service may make it, in which the files of pids are
// like those of groups. Nothing reads a path that is longer than PATH_MAX.
func nested(t *testing.T, levels int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.MkdirAll(filepath.Join(dir, leaf), 0o755); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Open(dir, directory, 0)
	for i := 0; err == nil && i < levels; i++ {
		name := strings.Repeat("n", 255)
		if err = unix.Mkdirat(at, name, 0o755); err != nil {
			break
		}
		var next int
		next, err = unix.Openat(at, name, directory, 0)
		unix.Close(at)
		at = next
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := unix.Openat(at, "cgroup.procs", unix.O_CREAT|unix.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(file, []byte("7\n0\n8\n")); err != nil {
		t.Fatal(err)
	}
	unix.Close(file)
	unix.Close(at)
	return dir
}

// More levels than a process may open files by default, and paths of 512 kB.
func TestAnyDepthIsWalked(t *testing.T) {
	dir := nested(t, 2000)
	if got, err := PIDs(dir); err != nil || !slices.Equal(got, []int{7, 8}) {
		t.Errorf("pids %v, %v", got, err)
	}
	depth := 0
	err := walker{enter: func(int) error { depth++; return nil }, except: leaf}.walk(dir)
	if err != nil || depth != 2001 {
		t.Errorf("%d levels, %v", depth, err)
	}
}

// What is not there has no processes, and is removed.
func TestAGroupThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if got, err := PIDs(dir); err != nil || got != nil {
		t.Errorf("pids %v, %v", got, err)
	}
	if err := remove(dir, ""); err != nil {
		t.Error(err)
	}
}
