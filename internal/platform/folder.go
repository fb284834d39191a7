package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// MakeDir makes the folder name in dir. It belongs to user (nil: the caller), and other
// users cannot read it.
//
// A user who can write to dir can replace root's new files there by a link to another
// file of root, and root would overwrite that file or change its owner. So MakeDir and
// MakeFile refuse a dir that other users can write to. They follow no link, and change
// the owner of the file that they opened, not of its name. Root does not read or write
// in a folder that belongs to a user: it starts a process as that user instead.
// os.RemoveAll is safe: it follows no link.
func MakeDir(dir, name string, user *User) error {
	return makeFor(user, dir, name, func(parent int) (int, error) {
		if err := unix.Mkdirat(parent, name, 0o700); err != nil {
			return -1, err
		}
		return unix.Openat(parent, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}, nil)
}

// MakeFile makes the file name in dir with a text, by the rules of MakeDir.
func MakeFile(dir, name, text string, user *User) error {
	return makeFor(user, dir, name, func(parent int) (int, error) {
		return unix.Openat(parent, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	}, []byte(text))
}

// makeFor makes a file or a folder, writes its content and sets its owner.
func makeFor(user *User, dir, name string, open func(parent int) (int, error), content []byte) (err error) {
	parent, err := os.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer parent.Close()
	if user != nil {
		if err := callersAlone(parent); err != nil {
			return fmt.Errorf("make %s for user %s: %w", name, user.Name, err)
		}
	}
	fd, err := open(int(parent.Fd()))
	if err != nil {
		return fmt.Errorf("make %s in %s: %w", name, dir, err)
	}
	made := os.NewFile(uintptr(fd), name)
	defer func() { err = errors.Join(err, made.Close()) }()
	if len(content) > 0 {
		if _, err := made.Write(content); err != nil {
			return fmt.Errorf("make %s in %s: %w", name, dir, err)
		}
	}
	if user == nil {
		return nil
	}
	if err := made.Chown(user.UID, user.GID); err != nil {
		return fmt.Errorf("give %s in %s to user %s: %w", name, dir, user.Name, err)
	}
	return nil
}

// callersAlone reports a folder that other users can write to.
func callersAlone(dir *os.File) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(dir.Fd()), &stat); err != nil {
		return &fs.PathError{Op: "fstat", Path: dir.Name(), Err: err}
	}
	if int(stat.Uid) != os.Geteuid() || stat.Mode&0o022 != 0 {
		return fmt.Errorf("others than user %d can write to %s; chown it, and chmod it to 0711", os.Geteuid(), dir.Name())
	}
	return nil
}
