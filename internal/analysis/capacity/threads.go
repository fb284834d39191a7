package capacity

import (
	"math"

	"github.com/millicore/millicore/internal/analysis/sums"
)

// Threads of known services under more load than they hold, on two CPUs that the generator
// shares, in 14 half seconds each: the one thread of Node.js was full in 14. Of six Go servers
// with a lock around 0.5 to 10 ms of work one was in 0, 0, 0, 0, 7 and 8: the work moves
// between the threads of the runtime, slowly where few requests wait. With GOMAXPROCS=1 it
// was in 9. Of Python's threads (a global lock) and of a pool that waits none was.
const (
	// fewestSeconds is for how long threads must be read.
	fewestSeconds = 2.5
	// fullMostly is the share of the readings in which a thread must be full to be busy.
	fullMostly = 0.9
	// fullSeldom is the share from which no thread may be said to be idle.
	fullSeldom = 0.2
	// idleThread is how busy the busiest thread may be if none is.
	idleThread = 0.8
)

// fullThreads returns how many threads are busy all the time at the highest overloads, and
// not at clearly lower loads: threads that wait busily are full at any load. Known is whether
// the figures show how many, or that none is.
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
	if t := s.below.Server.Threads(); t.Seconds == 0 || t.Full > float64(n)/2 {
		return 0, false
	}
	return n, true
}

// noneBusy returns the share of the time in which the busiest thread ran or waited for a
// CPU, if no thread is busy all the time; 0: one may be.
func noneBusy(all *sums.Total) float64 {
	if t := all.Server.Threads(); t.Seconds >= fewestSeconds && t.Full < fullSeldom && t.Top < idleThread {
		return t.Top
	}
	return 0
}
