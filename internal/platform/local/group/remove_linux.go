package group

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
)

// remove removes a group and those below it. If the group except is directly below it, it
// and dir stay. Their processes must have ended; the kernel may need a moment.
func remove(dir, except string) error {
	all, err := cgroup.Tree(dir, except)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(except); err == nil {
		all = all[min(1, len(all)):]
	}
	deadline := time.Now().Add(patience)
	for _, one := range slices.Backward(all) {
		if err := rmdir(one, deadline); err != nil {
			return err
		}
	}
	return nil
}

// rmdir removes one group, and waits until a deadline for the kernel to release it.
func rmdir(dir string, deadline time.Time) error {
	for ; ; time.Sleep(pause) {
		err := syscall.Rmdir(dir)
		if err == nil || err == syscall.ENOENT {
			return nil
		}
		if err != syscall.EBUSY || time.Now().After(deadline) {
			return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
		}
	}
}
