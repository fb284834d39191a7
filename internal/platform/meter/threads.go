package meter

import (
	"slices"
	"strings"
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
	// A thread that never sleeps ran or waited for awakeThread of the time at least, as the
	// counters have it: a wait that lasts is not counted yet, and a CPU limit may make one last
	// for nearly a period, 0.1 of 0.5 s.
	awakeThread = 0.8
)

// Threads reads how busy the threads of a replica are. The zero value is ready. Several
// goroutines may use it.
type Threads struct {
	mu     sync.Mutex
	at     time.Time
	before map[int]proc.Schedstat // by thread
	// collects has which threads of before collect garbage.
	collects map[int]bool
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
	now, collects := make(map[int]proc.Schedstat, len(t.before)), make(map[int]bool, len(t.before))
	for _, pid := range pids {
		if proc.ReadSchedstats(pid, now, mostThreads); len(now) >= mostThreads {
			now = nil
			break
		}
		for id := range now { // a name is read once, and a thread of another process is named already
			if _, named := collects[id]; named {
				continue
			}
			is, known := t.collects[id]
			if !known {
				is = collector(proc.ThreadName(pid, id))
			}
			collects[id] = is
		}
	}
	before, seconds := t.before, at.Sub(t.at).Seconds()
	t.at, t.before, t.collects = at, now, collects
	if len(before) == 0 || len(now) == 0 {
		return nil
	}
	return threadsBetween(before, now, collects, seconds)
}

// collectors are how the names of threads begin that collect garbage: of HotSpot with any of
// its collectors (src/hotspot/share/gc; Serial collects in the VM thread, which does little
// else), and of .NET (src/coreclr/vm/gcenv.ee.cpp).
var collectors = []string{"GC Thread#", "G1 ", "VM Thread", "ZWorker", "ZDriver", "Shenandoah GC", ".NET Server GC", ".NET BGC", ".NET GC"}

// collector reports whether a thread of this name collects garbage.
func collector(name string) bool {
	return slices.ContainsFunc(collectors, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

func threadsBetween(before, now map[int]proc.Schedstat, collects map[int]bool, seconds float64) *signals.Threads {
	all := &signals.Threads{Seconds: seconds, Count: len(now)}
	for id, s := range now {
		if b := before[id]; b.Ran <= s.Ran && b.Waited <= s.Waited { // else it is another thread with its number
			s.Ran, s.Waited = s.Ran-b.Ran, s.Waited-b.Waited
		}
		ran, wanted := s.Ran.Seconds(), min(seconds, (s.Ran+s.Waited).Seconds())
		if wanted >= fullThread*seconds && ran >= fullRan*seconds {
			all.Full++
		}
		if wanted >= awakeThread*seconds {
			all.Awake += ran
		}
		all.Top = max(all.Top, wanted)
		if collects[id] {
			all.Collector += ran
		}
	}
	return all
}
