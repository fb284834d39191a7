package group

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onSmallDisk makes a file on a file system of one page, which only this file keeps: it is
// mounted in the namespace of a thread that ends.
func onSmallDisk(t *testing.T) *os.File {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to mount a small file system")
	}
	dir := t.TempDir()
	var file *os.File
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // and the thread ends with this function
		err := errors.Join(unix.Unshare(unix.CLONE_NEWNS|unix.CLONE_FS),
			unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""),
			unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4k"))
		if err == nil {
			file, err = os.Create(filepath.Join(dir, "ledger"))
		}
		made <- err
	}()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// What a run records after its disk was full must stay readable.
func TestALedgerOnAFullDiskHasWholeLines(t *testing.T) {
	l := &ledger{file: onSmallDisk(t)}
	wrote := 0
	for ; ; wrote++ {
		err := l.write(entry{Make: "/sys/fs/cgroup/cpu/millicore-1/another-service"})
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil || wrote > 4096 {
			t.Fatalf("line %d: %v", wrote, err)
		}
	}
	for l.write(entry{Make: "/s"}) == nil { // shorter ones still fit
		wrote++
	}
	text := make([]byte, 8192)
	n, err := l.file.ReadAt(text, 0)
	if err != io.EOF {
		t.Fatal(err)
	}
	b, err := parseLedger(text[:n])
	if err != nil || len(b.maybe) != wrote || text[n-1] != '\n' {
		t.Errorf("%d lines of %d, %v; it ends with %q", len(b.maybe), wrote, err, text[n-10:n])
	}
}
