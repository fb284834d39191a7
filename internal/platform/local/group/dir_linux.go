package group

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// This file works on single directories of cgroup file systems.

const (
	// patience bounds the wait for killed processes to end, which takes a while under a
	// small quota, and for the kernel to release a group.
	patience = 10 * time.Second
	pause    = 2 * time.Millisecond
)

// set writes a file of a group.
func set(dir, file, value string) error {
	f, err := os.OpenFile(path.Join(dir, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// pids returns the processes of a group and of those below it, except below the
// directory except. A group that is gone has none.
func pids(dir, except string) ([]int, error) {
	if dir == except {
		return nil, nil
	}
	text, err := os.ReadFile(path.Join(dir, "cgroup.procs"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENODEV) {
		return nil, nil
	}
	if err != nil && !errors.Is(err, syscall.EOPNOTSUPP) { // of threaded groups
		return nil, err
	}
	var all []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%s/cgroup.procs: %w", dir, err)
		}
		if pid > 0 { // 0: in another pid namespace, out of reach
			all = append(all, pid)
		}
	}
	children, err := below(dir)
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		more, err := pids(child, except)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// PIDs returns the processes of the group in a directory and of those below it.
// A group that is gone has none.
func PIDs(dir string) ([]int, error) { return pids(dir, "") }

// below returns the groups directly below a group.
func below(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, path.Join(dir, e.Name()))
		}
	}
	return all, nil
}

// members returns the processes of all the groups and of those below them, each
// once: the directories of a group in several hierarchies have the same ones.
func members(dirs []string, except string) ([]int, error) {
	var all []int
	for _, dir := range dirs {
		some, err := pids(dir, except)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// send sends a signal to every process of the groups, once, and reports whether there
// was any. It opens pidfds and then reads the groups again, so that it does not signal
// a pid that was reused meanwhile.
func send(dirs []string, except string, sig syscall.Signal) (found bool, err error) {
	before, err := members(dirs, except)
	if err != nil {
		return false, err
	}
	held := map[int]*os.Process{}
	for _, pid := range before {
		if p, err := os.FindProcess(pid); err == nil {
			held[pid] = p
			defer p.Release()
		}
	}
	after, err := members(dirs, except)
	if err != nil {
		return false, err
	}
	for _, pid := range after {
		if p := held[pid]; p != nil {
			if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return true, fmt.Errorf("signal process %d: %w", pid, err)
			}
		}
	}
	return len(after) > 0, nil
}

// kill kills every process of the groups and returns when none is left.
func kill(dirs []string, except string) error {
	if except == "" {
		for _, dir := range dirs {
			// v2 since Linux 5.14: atomic, includes processes that are being forked.
			_ = set(dir, "cgroup.kill", "1")
		}
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		found, err := send(dirs, except, syscall.SIGKILL)
		if err != nil || !found {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes in %s still exist %v after they were killed", strings.Join(dirs, ", "), patience)
		}
	}
}

// remove removes a group and those below it, except the group except and its parents.
// Their processes must have ended; the kernel may need a moment.
func remove(dir, except string) error {
	children, err := below(dir)
	if err != nil {
		return err
	}
	keep := false
	for _, child := range children {
		if child == except {
			keep = true
			continue
		}
		if err := remove(child, except); err != nil {
			return err
		}
	}
	if keep {
		return nil
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		err := syscall.Rmdir(dir)
		if err == nil || err == syscall.ENOENT {
			return nil
		}
		if err != syscall.EBUSY || time.Now().After(deadline) {
			return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
		}
	}
}

// move moves every process that is directly in one group into another and
// returns when none is left, including those that are forked meanwhile.
func move(from, to string) error {
	for deadline := time.Now().Add(patience); ; {
		text, err := os.ReadFile(path.Join(from, "cgroup.procs"))
		if err != nil {
			return err
		}
		all := strings.Fields(string(text))
		if len(all) == 0 {
			return nil
		}
		for _, pid := range all {
			if err := set(to, "cgroup.procs", pid); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("move process %s to %s: %w", pid, to, err)
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("move all processes from %s to %s: new ones keep appearing", from, to)
		}
	}
}
