package local

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/platform/guard"
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/local/shim"
)

// kin are the processes of replicas. A process whose parent has ended becomes a child of this
// program, because this program is its nearest subreaper (PR_SET_CHILD_SUBREAPER in
// prctl(2)): it cannot hide by a double fork, or by setsid.
type kin struct {
	self, session int
	run           *group.Run

	mu        sync.Mutex
	replicas  []*replica
	processes *guard.Processes[*replica]
	children  map[group.Process]bool // started by this program, which waits for them elsewhere
	escaped   map[group.Process]bool // recorded for Sweep
}

type member = guard.Member[*replica]

// newKin makes this program the subreaper of what it starts from now on. The processes
// that exist are nobody's.
func newKin(run *group.Run) (*kin, error) {
	k := &kin{self: os.Getpid(), run: run, children: map[group.Process]bool{}, escaped: map[group.Process]bool{}}
	var err error
	if k.session, err = unix.Getsid(0); err == nil {
		k.processes, err = guard.NewProcesses[*replica]()
	}
	if err != nil {
		return nil, fmt.Errorf("watch for processes that leave their control groups: %w", err)
	}
	k.processes.Ended = k.reap
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("adopt processes whose parents end: %w", err)
	}
	return k, nil
}

// identity of a member.
func identity(m *member) group.Process { return group.Process{PID: m.PID, Started: m.Started} }

// reap waits for an orphan that has ended.
func (k *kin) reap(m *member, stat proc.Stat) {
	if stat.Parent == k.self && !k.children[identity(m)] {
		_, _ = unix.Wait4(m.PID, nil, unix.WNOHANG, nil)
	}
}

// add begins to watch a replica.
func (k *kin) add(r *replica) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.replicas = append(k.replicas, r)
}

// launched are the processes that the platforms of this program have started, by their
// pids. starting is read-locked while one is started, so that no scan sees it before.
var launched struct {
	starting sync.RWMutex
	mu       sync.Mutex
	at       map[int]uint64 // when they started
}

// launch starts a command in its own session, with its streams.
func launch(c shim.Command, stdin, stdout, stderr *os.File, also func(group.Process)) (*exec.Cmd, error) {
	launched.starting.RLock()
	defer launched.starting.RUnlock()
	cmd, err := shim.Start(c, stdin, stdout, stderr)
	if err != nil {
		return nil, err
	}
	stat, err := proc.ReadStat(cmd.Process.Pid)
	if err != nil {
		return cmd, nil // it has ended: Wait reports how
	}
	launched.mu.Lock()
	defer launched.mu.Unlock()
	if launched.at == nil {
		launched.at = map[int]uint64{}
	}
	launched.at[cmd.Process.Pid] = stat.Started
	if also != nil {
		also(group.Process{PID: cmd.Process.Pid, Started: stat.Started})
	}
	return cmd, nil
}

// lead takes the process that was started for a replica.
func (k *kin) lead(p group.Process, of *replica) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.processes.Take(p.PID, proc.Stat{Started: p.Started}, of)
	k.children[p] = true
}

// scan finds the new processes of the replicas, as guard.Processes does. k.mu is locked.
func (k *kin) scan(since time.Time) error {
	others, err := k.processes.Scan(since)
	if err != nil {
		return err
	}
	for _, m := range k.processes.Members {
		if m.Of != nil && !slices.Contains(k.replicas, m.Of) {
			k.processes.Lives(m) // its replica was removed
		}
	}
	for pid, stat := range others {
		if stat.Parent == k.self && stat.Session != k.session {
			k.adopt(pid, stat)
		}
	}
	return nil
}

// adopt finds the replica of an orphan, which is now a child of this program: by its
// session, its mark or its group. This program starts what else it starts in its own
// session.
func (k *kin) adopt(pid int, stat proc.Stat) {
	if leader := k.processes.Members[stat.Session]; leader != nil {
		k.processes.Take(pid, stat, leader.Of)
		return
	}
	launched.mu.Lock()
	_, other := launched.at[stat.Session] // of another platform of this program, or an agent
	launched.mu.Unlock()
	if other {
		return
	}
	if run, name := group.Marked(pid); run != "" {
		if run != k.run.Name() {
			return // of another platform of this program
		}
		if at := slices.IndexFunc(k.replicas, func(r *replica) bool { return r.group.Name() == name }); at >= 0 {
			k.processes.Take(pid, stat, k.replicas[at])
			return
		}
	}
	for _, r := range k.replicas {
		if _, any, err := r.group.Inside(); err == nil && any[pid] {
			k.processes.Take(pid, stat, r)
			return
		}
	}
	k.processes.Take(pid, stat, nil)
}

// outside describes the first process of a replica that is not in the replica's group; ""
// if there is none. What cannot be read shows nothing.
func (k *kin) outside(r *replica, since time.Time) string {
	m := guard.Settled(since, func(since time.Time) *member { return k.firstOutside(r, since) })
	if m != nil {
		return k.report(m, r)
	}
	return ""
}

func (k *kin) firstOutside(r *replica, since time.Time) *member {
	launched.starting.Lock()
	defer launched.starting.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.scan(since) != nil {
		return nil
	}
	each, any, err := r.group.Inside()
	if err != nil {
		return nil
	}
	return k.processes.Outside(r, each, any)
}

// report describes a process outside of its group, and records it for Sweep.
func (k *kin) report(m *member, r *replica) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := identity(m); !k.escaped[p] {
		k.escaped[p] = true
		if err := k.run.Escaped(p); err != nil {
			r.keeper.Log.Note("%v", err)
		}
	}
	return guard.Left(m.PID, m.Name, r.group.Where(m.PID))
}

// end kills the processes of a replica that are outside of its group, which was removed,
// until they start no others.
func (k *kin) end(r *replica) error {
	var ended []string
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		names, left, err := k.kill(r)
		for _, name := range names {
			if !slices.Contains(ended, name) {
				ended = append(ended, name)
			}
		}
		if err == nil && left && time.Now().After(deadline) {
			err = fmt.Errorf("%s still run %v after they were killed", cmp.Or(strings.Join(ended, ", "), "processes that are about to end"), patience)
		}
		if err != nil || !left {
			k.forget(r)
			if len(ended) > 0 {
				r.keeper.Log.Note("killed %s outside of its control group", strings.Join(ended, ", "))
			}
			return err
		}
	}
}

// patience bounds the wait for killed processes to end.
const patience = 10 * time.Second

// kill kills the processes of a replica once. It names those that it found, and reports
// whether there are any, also such that are about to end.
func (k *kin) kill(r *replica) (names []string, left bool, err error) {
	launched.starting.Lock()
	defer launched.starting.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.scan(time.Now()); err != nil {
		return nil, false, err
	}
	var errs []error
	for _, m := range k.processes.Members {
		if m.Of != r && m.Of != nil {
			continue
		}
		if k.processes.Lives(m) {
			names = append(names, fmt.Sprintf("process %d (%s)", m.PID, m.Name))
		}
		killed, err := identity(m).Kill()
		left, errs = left || killed, append(errs, err)
	}
	return names, left, errors.Join(errs...)
}

// forget ends the watching of a replica. Those of its processes that have not been waited
// for stay members.
func (k *kin) forget(r *replica) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.replicas = slices.DeleteFunc(k.replicas, func(o *replica) bool { return o == r })
}
