package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// handle is an open file. It is a bare descriptor, because os.File.ReadAt
// makes a second system call to see the end of the file.
type handle int

// openHandle opens a file. It does not wait: a FIFO in the file's place, which
// would be waited for until somebody writes, is opened and has nothing in it.
func openHandle(name string) (handle, error) {
	for {
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
		if err == nil {
			return handle(fd), nil
		}
		if err != syscall.EINTR {
			return -1, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// pread reads the start of the file. The kernel generates the content again for every
// read at offset 0, and returns it whole.
func (h handle) pread(b []byte) (int, error) {
	for {
		n, err := syscall.Pread(int(h), b, 0)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// readFile reads a whole file, as os.ReadFile does, with three differences: it
// does not wait for a writer, too many bytes are an error, and it makes no system
// call but open, read and close.
func readFile(name string, k kind) ([]byte, error) {
	h, err := openHandle(name)
	if err != nil {
		return nil, err
	}
	defer h.close()
	b := make([]byte, 0, k.usual)
	for {
		n, err := syscall.Read(int(h), b[len(b):cap(b)])
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: name, Err: err}
		case n == 0:
			return b, nil
		}
		b = b[:len(b)+n]
		switch {
		case len(b) > k.most:
			return nil, fmt.Errorf("%s: %w", name, malformed("longer than the kernel's file can be", b))
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		case k.atOnce:
			return b, nil
		}
	}
}

// exists returns nil if the file exists, or the error of stat.
func exists(name string) error {
	var s syscall.Stat_t
	for {
		err := syscall.Stat(name, &s)
		if err == nil {
			return nil
		}
		if err != syscall.EINTR {
			return &fs.PathError{Op: "stat", Path: name, Err: err}
		}
	}
}

func (h handle) close() error { return syscall.Close(int(h)) }

// isRemoved reports whether err is the kernel's answer at an open file whose
// group was removed.
func isRemoved(err error) bool { return errors.Is(err, syscall.ENODEV) }
