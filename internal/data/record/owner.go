package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/millicore/millicore/internal/base/safefile"
)

// Modes of a record: only its owner can read it. The output of services, and the texts of
// an experiment, may have secrets that the program does not know.
const (
	DirMode  fs.FileMode = 0o700
	FileMode fs.FileMode = 0o600
)

// openNew makes the folder of a record, which is empty if it exists, and opens it. Its
// parents get the usual mode. In a folder of another user, root makes a record of that user.
func openNew(dir string) (root *os.Root, err error) {
	parent := filepath.Dir(filepath.Clean(dir))
	if err := safefile.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	owner := os.Geteuid()
	if owner == 0 {
		of, err := safefile.RightsOf(filepath.Join(parent, ".new"))
		if err != nil {
			return nil, fmt.Errorf("create record: %w", err)
		}
		owner = of.User
	}
	err = safefile.For(dir, func() error {
		root, err = makeNew(dir, owner)
		return err
	})
	return root, err
}

// makeNew makes the folder for its owner, with the rights of that user.
func makeNew(dir string, owner int) (*os.Root, error) {
	err := os.Mkdir(dir, DirMode)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("create record: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("create record: %w", err)
	}
	if err = ownEmpty(root, dir, owner); err == nil {
		err = root.Chmod(".", DirMode)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create record %s: %w; use a new folder with --out", dir, err), root.Close())
	}
	return root, nil
}

// ownEmpty refuses a folder that is not its owner's, or has something in it: who can
// write to its parent can put another folder, or a link to one, in its place.
func ownEmpty(root *os.Root, dir string, owner int) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(dir); err != nil || !os.SameFile(there, info) {
		return errors.Join(errors.New("it is a link, or was replaced"), err)
	}
	if own, ok := info.Sys().(*syscall.Stat_t); ok && int(own.Uid) != owner {
		return fmt.Errorf("it belongs to user %d, not to user %d", own.Uid, owner)
	}
	if names, err := f.Readdirnames(1); len(names) > 0 || !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("the folder is not empty"), err)
	}
	return nil
}

// HandOver gives everything in a folder, and the folder at last, to the user who ran
// millicore with sudo; otherwise it does nothing. Until then only root can enter the
// folder, so that nobody replaces what is in it by a link. A record that belongs to another
// user already stays that user's.
func HandOver(root *os.Root) error {
	uid, gid, ok := safefile.Invoker()
	if !ok {
		return nil
	}
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if own, ok := info.Sys().(*syscall.Stat_t); ok && own.Uid != 0 {
		return nil
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		return root.Lchown(name, uid, gid)
	})
	if err == nil {
		err = root.Lchown(".", uid, gid)
	}
	if err != nil {
		return fmt.Errorf("give the record to user %d, who called sudo: %w", uid, err)
	}
	return nil
}
