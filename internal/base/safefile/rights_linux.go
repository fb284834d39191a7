package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	noFollow = unix.O_NOFOLLOW
	// nobody has no files. It stands for the members of a group, or for all users.
	nobody = 65534
	// mostLinks is how many links in a path are followed, as by the kernel (path_resolution(7)).
	mostLinks = 40
)

// controls finds the first user other than root who can replace a part of a path. The parts
// before it are root's, so nobody can replace them meanwhile. Below a folder that only root
// may enter there is no such user. shared reports that the last
// part is in a folder in which all users make files, each its own (the sticky bit).
func controls(path string) (of Rights, shared bool, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return Rights{}, false, err
	}
	for range mostLinks {
		next := ""
		of, shared, next, err = follow(path)
		if next == "" || err != nil {
			return of, shared, err
		}
		path = next
	}
	return Rights{}, false, &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
}

// follow examines a path up to its first link, which is root's. next is then the path without
// that link, for the next examination; "": there is no link, and of and shared are as of
// controls.
func follow(path string) (of Rights, shared bool, next string, err error) {
	inShared := false // the folder of the part at hand is one of all users
	for at := range prefixes(path) {
		shared = inShared
		var stat unix.Stat_t
		switch err := unix.Lstat(at, &stat); {
		case errors.Is(err, fs.ErrNotExist):
			return Rights{}, shared && at == path, "", nil // root makes the rest
		case err != nil:
			return Rights{}, false, "", &fs.PathError{Op: "lstat", Path: at, Err: err}
		case stat.Uid != root:
			return rightsOf(int(stat.Uid), int(stat.Gid)), false, "", nil
		}
		switch kind := stat.Mode & unix.S_IFMT; {
		case kind == unix.S_IFLNK:
			target, err := os.Readlink(at)
			if err != nil {
				return Rights{}, false, "", err
			}
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			return Rights{}, false, filepath.Join(target, strings.TrimPrefix(path, at)), nil
		case kind != unix.S_IFDIR || at == path:
		case stat.Mode&0o001 == 0 && (stat.Mode&0o010 == 0 || stat.Gid == root): // nobody else gets below
			return Rights{}, false, "", nil
		case stat.Mode&unix.S_ISVTX == 0 && stat.Mode&0o002 != 0:
			return Rights{User: nobody, Group: nobody}, false, "", nil
		case stat.Mode&unix.S_ISVTX == 0 && stat.Mode&0o020 != 0 && stat.Gid != root:
			return Rights{User: nobody, Group: int(stat.Gid)}, false, "", nil
		}
		inShared = stat.Mode&unix.S_ISVTX != 0 && stat.Mode&0o022 != 0
	}
	return Rights{}, shared, "", nil
}

// prefixes yields the parts of an absolute path: /, /a, /a/b.
func prefixes(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i <= len(path); i++ {
			end := i == len(path) || path[i] == '/'
			if i == 0 && !yield("/") || i > 0 && end && path != "/" && !yield(path[:i]) {
				return
			}
		}
	}
}

// rightsOf are the rights of a user with its own groups. That of the folder may be one that
// the user does not have: folders inherit it (the set-group-ID bit).
func rightsOf(uid, gid int) Rights {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		if n, err := strconv.Atoi(u.Gid); err == nil {
			return Rights{User: uid, Group: n, Groups: groupsOf(u)}
		}
	}
	if gid == root {
		gid = nobody
	}
	return Rights{User: uid, Group: gid}
}

// groupsOf are the supplementary groups of a user, as far as they are known.
func groupsOf(u *user.User) (all []int) {
	ids, _ := u.GroupIds() // without them the user can do less
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// Do runs f with these rights if the caller is root. It must run in a goroutine of its own:
// if the rights cannot be given back, the thread ends with it.
func (r Rights) Do(f func() error) error {
	if os.Geteuid() != root || r.User == root {
		return f()
	}
	runtime.LockOSThread() // these calls are about one thread (setfsuid(2), credentials(7))
	own, err := unix.Getgroups()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	if err = r.take(); err != nil {
		err = fmt.Errorf("take the rights of user %d: %w", r.User, err)
	} else {
		err = f()
	}
	if (Rights{root, os.Getegid(), own}).take() == nil {
		runtime.UnlockOSThread()
	}
	return err
}

// take sets the thread's rights on files. Without the capabilities for that, setfsuid does
// nothing and reports nothing.
func (r Rights) take() error {
	if r.User == root { // the capabilities on files return with the user
		_ = unix.Setfsuid(root)
	}
	if err := unix.Setgroups(r.Groups); err != nil {
		return err
	}
	_ = unix.Setfsgid(r.Group)
	_ = unix.Setfsuid(r.User)
	user, _ := unix.SetfsuidRetUid(-1)
	group, _ := unix.SetfsgidRetGid(-1)
	if user != r.User || group != r.Group {
		return unix.EPERM
	}
	return nil
}

// Credential starts a program as this user; nil if it is root's.
func (r Rights) Credential() *syscall.Credential {
	if os.Geteuid() != root || r.User == root {
		return nil
	}
	return &syscall.Credential{Uid: uint32(r.User), Gid: uint32(r.Group)}
}
