package group

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Folder makes an empty folder in dir, which belongs to the caller. RemoveFolder or,
// after a crash, Sweep removes it.
func (r *Run) Folder(dir string, mode fs.FileMode) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := filepath.Join(dir, prefix+"data-"+rand.Text())
	if err := r.ledger.write(entry{Folder: &made{Dir: name}}); err != nil {
		return "", err
	}
	if err := os.Mkdir(name, 0o700); err != nil {
		return "", err
	}
	inode, err := inodeOf(name)
	if err == nil {
		err = r.ledger.write(entry{Folder: &made{Dir: name, Inode: inode}})
	}
	if err == nil {
		err = chmod(name, mode)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	r.folders++
	return name, nil
}

// chmod sets the mode of a folder, regardless of the umask, and follows no link.
func chmod(dir string, mode fs.FileMode) error {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

// RemoveFolder removes one of the run's folders with its content. Sweep removes a folder
// that cannot be removed now.
func (r *Run) RemoveFolder(dir string) error {
	if err := removeAll(dir); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.folders--
	return nil
}

// removeAll follows no link, even if others can write to dir.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder %s: %w", dir, err)
	}
	return nil
}

// remove removes a folder of a dead run if it still exists. The inode identifies it. If
// the run was killed before it recorded the inode, the folder must be empty.
func (f made) remove() (removed bool, err error) {
	var stat unix.Stat_t
	switch err := unix.Lstat(f.Dir, &stat); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return false, nil
	case err != nil:
		return false, &fs.PathError{Op: "lstat", Path: f.Dir, Err: err}
	}
	if f.Inode == 0 {
		return os.Remove(f.Dir) == nil, nil
	}
	if stat.Ino != f.Inode || stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return false, nil
	}
	return true, removeAll(f.Dir)
}
