package inspect

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
)

// Threads is what the threads of a process did over a watch.
type Threads struct {
	Length time.Duration // of the watch
	Read   int           // threads that were read at its end
	// Truncated: there were more than mostThreads; the others were not read.
	Truncated bool
	Busy      int // threads that ran for at least busyThread of the watch
	Full      int // those that ran or waited for a CPU all the time
	// Ran and Waited are sums over the threads. Waited is the time runnable without a
	// CPU, and contains the throttled time.
	Ran, Waited time.Duration
	// BusyRan and BusyWaited are the same of the busy threads only.
	BusyRan, BusyWaited time.Duration
}

const (
	// busyThread is the share of a watch from which a thread counts as busy, and
	// fullThread that from which it counts as one that always wanted a CPU: the
	// only worker of a saturated gunicorn ran for 95% and waited for connections.
	busyThread, fullThread = 0.05, 0.9
	// mostThreads is the maximum number of threads of one process that are read, and
	// ofAll of all processes of a scan: each costs two reads.
	mostThreads, ofAll = 512, 8192
)

// Add returns the sum with another process's threads.
func (t Threads) Add(o Threads) Threads {
	t.Length, t.Truncated = max(t.Length, o.Length), t.Truncated || o.Truncated
	t.Read, t.Busy, t.Full = t.Read+o.Read, t.Busy+o.Busy, t.Full+o.Full
	t.Ran, t.Waited = t.Ran+o.Ran, t.Waited+o.Waited
	t.BusyRan, t.BusyWaited = t.BusyRan+o.BusyRan, t.BusyWaited+o.BusyWaited
	return t
}

// Share is a time as a number of CPUs over the watch.
func (t Threads) Share(d time.Duration) float64 {
	if t.Length <= 0 {
		return 0
	}
	return d.Seconds() / t.Length.Seconds()
}

// threads are the counters of a process's threads at one time, by their ids.
type threads struct {
	at        time.Time
	of        map[int]proc.Schedstat
	truncated bool
}

// threads reads the counters of at most the given number of threads; nil if there are
// none to be read.
func (s *Scanner) threads(pid, most int) *threads {
	names, err := s.procfs.Names(pid, "task", most+1)
	if err != nil {
		return nil
	}
	t := &threads{at: s.now(), of: make(map[int]proc.Schedstat, len(names)), truncated: len(names) > most}
	for _, name := range names[:min(len(names), most)] {
		tid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		text, err := s.read(pid, filepath.Join("task", name, "schedstat"))
		if err != nil {
			continue // it has ended, or the kernel does not count
		}
		if stat, err := proc.ParseSchedstat(text); err == nil {
			t.of[tid] = stat
		}
	}
	if len(t.of) == 0 {
		return nil
	}
	return t
}

// since returns what the threads did since an earlier reading. A thread that is not in
// it started in between. One that ended is not counted.
func (t *threads) since(before *threads) *Threads {
	d := &Threads{Length: t.at.Sub(before.at), Read: len(t.of), Truncated: t.truncated || before.truncated}
	if d.Length <= 0 {
		return nil
	}
	for tid, now := range t.of {
		was, known := before.of[tid]
		if !known && d.Truncated {
			continue // it may have run before the watch
		}
		ran, waited := max(now.Ran-was.Ran, 0), max(now.Waited-was.Waited, 0)
		d.Ran, d.Waited = d.Ran+ran, d.Waited+waited
		if d.Share(ran) >= busyThread {
			d.Busy++
			d.BusyRan, d.BusyWaited = d.BusyRan+ran, d.BusyWaited+waited
			if d.Share(ran+waited) >= fullThread {
				d.Full++
			}
		}
	}
	return d
}

// allThreads reads the threads of the processes under a CPU limit, by pid.
func (s *Scanner) allThreads(host *Host) map[int]*threads {
	all := map[int]*threads{}
	left := ofAll
	for _, p := range host.Processes {
		if p.CPU.State != Limited || left <= 0 {
			continue
		}
		if t := s.threads(p.PID, min(mostThreads, left)); t != nil {
			all[p.PID] = t
			left -= len(t.of)
		}
	}
	return all
}

// addThreads reads the threads again.
func (s *Scanner) addThreads(host *Host, before map[int]*threads) {
	for i := range host.Processes {
		p := &host.Processes[i]
		was, ok := before[p.PID]
		if st, err := s.stat(p.PID); !ok || err != nil || st.Started != p.Started {
			continue
		}
		if now := s.threads(p.PID, mostThreads); now != nil {
			p.Threads = now.since(was)
		}
	}
}

// times reads the CPU times of the host; nil if they could not be read.
func (s *Scanner) times() *proc.CPUTimes {
	text, err := os.ReadFile(filepath.Join(s.procDir(), "stat"))
	if err != nil {
		return nil
	}
	t, err := proc.ParseCPUTimes(text)
	if err != nil {
		return nil
	}
	return &t
}

// took adds what the host's CPUs did between two readings: the share of their time that its
// hypervisor gave to others, and how many were in use and idle.
func (h *Host) took(before, now *proc.CPUTimes) {
	if before == nil || now == nil || now.Total <= before.Total || now.Steal < before.Steal {
		return
	}
	total := float64(now.Total - before.Total)
	steal := float64(now.Steal-before.Steal) / total
	h.Steal = &steal
	if h.Online <= 0 || now.Idle < before.Idle { // the counter of waits for a disk may decrease
		return
	}
	idle := float64(now.Idle-before.Idle) / total * float64(h.Online)
	used := max(0, float64(h.Online)*(1-steal)-idle)
	h.Idle, h.InUse = &idle, &used
}

// pressureOf is the time in which at least one task of the group waited for a CPU (PSI);
// nil if the kernel does not report it.
func pressureOf(reader *cgroup.Reader) *time.Duration {
	var p cgroup.Pressure
	if reader.ReadPressure(&p) != nil {
		return nil
	}
	if some, ok := p.CPU.Some.Get(); ok {
		return &some.Total
	}
	return nil
}
