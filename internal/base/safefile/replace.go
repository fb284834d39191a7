package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Replace replaces a file atomically. In a folder of another user, root makes the file for
// that user.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return For(path, func() error {
		if err := replace(path, data, mode); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
		return nil
	})
}

func replace(path string, data []byte, mode fs.FileMode) error {
	temp, err := TempFile(filepath.Dir(path), Unfinished(filepath.Base(path)))
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // fails after the rename
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), LikeItsFolder(temp, filepath.Dir(path)), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}

// Unfinished begins the name of a file that is not complete yet.
func Unfinished(name string) string { return "." + name + "-" }

// LikeItsFolder gives a file of root's to the owner of the folder that it is for, who could
// not read it otherwise: a record that was handed over below a folder that only root may
// enter.
func LikeItsFolder(f *os.File, folder string) error {
	made, err := f.Stat()
	if err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	file, ok := made.Sys().(*syscall.Stat_t)
	own, ok2 := info.Sys().(*syscall.Stat_t)
	if ok && ok2 && file.Uid == 0 && own.Uid != 0 {
		return f.Chown(int(own.Uid), int(own.Gid))
	}
	return nil
}
