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
)

// A process that leaves its group is not found by the group any more. It is recorded in
// the ledger when it is seen outside, and has the mark of its run in its environment,
// unless it was started with another one.

// MarkVariable is the environment variable that marks the processes of a unit with the
// name of the run and of their group.
const MarkVariable = "MILLICORE_UNIT"

// Mark is the mark of the processes of a group, as a line of an environment.
func (r *Run) Mark(g *Group) string { return MarkVariable + "=" + r.name + "/" + g.name }

// OwnMark is the value of MarkVariable for the processes of the run that are of no group.
func (r *Run) OwnMark() string { return r.name + "/" }

// Name is the name of the run, which no other has.
func (r *Run) Name() string { return r.name }

// Name is the name of the group in its run.
func (g *Group) Name() string { return g.name }

// Process identifies a process: pids are used again, a pid and its start are not.
type Process struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"` // as in proc.Stat
}

// Kill kills the process, unless it has ended. It reports whether there was one, which may
// be about to end.
func (p Process) Kill() (bool, error) {
	held, err := os.FindProcess(p.PID) // by a pidfd, so that the pid is not another's
	if err != nil {
		return false, err
	}
	defer held.Release()
	if s, err := proc.ReadStat(p.PID); err != nil || s.Started != p.Started || s.Ended() {
		return false, nil
	}
	if err := held.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return true, fmt.Errorf("kill process %d, which left its control group: %w", p.PID, err)
	}
	thaw(p.PID)
	return true, nil
}

// Escaped records a process that is outside of its group, so that Sweep ends it if this
// run is killed.
func (r *Run) Escaped(p Process) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ledger.write(entry{Escaped: &p})
}

// Marked returns the mark of a process, as in RUN/GROUP; "" if it has none.
func Marked(pid int) (run, name string) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostEnviron))
	if err != nil {
		return "", ""
	}
	for line := range bytes.SplitSeq(text, []byte{0}) {
		if mark, ok := strings.CutPrefix(string(line), MarkVariable+"="); ok {
			run, name, _ = strings.Cut(mark, "/")
			return run, name
		}
	}
	return "", ""
}

// mostEnviron bounds how much of an environment is read: that of another user's process
// may have megabytes.
const mostEnviron = 256 << 10

// endEscaped kills the processes of a dead run that are outside of its groups: those in its
// ledger, and those with its mark, until they start no others.
func (s *Swept) endEscaped(b book, run string) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(pause) {
		marked, err := withMark(run)
		if err != nil {
			return err
		}
		found := false
		for _, p := range append(marked, b.escaped...) {
			stat, _ := proc.ReadStat(p.PID)
			killed, err := p.Kill()
			if err != nil {
				return err
			}
			if what := fmt.Sprintf("process %d (%s)", p.PID, stat.Name); killed && !slices.Contains(s.Removed, what) {
				s.Removed = append(s.Removed, what)
			}
			found = found || killed
		}
		if !found {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes of the dead run %s still exist %v after they were killed", run, patience)
		}
	}
}

// withMark are the processes that have the mark of a run.
func withMark(run string) ([]Process, error) {
	pids, err := proc.PIDs()
	if err != nil {
		return nil, err
	}
	var all []Process
	for _, pid := range pids {
		if of, _ := Marked(pid); of != run {
			continue
		}
		if stat, err := proc.ReadStat(pid); err == nil && !stat.Gone() {
			all = append(all, Process{PID: pid, Started: stat.Started})
		}
	}
	return all, nil
}
