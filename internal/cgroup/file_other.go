//go:build !linux

package cgroup

import (
	"errors"
	"fmt"
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

// readFile reads a whole file, of which too many bytes are an error.
func readFile(name string, k kind) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, int64(k.most)+1))
	if err == nil && len(b) > k.most {
		err = fmt.Errorf("%s: %w", name, malformed("longer than the kernel's file can be", b))
	}
	return b, err
}

// exists returns nil if the file exists, or the error of stat.
func exists(name string) error {
	_, err := os.Stat(name)
	return err
}

func (h handle) close() error { return h.file.Close() }

// isRemoved is false: only control groups are removed from under open files.
func isRemoved(error) bool { return false }
