package doctor

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

const (
	// fewest is how many periods a watch must have seen before throttling is a
	// finding: near the threshold one service gave 6 of 61 and 42 of 61 on two runs.
	fewest = 50
	// worth is the share of throttled periods from which throttling is a finding,
	// much the share from which it is critical.
	worth, much = 0.05, 0.25
	// Throttling with an average use of at most low of the limit means bursts; from
	// high on the limit is used up.
	low, high = 0.5, 0.85
	// busy is the share of its parallelism from which a process counts as fully used.
	busy = 0.85
	// manyTimes is how many times what is advised a parallelism is from which it costs throughput,
	// also on a host with fewer CPUs.
	manyTimes = 4
	// noticeable is the share of the host's CPU time that a hypervisor took from which it
	// is shown.
	noticeable = 0.02
	// more is the ratio of running threads to the limit in CPUs from which threads
	// compete. With one busy thread under 0.2 and 0.5 CPUs the estimate of running
	// was 0.98, with two under 0.5 to 1.5 CPUs it was 1.78 to 1.9.
	more = 1.1
)

// service is the subject of the rules: the process that represents a group, with
// the figures of the group that limits it.
type service struct {
	inspect.Process
	online  int
	members int               // processes under the same limit
	others  []inspect.Process // of the host
	// queryWorkers are the PIDs of the workers of parallel queries of a server of PostgreSQL.
	queryWorkers []int
	// counts are the counters over the watch, by which the rules judge; nil if the
	// watch covered too few periods. Earlier counts may be from the start-up alone.
	counts *inspect.Counts
	spent  time.Duration // CPU time of the process and its workers
	// threads are those of the process and its workers; nil if they were not read.
	threads *threads.Use
	// average are the counters of the whole watch where the rules judge by its worst window.
	average *inspect.Counts
	// account is who used the CPU time: that of the group, or in a finding about a process that
	// of the process and its workers.
	account threads.Account
	// steal, hostUsed and hostIdle are the host's; nil: not measured.
	steal, hostUsed, hostIdle *float64
}

// process returns one process as a service of its own.
func process(host inspect.Host, p *inspect.Process) service {
	s := service{Process: *p, online: host.Online, members: 1, others: host.Processes, spent: p.Used, threads: p.Threads,
		steal: host.Steal, hostUsed: host.InUse, hostIdle: host.Idle}
	if p.Info.Runtime == runtimes.Postgres {
		s.queryWorkers = slices.Concat(host.QueryWorkers[p.PID], host.QueryWorkers[p.Parent])
	}
	own := []inspect.Process{*p}
	if p.Info.Workers > 0 {
		for _, worker := range host.Processes {
			if worker.Parent == p.PID && worker.Info.Runtime == p.Info.Runtime {
				own = append(own, worker)
				s.spent += worker.Used
				s.join(worker.Threads)
			}
		}
	}
	s.recount()
	s.charge(own, false)
	// The processes are read over a longer time than the group where a scan is slow, as on a
	// busy host. They used no more than the group.
	if t := p.Throttling; t != nil && t.Watch != nil && t.Watch.Used != nil {
		s.spent = min(s.spent, *t.Watch.Used)
	}
	s.judgeBy()
	return s
}

// join adds a worker's threads.
func (s *service) join(t *threads.Use) {
	switch {
	case t == nil:
	case s.threads == nil:
		s.threads = t
	default:
		sum := s.threads.Add(*t)
		s.threads = &sum
	}
}

// recount corrects the parallelism of a runtime with one thread of code per process: a
// program may start threads of its own, such as Node's worker threads, which no file
// shows. What wanted a CPU at once, on average over the watch, is a lower bound. Threads
// behind a lock wait for a CPU too, each time the lock is handed over, and cannot run at
// once: of them only what ran counts.
func (s *service) recount() {
	switch s.Info.Runtime {
	case runtimes.Rust:
		s.recountPool()
		return
	case runtimes.Node, runtimes.Bun, runtimes.Deno, runtimes.Python, runtimes.Ruby:
	default:
		return
	}
	t, p := s.threads, s.Info.Parallelism
	if t == nil || t.Busy <= p.Value {
		return
	}
	n, did := min(t.Busy, max(t.Full, int(t.CPUs(t.BusyRan+t.BusyWaited)))), "wanted a CPU"
	if s.locked() {
		n, did = min(t.Busy, int(t.CPUs(t.BusyRan))), "ran"
	}
	if n > p.Value {
		s.Info.Parallelism = runtimes.Parallelism{Value: n, Source: runtimes.Read,
			From: fmt.Sprintf("threads that %s at once over the watch, on average; the runtime's own rule gives %d", did, max(1, p.Value))}
		return
	}
	s.Info.Parallelism.From += fmt.Sprintf("; but %d threads were busy", t.Busy)
}

// recountPool corrects the parallelism of a Rust program by the threads that always wanted a
// CPU: it sets the size of its pool itself.
func (s *service) recountPool() {
	_, _, pool := runtimes.SizedInCode(s.Info)
	if t := s.threads; t != nil && pool && t.Full > s.Info.Parallelism.Value {
		s.Info.Parallelism = runtimes.Parallelism{Value: t.Full, Source: runtimes.Read, From: "threads that wanted a CPU all the time"}
	}
}

// charge finds who used the CPU time, of which all are the processes, and forgets a
// parallelism that says nothing about it: threads that no rule counts, and processes that
// started and ended during the watch, did most of the work. all are the whole group or some
// processes of it.
func (s *service) charge(all []inspect.Process, whole bool) {
	if s.Throttling == nil || s.Throttling.Watch == nil || s.Throttling.Watch.Length <= 0 {
		return
	}
	a := accountOf(all, *s.Throttling.Watch, whole)
	s.account = a
	free := s.Info.Runtime == runtimes.Node || s.Info.Runtime == runtimes.Bun || s.Info.Runtime == runtimes.Deno
	if free && a.ShortThreads() > 0 || a.ShortProcesses() > 0 {
		s.Info.Parallelism = runtimes.Parallelism{}
	}
}

// accountOf is who used the CPU time over a watch. all are the whole group of which w are the
// counters, or some processes of it.
func accountOf(all []inspect.Process, w inspect.Counts, whole bool) (a threads.Account) {
	if w.Length <= 0 {
		return a
	}
	for _, p := range all {
		used := p.Used.Seconds() / w.Length.Seconds()
		a.Processes += used
		if p.Threads != nil && !p.Threads.Truncated {
			used = p.Threads.CPUs(p.Threads.Ran)
		}
		a.Threads += used
	}
	if whole && w.Used != nil {
		a.Group = w.Used.Seconds() / w.Length.Seconds()
	}
	return a
}

// shortLived names what used most of the CPU time and ended during the watch, with its use
// and that of all in CPUs; "": threads that exist explain it.
func (s service) shortLived() (units string, part, whole float64) {
	if n := s.account.ShortProcesses(); n > 0 {
		return "short-lived processes", n, s.account.Group
	}
	if n := s.account.ShortThreads(); n > 0 {
		return "short-lived threads", n, s.account.Processes
	}
	return "", 0, 0
}

// locked reports whether a global lock lets one thread of a process run code at a time.
// JRuby is a JVM, and others without the lock are Lockless.
func (s service) locked() bool {
	return (s.Info.Runtime == runtimes.Python || s.Info.Runtime == runtimes.Ruby) && !s.Info.Lockless
}

// services returns the groups that set a CPU limit, each with the process that
// represents it.
func services(host inspect.Host) []service {
	return byGroup(host, func(p inspect.Process) (string, bool) { return p.CPU.Dir, p.CPU.State == inspect.Limited })
}

// nested reports whether groups with lower limits are below a group, whose CPU time is part of its.
func nested(host inspect.Host, group string) bool {
	return slices.ContainsFunc(host.Processes, func(p inspect.Process) bool {
		return p.CPU.Dir != group && slices.ContainsFunc(p.Shared, func(above inspect.Shared) bool { return above.CPU.Dir == group })
	})
}

// byGroup groups the processes by name, in the order of each group's first process.
// ok is false for a process without a group.
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
		s.charge(members[group], !host.Partial && !nested(host, group))
		all = append(all, s)
	}
	return all
}

// cpus is how many of a service's threads can run at the same time: its
// parallelism, but at most the CPUs that it may use.
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

// running estimates how many threads wanted to run in the throttled periods. In a
// period T, n busy threads need n·T of CPU time. They get the quota Q·T and are
// throttled for the rest, S = n·T − Q·T, summed over the CPUs. So n = Q + S/T. Where others
// use the CPUs too, the quota lasts longer and S is less. Threads that always wanted a CPU
// are counted in any case.
func (s service) running() float64 {
	n := s.CPU.CPUs + s.counts.PerThrottled().Seconds()/s.CPU.Period.Seconds()
	if s.threads != nil {
		n = max(n, float64(s.threads.Full))
	}
	return n
}

// compete reports whether threads compete for the quota, so that fewer threads would
// do the same work. All must hold over the watch: the limit was almost used up, many
// periods were throttled, more threads were running than the limit allows (and more
// than one), and the process used at least half of the group's CPU time. In doubt it
// returns false.
func (s service) compete() bool {
	used, ok := s.used()
	return s.counts != nil && ok && used >= high && s.counts.Share() >= much && s.CPU.Period > 0 &&
		s.running() >= more*max(1, s.CPU.CPUs) && s.counts.Used != nil && 2*s.spent >= *s.counts.Used
}

// fewer reports whether to advise less parallelism: the threads compete, none of them is
// blocked while it waits, and more can run at once than least.
func (s service) fewer() bool {
	return s.compete() && (s.cpus() > s.least() || s.crowd()) && !s.waits()
}

// crowd reports whether many more worker processes, or threads of a Rust program's pool, wanted a CPU all
// the time than are advised, or GOMAXPROCS or the threads of a proxy such as HAProxy are as many. Also
// where no more can run at once, switches between them cost CPU time, and each waits for the others:
// under 0.8 of 2 CPUs nginx compressed 16 answers a second with 64 workers, and 19 with 2; under 0.35 the
// p99 of a server on Tokio was 197 ms with 8 workers, and 101 to 117 ms with 2, Caddy had 1.3 times the
// rate with GOMAXPROCS 2 instead of 16, and HAProxy 1.6 times with 1 thread instead of 8. Under 1.4 CPUs,
// which stopped Caddy rarely, it made no difference.
func (s service) crowd() bool {
	if s.Info.Runtime == runtimes.Go || runtimes.EventLoops(s.Info) {
		return s.many()
	}
	_, _, pool := runtimes.SizedInCode(s.Info)
	return (s.Info.Workers > 0 || pool) && s.threads != nil && s.threads.Full >= manyTimes*s.least()
}

// many reports whether the parallelism is many times what is advised.
func (s service) many() bool { return s.Info.Parallelism.Value >= manyTimes*s.least() }

// least is the lowest parallelism that is advised.
func (s service) least() int { return runtimes.Least(s.Info, s.CPU.CPUs) }

// single reports whether one thread instead of two would lower p99 at saturation: two
// compete for a limit of 1 CPU or less.
func (s service) single() bool {
	return s.compete() && s.fit() == 1 && s.cpus() == 2 && !s.waits() && !s.outside()
}

// outside reports whether more threads wanted a CPU all the time than the parallelism counts, such
// as those of C code below a Go program: the parallelism is then not what uses the quota up.
func (s service) outside() bool {
	return s.threads != nil && s.threads.Full > max(1, s.Info.Parallelism.Value)
}

// waits reports whether threads or processes are blocked while they wait, so that fewer of
// them serve fewer requests at once.
func (s service) waits() bool { return runtimes.Blocks(s.Info) }

// stall is how long a service is throttled in each period if all its threads run:
// T·(1 − Q/P) (docs/doctor-rules.md).
func (s service) stall() time.Duration {
	if !s.can() {
		return 0
	}
	return time.Duration(float64(s.CPU.Period) * (1 - s.CPU.CPUs/float64(s.cpus())))
}

// used is the average share of the limit in use over the watch; ok is false if it was not
// measured. A throttled period used its whole quota, so a service that was throttled in
// nearly all periods used the limit up, and the share is then the least that it used.
func (s service) used() (share float64, ok bool) {
	if s.Throttling == nil || s.Throttling.Watch == nil || s.Throttling.Watch.Length <= 0 || s.CPU.CPUs <= 0 {
		return 0, false
	}
	w := s.Throttling.Watch
	if w.Used != nil {
		return w.Used.Seconds() / w.Length.Seconds() / s.CPU.CPUs, true
	}
	share = min(1, float64(w.Throttled)*s.CPU.Period.Seconds()/w.Length.Seconds())
	return share, share >= high
}

// minimum reports whether Go chose GOMAXPROCS=2, its minimum, under a limit of 1 CPU
// or less.
func (s service) minimum() bool {
	return s.Info.Runtime == runtimes.Go && s.CPU.Own > 0 && s.CPU.CPUs <= 1 &&
		s.Info.Parallelism.Value == 2 && s.chosen() == 0 && s.aware() && !s.outside()
}

// chosen is the GOMAXPROCS of a Go program's environment; 0 if it is not set, or not a
// positive number, which Go ignores.
func (s service) chosen() int {
	if s.Info.Runtime != runtimes.Go {
		return 0
	}
	n, err := strconv.ParseInt(s.Info.Env["GOMAXPROCS"], 10, 32)
	if err != nil {
		return 0
	}
	return max(int(n), 0)
}

// ownChoice reports whether a Go program's GOMAXPROCS, or the pool of a Rust program, differs
// from what its environment and the runtime's rule give: most likely, the program set it.
func (s service) ownChoice() bool {
	p := s.Info.Parallelism
	_, _, pool := runtimes.SizedInCode(s.Info)
	return (s.Info.Runtime == runtimes.Go || pool) && p.Source == runtimes.Read && s.Ruled > 0 && s.Ruled != p.Value
}

// inCode reports whether a program sets its own GOMAXPROCS or pool so that the environment does
// not change it. automaxprocs leaves it to the variable if that is set.
func (s service) inCode() bool {
	return s.ownChoice() && (s.chosen() > 0 || s.Info.Go == nil || s.Info.Go.Automaxprocs == "")
}

// aware reports whether a Go program's default depends on the CPU limit.
func (s service) aware() bool {
	const many = 1 << 10
	info := s.Info
	info.Affinity = 0
	n, _ := runtimes.Default(info, runtimes.LimitOf(1), runtimes.Machine{Online: many})
	return n != many
}

// fit is the parallelism that fits the limit: the lowest that can use all of it.
func (s service) fit() int { return ceil(s.CPU.CPUs) }

func ceil(cpus float64) int { return max(1, int(math.Ceil(cpus-1e-9))) }
