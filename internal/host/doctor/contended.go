package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/host/inspect"
)

const (
	// queuedFrom is the time that threads waited for CPUs that others used, in CPUs, from
	// which it is a finding, and queuedShare the same as a share of the CPU time wanted.
	queuedFrom, queuedShare = 0.1, 0.2
	// spare is the share of the host's CPUs that is idle up to which it is short of CPU: a
	// runnable thread moves to an idle CPU.
	spare = 0.1
	// neighbour is the use in CPUs from which another process is named.
	neighbour = 0.1
)

// contended is the finding about a group that did not get what its limit allows, because
// others used the CPUs: its threads waited, and throttling is no more than half of that. Any
// finding from its use of the limit would then blame the limit for what others did.
func (s service) contended(host inspect.Host) []Finding {
	if !s.crowdedOut() {
		return nil
	}
	f := s.finding(Warning, ShortOfCPU)
	f.weight = s.queued()
	ran, waited := s.threads.CPUs(s.threads.Ran), s.threads.CPUs(s.threads.Waited)
	f.Title = fmt.Sprintf("the host is short of CPU, or the service's weight is too low: it used %.2f CPUs and waited for %.2f (throttled: about %.2f)",
		ran, waited, min(waited, s.stopped()))
	f.Evidence = append([]string{s.parallel(), s.limited(), s.counted()}, s.threaded()...)
	f.Evidence = append(f.Evidence, s.neighbours(host))
	weight := "cpu.weight"
	if s.CPU.Version == 1 {
		weight = "cpu.shares"
	}
	f.Mechanism = "its threads were ready to run while the CPUs ran others; neither a higher limit nor a burst gives CPU time that the host does not have"
	f.Fix = []string{fmt.Sprintf("move or stop other work on this host, or raise its CPU request (%s of its group); "+
		"the kernel divides CPUs that are short by it. Then watch again: these figures are no reason for another limit, burst or parallelism", weight)}
	f.Expect = Effect{Saturated: "throughput grows with the CPU time that it gets, up to the limit", Ordinary: "shorter waits for a CPU, lower p99"}
	return []Finding{f}
}

// crowdedOut reports whether the group got less than it could have used, and waited for CPUs
// on which others ran more than for the end of a throttled period.
func (s service) crowdedOut() bool {
	used, ok := s.used()
	if !ok || s.threads == nil || s.hostIdle == nil || s.CPU.Period <= 0 || s.Throttling.Watch.Length < fewest*s.CPU.Period {
		return false
	}
	if s.Info.Affinity > 0 && s.Info.Affinity < s.online || *s.hostIdle > spare*float64(s.online) {
		return false // it may wait for some of the CPUs while others are idle
	}
	most := s.CPU.CPUs
	for _, n := range []int{s.machine(), s.Info.Parallelism.Value} {
		if n > 0 {
			most = min(most, float64(n))
		}
	}
	queued, waited := s.queued(), s.threads.CPUs(s.threads.Waited)
	return used*s.CPU.CPUs < high*most && queued > waited/2 && queued >= queuedFrom &&
		queued >= queuedShare*(s.threads.CPUs(s.threads.Ran)+queued)
}

// queued is how many CPUs the threads waited for on which others ran.
func (s service) queued() float64 {
	used, ok := s.used()
	if !ok || s.threads == nil || s.hostUsed == nil {
		return 0
	}
	return s.threads.Queued(s.stopped(), used*s.CPU.CPUs, *s.hostUsed)
}

// stopped is the throttled part of the wait, in CPUs.
func (s service) stopped() float64 {
	w := s.Throttling.Watch
	return s.threads.Stopped(w.Stopped.Seconds()/w.Length.Seconds(), s.machine())
}

// neighbours describes who else used the host's CPUs. Their names are known where all
// processes were inspected.
func (s service) neighbours(host inspect.Host) string {
	used, _ := s.used()
	text := fmt.Sprintf("others used %.2f of the host's %d CPUs, and %.2f were idle", max(0, *s.hostUsed-used*s.CPU.CPUs), s.online, *s.hostIdle)
	var all []inspect.Process
	least := neighbour * host.Watched.Seconds()
	for _, p := range host.Processes {
		if p.CPU.Dir != s.CPU.Dir && host.Watched > 0 && p.Used.Seconds() >= least {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b inspect.Process) int { return cmp.Compare(b.Used, a.Used) })
	const most = 3
	var names []string
	for _, p := range all[:min(len(all), most)] {
		names = append(names, fmt.Sprintf("%s (pid %d) %.2f", p.Label(), p.PID, p.Used.Seconds()/host.Watched.Seconds()))
	}
	if more := len(all) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	return text
}
