package inspect

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// Watcher follows the groups that set CPU limits. A look is cheap: it reads the
// groups' counters from open files, all of each new process, and only a fraction of
// the known processes. It is not safe for concurrent use.
type Watcher struct {
	scanner   *Scanner
	only      Only
	processes map[int]*followed
	groups    map[string]*counted // by the directory that sets the limit
	turn      int
	keep      int // the maximum number of groups with open files
	kept      int
	closely   atomic.Pointer[map[string]bool] // the groups of which looks read more
	readings  map[string]*reading             // of these, by directory
}

// Seen is the state of a group that sets a CPU limit.
type Seen struct {
	Dir       string // directory of the group
	At        time.Time
	Counts    Counts // since the group was created
	Processes []Process
	// Memory is of its first process's group, and Waited how many CPUs its threads waited for
	// on average between the last two readings of them; nil: not measured. Only Closely's
	// groups have them, and looks that follow each other sooner than apart have the same.
	Memory *Memory
	Waited *float64
}

// turns is the number of looks in which every known process is read again once: its
// limit or its parallelism may have changed.
const turns = 30

// filesOfAGroup is the maximum number of open files of a reader of counters.
const filesOfAGroup = 14

// followed is a known process. The runtime of a process without a limit is not read.
type followed struct {
	process Process
	group   *group
	skipped bool // it is not to be followed
	workers bool // it has children of the same program
	settled bool // it is not young: its runtime does not change any more
}

// counted is a group with the files of its counters.
type counted struct {
	group  cgroup.Group
	reader *cgroup.Reader // nil if it is opened for each reading
	usage  *os.File       // v1 has the CPU time in a file of its own; else nil
	last   Counts
	idle   int // number of looks without CPU time used
}

// Watch starts to follow the processes that only selects.
func (s *Scanner) Watch(only Only) *Watcher {
	return &Watcher{
		scanner: s, only: only, processes: map[int]*followed{}, groups: map[string]*counted{},
		keep: max(0, mostFiles()-64) / filesOfAGroup,
	}
}

// mostClosely is of how many groups looks read more, and apart the least time between two
// such readings of a group: looks at 1,000 groups must stay cheap.
const (
	mostClosely = 40
	apart       = 1500 * time.Millisecond
)

// reading is what was read of one of Closely's groups.
type reading struct {
	at      time.Time
	memory  *Memory
	threads map[int]*threads.Reading // by pid
	waited  *float64                 // since the reading before; nil: not measured
	first   bool                     // there was none before
}

// Closely makes the next looks read the memory and the threads of the first of these groups
// too, at most mostClosely. Unlike the other methods it may be called during a look.
func (w *Watcher) Closely(dirs []string) {
	chosen := make(map[string]bool, mostClosely)
	for _, dir := range dirs[:min(len(dirs), mostClosely)] {
		chosen[dir] = true
	}
	w.closely.Store(&chosen)
}

// Close closes the files of the counters.
func (w *Watcher) Close() {
	for dir := range w.groups {
		w.forget(dir)
	}
}

// Look reads all groups once and returns them in the order of their directories.
func (w *Watcher) Look() ([]Seen, error) {
	s := w.scanner
	s.begin()
	pids, err := s.pids()
	if w.only.PID > 0 {
		pids, err = []int{w.only.PID}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	w.turn = (w.turn + 1) % turns
	there := make(map[int]bool, len(pids))
	var fresh []found
	for _, pid := range pids {
		there[pid] = true
		known, ok := w.processes[pid]
		if ok && (pid%turns != w.turn || w.again(known)) {
			continue
		}
		delete(w.processes, pid)
		if st, err := s.stat(pid); err == nil {
			fresh = append(fresh, found{pid: pid, stat: st})
		}
	}
	for pid := range w.processes {
		if !there[pid] {
			delete(w.processes, pid)
		}
	}
	w.meet(fresh)
	all := w.count()
	if len(all) == 0 {
		return nil, w.blind()
	}
	return all, nil
}

// blind returns an error if the limit of not a single process could be read: an empty
// table would claim that no process has a limit.
func (w *Watcher) blind() error {
	unknown, why := 0, ""
	for _, f := range w.processes {
		switch {
		case f.skipped:
		case f.process.CPU.State != Unknown:
			return nil
		default:
			unknown, why = unknown+1, f.process.CPU.Why
		}
	}
	if unknown == 0 {
		return nil
	}
	return fmt.Errorf("read the CPU limits of %d processes: none could be read: %s", unknown, why)
}

// again updates a known process. It returns false if the process has to be read from
// scratch: the pid was reused, the program changed, or it left its group.
func (w *Watcher) again(f *followed) bool {
	s, p := w.scanner, &f.process
	st, err := s.stat(p.PID)
	if err != nil || st.Started != p.Started || st.Gone() || st.Name != p.Name {
		return false
	}
	if f.skipped || p.Refused != "" { // a hostile process costs its time once
		return true
	}
	p.Used, p.Info.Threads = st.Used(), st.Threads
	if text, err := s.read(p.PID, "cgroup"); err != nil || string(text) != f.group.text {
		return false
	}
	limit := cpuLimit(f.group.at)
	if limit.Group != p.CPU.Group || limit.Dir != p.CPU.Dir {
		return false
	}
	p.CPU = limit
	if limit.State != Limited {
		return true
	}
	// Only a Go program, or one with workers, changes its parallelism.
	if f.settled && !f.workers && p.Info.Runtime != runtimes.Go {
		if p.Info.Parallelism.Source == runtimes.Predicted { // by the previous limit
			p.Info.Parallelism = runtimes.Parallelism{}
		}
		s.predict(p)
		return true
	}
	if p.Info, err = s.detect(found{pid: p.PID, stat: st}, p.Command, f.workers); err != nil {
		return false
	}
	f.settled = !s.young(st)
	s.predict(p)
	return true
}

// meet reads new processes.
func (w *Watcher) meet(fresh []found) {
	if len(fresh) == 0 {
		return
	}
	s := w.scanner
	for _, f := range slices.Clone(fresh) { // a new worker: read its parent again
		parent, ok := w.processes[f.stat.Parent]
		if !ok || parent.skipped || parent.process.Refused != "" || parent.process.CPU.State != Limited || parent.workers || parent.process.Name != f.stat.Name {
			continue
		}
		if st, err := s.stat(f.stat.Parent); err == nil {
			parent.workers = true
			fresh = append(fresh, found{pid: f.stat.Parent, stat: st})
		}
	}
	all := slices.Clone(fresh)
	for pid, known := range w.processes {
		all = append(all, found{pid: pid, stat: proc.Stat{Name: known.process.Name, Parent: known.process.Parent}})
	}
	parents := s.parents(all)
	s.runtimes = s.runtimes.WithChildren(children(all))
	names := s.containerNames()
	for _, f := range fresh {
		known := &followed{
			skipped: true,
			process: Process{PID: f.pid, Parent: f.stat.Parent, Name: f.stat.Name, Started: f.stat.Started},
		}
		if !f.stat.Kernel && !f.stat.Gone() {
			p, g, err := s.glance(f, names, w.only)
			if err == nil && p.CPU.State == Limited {
				err = s.study(f, &p, g, parents[f.pid])
				s.inItsPod(&p)
			}
			if err == nil {
				known = &followed{process: p, group: g, workers: parents[f.pid], settled: p.CPU.State == Limited && !s.young(f.stat)}
			}
		}
		w.processes[f.pid] = known
	}
}

// count reads the counters of the groups that still have processes.
func (w *Watcher) count() []Seen {
	members := map[string][]Process{}
	for _, f := range w.processes {
		if !f.skipped && f.process.CPU.State == Limited {
			members[f.process.CPU.Dir] = append(members[f.process.CPU.Dir], f.process)
		}
	}
	for dir := range w.groups {
		if members[dir] == nil {
			w.forget(dir)
		}
	}
	all := make([]Seen, 0, len(members))
	for dir, processes := range members {
		counts, err := w.read(dir, processes[0])
		if err != nil {
			w.forget(dir) // it is opened again if it still exists
			continue
		}
		slices.SortFunc(processes, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
		t := &Throttling{Since: counts}
		for i := range processes {
			processes[i].Throttling = t
		}
		all = append(all, Seen{Dir: dir, At: w.scanner.now(), Counts: counts, Processes: processes})
	}
	w.more(all)
	slices.SortFunc(all, func(a, b Seen) int { return cmp.Compare(a.Dir, b.Dir) })
	return all
}

// more adds what Closely asks for, and reads it where the last reading is old enough.
func (w *Watcher) more(all []Seen) {
	var chosen map[string]bool
	if c := w.closely.Load(); c != nil {
		chosen = *c
	}
	now, left := map[string]*reading{}, ofAll
	for i := range all {
		one := &all[i]
		if !chosen[one.Dir] {
			continue
		}
		r := w.readings[one.Dir]
		if r == nil || r.first || one.At.Sub(r.at) >= apart {
			r = w.closer(one, r, &left)
		}
		now[one.Dir] = r
		one.Memory, one.Waited = r.memory, r.waited
	}
	w.readings = now
}

// closer reads the memory and the threads of a group, of which before is the last reading; nil:
// there is none. It lowers left, the number of threads that may be read.
func (w *Watcher) closer(one *Seen, before *reading, left *int) *reading {
	r := &reading{at: one.At, threads: map[int]*threads.Reading{}, first: before == nil}
	r.memory = w.memory(one.Dir, w.processes[one.Processes[0].PID])
	var sum threads.Use
	for _, p := range one.Processes {
		if *left <= 0 {
			break
		}
		now := w.scanner.threads(p.PID, 0, min(mostThreads, *left))
		if now == nil {
			continue
		}
		r.threads[p.PID] = now
		*left -= len(now.Of)
		if before == nil || before.threads[p.PID] == nil {
			continue
		}
		if use := now.Since(before.threads[p.PID]); use != nil {
			sum = sum.Add(*use)
		}
	}
	if sum.Length > 0 {
		waited := sum.CPUs(sum.Waited)
		r.waited = &waited
	}
	return r
}

// memory reads the memory of a process's group, from the files of its counters where that group
// sets the CPU limit; nil if it has no limit.
func (w *Watcher) memory(dir string, f *followed) *Memory {
	m := f.process.Memory
	if m.State != Limited {
		return nil
	}
	reader := w.groups[dir].reader
	if reader == nil || f.process.CPU.Inherited() {
		var err error
		if reader, err = f.group.at.Open(); err != nil {
			return nil
		}
		defer reader.Close()
	}
	w.scanner.memory.Use(f.group.at, reader, &m, w.scanner.now())
	return &m
}

// read reads the counters of the group that limits a process.
func (w *Watcher) read(dir string, p Process) (Counts, error) {
	c, ok := w.groups[dir]
	if !ok {
		c = &counted{}
		located, err := w.scanner.cgroups.Process(p.PID)
		if err != nil {
			return Counts{}, err
		}
		if c.group, err = w.scanner.setter(located, p.CPU); err != nil {
			return Counts{}, err
		}
		w.groups[dir] = c
	}
	if c.reader != nil {
		return c.counts(dir)
	}
	if err := c.open(w.scanner.root); err != nil {
		return Counts{}, err
	}
	if w.kept < w.keep {
		w.kept++
	} else {
		defer c.close()
	}
	return c.counts(dir)
}

// open opens the files of the counters.
func (c *counted) open(root string) (err error) {
	if c.reader, err = c.group.Open(); err != nil {
		return err
	}
	if place, ok := c.group.Place(cgroup.CPUAcct).Get(); ok && place.Version == cgroup.V1 {
		c.usage, _ = os.Open(filepath.Join(root, place.Dir, "cpuacct.usage")) // nil: not measured
	}
	return nil
}

func (c *counted) close() {
	if c.reader != nil {
		c.reader.Close()
	}
	if c.usage != nil {
		c.usage.Close()
	}
	c.reader, c.usage = nil, nil
}

// counts reads the counters that top shows with as few system calls as possible: one,
// and in v1 another for the CPU time.
func (c *counted) counts(dir string) (Counts, error) {
	used, err := c.used()
	if err != nil {
		return Counts{}, err
	}
	// A group that has not run for two looks has no new periods. The first look after
	// it ran is needed to count its last periods.
	if used != nil && c.last.Used != nil && *used == *c.last.Used {
		if c.idle++; c.idle > 1 {
			return c.last, nil
		}
	} else {
		c.idle = 0
	}
	var stat cgroup.CPUStat
	if err := c.reader.ReadThrottling(&stat); err != nil {
		return Counts{}, err
	}
	counts, err := countsOf(stat, dir)
	if used != nil {
		counts.Used = used
	}
	c.last = counts
	return counts, err
}

// used reads the CPU time from its own file, in nanoseconds; nil if there is no such
// file or its content is malformed.
func (c *counted) used() (*time.Duration, error) {
	if c.usage == nil {
		return nil, nil
	}
	var text [32]byte
	n, err := c.usage.ReadAt(text[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if ns, err := strconv.ParseInt(strings.TrimSpace(string(text[:n])), 10, 64); err == nil {
		used := time.Duration(ns)
		return &used, nil
	}
	return nil, nil
}

// forget closes a group's files and removes it.
func (w *Watcher) forget(dir string) {
	if c, ok := w.groups[dir]; ok && c.reader != nil {
		c.close()
		w.kept--
	}
	delete(w.groups, dir)
}
