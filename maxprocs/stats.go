package maxprocs

import (
	"runtime"
	"time"

	"github.com/millicore/millicore/internal/cgroup"
)

// Stats are figures for monitoring a process under a container's limits. What was not
// measured is nil, so that it cannot be taken for 0.
//
// The counters never decrease while the process runs. The first [ReadStats] has what the
// kernel counted since the group's creation; each later one adds what was counted since the
// one before. When another group's limit becomes the lowest, or the process is moved, its
// counters are added from the first reading there on: what either group counted between
// these two readings is left out.
type Stats struct {
	GOMAXPROCS int
	Limit      CPULimit // in effect

	// Of the group that sets the CPU limit in effect (Limit.Dir), or of the process's own
	// if there is no limit. If it is an ancestor, such as a pod's group, they include
	// everything that runs in it.
	Throttling *Throttling
	CPUTime    *time.Duration // used

	// Wait is how long the threads of this process were runnable without having a CPU,
	// summed over the threads: throttled, or in the queue behind others. What a thread
	// waited between the last reading and its end is not in it.
	Wait *time.Duration

	Memory   Memory
	Pressure Pressure

	Err error // the first reason why a figure that this kernel has could not be read
}

// Throttling are the kernel's counters of a CPU limit.
type Throttling struct {
	Periods          int64         // in which the group ran; fewer than have elapsed
	ThrottledPeriods int64         // in which the group was throttled
	Throttled        time.Duration // summed over CPUs: it can exceed the elapsed time
}

// Memory are the kernel's figures of a memory limit, in bytes.
type Memory struct {
	Limit *int64 // in effect; nil also if there is none

	// WorkingSet is what is in use without page cache that can be dropped first, as
	// kubelets compute it, of the group that sets the limit, or of the process's own if
	// there is no limit or a group that is not visible sets it.
	WorkingSet *int64

	// OOMKills counts the processes that the kernel killed for a lack of memory in the
	// process's own group; on v2 also in the groups below it.
	OOMKills *int64
}

// Pressure is the pressure stall information (PSI) of the process's own group: how long
// its tasks waited for a resource. Only cgroup v2 has it.
type Pressure struct{ CPU, Memory, IO Stall }

// Stall is how long at least one task waited for a resource, and how long all of them did.
type Stall struct{ Some, Full *time.Duration }

// counted are the counters of this process.
var counted counters

// ReadStats reads the present figures from small files: some 20, and one for each thread.
// Several goroutines may call it; they read one after the other.
func ReadStats() Stats { return thisHost.stats(&counted) }

func (h host) stats(sum *counters) Stats {
	sum.mu.Lock()
	defer sum.mu.Unlock()
	s := Stats{GOMAXPROCS: runtime.GOMAXPROCS(0)}
	self, err := h.fs.Self(cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.Unified)
	if err != nil {
		s.Limit, s.Err = CPULimit{State: Unknown, Err: err}, err
		return s
	}
	s.Limit = limitOf(self.CPULimit())
	own, err := self.Open()
	if err != nil {
		s.Err = err
		return s
	}
	defer own.Close()

	s.readCPU(self, own, sum)
	if delays := measured(&s.Err, h.fs.RunDelays()); delays != nil {
		wait := sum.addDelays(*delays)
		s.Wait = &wait
	}
	s.readMemory(self, own, sum)
	s.readPressure(self, own, sum)
	return s
}

func (s *Stats) readCPU(self cgroup.Group, own *cgroup.Reader, sum *counters) {
	var cpu cgroup.CPUStat
	dir := s.readAt(self, own, cgroup.CPU, s.Limit.Dir, func(r *cgroup.Reader) error { return r.ReadCPU(&cpu) })
	if used := measured(&s.Err, cpu.Usage); used != nil {
		s.CPUTime = duration(sum.add("cpu", dir, int64(*used)))
	}
	periods, throttled, lasted := measured(&s.Err, cpu.Periods), measured(&s.Err, cpu.ThrottledPeriods), measured(&s.Err, cpu.Throttled)
	if periods != nil && throttled != nil && lasted != nil {
		total := sum.add("throttling", dir, *periods, *throttled, int64(*lasted))
		s.Throttling = &Throttling{Periods: total[0], ThrottledPeriods: total[1], Throttled: time.Duration(total[2])}
	}
}

func (s *Stats) readMemory(self cgroup.Group, own *cgroup.Reader, sum *counters) {
	limit := self.MemoryLimit()
	if limit.State == cgroup.Limited {
		s.Memory.Limit = &limit.Bytes
	} else if s.Err == nil {
		s.Err = limit.Err
	}
	var memory, ownMemory cgroup.MemoryStat
	s.readAt(self, own, cgroup.Memory, limit.Dir, func(r *cgroup.Reader) error { return r.ReadMemory(&memory) })
	s.Memory.WorkingSet = measured(&s.Err, memory.WorkingSet())
	dir := s.readAt(self, own, cgroup.Memory, "", func(r *cgroup.Reader) error { return r.ReadMemory(&ownMemory) })
	kills := ownMemory.OOMKills
	if kills.State() == cgroup.Absent { // v1
		kills = ownMemory.OOMKillsLocal
	}
	if n := measured(&s.Err, kills); n != nil {
		total := sum.add("kills", dir, *n)[0]
		s.Memory.OOMKills = &total
	}
}

func (s *Stats) readPressure(self cgroup.Group, own *cgroup.Reader, sum *counters) {
	var pressure cgroup.Pressure
	dir := s.readAt(self, own, cgroup.Unified, "", func(r *cgroup.Reader) error { return r.ReadPressure(&pressure) })
	stall := func(name string, v cgroup.Value[cgroup.Stall]) *time.Duration {
		stall := measured(&s.Err, v)
		if stall == nil {
			return nil
		}
		return duration(sum.add(name, dir, int64(stall.Total)))
	}
	s.Pressure = Pressure{
		CPU:    Stall{stall("some cpu", pressure.CPU.Some), stall("full cpu", pressure.CPU.Full)},
		Memory: Stall{stall("some memory", pressure.Memory.Some), stall("full memory", pressure.Memory.Full)},
		IO:     Stall{stall("some io", pressure.IO.Some), stall("full io", pressure.IO.Full)},
	}
}

// readAt reads with the reader of the group whose directory of a controller is dir: the
// process's own group, which dir "" means too, or one above it. It returns the directory.
func (s *Stats) readAt(self cgroup.Group, own *cgroup.Reader, c cgroup.Controller, dir string, read func(*cgroup.Reader) error) string {
	place, _ := self.Place(c).Get()
	reader, err := own, error(nil)
	if dir == "" || dir == place.Dir {
		dir = place.Dir
	} else {
		var above cgroup.Group
		if above, err = self.Above(c, dir); err == nil {
			reader, err = above.Open()
		}
		if err == nil {
			defer reader.Close()
		}
	}
	if err == nil {
		err = read(reader)
	}
	if s.Err == nil {
		s.Err = err
	}
	return dir
}

// measured returns a value; nil if it was not measured. Its error is kept in err if that
// has none.
func measured[T any](err *error, v cgroup.Value[T]) *T {
	value, ok := v.Get()
	if !ok {
		if *err == nil {
			*err = v.Err()
		}
		return nil
	}
	return &value
}

// duration is the only counter of a sum, of nanoseconds.
func duration(total []int64) *time.Duration {
	d := time.Duration(total[0])
	return &d
}
