package runtimes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/millicore/millicore/internal/host/proc"
)

// DetectTree detects the runtime of a service with several processes (npm start,
// sh -c, gunicorn): the runtime of its main process. That is the one that listens on
// port (0: on any port); if several share the socket, the one that started the
// others; if none listens, the one that used the most CPU time, or the one that started it
// and shares a listening Unix socket with it.
func DetectTree(pids []int, port int) (Info, error) { return Host().DetectTree(pids, port) }

// DetectTree is like the function DetectTree, for this procfs. It skips processes
// that have ended; an error means that all have.
func (f FS) DetectTree(pids []int, port int) (Info, error) {
	if len(pids) == 0 {
		return Info{}, errors.New("detect the runtime of a service: it has no process")
	}
	var all []candidate
	var errs []error
	for _, pid := range pids {
		text, err := f.read(pid, "stat")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		stat, _ := proc.ParseStat(text)
		c := candidate{pid: pid, ppid: stat.Parent, ticks: stat.Ticks}
		for _, at := range f.listening(pid) {
			c.listens = c.listens || port == 0 || at == port
		}
		all = append(all, c)
	}
	for _, pid := range f.upUnix(all, choose(all)) {
		info, err := f.Detect(pid)
		if err == nil {
			return info, nil
		}
		errs = append(errs, err)
	}
	return Info{}, fmt.Errorf("detect the runtime of a service: %w", errors.Join(errs...))
}

// upUnix moves the process to the front that started the first of ordered processes and
// shares a listening Unix socket with it, if none listens on a port.
func (f FS) upUnix(all []candidate, ordered []int) []int {
	parent := map[int]int{}
	for _, c := range all {
		if parent[c.pid] = c.ppid; c.listens {
			return ordered
		}
	}
	for range all { // whatever the parents are, it ends
		first := ordered[0]
		at := slices.Index(ordered, parent[first])
		if at <= 0 || !shares(f.listeningUnix(first), f.listeningUnix(ordered[at])) {
			break
		}
		ordered = slices.Insert(slices.Delete(ordered, at, at+1), 0, parent[first])
	}
	return ordered
}

// candidate is one process of a service.
type candidate struct {
	pid, ppid int
	listens   bool
	ticks     uint64
}

// choose orders the processes, the main process first. It is pure.
func choose(all []candidate) []int {
	listens := map[int]bool{}
	for _, c := range all {
		listens[c.pid] = c.listens
	}
	// head ranks a process that listens above others, and highest if its parent does
	// not listen.
	head := func(c candidate) int {
		switch {
		case c.listens && !listens[c.ppid]:
			return 2
		case c.listens:
			return 1
		}
		return 0
	}
	// depth is how many of the service's processes are ancestors of one: of two with
	// the same CPU time, the child is the program and the parent its shell.
	parent := map[int]int{}
	for _, c := range all {
		parent[c.pid] = c.ppid
	}
	depth := func(pid int) int {
		d := 0
		for range all {
			up, ok := parent[pid]
			if !ok {
				break
			}
			pid, d = up, d+1
		}
		return d
	}
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b candidate) int {
		return cmp.Or(
			cmp.Compare(head(b), head(a)),
			cmp.Compare(b.ticks, a.ticks),
			cmp.Compare(depth(b.pid), depth(a.pid)),
			cmp.Compare(a.pid, b.pid))
	})
	pids := make([]int, len(ordered))
	for i, c := range ordered {
		pids[i] = c.pid
	}
	return pids
}
