package group

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A service that may write into its group can nest groups below it until their paths are
// longer than the kernel accepts as an argument (PATH_MAX, 4096 bytes), and more levels than
// this program may open files. So a tree is walked by names below open directories, of which
// one is open at a time.

// walker is called for the groups of a tree.
type walker struct {
	// enter is called with the open directory of a group, before the groups below it.
	enter func(at int) error
	// leave is called after the groups below a group, with the directory above it and its
	// name; nil: it is not. It is not called for the highest group.
	leave func(above int, name string) error
	// except is the name of a group directly below the highest one that is not walked; "":
	// none is.
	except string
}

// level is a group on the way to the one that is open.
type level struct {
	name  string
	below []string // names of groups that were not walked yet
}

// walk walks the group in a directory and those below it. A group that is gone has none.
func (w walker) walk(dir string) error {
	at, err := unix.Open(dir, directory, 0)
	if err != nil {
		return ifThere(&fs.PathError{Op: "open", Path: dir, Err: err})
	}
	defer func() { _ = unix.Close(at) }() // it was only read
	first, err := w.see(at)
	first.below = slices.DeleteFunc(first.below, func(name string) bool { return name == w.except })
	way := []level{first}
	for err == nil {
		here := &way[len(way)-1]
		if n := len(here.below); n > 0 {
			name := here.below[n-1]
			here.below = here.below[:n-1]
			var next level
			if next, err = w.descend(&at, name); err == nil && next.name != "" {
				way = append(way, next)
			}
			continue
		}
		if way = way[:len(way)-1]; len(way) == 0 {
			return nil
		}
		err = w.ascend(&at, here.name)
	}
	return fmt.Errorf("%s: %w", dir, err)
}

// directory are the flags for opening a directory that is no link.
const directory = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// see enters the group in an open directory, and lists the groups below it.
func (w walker) see(at int) (level, error) {
	if err := w.enter(at); err != nil {
		return level{}, err
	}
	below, err := below(at)
	return level{below: below}, err
}

// descend opens a group below the open one in its place; a level without a name: it is gone.
func (w walker) descend(at *int, name string) (level, error) {
	next, err := unix.Openat(*at, name, directory, 0)
	if err != nil {
		return level{}, ifThere(err)
	}
	_ = unix.Close(*at)
	*at = next
	l, err := w.see(next)
	l.name = name
	return l, err
}

// ascend opens the group above the open one in its place.
func (w walker) ascend(at *int, name string) error {
	above, err := unix.Openat(*at, "..", directory, 0)
	if err != nil {
		return err
	}
	_ = unix.Close(*at)
	*at = above
	if w.leave == nil {
		return nil
	}
	return w.leave(above, name)
}

// ifThere is an error, unless that is that a group is gone.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

// below returns the names of the groups directly below an open one.
func below(at int) ([]string, error) {
	again, err := unix.Openat(at, ".", directory, 0) // with a position of its own
	if err != nil {
		return nil, ifThere(err)
	}
	dir := os.NewFile(uintptr(again), "cgroup")
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if ifThere(err) != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// numbers reads a file of pids or thread ids of an open group, without 0, which is one of
// another pid namespace. A group that is gone has none.
func numbers(at int, file string) ([]int, error) {
	fd, err := unix.Openat(at, file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, ifThere(err)
	}
	f := os.NewFile(uintptr(fd), file)
	defer f.Close()
	text, err := io.ReadAll(f)
	if errors.Is(err, syscall.EOPNOTSUPP) || ifThere(err) == nil && err != nil {
		return nil, nil // a threaded group: its processes are those of the group above it
	}
	if err != nil {
		return nil, err
	}
	var all []int
	for word := range strings.FieldsSeq(string(text)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if n > 0 {
			all = append(all, n)
		}
	}
	return all, nil
}

// remove removes a group and those below it. If the group except is directly below it, it
// and dir stay. Their processes must have ended; the kernel may need a moment.
func remove(dir, except string) error {
	deadline := time.Now().Add(patience)
	err := walker{
		enter:  func(int) error { return nil },
		leave:  func(above int, name string) error { return rmdir(above, name, deadline) },
		except: nameOf(except),
	}.walk(dir)
	if err != nil {
		return err
	}
	if except != "" {
		if _, err := os.Lstat(except); err == nil {
			return nil
		}
	}
	if err := rmdir(unix.AT_FDCWD, dir, deadline); err != nil {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}

// rmdir removes one group, and waits until a deadline for the kernel to release it.
func rmdir(above int, name string, deadline time.Time) error {
	for ; ; time.Sleep(pause) {
		err := unix.Unlinkat(above, name, unix.AT_REMOVEDIR)
		if err == nil || err == unix.ENOENT {
			return nil
		}
		if err != unix.EBUSY || time.Now().After(deadline) {
			return err
		}
	}
}
