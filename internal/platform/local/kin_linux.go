package local

import (
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
	"github.com/millicore/millicore/internal/platform/local/group"
	"github.com/millicore/millicore/internal/platform/local/shim"
)

// kin are the processes of replicas, including those that left their control groups. A
// process is one of a replica if it is in the replica's group, or if its parent is. A
// process whose parent has ended becomes a child of this program, because this program is
// its nearest subreaper (PR_SET_CHILD_SUBREAPER in prctl(2)): it cannot hide by a double
// fork, or by setsid.
//
// A scan lists the processes of the machine, and reads only those that it has not listed
// before. It costs a few microseconds for each new process.
type kin struct {
	self, session int
	run           *group.Run

	mu       sync.Mutex
	replicas []*replica
	listed   map[int]bool // pids of the last scan
	members  map[int]*member
}

// member is a process of a replica.
type member struct {
	group.Process
	name    string
	of      *replica // nil: it is not known which
	child   bool     // started by this program, which waits for it elsewhere
	escaped bool     // it was recorded as one
}

// newKin makes this program the subreaper of what it starts from now on. The processes
// that exist are nobody's.
func newKin(run *group.Run) (*kin, error) {
	k := &kin{self: os.Getpid(), run: run, listed: map[int]bool{}, members: map[int]*member{}}
	var err error
	if k.session, err = unix.Getsid(0); err != nil {
		return nil, fmt.Errorf("watch for processes that leave their control groups: %w", err)
	}
	pids, err := proc.PIDs()
	if err != nil {
		return nil, fmt.Errorf("watch for processes that leave their control groups: %w", err)
	}
	for _, pid := range pids {
		k.listed[pid] = true
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("adopt processes whose parents end: %w", err)
	}
	return k, nil
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
	k.listed[p.PID] = true
	k.members[p.PID] = &member{Process: p, of: of, child: true}
}

// scan finds the new processes of the replicas. k.mu is locked.
func (k *kin) scan() error {
	pids, err := proc.PIDs()
	if err != nil {
		return err
	}
	listed := make(map[int]bool, len(pids))
	unread := map[int]proc.Stat{}
	for _, pid := range pids {
		listed[pid] = true
		if k.listed[pid] {
			continue
		}
		if stat, err := proc.ReadStat(pid); err == nil && !stat.Kernel {
			unread[pid] = stat
		}
	}
	k.listed = listed
	for pid, m := range k.members {
		if !listed[pid] {
			delete(k.members, pid)
		} else if m.of != nil && !slices.Contains(k.replicas, m.of) {
			k.lives(m) // its replica was removed
		}
	}
	for again := true; again; { // a parent may be new itself
		again = false
		for pid, stat := range unread {
			if parent := k.members[stat.Parent]; parent != nil {
				k.take(pid, stat, parent.of)
				delete(unread, pid)
				again = true
			}
		}
	}
	for pid, stat := range unread {
		if stat.Parent == k.self && stat.Session != k.session {
			k.adopt(pid, stat)
		}
	}
	return nil
}

func (k *kin) take(pid int, stat proc.Stat, of *replica) {
	k.members[pid] = &member{Process: group.Process{PID: pid, Started: stat.Started}, name: stat.Name, of: of}
}

// adopt finds the replica of an orphan, which is now a child of this program: by its
// session, its mark or its group. This program starts what else it starts in its own
// session.
func (k *kin) adopt(pid int, stat proc.Stat) {
	if leader := k.members[stat.Session]; leader != nil {
		k.take(pid, stat, leader.of)
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
			k.take(pid, stat, k.replicas[at])
			return
		}
	}
	for _, r := range k.replicas {
		if _, any, err := r.group.Inside(); err == nil && any[pid] {
			k.take(pid, stat, r)
			return
		}
	}
	k.take(pid, stat, nil)
}

// settling is how long a process may appear to be outside of its group. The kernel lists
// a new process before it is in a group, and may throttle its parent in between.
const settling = 300 * time.Millisecond

// outside describes the first process of a replica that is not in the replica's group; ""
// if there is none. What cannot be read shows nothing.
func (k *kin) outside(r *replica) string {
	for deadline := time.Now().Add(settling); ; time.Sleep(settling / 15) {
		m := k.firstOutside(r)
		if m == nil {
			return ""
		}
		if time.Now().After(deadline) {
			return k.report(m, r)
		}
	}
}

func (k *kin) firstOutside(r *replica) *member {
	launched.starting.Lock()
	defer launched.starting.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.scan() != nil {
		return nil
	}
	each, any, err := r.group.Inside()
	if err != nil {
		return nil
	}
	for pid := range any {
		if m := k.members[pid]; m != nil {
			m.of = r
		} else if stat, err := proc.ReadStat(pid); err == nil {
			k.take(pid, stat, r)
		}
	}
	var first *member
	for pid, m := range k.members {
		if (m.of == r || m.of == nil) && !each[pid] && k.lives(m) && (first == nil || pid < first.PID) {
			first = m
		}
	}
	return first
}

// lives reports whether a member runs. It forgets one that has ended, and waits for it if
// it is an orphan.
func (k *kin) lives(m *member) bool {
	stat, err := proc.ReadStat(m.PID)
	if err == nil && stat.Started == m.Started && !stat.Gone() {
		m.name = stat.Name
		return true
	}
	if err == nil && stat.State == 'Z' && stat.Parent == k.self && !m.child {
		_, _ = unix.Wait4(m.PID, nil, unix.WNOHANG, nil)
	}
	if err != nil || stat.Started != m.Started {
		delete(k.members, m.PID)
	}
	return false
}

// report describes a process outside of its group, and records it for Sweep.
func (k *kin) report(m *member, r *replica) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !m.escaped {
		m.escaped = true
		if err := k.run.Escaped(m.Process); err != nil {
			r.keeper.Log.Note("%v", err)
		}
	}
	text := fmt.Sprintf("process %d (%s) left its control group", m.PID, m.name)
	if where := r.group.Where(m.PID); where != "" {
		text += ": it is in " + where
	}
	return text
}

// end kills the processes of a replica that are outside of its group, which was removed,
// until they start no others.
func (k *kin) end(r *replica) error {
	var ended []string
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		names, err := k.kill(r)
		for _, name := range names {
			if !slices.Contains(ended, name) {
				ended = append(ended, name)
			}
		}
		if err == nil && len(names) > 0 && time.Now().After(deadline) {
			err = fmt.Errorf("%s still run %v after they were killed", strings.Join(names, ", "), patience)
		}
		if err != nil || len(names) == 0 {
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

// kill kills the processes of a replica once, and names those that it found.
func (k *kin) kill(r *replica) (names []string, err error) {
	launched.starting.Lock()
	defer launched.starting.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.scan(); err != nil {
		return nil, err
	}
	var errs []error
	for _, m := range k.members {
		if m.of != r && m.of != nil || !k.lives(m) {
			continue
		}
		if killed, err := m.Kill(); killed {
			names, errs = append(names, fmt.Sprintf("process %d (%s)", m.PID, m.name)), append(errs, err)
		}
	}
	return names, errors.Join(errs...)
}

// forget ends the watching of a replica. Those of its processes that have not been waited
// for stay members.
func (k *kin) forget(r *replica) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.replicas = slices.DeleteFunc(k.replicas, func(o *replica) bool { return o == r })
}
