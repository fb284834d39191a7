// Package threads is a model of what the threads of a service did over a watch, from the
// counters that the kernel has of each thread, process and group. It knows no runtime and no
// limit, and judges nothing: package inspect reads the counters, and package doctor judges.
package threads

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/host/proc"
)

const (
	// busy is the share of a watch that a thread ran from which it counts as busy.
	busy = 0.05
	// full is the share that it ran or waited for a CPU from which it always wanted one: the
	// only worker of a saturated gunicorn ran for 95% and waited for connections.
	full = 0.9
	// fair is the share of what the busiest thread ran from which another may always want a CPU
	// too: the scheduler lets such threads run for about as long. One that wakes often and sleeps
	// soon waits as long where a limit stops its group: under 0.2 of 2 CPUs Go's monitor, beside
	// two threads that ran for 10% of the time, ran for 0.06% and waited for 90%.
	fair = 0.25
	// bound is the share that it ran from which its own speed bounds what it does: at 85% of
	// the time a queue in front of one server has, with equal service times, 2.4 requests on
	// average (ρ²/2(1−ρ)), and with random ones twice as many.
	bound = 0.85
	// turn is how long a thread that computes or spins runs each time: those of OpenBLAS for 2.7
	// to 3.8 ms, the scheduler's slice. Threads behind Python's lock ran for 0.05 to 0.52 ms.
	turn = time.Millisecond
	// brief is the share of a group's CPU time from which its use by short-lived threads is
	// worth a statement, and some the least use in CPUs: counters are read one after another.
	brief, some = 0.5, 0.02
)

// Reading are the counters of a process's threads at one time, by their ids.
type Reading struct {
	At        time.Time
	Of        map[int]proc.Schedstat
	Truncated bool // there were more threads, which were not read
}

// Use is what threads did over a watch. Its sums are over the threads that existed at the
// end of the watch.
type Use struct {
	Length time.Duration // of the watch
	Read   int           // threads
	// Truncated: there were more, which were not read.
	Truncated bool
	Busy      int // threads that ran for at least 5% of the watch
	Full      int // those that ran or waited for a CPU all the time, and got a fair part of it
	// Held are those of the full threads that ran for turn or longer each time that they got a
	// CPU: they compute or spin. Threads that hand a lock to each other run for less.
	Held  int
	Bound int // those that ran for almost all of the time: a higher limit does not speed them up
	// Ran and Waited are sums over the threads. Waited is the time runnable without a
	// CPU, and contains the throttled time.
	Ran, Waited time.Duration
	Turns       int64 // how often one of them got a CPU
	// BusyRan and BusyWaited are the same of the busy threads only.
	BusyRan, BusyWaited time.Duration
}

// Since returns what the threads did since an earlier reading; nil if no time has passed. A
// thread that is not in it started in between. One that ended is not counted.
func (r *Reading) Since(before *Reading) *Use {
	u := &Use{Length: r.At.Sub(before.At), Read: len(r.Of), Truncated: r.Truncated || before.Truncated}
	if u.Length <= 0 {
		return nil
	}
	var all []proc.Schedstat
	var most time.Duration // that a thread ran
	for tid, now := range r.Of {
		was, known := before.Of[tid]
		if !known && u.Truncated {
			continue // it may have run before the watch
		}
		did := proc.Schedstat{Ran: max(now.Ran-was.Ran, 0), Waited: max(now.Waited-was.Waited, 0), Turns: max(now.Turns-was.Turns, 0)}
		all, most = append(all, did), max(most, did.Ran)
	}
	for _, did := range all {
		u.count(did.Ran, did.Waited, did.Turns, most)
	}
	return u
}

// count adds a thread. The busiest ran for most.
func (u *Use) count(ran, waited time.Duration, turns int64, most time.Duration) {
	u.Ran, u.Waited, u.Turns = u.Ran+ran, u.Waited+waited, u.Turns+turns
	if u.CPUs(ran+waited) >= full && float64(ran) >= fair*float64(most) { // many that share a small limit each run for little
		u.Full++
		if ran/time.Duration(max(1, turns)) >= turn {
			u.Held++
		}
	}
	if u.CPUs(ran) < busy {
		return
	}
	u.Busy++
	u.BusyRan, u.BusyWaited = u.BusyRan+ran, u.BusyWaited+waited
	if u.CPUs(ran) >= bound {
		u.Bound++
	}
}

// Add returns the sum with another process's threads.
func (u Use) Add(o Use) Use {
	u.Length, u.Truncated = max(u.Length, o.Length), u.Truncated || o.Truncated
	u.Read, u.Busy, u.Full, u.Bound = u.Read+o.Read, u.Busy+o.Busy, u.Full+o.Full, u.Bound+o.Bound
	u.Held += o.Held
	u.Ran, u.Waited, u.Turns = u.Ran+o.Ran, u.Waited+o.Waited, u.Turns+o.Turns
	u.BusyRan, u.BusyWaited = u.BusyRan+o.BusyRan, u.BusyWaited+o.BusyWaited
	return u
}

// Turn is how long a thread ran each time that it got a CPU, on average; 0: none did.
func (u Use) Turn() time.Duration { return u.Ran / time.Duration(max(1, u.Turns)) }

// Wanted is how many CPUs the threads wanted at once, on average.
func (u Use) Wanted() float64 { return u.CPUs(u.Ran + u.Waited) }

// CPUs is a time as a number of CPUs over the watch.
func (u Use) CPUs(d time.Duration) float64 {
	if u.Length <= 0 {
		return 0
	}
	return d.Seconds() / u.Length.Seconds()
}

// Stopped estimates the throttled part of the wait, in CPUs, from the throttled time of the
// group over the watch. The kernel sums this time over the CPUs, on each of which it counts
// once for all threads there. Each of them waits for it: n threads on k CPUs wait n/k times
// as long. cpus are those that the process may use; 0: not known.
func (u Use) Stopped(throttled float64, cpus int) float64 {
	n := max(1, float64(u.Busy), math.Ceil(u.Wanted()))
	k := n
	if cpus > 0 {
		k = min(n, float64(cpus))
	}
	return throttled * n / k
}

// Queued estimates how many CPUs the threads waited for on which others ran. A thread also
// waits for threads of its own process, so of the wait that is not throttling the share is
// taken that the others had of the CPUs in use: inUse, of which the group used its part.
func (u Use) Queued(stopped, used, inUse float64) float64 {
	if inUse <= 0 || inUse <= used {
		return 0
	}
	return max(0, u.CPUs(u.Waited)-stopped) * (inUse - used) / inUse
}

// Account is who used the CPU time of a group, in CPUs over the watch. What no thread
// explains was used by those that ended: how many of them ran at once cannot be known.
type Account struct {
	Group     float64 // the group
	Processes float64 // processes that existed all the time, with threads of theirs that ended
	Threads   float64 // their threads that existed at the end
}

// ShortProcesses is the CPU time of processes that started or ended during the watch, if
// they used most of the group's; else 0.
func (a Account) ShortProcesses() float64 { return most(a.Group-a.Processes, a.Group) }

// ShortThreads is the CPU time of threads that ended during the watch, if they used most of
// their processes'; else 0.
func (a Account) ShortThreads() float64 { return most(a.Processes-a.Threads, a.Processes) }

func most(part, whole float64) float64 {
	if part < brief*whole || part < some {
		return 0
	}
	return part
}
