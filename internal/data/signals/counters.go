package signals

import "time"

// Counters are a replica's running totals at one moment, as a platform reads them from
// its cgroup. A nil pointer means "not measured".
type Counters struct {
	At               time.Time // when they were read
	CPU              *float64  // CPU seconds since the group was created
	Periods          *int64
	ThrottledPeriods *int64
	Throttled        *float64 // seconds, summed over CPUs
	Bursts           *int64
	OOMKills         *int64
	CPUPressure      *float64 // PSI "some", seconds
	MemoryStall      *float64 // PSI "some" of memory, seconds
	Refaults         *int64   // pages read again after they were evicted
	ListenDrops      *int64   // attempts to connect that were dropped at its listening sockets
	ProcessesEnded   *int64   // processes beside its main one that ended
	Restarts         int64

	// Readings of now, not totals.
	CPULimit    *float64 // CPUs; nil: no limit
	Memory      *int64   // bytes
	MemoryPeak  *int64   // bytes
	MemoryLimit *int64   // bytes; nil: no limit
	Up          bool
	AcceptQueue *int64   // connections that wait to be accepted
	Backlog     *int64   // how many may wait
	Threads     *Threads // since the reading before; nil: not read now
	Stopped     bool     // held by a signal (SIGSTOP), or by a frozen control group
}

// Measurable is the shortest stretch over which CPU time is a figure in cores. Some
// counters have a resolution of 10 ms, the clock tick of /proc, and those of a service,
// the generator and the host are read up to a few milliseconds apart. Over 200 ms that is
// an error of up to 5% of a CPU; over 2 ms it is several CPUs.
const Measurable = 200 * time.Millisecond

// Between returns the server frame from one reading to the next. If either reading
// lacks a counter, so does the frame. If a counter decreased, because the group is a
// new one, it counts from zero.
func Between(before, after Counters) Server {
	return Server{
		CPU:              risen(before.CPU, after.CPU),
		CPULimit:         after.CPULimit,
		Periods:          risen(before.Periods, after.Periods),
		ThrottledPeriods: risen(before.ThrottledPeriods, after.ThrottledPeriods),
		Throttled:        risen(before.Throttled, after.Throttled),
		Bursts:           risen(before.Bursts, after.Bursts),
		Memory:           after.Memory,
		MemoryPeak:       after.MemoryPeak,
		MemoryLimit:      after.MemoryLimit,
		OOMKills:         risen(before.OOMKills, after.OOMKills),
		Restarts:         after.Restarts - before.Restarts,
		Up:               after.Up,
		Stopped:          after.Stopped,
		CPUPressure:      risen(before.CPUPressure, after.CPUPressure),
		MemoryStall:      risen(before.MemoryStall, after.MemoryStall),
		Refaults:         risen(before.Refaults, after.Refaults),
		ListenDrops:      dropped(before.ListenDrops, after.ListenDrops),
		AcceptQueue:      after.AcceptQueue,
		Backlog:          after.Backlog,
		Threads:          after.Threads,
		ProcessesEnded:   risen(before.ProcessesEnded, after.ProcessesEnded),
	}
}

func risen[T int64 | float64](before, after *T) *T {
	if before == nil || after == nil {
		return nil
	}
	d := *after - *before
	if d < 0 {
		d = *after
	}
	return &d
}

// dropped is how many attempts to connect were dropped. Their number falls where one of
// several sockets is closed, with its own: then none is known to be new.
func dropped(before, after *int64) *int64 {
	if before != nil && after != nil && *after < *before {
		return new(int64)
	}
	return risen(before, after)
}

// Plus adds measured values: unknown plus unknown stays unknown.
func Plus[T ~int64 | ~float64](sum, v *T) *T {
	if v == nil {
		return sum
	}
	total := *v
	if sum != nil {
		total += *sum
	}
	return &total
}
