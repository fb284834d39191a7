package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Tree returns the directory of a group and those of the groups below it, each before
// those below it. It leaves out the directory except, with what is below it. A group that
// is gone has none.
func Tree(dir, except string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case isGone(err):
			return nil
		case err != nil:
			return err
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

// Processes returns the processes of the group in a directory, without those of the groups
// below it. It leaves out those of another pid namespace, which cgroup.procs has as 0. A
// group that is gone has none. Neither has a threaded group: its processes are those of the
// group above it.
func Processes(dir string) ([]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if isGone(err) || errors.Is(err, errors.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %q", filepath.Join(dir, "cgroup.procs"), ErrMalformed, word)
		}
		if pid > 0 {
			all = append(all, pid)
		}
	}
	return all, nil
}

// isGone reports whether an error says that a group does not exist any more.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) || err != nil && isRemoved(err) }
