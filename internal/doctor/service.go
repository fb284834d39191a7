package doctor

import (
	"math"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/inspect"
	"github.com/millicore/millicore/internal/runtimes"
)

const (
	// fewest is how many periods must have been seen before throttling is spoken
	// of: near the threshold one service gave 6 of 61 and 42 of 61 on two runs.
	fewest = 50
	// worth is the share of throttled periods from which it is a finding, and
	// much that from which it is a grave one.
	worth, much = 0.05, 0.25
	// low and high are the shares of the limit used on average that tell bursts
	// from a limit that is used up.
	low, high = 0.5, 0.85
	// busy is the share of its parallelism from which a process uses all of it.
	busy = 0.85
)

// service is a process with the group whose limit it meets: what the rules are
// about. Of a group's processes it is the one that counts.
type service struct {
	inspect.Process
	online  int
	members int // processes under the same limit
	// counts are those to judge by; nil where too few periods were seen.
	counts  *inspect.Counts
	watched bool // they are of the watch
}

// process is one process, looked at for itself.
func process(host inspect.Host, p *inspect.Process) service {
	s := service{Process: *p, online: host.Online, members: 1}
	s.counts, s.watched = judged(p.Throttling)
	return s
}

// judged chooses the counts to judge by: of the watch, which is the present,
// where it saw periods enough; else those since the group was made.
func judged(t *inspect.Throttling) (c *inspect.Counts, watched bool) {
	switch {
	case t == nil:
		return nil, false
	case t.Watch != nil && t.Watch.Periods >= fewest:
		return t.Watch, true
	case t.Since.Periods >= fewest:
		return &t.Since, false
	}
	return nil, false
}

// services are the groups that set a CPU limit, each by the process that counts
// in it.
func services(host inspect.Host) []service {
	return byGroup(host, func(p inspect.Process) (string, bool) { return p.CPU.Dir, p.CPU.State == inspect.Limited })
}

// byGroup are the groups that name gives, in the order of their first processes;
// ok is false for a process that is in none.
func byGroup(host inspect.Host, name func(inspect.Process) (group string, ok bool)) []service {
	members := map[string][]inspect.Process{}
	var order []string
	for _, p := range host.Processes {
		group, ok := name(p)
		if !ok {
			continue
		}
		if members[group] == nil {
			order = append(order, group)
		}
		members[group] = append(members[group], p)
	}
	var all []service
	for _, group := range order {
		main := inspect.Foremost(members[group])
		s := process(host, &main)
		s.members = len(members[group])
		all = append(all, s)
	}
	return all
}

// cpus is how many of a service's threads can run at the same time: its
// parallelism, and never more than the CPUs that it may use.
func (s service) cpus() int {
	n := s.Info.Parallelism.Value
	if m := s.machine(); m > 0 {
		n = min(n, m)
	}
	return n
}

// machine is how many CPUs the process may use; 0: not known.
func (s service) machine() int {
	switch {
	case s.online > 0 && s.Info.Affinity > 0:
		return min(s.online, s.Info.Affinity)
	case s.online > 0:
		return s.online
	}
	return s.Info.Affinity
}

// can reports whether the process can use up its quota before the period ends:
// more of its threads can run at once than the limit has CPUs.
func (s service) can() bool { return float64(s.cpus()) > s.CPU.CPUs }

// stall is for how long all that can run at once stand still in each period:
// T - Q/P (docs/doctor.md).
func (s service) stall() time.Duration {
	p := float64(s.cpus())
	if p <= s.CPU.CPUs || p == 0 {
		return 0
	}
	return time.Duration(float64(s.CPU.Period) * (1 - s.CPU.CPUs/p))
}

// used is the share of the limit that was used on average over the watch; ok is
// false where it was not measured over a known time.
func (s service) used() (share float64, ok bool) {
	if s.Throttling == nil || s.Throttling.Watch == nil {
		return 0, false
	}
	w := s.Throttling.Watch
	if w.Used == nil || w.Length <= 0 || s.CPU.CPUs <= 0 {
		return 0, false
	}
	return w.Used.Seconds() / w.Length.Seconds() / s.CPU.CPUs, true
}

// usedAtMost is the share of the limit that was used on average over what is
// judged by, at most: since the group was made only the periods are known that
// were counted, and those in which it idled are not. exact: it is of the watch.
func (s service) usedAtMost() (share float64, exact, ok bool) {
	if s.watched {
		share, ok = s.used()
		return share, true, ok
	}
	quota := s.CPU.CPUs * s.CPU.Period.Seconds()
	if s.counts == nil || s.counts.Used == nil || s.counts.Periods <= 0 || quota <= 0 {
		return 0, false, false
	}
	return s.counts.Used.Seconds() / quota / float64(s.counts.Periods), false, true
}

// minimum reports whether a Go runtime runs with its own minimum of 2 under a
// limit of 1 CPU or less.
func (s service) minimum() bool {
	return s.Info.Runtime == runtimes.Go && s.CPU.Own > 0 && s.CPU.CPUs <= 1 &&
		s.Info.Parallelism.Value == 2 && s.chosen() == 0 && s.aware()
}

// busyNow reports whether the watch, though too short to judge by, saw the limit
// used more than bursts do.
func (s service) busyNow() bool {
	used, ok := s.used()
	return ok && used > low
}

// chosen is the GOMAXPROCS of the environment; 0 where there is none, or none that
// Go's runtime takes: a number above 0.
func (s service) chosen() int {
	n, err := strconv.ParseInt(s.Info.Env["GOMAXPROCS"], 10, 32)
	if err != nil {
		return 0
	}
	return max(int(n), 0)
}

// ownChoice reports whether a Go program runs with another number than its
// environment and the runtime's rule give: it set it itself, most likely.
func (s service) ownChoice() bool {
	p := s.Info.Parallelism
	return s.Info.Runtime == runtimes.Go && p.Source == runtimes.Read && s.Ruled > 0 && s.Ruled != p.Value
}

// aware reports whether a Go program's rule looks at limits: under one it gives
// another number than without.
func (s service) aware() bool {
	const many = 1 << 10
	info := s.Info
	info.Affinity = 0
	n, _ := runtimes.Default(info, runtimes.LimitOf(1), runtimes.Machine{Online: many})
	return n != many
}

func ceil(cpus float64) int { return max(1, int(math.Ceil(cpus-1e-9))) }

func floor(cpus float64) int { return max(1, int(math.Floor(cpus+1e-9))) }
