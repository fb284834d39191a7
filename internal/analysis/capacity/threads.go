package capacity

import (
	"cmp"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/analysis/sums"
)

// A busy thread is not enough: Go runs the work of a lock in one of its threads while many
// requests wait for it, and so may a lock of any runtime that prefers the thread that runs.
// At low loads that work moves between threads. A server with a lock around 2 ms of work had
// a full thread in each half second of an overload, where it had 3.9 ms for each request, and
// 1.4 to 1.9 ms at low loads; the one thread of Node.js had 3.0 to 3.8 and 2.8 to 4.6 ms. Of
// Python's threads (a global lock) and of a pool that waits none was full.
const (
	// fewestSeconds is for how long threads must be read.
	fewestSeconds = 2.5
	// fullMostly is the share of the readings in which a thread must be full to be busy.
	fullMostly = 0.9
	// ownWork is the share of its time for a request at the overload that the busiest thread
	// has at low loads, if the work is its own.
	ownWork = 0.75
	// fullSeldom is the share from which no thread may be said to be idle.
	fullSeldom = 0.2
	// idleThread is how busy the busiest thread may be if none is.
	idleThread = 0.8
	// collectsMuch is the share of the CPU time from which the collection of garbage is named.
	// A JVM that keeps 24 MiB spent 96% with a heap of 40 MiB, and 25% with one of 400 MiB.
	collectsMuch = 0.3
	// collectedSeconds is for how long its threads must be read for that share: a mean of CPU
	// time needs less than a count of busy threads.
	collectedSeconds = 1
)

// fullThreads returns how many threads are busy all the time at the highest overloads. At
// clearly lower loads they are not, as threads that wait busily are, and have as much to do
// for each request. Known is whether the figures show how many, or that none is.
func (s Stretch) fullThreads() (n int, known bool) {
	all := s.highestTogether()
	t := all.sums.Server.Threads()
	n = int(math.Round(t.Full))
	if n == 0 || t.Full < fullMostly*float64(n) || t.Seconds < fewestSeconds {
		return 0, noneBusy(all.sums) > 0
	}
	if s.below == nil {
		return 0, false
	}
	low, over := perRequest(s.below), perRequest(all.sums)
	if s.below.Server.Threads().Full > float64(n)/2 || over == 0 || low < ownWork*over {
		return 0, false
	}
	return n, true
}

// perRequest is the time in seconds that the busiest thread of each replica ran or waited for
// a CPU for each answer of all; 0: not known.
func perRequest(all *sums.Total) float64 {
	answers := all.Client.Answers()
	if answers == 0 {
		return 0
	}
	return all.Server.Threads().Top * all.Client.Seconds() / answers
}

// noneBusy returns the share of the time in which the busiest thread ran or waited for a
// CPU, if no thread is busy all the time; 0: one may be.
func noneBusy(all *sums.Total) float64 {
	if t := all.Server.Threads(); t.Seconds >= fewestSeconds && t.Full < fullSeldom && t.Top < idleThread {
		return t.Top
	}
	return 0
}

// collected is the share of the CPU time in which threads of its own collected garbage, at as
// many of the highest overloads as show it; 0: not known. Of a runtime that collects in the
// threads that serve, such as Go and Node.js, it is not seen.
func (s Stretch) collected() float64 {
	over := slices.Clone(s.over)
	slices.SortStableFunc(over, func(x, y overload) int { return cmp.Compare(y.load, x.load) })
	all := sums.New()
	for _, o := range over { // the highest may have been cut short
		all.Merge(o.sums)
		t, cores := all.Server.Threads(), all.Server.Cores()
		if t.Seconds >= collectedSeconds && cores != nil && *cores > 0 {
			return min(1, t.Collector / *cores)
		}
	}
	return 0
}
