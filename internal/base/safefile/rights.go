// Package safefile works on files in folders that other users, or other programs of
// Millicore, use too.
//
// Rights. Root does its work on such files with the rights of another user.
// A user who controls a folder can replace a name in it by a link at any moment, also
// between a check and the use of the name. Root would follow the link, and write, remove or
// change the owner of a file that this user may not touch. So in a path that another user
// controls, root works with the rights of that user: what a link leads to is then what the
// user could have done without Millicore. New files belong to this user.
//
// Without root everything is done with the caller's rights.
//
// Replacement. Readers see the old content of a file or the new one, also after a crash:
// the new file is complete before it gets its name. A program that is killed leaves the
// file without the name. So it is locked while its program lives, and SweepTemp removes
// those without a lock.
package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Rights are a user's rights on files.
type Rights struct {
	User, Group int
	Groups      []int // supplementary ones
}

// root is the user with all rights.
const root = 0

// For runs f, which works on path, with the rights of the user who controls the path.
func For(path string, f func() error) error {
	if os.Geteuid() != root {
		return f()
	}
	of, _, err := controls(path)
	if err != nil {
		return err
	}
	done := make(chan error, 1) // a goroutine of its own: see Do
	go func() { done <- explain(of.Do(f), of) }()
	return <-done
}

// RightsOf returns the rights of the user who controls a path: those of root if no other
// user can replace a part of it.
func RightsOf(path string) (Rights, error) {
	of, _, err := controls(path)
	return of, err
}

// OpenFile is os.OpenFile for a file in a folder that another user may control. In a folder
// in which all users make files, such as /tmp, it follows no link.
func OpenFile(path string, flag int, mode fs.FileMode) (file *os.File, err error) {
	if os.Geteuid() != root {
		return os.OpenFile(path, flag, mode)
	}
	_, shared, err := controls(path)
	if err != nil {
		return nil, err
	}
	if shared {
		flag |= noFollow
	}
	err = For(path, func() error {
		file, err = os.OpenFile(path, flag, mode)
		return err
	})
	return file, err
}

// WriteFile is os.WriteFile, opened as by OpenFile.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	file, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// MkdirAll is os.MkdirAll in a folder that another user may control.
func MkdirAll(path string, mode fs.FileMode) error {
	if os.Geteuid() == root {
		if err := claim(path, mode); err != nil {
			return err
		}
	}
	return For(path, func() error { return os.MkdirAll(path, mode) })
}

// claim makes the first missing folder of a path if it is in a folder in which all users
// make files: who is first controls what is below. It follows no link.
func claim(path string, mode fs.FileMode) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for at := range prefixes(path) {
		_, shared, err := controls(at)
		if err == nil && shared {
			err = os.Mkdir(at, mode)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Invoker is the user who ran the program as root with sudo.
func Invoker() (uid, gid int, ok bool) { return invoker(os.Geteuid(), os.Getenv) }

func invoker(euid int, getenv func(string) string) (uid, gid int, ok bool) {
	uid, err := strconv.Atoi(getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(getenv("SUDO_GID"))
	return uid, gid, euid == root && err == nil && err2 == nil && uid > root && gid >= 0
}

// explain adds whose rights were not enough.
func explain(err error, r Rights) error {
	if r.User != root && errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("with the rights of user %d, who controls the folder: %w", r.User, err)
	}
	return err
}
