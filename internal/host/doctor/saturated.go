package doctor

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
)

// saturated is the finding about a group that used its limit up without being
// throttled: its threads are as many as the limit has CPUs, so none is stopped. Requests
// wait in the service's own queue, which no counter of the kernel shows. A use below full
// counts if a thread always wanted a CPU: others on the host then took the rest.
func (s service) saturated(host inspect.Host, throttled []Finding) []Finding {
	s.observe(host)
	used, ok := s.used()
	if !ok || about(throttled, s.PID) || s.CPU.Period <= 0 {
		return nil
	}
	if wanted := s.threads != nil && s.threads.Full+s.threads.Bound > 0; used < high || used < full && !wanted {
		return nil
	}
	if s.Throttling.Watch.Share() >= worth && !s.bound() || s.Throttling.Watch.Length < fewest*s.CPU.Period && !s.filled() {
		return nil
	}
	units, free := s.units(), used*s.CPU.CPUs > beyond*float64(s.Info.Parallelism.Value)
	if short, _, _ := s.shortLived(); free && short == "" {
		units = "the busy threads"
	}
	if free && s.Info.Parallelism.Value > 0 && used < full {
		return nil // one thread that always wants a CPU is no sign that all do
	}
	f := s.finding(Warning, LimitUsedUp)
	f.weight = used
	f.Title = fmt.Sprintf("limit of %s used up (%s on average) by %s", display.CPULimit(s.CPU.CPUs), display.Share(used), units)
	if s.spins() {
		f.Title += ", which work or spin"
	} else {
		f.Title += ": requests wait in the service's own queue"
	}
	f.Evidence = append([]string{s.parallel(), s.limited(), s.counted()}, s.threaded()...)
	queue := "the latency is the queue in front"
	if s.spins() {
		queue = "unless threads spin, requests wait in a queue in front"
	}
	f.Mechanism = fmt.Sprintf("the limit allows all that can run at once (%s), so the kernel stops hardly any; %s", units, queue)
	text, changes := "add replicas, or reduce the load on each", []Change{{Replicas: true}}
	most := s.machine()
	p := s.Info.Parallelism.Value
	higher := s.fit() + 1
	if float64(p) > s.CPU.CPUs {
		higher = p
	}
	if most > 0 {
		higher = min(higher, most)
	}
	switch {
	case s.CPU.CPUs >= float64(higher):
		text += fmt.Sprintf(": the process may use only %s", count(int64(most), "CPU", "CPUs"))
	// One whole CPU is used up without a stop, so hardly more processes wanted to run at once.
	case p == 0 && s.account.ShortProcesses() > 0 && s.CPU.CPUs == float64(s.fit()):
		text = fmt.Sprintf("run more of the processes at once, if they can, under a limit of %s; or %s", display.CPULimit(float64(higher)), text)
	case p >= higher || free || p == 0:
		text = fmt.Sprintf("raise the limit to %s; or %s", display.CPULimit(float64(higher)), text)
		changes = append([]Change{{CPUs: float64(higher)}}, changes...)
	default:
		more, c := s.changeUnder(higher, float64(higher))
		c.CPUs = float64(higher)
		if more == "" {
			text = fmt.Sprintf("raise the limit to %s, which the runtime follows; or %s", display.CPULimit(c.CPUs), text)
			changes = append([]Change{c}, changes...)
			break
		}
		if c.Replicas {
			text += fmt.Sprintf(": a higher limit alone gives nothing, because %s cannot use more", s.units())
			break
		}
		text = fmt.Sprintf("raise the limit to %s and %s; or %s. A higher limit alone gives nothing", display.CPULimit(float64(higher)), more, text)
		changes = append([]Change{c}, changes...)
	}
	f.Expect = Effect{
		Saturated: "throughput grows with the CPUs that are added",
		Ordinary:  "shorter queues; without a queue the latency stays as it is",
	}
	f.Confidence = High
	if s.spins() {
		f.Confidence = Medium
	}
	s.fix(&f, text, changes...)
	return []Finding{f}
}

// bound reports whether the parallelism and not the quota bounds a service that is
// throttled: its threads are as many as the limit has CPUs, and hardly more ran at once.
// Ticks of the scheduler are charged late, and a master process runs for moments, so a
// worker that uses all of a limit of 1 CPU is throttled in a few percent of the periods: a
// worker of nginx in 5% of 60. A limit of 1.1 CPUs had no effect on it.
func (s service) bound() bool {
	used, ok := s.used()
	p := s.Info.Parallelism.Value
	return ok && used >= full && s.counts != nil && s.CPU.Period > 0 && p > 0 && float64(p) <= s.CPU.CPUs &&
		s.running() < more*s.CPU.CPUs
}

// filled is whether the process with its workers ran for almost all of its parallelism: it
// can use no more, whatever the limit. No count of periods is needed to see that.
func (s service) filled() bool { return s.share() >= busy && s.share() <= beyond }

// share is the CPU time of the process with its workers as a share of its parallelism; 0:
// not known.
func (s service) share() float64 {
	p := s.Info.Parallelism.Value
	if p == 0 || s.Throttling == nil || s.Throttling.Watch == nil || s.Throttling.Watch.Length <= 0 {
		return 0
	}
	return s.spent.Seconds() / s.Throttling.Watch.Length.Seconds() / float64(p)
}

// units names what the parallelism counts.
func (s service) units() string {
	n := int64(max(1, s.Info.Parallelism.Value))
	short, _, _ := s.shortLived()
	switch {
	case short != "":
		return short
	case s.Info.Workers > 0:
		return count(n, "worker", "workers")
	case s.Info.Parallelism.Value == 0:
		return "the busy threads"
	}
	return count(n, "thread", "threads")
}

// idleLimit is the finding about a process that uses all of its parallelism and
// therefore cannot reach its limit.
//
// Far below the limit it counts too that its threads always wanted a CPU. Near the limit,
// where P is above Q/1.5, they must have run, and the limit must not be used up, which is a
// finding of its own: a server of one thread under 1.18 to 1.49 CPUs leaves up to a third of
// the limit idle.
func (s service) idleLimit(host inspect.Host, throttled []Finding) []Finding {
	s.observe(host)
	p := s.Info.Parallelism.Value
	if s.CPU.State != inspect.Limited || s.Throttling == nil || s.Throttling.Watch == nil {
		return nil
	}
	if found := s.fullThread(throttled); p == 0 || found != nil || float64(p) > s.CPU.CPUs {
		return found
	}
	near := float64(p) > s.CPU.CPUs/1.5
	if used, ok := s.used(); near && (!ok || used >= high || !s.filled() || about(throttled, s.PID)) {
		return nil
	}
	if most := s.machine(); most > 0 && p >= most {
		return nil // the host's CPUs are the bound, not its parallelism
	}
	length := s.Throttling.Watch.Length
	if length <= 0 {
		return nil
	}
	// Threads that wanted a CPU all the time, and got most of it, are saturated too: others
	// took the rest. If they got less, others are what slows the service.
	const most = 0.6
	share := s.share()
	wanted := s.threads != nil && s.threads.Full >= p && share >= most && !s.crowdedOut()
	if share < busy && !wanted || share > beyond || s.spread() {
		return nil
	}
	f := s.finding(Warning, CannotUseLimit)
	f.weight = s.CPU.CPUs / float64(p)
	f.Title = fmt.Sprintf("parallelism %d under a limit of %s: it uses %s CPUs and cannot use more",
		p, display.CPULimit(s.CPU.CPUs), fmt.Sprintf("%.2f", s.spent.Seconds()/length.Seconds()))
	f.Evidence = append([]string{s.parallel(), s.limited(), s.counted()}, s.threaded()...)
	waits := "requests wait"
	if s.Listens != nil && !*s.Listens {
		waits = "work waits"
	}
	f.Mechanism = fmt.Sprintf("%s cannot use more than %s; if %s, the rest of the limit is idle meanwhile", s.units(), display.CPULimit(float64(p)), waits)
	f.Expect = Effect{
		Saturated: fmt.Sprintf("if "+waits+" for it, throughput up to ×%.2g; p99 can rise where the threads then use up the quota", min(s.CPU.CPUs, float64(s.reach()))/float64(p)),
		Ordinary:  "shorter queues; requests that found no queue take as long as before",
	}
	// The confidence is not high: that it is busy does not show that something waits, since a
	// single client keeps it as busy.
	text, c := s.change(s.fit())
	if c.Replicas { // each has its own limit and, as this one, its own thread
		f.Expect.Saturated = "throughput grows with the replicas, as far as the host has CPUs for them"
	}
	s.fix(&f, text, c)
	return []Finding{f}
}

// beyond is the CPU time over that of the parallelism from which threads that it does not
// count do the work, so that it is no bound. With one processor and one worker thread a JVM
// used 1.18 CPUs.
const beyond = 1.25

// spread reports whether the work of a JVM or .NET is spread over many threads, none of
// which always wanted a CPU. The number of processors sizes pools of the runtime, and a
// server such as Tomcat has its own, which it does not bound.
func (s service) spread() bool {
	const own = 4 // busy threads for each processor: its worker, the collector, the compilers
	t, p := s.threads, s.Info.Parallelism.Value
	return (s.Info.Runtime == runtimes.JVM || s.Info.Runtime == runtimes.DotNet) && t != nil && t.Full == 0 && t.Busy > own*p
}

// observe takes the parallelism of a program of which no rule is known from its threads.
func (s *service) observe(host inspect.Host) {
	if n := s.seenParallelism(host); n > 0 {
		s.Info.Parallelism = runtimes.Parallelism{Value: n, Source: runtimes.Predicted, From: "other threads did little over the watch"}
	}
}

// seenParallelism is the parallelism by the threads: those that ran almost all the time, if
// the others did little, or those that always wanted a CPU, if no other was busy. It is 0 if
// other processes of the same name, such as PostgreSQL's, may do the rest.
func (s service) seenParallelism(host inspect.Host) int {
	t := s.threads
	if s.Info.Parallelism.Value > 0 || t == nil || t.Truncated || s.Throttling == nil || s.Throttling.Watch == nil {
		return 0
	}
	if units, _, _ := s.shortLived(); units != "" {
		return 0
	}
	var others time.Duration
	for _, p := range host.Processes {
		if p.PID != s.PID && p.CPU.Dir == s.CPU.Dir && p.Name == s.Name {
			others += p.Used
		}
	}
	const little = 0.05
	switch length := s.Throttling.Watch.Length.Seconds(); {
	case others.Seconds() >= little*length:
	case t.Bound > 0 && s.spent.Seconds() <= beyond*float64(t.Bound)*length:
		return t.Bound
	case t.Busy <= t.Full:
		return t.Full
	}
	return 0
}

// reach is the highest parallelism that the process's CPUs can run.
func (s service) reach() int {
	if most := s.machine(); most > 0 {
		return min(s.fit(), most)
	}
	return s.fit()
}
