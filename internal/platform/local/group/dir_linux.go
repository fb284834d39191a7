package group

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
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
// directory except, which is directly below dir. A group that is gone has none.
func pids(dir, except string) ([]int, error) {
	groups, err := cgroup.Tree(dir, except)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, one := range groups {
		some, err := cgroup.Processes(one)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
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
			if sig == syscall.SIGKILL {
				thaw(pid)
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

// move moves every process that is directly in one group into another and
// returns when none is left, including those that are forked meanwhile.
func move(from, to string) error {
	for deadline := time.Now().Add(patience); ; {
		all, err := cgroup.Processes(from)
		if err != nil || len(all) == 0 {
			return err
		}
		for _, pid := range all {
			if err := set(to, "cgroup.procs", strconv.Itoa(pid)); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("move process %d to %s: %w", pid, to, err)
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("move all processes from %s to %s: new ones keep appearing", from, to)
		}
	}
}
