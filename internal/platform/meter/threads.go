package meter

import (
	"sync"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/host/proc"
)

const (
	// mostThreads bounds how many threads are read.
	mostThreads = 1024
	// threadsEvery is the shortest time between two readings, a little less than the
	// interval of a search, and perThread that for each thread: to read one takes about
	// 15 us (Linux 6.18, a virtual machine), so the readings take at most 1% of a CPU.
	threadsEvery, perThread = 400 * time.Millisecond, 1500 * time.Microsecond
	// A full thread runs or waits for a CPU for fullThread of the time, and runs for
	// fullRan of it: several that share one CPU wait most of the time, and none is full.
	fullThread, fullRan = 0.9, 0.5
)

// Threads reads how busy the threads of a replica are. The zero value is ready. Several
// goroutines may use it.
type Threads struct {
	mu     sync.Mutex
	at     time.Time
	before map[int]proc.Schedstat // by thread
}

// Read returns what the threads of these processes did since the reading before; nil at the
// first one, too soon after one, or if there are too many or none. A thread that ended
// between two readings is not seen.
func (t *Threads) Read(pids []int) *signals.Threads {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := time.Now()
	if at.Sub(t.at) < max(threadsEvery, perThread*time.Duration(len(t.before))) {
		return nil
	}
	now := make(map[int]proc.Schedstat, len(t.before))
	for _, pid := range pids {
		if proc.ReadSchedstats(pid, now, mostThreads); len(now) >= mostThreads {
			now = nil
			break
		}
	}
	before, seconds := t.before, at.Sub(t.at).Seconds()
	t.at, t.before = at, now
	if len(before) == 0 || len(now) == 0 {
		return nil
	}
	return threadsBetween(before, now, seconds)
}

func threadsBetween(before, now map[int]proc.Schedstat, seconds float64) *signals.Threads {
	all := &signals.Threads{Seconds: seconds, Count: len(now)}
	for id, s := range now {
		if b := before[id]; b.Ran <= s.Ran && b.Waited <= s.Waited { // else it is another thread with its number
			s.Ran, s.Waited = s.Ran-b.Ran, s.Waited-b.Waited
		}
		ran, wanted := s.Ran.Seconds(), min(seconds, (s.Ran+s.Waited).Seconds())
		if wanted >= fullThread*seconds && ran >= fullRan*seconds {
			all.Full++
		}
		all.Top = max(all.Top, wanted)
	}
	return all
}
