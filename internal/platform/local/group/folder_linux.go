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

// Folder makes an empty folder in dir that a user owns and nobody else may look
// into. RemoveFolder removes it, or after a crash Sweep, by the ledger.
func (r *Run) Folder(dir string, uid, gid int) (string, error) {
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
		err = os.Chown(name, uid, gid)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	r.folders++
	return name, nil
}

// RemoveFolder removes one of the run's folders with all that is in it. One that
// cannot be removed is left for Sweep.
func (r *Run) RemoveFolder(dir string) error {
	if err := removeAll(dir); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.folders--
	return nil
}

func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the folder %s: %w", dir, err)
	}
	return nil
}

// remove removes a folder of a dead run if it is still there: by its inode, or
// empty where the run was killed before it wrote that down.
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
