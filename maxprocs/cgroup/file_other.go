//go:build !linux

package cgroup

import (
	"errors"
	"io"
	"os"
)

// handle is an open file, of a fixture: other systems have no control groups.
type handle struct{ file *os.File }

func openHandle(name string) (handle, error) {
	file, err := os.Open(name)
	return handle{file}, err
}

// pread reads the start of the file.
func (h handle) pread(b []byte) (int, error) {
	n, err := h.file.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (h handle) close() error { return h.file.Close() }

// isRemoved is false: only control groups are removed from under open files.
func isRemoved(error) bool { return false }
