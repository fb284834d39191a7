//go:build !linux

package procfiles

import (
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/millicore/millicore/internal/base/safefile"
)

// openBeneath opens a file beneath a root. There is no procfs here, only copies of one.
func openBeneath(root, name string, _ safefile.Rights, folder, _ bool) (*os.File, error) {
	top, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	name = strings.TrimLeft(name, "/")
	info, err := top.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := wanted(name, info.Mode(), folder); err != nil {
		return nil, err
	}
	return top.Open(name)
}

// ownerOf is not supported.
func ownerOf(fs.FileInfo) int { return -1 }

// readFile reads at most so many bytes of a file.
func readFile(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}
