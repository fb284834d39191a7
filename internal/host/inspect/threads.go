package inspect

import (
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/threads"
)

// mostThreads is the maximum number of threads of one process that are read, and ofAll of
// all processes of a scan: each costs two reads.
const mostThreads, ofAll = 512, 8192

// threads reads the counters of at most the given number of threads of a process, which has
// so many (0: not known); nil if there are none to be read.
func (s *Scanner) threads(pid, had, most int) *threads.Reading {
	names := []string{strconv.Itoa(pid)}
	if had != 1 {
		var err error
		if names, err = s.procfs.Names(pid, "task", most+1); err != nil {
			return nil
		}
	}
	r := &threads.Reading{At: s.now(), Of: make(map[int]proc.Schedstat, len(names)), Truncated: len(names) > most}
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
			r.Of[tid] = stat
		}
	}
	if len(r.Of) == 0 {
		return nil
	}
	return r
}

// allThreads reads the threads of the processes under a CPU limit, by pid.
func (s *Scanner) allThreads(host *Host) map[int]*threads.Reading {
	all := map[int]*threads.Reading{}
	left := ofAll
	for _, p := range host.Processes {
		if p.CPU.State != Limited || left <= 0 {
			continue
		}
		if r := s.threads(p.PID, p.Info.Threads, min(mostThreads, left)); r != nil {
			all[p.PID] = r
			left -= len(r.Of)
		}
	}
	return all
}

// addThreads reads the threads again.
func (s *Scanner) addThreads(host *Host, before map[int]*threads.Reading) {
	for i := range host.Processes {
		p := &host.Processes[i]
		was, ok := before[p.PID]
		st, err := s.stat(p.PID)
		if !ok || err != nil || st.Started != p.Started {
			continue
		}
		if now := s.threads(p.PID, st.Threads, mostThreads); now != nil {
			p.Threads = now.Since(was)
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
