package safefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// TempFile makes a file in a folder, as os.CreateTemp does; the name is the prefix and
// digits. It is locked until it is closed, also under its final name.
func TempFile(dir, prefix string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(dir, prefix+"*")
		if err != nil {
			return nil, err
		}
		if lock(f) {
			return f, nil
		}
		// SweepTemp of another program was faster.
		f.Close()
		os.Remove(f.Name())
	}
}

// TempDir makes and locks a folder likewise. remove removes it, unless it was renamed, and
// unlocks it.
func TempDir(dir, prefix string) (path string, remove func(), err error) {
	for {
		path, err := os.MkdirTemp(dir, prefix+"*")
		if err != nil {
			return "", nil, err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, errors.Join(err, os.Remove(path))
		}
		if lock(f) {
			return path, func() { os.RemoveAll(path); f.Close() }, nil
		}
		f.Close()
		os.RemoveAll(path)
	}
}

// lock locks a new file, and reports whether it is still there then. A file system without
// locks has none to wait for: nothing on it is swept either.
func lock(f *os.File) bool {
	switch err := flock(f, unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return false
	case err != nil:
		return true
	}
	named, err := os.Lstat(f.Name())
	if err != nil {
		return false
	}
	own, err := f.Stat()
	return err == nil && os.SameFile(own, named)
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// SweepTemp removes what TempFile and TempDir left with one of these prefixes in a folder of
// Millicore's: its program has ended, so nothing locks it. What cannot be removed stays.
func SweepTemp(dir string, prefixes ...string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() && !e.IsDir() {
			continue
		}
		for _, prefix := range prefixes {
			if digits, ok := strings.CutPrefix(e.Name(), prefix); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
				sweep(filepath.Join(dir, e.Name()))
			}
		}
	}
}

func sweep(path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if flock(f, unix.LOCK_EX|unix.LOCK_NB) == nil {
		os.RemoveAll(path)
	}
}
