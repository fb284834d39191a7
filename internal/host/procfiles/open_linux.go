package procfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/base/safefile"
)

// openBeneath opens a file beneath a root with a user's rights. walk resolves the path
// without openat2.
func openBeneath(root, name string, with safefile.Rights, folder, walk bool) (*os.File, error) {
	at, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	defer unix.Close(at)
	var file *os.File
	if !walk {
		err = with.Do(func() (err error) {
			file, err = resolve(at, name, folder)
			return err
		})
		// Linux before 5.6 does not have openat2, and some seccomp profiles forbid it.
		walk = errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM)
	}
	if walk {
		top, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", at))
		if err != nil {
			return nil, err
		}
		defer top.Close()
		err = with.Do(func() (err error) {
			file, err = walkTo(top, name, folder)
			return err
		})
		return file, err
	}
	return file, err
}

// resolve opens a file by openat2: absolute links and ".." stay beneath the root. The file
// is opened without an effect first, to see what it is (open(2), O_PATH).
func resolve(at int, name string, folder bool) (*os.File, error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(at, name, how)
	for tries := 0; tries < 8 && (err == unix.EAGAIN || err == unix.EINTR); tries++ { // something was renamed meanwhile
		fd, err = unix.Openat2(at, name, how)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	seen := os.NewFile(uintptr(fd), name)
	defer seen.Close()
	info, err := seen.Stat()
	if err != nil {
		return nil, err
	}
	if err := wanted(name, info.Mode(), folder); err != nil {
		return nil, err
	}
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), flags, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(again), name), nil
}

// flags open a file for reading without waiting for another process.
const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

// walkTo opens a file step by step, without the links that lead out of the root. Absolute
// links are among these.
func walkTo(top *os.Root, name string, folder bool) (*os.File, error) {
	name = strings.TrimLeft(name, "/")
	info, err := top.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := wanted(name, info.Mode(), folder); err != nil {
		return nil, err
	}
	file, err := top.OpenFile(name, flags, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = wanted(name, info.Mode(), folder) // it may be another one by now
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// ownerOf is the user to whom a file belongs; -1: not known.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
