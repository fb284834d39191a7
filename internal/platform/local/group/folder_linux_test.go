package group

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// fill makes a folder of the run with something in it.
func fill(t *testing.T, r *Run, dir string) string {
	t.Helper()
	folder, err := r.Folder(dir, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "data"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestAFolderHasItsModeWhateverTheUmask(t *testing.T) {
	r, dir := begin(t), t.TempDir()
	defer syscall.Umask(syscall.Umask(0o077))
	shared, err := r.Folder(dir, 0o711)
	if err != nil {
		t.Fatal(err)
	}
	folder := fill(t, r, dir)
	for name, mode := range map[string]os.FileMode{folder: 0o700, shared: 0o711} {
		info, err := os.Lstat(name)
		if err != nil || info.Mode() != os.ModeDir|mode || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
			t.Errorf("%v, %v, want %v of the caller's", info, err, mode)
		}
	}
	if err := r.RemoveFolder(shared); err != nil {
		t.Error(err)
	}
	if err := r.RemoveFolder(folder); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("it is still there")
	}
}

func TestSweepRemovesTheFoldersOfADeadRun(t *testing.T) {
	w, state := way(t), t.TempDir()
	dead, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	left, gone, another := fill(t, dead, dir), fill(t, dead, dir), fill(t, dead, dir)
	if err := dead.RemoveFolder(gone); err != nil {
		t.Fatal(err)
	}
	// One that somebody put into the place of the run's.
	if err := os.Rename(another, another+"-before"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(another, 0o700); err != nil {
		t.Fatal(err)
	}
	unsure := filepath.Join(dir, "unsure") // killed before its inode was written down
	if err := os.Mkdir(unsure, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := dead.ledger.write(entry{Folder: &made{Dir: unsure}}); err != nil {
		t.Fatal(err)
	}
	dead.die()
	swept, err := Sweep(state)
	if err != nil {
		t.Fatal(err)
	}
	if len(swept.Removed) != len(dead.homes)+2 {
		t.Errorf("swept %+v, want the %d directories of the run, and two folders", swept, len(dead.homes))
	}
	for folder, stays := range map[string]bool{left: false, unsure: false, another: true, another + "-before": true} {
		if _, err := os.Stat(folder); (err == nil) != stays {
			t.Errorf("%s: %v, stays: %v", folder, err, stays)
		}
	}
	nothingLeft(t, w, state)
}

func TestAFolderOfAnEndedRunIsSwept(t *testing.T) {
	w, state := way(t), t.TempDir()
	r, err := Begin(w, state)
	if err != nil {
		t.Fatal(err)
	}
	folder := fill(t, r, t.TempDir())
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
	swept, err := Sweep(state)
	if err != nil || len(swept.Removed) != 1 || swept.Removed[0] != folder {
		t.Errorf("swept %+v, %v, want %s alone", swept, err, folder)
	}
	nothingLeft(t, w, state)
}
