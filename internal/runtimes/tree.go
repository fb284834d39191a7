package runtimes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// DetectTree tells the runtime of a service that is several processes (npm
// start, sh -c, gunicorn): of the one that counts among pids. That is the one
// that listens on port (0: on any); of several that share the socket, the one
// that started the others. Where none listens it is the one that used the most
// CPU.
func DetectTree(pids []int, port int) (Info, error) { return Host().DetectTree(pids, port) }

// DetectTree is DetectTree for this procfs. Processes that ended meanwhile are
// passed over; an error means that all have.
func (f FS) DetectTree(pids []int, port int) (Info, error) {
	if len(pids) == 0 {
		return Info{}, errors.New("tell the runtime of a service: it has no process")
	}
	var all []candidate
	var errs []error
	for _, pid := range pids {
		text, err := f.read(pid, "stat")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ppid, ticks, _ := parseStat(text)
		c := candidate{pid: pid, ppid: ppid, ticks: ticks}
		for _, at := range f.listening(pid) {
			c.listens = c.listens || port == 0 || at == port
		}
		all = append(all, c)
	}
	for _, pid := range choose(all) {
		info, err := f.Detect(pid)
		if err == nil {
			return info, nil
		}
		errs = append(errs, err)
	}
	return Info{}, fmt.Errorf("tell the runtime of a service: %w", errors.Join(errs...))
}

// candidate is one process of a service.
type candidate struct {
	pid, ppid int
	listens   bool
	ticks     uint64
}

// choose orders the processes, the one that counts first. It is pure.
func choose(all []candidate) []int {
	listens := map[int]bool{}
	for _, c := range all {
		listens[c.pid] = c.listens
	}
	// head: it listens, and was not started by one that does.
	head := func(c candidate) int {
		switch {
		case c.listens && !listens[c.ppid]:
			return 2
		case c.listens:
			return 1
		}
		return 0
	}
	// depth is how many of the service's own processes stand above one: of two
	// that used the same CPU, the started one is the program, not its shell.
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
