package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/memory"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/procfiles"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// Scanner reads the state of a host's processes. It caches what does not change
// between scans, such as the runtime of an executable. It is not safe for concurrent
// use.
type Scanner struct {
	root     string
	online   int
	cgroups  cgroup.FS
	procfs   *procfiles.Host
	runtimes runtimes.FS
	now      func() time.Time
	sleep    func(context.Context, time.Duration)

	// Caches of one scan: own groups by the text of /proc/PID/cgroup, and groups that
	// set limits by directory.
	groups    map[string]*group
	limiters  map[string]*limiter
	memory    *memory.Reader
	above     map[string]cgroup.CPULimit // of parents of groups that set limits
	sockets   map[string]listeners       // by network namespace
	kills     []Kill                     // in the kernel's log; nil: not read yet
	restarted map[string]*Restarts       // of containers, by id
	uptime    time.Duration              // of the host; 0: not known
	// Caches of all scans: the runtimes of programs, and the location of gomaxprocs in
	// executables.
	known     map[program]runtimes.Info
	variables map[identity]located
	names     containers // as of namesAt
	namesAt   time.Time
	asked     []string // results of the queries for names, a clause for each socket
}

// New returns a scanner of this host (root is ""), or of a copy of a host's files:
// root is then the prefix of /proc, /sys and the cgroup mounts.
func New(root string) *Scanner {
	s := &Scanner{root: root, now: time.Now, sleep: sleep, known: map[program]runtimes.Info{}, variables: map[identity]located{}}
	s.cgroups, s.procfs = cgroup.Host(), procfiles.New(s.procDir())
	if root != "" {
		s.cgroups = cgroup.NewFS(root)
	}
	s.runtimes = runtimes.On(s.procfs).WithCache(func(info fs.FileInfo) (any, bool) { return identityOf(info) })
	if text, err := os.ReadFile(filepath.Join(root, "/sys/devices/system/cpu/online")); err == nil {
		s.online = proc.CountCPUs(string(text))
	}
	if s.online == 0 && root == "" {
		s.online = runtime.NumCPU()
	}
	return s
}

// Online is how many CPUs the host has; 0: not known.
func (s *Scanner) Online() int { return s.online }

// Only selects processes. The zero value selects all.
type Only struct {
	PID       int    // this one with its workers; 0: any
	Container string // of this container, by name or by a prefix of its id; "": any
}

// ErrNone means that no process matches Only.
var ErrNone = errors.New("not found")

// noProcess is the ErrNone of a process ID.
type noProcess struct{}

func (noProcess) Error() string        { return "no such process" }
func (noProcess) Is(target error) bool { return target == ErrNone }

// Scan reads the host's processes and, if watch is above 0, reads their counters
// again after that time, or when ctx ends. An error means that nothing could be read;
// what could not be read of one process is in its Unseen.
func (s *Scanner) Scan(ctx context.Context, only Only, watch time.Duration) (Host, error) {
	s.begin()
	host, inGroup, err := s.first(only)
	if err != nil {
		return Host{}, err
	}
	began := s.now()
	if watch > 0 {
		threads, times := s.allThreads(&host), s.times()
		s.follow(ctx, watch)
		host.Watched = s.now().Sub(began)
		host.took(times, s.times())
		s.addThreads(&host, threads)
	}
	s.second(&host, inGroup)
	return host, nil
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// begin clears the caches of the previous scan.
func (s *Scanner) begin() {
	s.procfs.Begin()
	s.groups, s.limiters = map[string]*group{}, map[string]*limiter{}
	s.memory, s.above = memory.New(s.cgroups), map[string]cgroup.CPULimit{}
	s.sockets, s.kills, s.restarted = map[string]listeners{}, nil, map[string]*Restarts{}
	text, _ := os.ReadFile(filepath.Join(s.procDir(), "uptime")) // without it no process counts as young
	s.uptime = proc.ParseUptime(text)
}

// first reads every process. It returns the processes' own groups in the same order.
func (s *Scanner) first(only Only) (Host, []*group, error) {
	host := Host{Online: s.online, Partial: only != (Only{})}
	pids, err := s.pids()
	if err != nil {
		return Host{}, nil, fmt.Errorf("list the processes: %w", err)
	}
	slices.Sort(pids)
	if only.PID > 0 {
		pids = s.withWorkers(s.leader(only.PID), pids)
	}
	names := s.containerNames()
	var seen []found
	for _, pid := range pids {
		st, err := s.stat(pid)
		switch {
		case err != nil:
			host.Ended++
			continue
		case st.Kernel:
			host.KernelThreads++
			continue
		case st.Gone():
			host.Zombies++
			continue
		}
		if st.Name == "postgres" {
			s.queryWorker(pid, st.Parent, &host)
		}
		seen = append(seen, found{pid: pid, stat: st})
	}
	parents := s.parents(seen)
	if only.PID == 0 {
		s.runtimes = s.runtimes.WithChildren(children(seen))
	}
	var groups []*group
	others := map[string]bool{}
	for _, f := range seen {
		p, g, err := s.look(f, names, only, parents[f.pid])
		switch {
		case errors.Is(err, errOther):
			others[p.Container] = true
			continue
		case err != nil:
			host.Ended++
			continue
		}
		host.Processes, groups = append(host.Processes, p), append(groups, g)
	}
	if len(host.Processes) == 0 && only != (Only{}) {
		return Host{}, nil, fmt.Errorf("%s: %w", only, s.none(only, host, others))
	}
	return host, groups, nil
}

// queryWorker notes a worker of a parallel query, by its title.
func (s *Scanner) queryWorker(pid, server int, host *Host) {
	if title, err := s.read(pid, "cmdline"); err != nil || !isQueryWorker(string(title)) {
		return
	}
	if host.QueryWorkers == nil {
		host.QueryWorkers = map[int][]int{}
	}
	host.QueryWorkers[server] = append(host.QueryWorkers[server], pid)
}

// isQueryWorker reports whether a title is that of a worker of a parallel query of PostgreSQL:
// "postgres: parallel worker for PID 42", with the name of the cluster where it has one.
func isQueryWorker(title string) bool {
	return strings.HasPrefix(title, "postgres: ") && strings.Contains(title, "parallel worker for PID ")
}

// found is a process whose stat was read.
type found struct {
	pid  int
	stat proc.Stat
}

// errEnded means that a process ended while it was read.
var errEnded = errors.New("the process has ended")

// errOther means that a process does not match Only.
var errOther = errors.New("another process")

func (o Only) String() string {
	if o.Container != "" {
		return "--container " + o.Container
	}
	return fmt.Sprintf("--pid %d", o.PID)
}

// none describes why no process matches, and what to request instead. others are the
// names of the containers, pods and services that exist.
func (s *Scanner) none(only Only, host Host, others map[string]bool) error {
	delete(others, "")
	switch {
	case host.KernelThreads > 0 && only.PID > 0:
		return fmt.Errorf("%w: it is a kernel thread, which has no limit", ErrNone)
	case host.Zombies > 0 && only.PID > 0:
		return fmt.Errorf("%w: it has ended, and its parent has not waited for it", ErrNone)
	case only.Container != "" && len(others) == 0:
		return fmt.Errorf("%w. No process here runs in a container, pod or systemd service (container names: %s). "+
			"Run this on the container's host, or use --pid.", ErrNone, strings.Join(s.asked, ", "))
	case only.Container != "":
		return fmt.Errorf("%w: no container, pod or systemd service here has that name or id; there are: %s; container names: %s",
			ErrNone, some(slices.Sorted(maps.Keys(others))), strings.Join(s.asked, ", "))
	}
	return noProcess{}
}

// some lists the first names and the number of the others.
func some(names []string) string {
	const most = 12
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// look reads one process. An error means that it has ended or was not requested.
func (s *Scanner) look(f found, names containers, only Only, hasWorkers bool) (Process, *group, error) {
	p, g, err := s.glance(f, names, only)
	if err == nil {
		err = s.study(f, &p, g, hasWorkers)
	}
	return p, g, err
}

// glance reads where a process runs and its limits.
func (s *Scanner) glance(f found, names containers, only Only) (Process, *group, error) {
	p := Process{PID: f.pid, Parent: f.stat.Parent, Name: f.stat.Name, Started: f.stat.Started, Used: f.stat.Used(), User: -1}
	text, _ := s.read(f.pid, "cgroup") // an error is reported by s.group
	in := names.of(string(text))
	if in.id != "" && names[in.id] == "" {
		environ, err := s.read(f.pid, "environ")
		p.refuse(err)
		if name := pod(environ, in.id); name != "" {
			in.name = name
		}
	}
	p.Container, p.ContainerID, p.Pod = in.name, in.id, in.pod
	if only.Container != "" && !in.is(only.Container) {
		return p, nil, errOther
	}
	command, err := s.read(f.pid, "cmdline")
	if p.Command = kept(command); err != nil {
		p.refuse(err)
	}
	if status, err := s.read(f.pid, "status"); err == nil {
		parsed := proc.ParseStatus(status)
		p.User, p.Anon = parsed.User, parsed.Anon
	}
	g := s.group(f.pid, string(text))
	p.CPU, p.Memory, p.Bounds = g.cpu, g.memory, g.bounds
	return p, g, nil
}

// mostKept bounds what is kept of a process's command, and of its settings, in bytes: each
// can have 6 MiB, and a host has thousands of processes.
const mostKept = 16 << 10

// cut is the last argument of a command of which only the beginning is kept.
const cut = "…"

// kept is the beginning of a command.
func kept(cmdline []byte) []string {
	if len(cmdline) <= mostKept {
		return proc.ParseArgs(cmdline)
	}
	return append(proc.ParseArgs(cmdline[:mostKept]), cut)
}

// study adds the runtime to the result of glance.
func (s *Scanner) study(f found, p *Process, g *group, hasWorkers bool) error {
	var err error
	if p.Info, err = s.detect(f, p.Command, hasWorkers); err != nil {
		return err
	}
	if st, err := s.stat(f.pid); err != nil || st.Started != f.stat.Started || st.Gone() {
		return errEnded // what was read may be of another process, or incomplete
	}
	s.predict(p)
	p.Refused = cmp.Or(p.Refused, p.Info.Refused)
	p.Unseen = append(p.Unseen, s.advised(p.Info.Notes)...)
	if p.CPU.State == Unknown {
		p.Unseen = append(p.Unseen, "its CPU limit could not be read: "+p.CPU.Why)
	}
	if g.limits != nil && g.limits.err != nil {
		p.Unseen = append(p.Unseen, fmt.Sprintf("its throttling could not be read: %v", g.limits.err))
	}
	return nil
}

// predict adds the parallelism that the runtime's rule gives.
func (s *Scanner) predict(p *Process) {
	limit := runtimes.Limit{CPUs: p.CPU.CPUs, Leaf: p.CPU.Own}
	p.Ruled, p.Why = runtimes.Default(p.Info, limit, runtimes.Machine{Online: s.online, Affinity: p.Info.Affinity})
	if p.CPU.State == Unknown {
		p.Ruled, p.Why = 0, "the limit is not known"
	}
	if p.Info.Parallelism.Value == 0 && p.Ruled > 0 {
		p.Info.Parallelism = runtimes.Parallelism{Value: p.Ruled, Source: runtimes.Predicted, From: p.Why}
	}
	if pool, ok := runtimes.Pool(p.Info, p.Ruled); ok {
		p.Info.Parallelism = pool
	}
}

// second reads the counters again, and the CPU time of the processes.
func (s *Scanner) second(host *Host, groups []*group) {
	all := map[*limiter]*Throttling{}
	watched := host.Watched > 0
	if watched {
		s.memory.Again(s.now)
		for _, g := range s.groups {
			s.inUse(g, nil)
		}
	}
	counted := func(l *limiter, dir string) *Throttling {
		if _, done := all[l]; !done {
			all[l] = s.throttling(l, dir, watched)
		}
		return all[l]
	}
	for i := range host.Processes {
		p := &host.Processes[i]
		if l := groups[i].limits; l != nil {
			p.Throttling = counted(l, p.CPU.Dir)
		}
		p.Memory, p.Bounds = groups[i].memory, groups[i].bounds
		if p.CPU.State == Limited || p.Memory.State == Limited {
			s.started(p)
		}
		if p.Memory.State == Limited {
			s.history(p)
		}
		for _, above := range groups[i].shared {
			p.Shared = append(p.Shared, Shared{above.cpu, counted(above.limits, above.cpu.Dir)})
		}
		if !watched {
			continue
		}
		if st, err := s.stat(p.PID); err == nil && st.Started == p.Started {
			p.Used = max(st.Used()-p.Used, 0)
		} else {
			p.Used = 0
		}
	}
	slices.SortFunc(host.Processes, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
}

// Shown is the command on one line, or the process's name if it has no command.
func (p Process) Shown() string {
	if len(p.Command) == 0 {
		return p.Name
	}
	return strings.Join(p.Command, " ")
}
