package inspect

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/memory"
)

// group is a process's own control group, read once for all its processes.
type group struct {
	text   string // of /proc/PID/cgroup
	at     cgroup.Group
	cpu    CPULimit
	memory Memory
	bounds []Memory // others
	limits *limiter // nil where there is no limit
	shared []shared
}

// shared is the limit of a parent group, with its counters.
type shared struct {
	cpu    CPULimit
	limits *limiter
}

// limiter is the group that sets a limit. Only its counters show the throttling,
// because the kernel counts throttling by a limit in the group that has the limit.
// Its files are closed between readings, because a host may have more groups than a
// process may open files.
type limiter struct {
	group cgroup.Group
	first *Counts // at the scan
	began time.Time
	err   error
	// course is what the watch has seen; nil: it was not followed.
	course *Course
}

// group reads the group of a process. The text of /proc/PID/cgroup is the cache key:
// processes with the same text are in the same groups.
func (s *Scanner) group(pid int, text string) *group {
	if g, ok := s.groups[text]; ok {
		return g
	}
	g := &group{text: text}
	located, err := s.cgroups.Process(pid)
	if err != nil { // the process may have ended: not cached, so the next one is tried
		g.cpu = CPULimit{State: Unknown, Why: err.Error()}
		return g
	}
	s.groups[text], g.at = g, located
	g.cpu, g.memory = cpuLimit(located), memory.Limit(located)
	g.bounds = s.memory.Others(located, g.memory)
	if g.cpu.State != Limited && g.memory.State != Limited && g.bounds == nil {
		return g
	}
	reader, err := located.Open()
	if err == nil {
		defer reader.Close()
		s.inUse(g, reader)
	}
	if g.cpu.State == Limited {
		g.limits = s.limiter(located, reader, g.cpu)
		g.shared = s.shared(located, g.cpu)
	}
	return g
}

// inUse reads the memory in use, or what was read of it.
func (s *Scanner) inUse(g *group, reader *cgroup.Reader) {
	s.memory.Use(g.at, reader, &g.memory, s.now())
	for i := range g.bounds {
		s.memory.Use(g.at, reader, &g.bounds[i], s.now())
	}
}

// shared reads the limits of the parents of the group with the lowest limit, each
// parent once per scan.
func (s *Scanner) shared(g cgroup.Group, tightest CPULimit) (all []shared) {
	place, ok := g.Place(cgroup.CPU).Get()
	if !ok {
		return nil
	}
	for dir := tightest.Dir; dir != place.Top && dir != "/"; {
		dir = path.Dir(dir)
		own, known := s.above[dir]
		if !known {
			if at, err := s.cgroups.At(dir); err == nil {
				own = at.OwnCPULimit()
			}
			s.above[dir] = own
		}
		if own.State != cgroup.Limited {
			continue
		}
		l := tightest
		l.CPUs, l.Period, l.Dir, l.SetBy = own.CPUs, own.Period, dir, place.Path(dir)
		l.Burst, l.CanBurst = own.Burst.Get()
		all = append(all, shared{l, s.limiter(g, nil, l)})
	}
	return all
}

func cpuLimit(g cgroup.Group) CPULimit {
	limit := g.CPULimit()
	l := CPULimit{State: state(limit.State), CPUs: limit.CPUs, Period: limit.Period, Dir: limit.Dir, Hidden: limit.Hidden}
	l.Burst, l.CanBurst = limit.Burst.Get()
	if limit.Err != nil {
		l.Why = limit.Err.Error()
	}
	place, ok := g.Place(cgroup.CPU).Get()
	if !ok {
		return l
	}
	l.Version = int(place.Version)
	l.Group = place.Path(place.Dir)
	if l.State == Limited {
		l.SetBy = place.Path(limit.Dir)
	}
	if own := g.OwnCPULimit(); own.State == cgroup.Limited {
		l.Own = own.CPUs
	}
	return l
}

func state(s cgroup.LimitState) State {
	switch s {
	case cgroup.Limited:
		return Limited
	case cgroup.Unlimited:
		return Unlimited
	}
	return Unknown
}

// limiter reads the counters of the group that sets a limit: g itself, to which
// reader belongs, or a parent.
func (s *Scanner) limiter(g cgroup.Group, reader *cgroup.Reader, limit CPULimit) *limiter {
	if l, ok := s.limiters[limit.Dir]; ok {
		return l
	}
	l := &limiter{}
	s.limiters[limit.Dir] = l
	if l.group, l.err = s.setter(g, limit); l.err != nil {
		return l
	}
	var counts Counts
	if reader != nil && ownCounters(g, limit) {
		counts, l.err = readCounts(reader, limit.Dir)
	} else {
		counts, l.err = l.read(limit.Dir)
	}
	if l.err == nil {
		l.first, l.began = &counts, s.now()
	}
	return l
}

// setter locates the group that sets a limit. In v1 another hierarchy counts the CPU
// time. Its group is used only if it has the same path, because otherwise it may
// contain other processes.
func (s *Scanner) setter(g cgroup.Group, limit CPULimit) (cgroup.Group, error) {
	if ownCounters(g, limit) {
		return g, nil
	}
	dirs := []string{limit.Dir}
	if usage, ok := g.Place(cgroup.CPUAcct).Get(); ok && limit.Version == 1 && usage.Path(usage.Dir) == limit.Group {
		dirs = append(dirs, path.Join(usage.Top, limit.SetBy))
	}
	return s.cgroups.At(dirs...)
}

// ownCounters reports whether the counters of a process's own groups belong to its
// limit.
func ownCounters(g cgroup.Group, limit CPULimit) bool {
	usage, ok := g.Place(cgroup.CPUAcct).Get()
	return !limit.Inherited() && (limit.Version != 1 || !ok || usage.Path(usage.Dir) == limit.Group)
}

// read opens, reads and closes the counters.
func (l *limiter) read(dir string) (Counts, error) {
	reader, err := l.group.Open()
	if err != nil {
		return Counts{}, err
	}
	defer reader.Close()
	return readCounts(reader, dir)
}

func readCounts(reader *cgroup.Reader, dir string) (Counts, error) {
	var stat cgroup.CPUStat
	if err := reader.ReadCPU(&stat); err != nil {
		return Counts{}, err
	}
	counts, err := countsOf(stat, dir)
	counts.Pressure = pressureOf(reader)
	return counts, err
}

// countsOf converts the counters of the group at dir. Missing throttling counters are
// an error; missing CPU time is nil.
func countsOf(stat cgroup.CPUStat, dir string) (Counts, error) {
	periods, ok1 := stat.Periods.Get()
	throttled, ok2 := stat.ThrottledPeriods.Get()
	stopped, ok3 := stat.Throttled.Get()
	if !ok1 || !ok2 || !ok3 {
		return Counts{}, fmt.Errorf("read the counters of %s: %w", dir, reason(stat))
	}
	return Counts{Periods: periods, Throttled: throttled, Stopped: stopped, Used: stat.Usage.Pointer()}, nil
}

// reason is why the throttling counters are missing.
func reason(stat cgroup.CPUStat) error {
	for _, err := range []error{stat.Periods.Err(), stat.ThrottledPeriods.Err(), stat.Throttled.Err()} {
		if err != nil {
			return err
		}
	}
	return errors.New("this kernel does not count throttling")
}

// throttling returns the counters up to now; nil if they could not be read.
func (s *Scanner) throttling(l *limiter, dir string, watched bool) *Throttling {
	if l.first == nil {
		return nil
	}
	t := &Throttling{Since: *l.first}
	if !watched {
		return t
	}
	counts, err := l.read(dir)
	if err != nil {
		l.err = err
		return t
	}
	if d, ok := counts.Less(*l.first, s.now().Sub(l.began)); ok {
		t.Watch, t.Course = &d, l.course
	}
	t.Since = counts
	return t
}
