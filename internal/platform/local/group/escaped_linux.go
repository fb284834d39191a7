package group

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform/guard"
)

// A process that left its group is not found by the group any more. It is recorded in the
// ledger when it is seen outside, and has the mark of its run in its environment, unless it
// was started with another one.

// MarkVariable is the environment variable that marks the processes of a unit with the
// name of the run and of their group.
const MarkVariable = "MILLICORE_UNIT"

// Mark is the mark of the processes of a group, as a line of an environment.
func (r *Run) Mark(g *Group) string { return MarkVariable + "=" + r.name + "/" + g.name }

// OwnMark is the value of MarkVariable for the processes of the run that are of no group.
func (r *Run) OwnMark() string { return r.name + "/" }

// Escaped records a process that is outside of its group, so that Sweep ends it if this
// run is killed.
func (r *Run) Escaped(p guard.Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.write(entry{Escaped: &p})
}

// KillEscaped kills the processes of a group that are outside of it, until they start no
// others, and names them: those with the mark of the group, and those of seen. The group
// must have been removed.
func (r *Run) KillEscaped(g *Group, seen *guard.Processes) (names []string, err error) {
	mark := r.name + "/" + g.name
	return killEach(func() ([]guard.Process, error) {
		marked, err := withMark(func(of string) bool { return of == mark })
		all, err2 := seen.All()
		return append(marked, all...), errors.Join(err, err2)
	})
}

// killEach kills the processes that a function finds, until it finds none and those that it
// killed have ended. A process that is about to end has lost its environment, and with it
// its mark, before it has ended.
func killEach(find func() ([]guard.Process, error)) (names []string, err error) {
	var known []guard.Process
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		all, err := find()
		if err != nil {
			return names, err
		}
		for _, p := range all {
			if !slices.Contains(known, p) {
				known = append(known, p)
			}
		}
		found := false
		for _, p := range known {
			name, killed, err := killOne(p)
			if err != nil {
				return names, err
			}
			if killed && !slices.Contains(names, name) {
				names = append(names, name)
			}
			found = found || killed
		}
		if !found {
			return names, nil
		}
		if time.Now().After(deadline) {
			return names, fmt.Errorf("%s still run %v after they were killed", strings.Join(names, ", "), patience)
		}
	}
}

// killOne kills a process, unless it has ended. It reports whether there was one, which may
// be about to end, and names it.
func killOne(p guard.Process) (name string, killed bool, err error) {
	held, err := os.FindProcess(p.PID) // by a pidfd, so that the pid is not another's
	if err != nil {
		return "", false, err
	}
	defer held.Release()
	stat, err := proc.ReadStat(p.PID)
	if err != nil || stat.Started != p.Started || stat.Ended() {
		return "", false, nil
	}
	if err := held.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return "", true, fmt.Errorf("kill process %d, which left its control group: %w", p.PID, err)
	}
	thaw(p.PID)
	return fmt.Sprintf("process %d (%s)", p.PID, stat.Name), true, nil
}

// withMark returns the processes that have a mark, as in RUN/GROUP.
func withMark(is func(mark string) bool) (all []guard.Process, err error) {
	pids, err := proc.PIDs()
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		if !is(markOf(pid)) {
			continue
		}
		if stat, err := proc.ReadStat(pid); err == nil && !stat.Gone() {
			all = append(all, guard.Process{PID: pid, Started: stat.Started})
		}
	}
	return all, nil
}

// mostEnviron bounds how much of an environment is read: that of another user's process
// may have megabytes.
const mostEnviron = 256 << 10

// markOf returns the mark of a process; "" if it has none.
func markOf(pid int) string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostEnviron))
	if err != nil {
		return ""
	}
	for line := range bytes.SplitSeq(text, []byte{0}) {
		if mark, ok := strings.CutPrefix(string(line), MarkVariable+"="); ok {
			return mark
		}
	}
	return ""
}
