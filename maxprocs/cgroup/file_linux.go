package cgroup

import (
	"errors"
	"io/fs"
	"syscall"
)

// handle is an open file. It is a bare descriptor, because os.File.ReadAt
// makes a second system call to see the end of the file.
type handle int

func openHandle(name string) (handle, error) {
	for {
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return handle(fd), nil
		}
		if err != syscall.EINTR {
			return -1, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// pread reads the start of the file. The kernel makes the content anew for
// every reading from the start, and hands it out whole.
func (h handle) pread(b []byte) (int, error) {
	for {
		n, err := syscall.Pread(int(h), b, 0)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func (h handle) close() error { return syscall.Close(int(h)) }

// isRemoved reports whether err is the kernel's answer at an open file whose
// group was removed.
func isRemoved(err error) bool { return errors.Is(err, syscall.ENODEV) }
