package database

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flush brings what was written to a folder's file system to its disk.
func flush(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(d.Fd())), d.Close())
}
