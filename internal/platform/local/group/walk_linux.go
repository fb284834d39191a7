package group

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tree returns the directories of a group and of those below it, each before those below
// it, without the one that is given as except and what is below that. A group that is gone
// has none.
func tree(dir, except string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return ifThere(err)
		case !entry.IsDir():
			return nil
		case name == except:
			return fs.SkipDir
		}
		all = append(all, name)
		return nil
	})
	return all, err
}

// ifThere is an error, unless that is that a group is gone.
func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

// numbers reads a file of pids or thread ids of a group, without 0, which is one of another
// pid namespace. A group that is gone has none.
func numbers(dir, file string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, file))
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
	all, err := tree(dir, except)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(except); err == nil {
		all = all[min(1, len(all)):]
	}
	deadline := time.Now().Add(patience)
	for _, one := range slices.Backward(all) {
		if err := rmdir(one, deadline); err != nil {
			return err
		}
	}
	return nil
}

// rmdir removes one group, and waits until a deadline for the kernel to release it.
func rmdir(dir string, deadline time.Time) error {
	for ; ; time.Sleep(pause) {
		err := syscall.Rmdir(dir)
		if err == nil || err == syscall.ENOENT {
			return nil
		}
		if err != syscall.EBUSY || time.Now().After(deadline) {
			return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
		}
	}
}
