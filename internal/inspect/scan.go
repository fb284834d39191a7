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

	"github.com/millicore/millicore/internal/runtimes"
	"github.com/millicore/millicore/maxprocs/cgroup"
)

// Scanner looks at a host's processes. It keeps what does not change from one
// scan to the next: which runtime an executable holds. It is not for use by
// several goroutines at once.
type Scanner struct {
	root     string
	online   int
	cgroups  cgroup.FS
	runtimes runtimes.FS
	now      func() time.Time
	sleep    func(context.Context, time.Duration)

	// Of one scan: own groups by the text of /proc/PID/cgroup, and those that set
	// limits by directory.
	groups   map[string]*group
	limiters map[string]*limiter
	used     map[string]cgroup.MemoryStat // of groups that set a limit of memory
	above    map[string]cgroup.CPULimit   // of groups above those that set limits
	uptime   time.Duration                // of the host; 0: not known
	// Of all scans: the runtimes of programs, and where those of Go keep gomaxprocs.
	known     map[program]runtimes.Info
	variables map[identity]located
	names     containers // as of namesAt
	namesAt   time.Time
	asked     []string // what became of asking for them, a clause for each socket
}

// New returns a scanner of this host (root is "") or of a tree that looks like
// one: root stands before /proc, /sys and the mounts of control groups.
func New(root string) *Scanner {
	s := &Scanner{root: root, now: time.Now, sleep: sleep, known: map[program]runtimes.Info{}, variables: map[identity]located{}}
	s.cgroups, s.runtimes = cgroup.Host(), runtimes.Host()
	if root != "" {
		s.cgroups, s.runtimes = cgroup.NewFS(root), runtimes.NewFS(filepath.Join(root, "proc"))
	}
	s.runtimes = s.runtimes.Remembering(func(info fs.FileInfo) (any, bool) { return identityOf(info) })
	if text, err := os.ReadFile(filepath.Join(root, "/sys/devices/system/cpu/online")); err == nil {
		s.online = parseOnline(text)
	}
	if s.online == 0 && root == "" {
		s.online = runtime.NumCPU()
	}
	return s
}

// Online is how many CPUs the host has; 0: not known.
func (s *Scanner) Online() int { return s.online }

// Only says which processes to look at. The zero value is all of them.
type Only struct {
	PID       int    // this one; 0: any
	Container string // of this container, by name or by the beginning of its id; "": any
}

// ErrNone says that there is no process of the kind that Only asks for.
var ErrNone = errors.New("nothing to look at")

// Scan looks at the host's processes and, if watch is above 0, once more at their
// counters after that time, or when ctx ends. The error says why nothing could be
// seen; what could not be seen of one process is said in it.
func (s *Scanner) Scan(ctx context.Context, only Only, watch time.Duration) (Host, error) {
	s.begin()
	host, inGroup, err := s.first(only)
	if err != nil {
		return Host{}, err
	}
	began := s.now()
	if watch > 0 {
		s.sleep(ctx, watch)
		host.Watched = s.now().Sub(began)
	}
	s.second(&host, inGroup)
	return host, nil
}

// sleep waits, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// begin forgets what was read of groups before.
func (s *Scanner) begin() {
	s.groups, s.limiters = map[string]*group{}, map[string]*limiter{}
	s.used, s.above = map[string]cgroup.MemoryStat{}, map[string]cgroup.CPULimit{}
	text, _ := os.ReadFile(filepath.Join(s.proc(), "uptime")) // without it nobody is young
	s.uptime = parseUptime(text)
}

// first looks at every process once. groups are the processes' own, by index.
func (s *Scanner) first(only Only) (Host, []*group, error) {
	host := Host{Online: s.online}
	pids := []int{only.PID}
	if only.PID > 0 {
		pids[0] = s.leader(only.PID)
	} else {
		var err error
		if pids, err = s.pids(); err != nil {
			return Host{}, nil, fmt.Errorf("list the processes: %w", err)
		}
		slices.Sort(pids)
	}
	names := s.containerNames()
	var seen []found
	for _, pid := range pids {
		st, err := s.stat(pid)
		switch {
		case err != nil:
			host.Ended++
			continue
		case st.kernel:
			host.KernelThreads++
			continue
		case st.gone():
			host.Zombies++
			continue
		}
		seen = append(seen, found{pid: pid, stat: st})
	}
	parents := s.parents(seen)
	if only.PID == 0 {
		s.runtimes = s.runtimes.Knowing(children(seen))
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
		return Host{}, nil, fmt.Errorf("look at %s: %w", only, s.none(only, host, others))
	}
	return host, groups, nil
}

// found is a process whose stat was read.
type found struct {
	pid  int
	stat stat
}

// errEnded says that a process ended while it was looked at.
var errEnded = errors.New("the process has ended")

// errOther says that a process is not one of those that were asked for.
var errOther = errors.New("another process")

func (o Only) String() string {
	if o.Container != "" {
		return fmt.Sprintf("container %q", o.Container)
	}
	return fmt.Sprintf("process %d", o.PID)
}

// none says why there is nothing to look at, and what to ask for instead. others
// are the names of places that processes are in.
func (s *Scanner) none(only Only, host Host, others map[string]bool) error {
	delete(others, "")
	switch {
	case host.KernelThreads > 0 && only.PID > 0:
		return fmt.Errorf("%w: it is a thread of the kernel, which has no limit", ErrNone)
	case host.Zombies > 0 && only.PID > 0:
		return fmt.Errorf("%w: it has ended, and its parent has not waited for it", ErrNone)
	case only.Container != "" && len(others) == 0:
		return fmt.Errorf("%w: no process here is in a container, a pod or a service of systemd; names of containers: %s; "+
			"run it on the host where the container is, or name a process with --pid", ErrNone, strings.Join(s.asked, ", "))
	case only.Container != "":
		return fmt.Errorf("%w: no process is in a container, a pod or a service of systemd of that name or id; there are: %s; names of containers: %s",
			ErrNone, some(slices.Sorted(maps.Keys(others))), strings.Join(s.asked, ", "))
	}
	return fmt.Errorf("%w: there is no such process", ErrNone)
}

// some lists names, and how many more there are than fit a message.
func some(names []string) string {
	const most = 12
	text := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// look reads one process. An error says that it has ended, or is not asked for.
func (s *Scanner) look(f found, names containers, only Only, hasWorkers bool) (Process, *group, error) {
	p, g, err := s.glance(f, names, only)
	if err == nil {
		err = s.study(f, &p, g, hasWorkers)
	}
	return p, g, err
}

// glance reads where a process runs, and under which limits.
func (s *Scanner) glance(f found, names containers, only Only) (Process, *group, error) {
	p := Process{PID: f.pid, Parent: f.stat.parent, Name: f.stat.name, Started: f.stat.started, Used: f.stat.used, User: -1}
	text, _ := s.read(f.pid, "cgroup") // why not is said by its group
	in := names.of(string(text))
	if in.id != "" && names[in.id] == "" {
		environ, _ := s.read(f.pid, "environ")
		if name := pod(environ, in.id); name != "" {
			in.name = name
		}
	}
	p.Container, p.ContainerID, p.Pod = in.name, in.id, in.pod
	if only.Container != "" && !in.is(only.Container) {
		return p, nil, errOther
	}
	if command, err := s.read(f.pid, "cmdline"); err == nil {
		p.Command = parseCommand(command)
	}
	if status, err := s.read(f.pid, "status"); err == nil {
		p.User = parseUser(status)
	}
	g := s.group(f.pid, string(text))
	p.CPU, p.Memory = g.cpu, g.memory
	return p, g, nil
}

// study adds to a glance what the process is.
func (s *Scanner) study(f found, p *Process, g *group, hasWorkers bool) error {
	var err error
	if p.Info, err = s.detect(f, p.Command, hasWorkers); err != nil {
		return err
	}
	if st, err := s.stat(f.pid); err != nil || st.started != f.stat.started || st.gone() {
		return errEnded // what was read may be of nobody
	}
	s.predict(p)
	p.Unseen = append(p.Unseen, s.advised(p.Info.Notes)...)
	if p.CPU.State == Unknown {
		p.Unseen = append(p.Unseen, "its CPU limit could not be read: "+p.CPU.Why)
	}
	if g.limits != nil && g.limits.err != nil {
		p.Unseen = append(p.Unseen, fmt.Sprintf("its throttling could not be read: %v", g.limits.err))
	}
	return nil
}

// predict adds what the runtime's rule gives.
func (s *Scanner) predict(p *Process) {
	limit := runtimes.Limit{CPUs: p.CPU.CPUs, Leaf: p.CPU.Own}
	p.Ruled, p.Why = runtimes.Default(p.Info, limit, runtimes.Machine{Online: s.online, Affinity: p.Info.Affinity})
	if p.CPU.State == Unknown {
		p.Ruled, p.Why = 0, "the limit is not known"
	}
	if p.Info.Parallelism.Value == 0 && p.Ruled > 0 {
		p.Info.Parallelism = runtimes.Parallelism{Value: p.Ruled, Source: runtimes.Predicted, From: p.Why}
	}
}

// second reads the counters again, and the CPU time of the processes.
func (s *Scanner) second(host *Host, groups []*group) {
	all := map[*limiter]*Throttling{}
	watched := host.Watched > 0
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
		for _, above := range groups[i].shared {
			p.Shared = append(p.Shared, Shared{above.cpu, counted(above.limits, above.cpu.Dir)})
		}
		if !watched {
			continue
		}
		if st, err := s.stat(p.PID); err == nil && st.started == p.Started {
			p.Used = max(st.used-p.Used, 0)
		} else {
			p.Used = 0
		}
	}
	slices.SortFunc(host.Processes, func(a, b Process) int { return cmp.Compare(a.PID, b.PID) })
}

// Shown is the command on one line, or the kernel's name where there is none.
func (p Process) Shown() string {
	if len(p.Command) == 0 {
		return p.Name
	}
	return strings.Join(p.Command, " ")
}
