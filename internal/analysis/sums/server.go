package sums

import (
	"maps"

	"github.com/millicore/millicore/internal/data/signals"
)

// Server sums the server frames of all replicas of a service in measured intervals.
type Server struct {
	Periods          *int64
	ThrottledPeriods *int64
	Throttled        *float64 // seconds, over CPUs and replicas
	MemoryPeak       *int64   // the highest of one replica
	MemoryUsed       *int64   // the highest at the end of an interval, for a service whose kernel peak is that of an earlier trial
	MemoryTogether   *int64   // the highest of all replicas at the end of one interval
	MemoryLimit      *int64
	OOMKills         *int64   // in every phase
	Restarts         *int64   // likewise
	ListenDrops      *int64   // attempts to connect that were dropped at its sockets
	AcceptQueue      *int64   // the longest seen at the end of an interval
	Backlog          *int64   // of that queue
	Refaults         *int64   // pages read again after they were evicted
	ProcessesEnded   *int64   // beside the main ones
	MostCores        *float64 // the highest CPU of all replicas together in one interval

	Scaled Scaled // if the number of replicas changes

	replicas map[int]bool
	seconds  float64 // of frames that measured CPU, summed over replicas
	cpu      *float64
	limit    *float64 // CPUs of one replica
	threads  threads
	stalled  *float64 // seconds in which a task waited for memory, summed over replicas

	at    int     // seq of the latest interval
	now   int64   // bytes of memory of its replicas so far
	cores float64 // and CPUs that they used
}

// NewServer returns the sums of no frame.
func NewServer() Server { return Server{replicas: map[int]bool{}} }

// AddDeaths counts the OOM kills and restarts of a frame of any phase.
func (s *Server) AddDeaths(f *signals.Frame) {
	s.OOMKills = signals.Plus(s.OOMKills, f.Server.OOMKills)
	s.Restarts = signals.Plus(s.Restarts, &f.Server.Restarts)
}

func (s *Server) add(f *signals.Frame) {
	k := f.Server
	s.replicas[f.Index] = true
	s.AddDeaths(f)
	s.MemoryPeak = Higher(s.MemoryPeak, k.MemoryPeak)
	s.MemoryPeak = Higher(s.MemoryPeak, k.Memory)
	s.MemoryUsed = Higher(s.MemoryUsed, k.Memory)
	s.MemoryLimit = Higher(s.MemoryLimit, k.MemoryLimit)
	s.addTogether(f)
	if f.Phase != signals.Measure {
		return
	}
	if k.CPU != nil {
		s.seconds += f.Seconds()
	}
	s.cpu = signals.Plus(s.cpu, k.CPU)
	s.Periods = signals.Plus(s.Periods, k.Periods)
	s.ThrottledPeriods = signals.Plus(s.ThrottledPeriods, k.ThrottledPeriods)
	s.Throttled = signals.Plus(s.Throttled, k.Throttled)
	s.limit = Higher(s.limit, k.CPULimit)
	s.ListenDrops = signals.Plus(s.ListenDrops, k.ListenDrops)
	s.AcceptQueue, s.Backlog = Higher(s.AcceptQueue, k.AcceptQueue), Higher(s.Backlog, k.Backlog)
	s.Refaults = signals.Plus(s.Refaults, k.Refaults)
	s.ProcessesEnded = signals.Plus(s.ProcessesEnded, k.ProcessesEnded)
	s.stalled = signals.Plus(s.stalled, k.MemoryStall)
	if k.Threads != nil && k.Threads.Seconds < coversLittle*f.Seconds() {
		s.threads.add(k.Threads)
	}
}

// addTogether sums what the replicas have together at the end of an interval, or used in
// it. All frames of an interval come before those of the next one.
func (s *Server) addTogether(f *signals.Frame) {
	if f.Seq != s.at {
		s.at, s.now, s.cores = f.Seq, 0, 0
	}
	if f.Server.Memory != nil {
		s.now += *f.Server.Memory
		s.MemoryTogether = Higher(s.MemoryTogether, &s.now)
	}
	if f.Server.CPU != nil && f.Phase == signals.Measure && f.Seconds() >= signals.Measurable.Seconds() {
		s.cores += *f.Server.CPU / f.Seconds()
		s.MostCores = Higher(s.MostCores, &s.cores)
	}
}

func (s *Server) merge(o *Server) {
	maps.Copy(s.replicas, o.replicas)
	s.seconds += o.seconds
	s.cpu = signals.Plus(s.cpu, o.cpu)
	s.Periods = signals.Plus(s.Periods, o.Periods)
	s.ThrottledPeriods = signals.Plus(s.ThrottledPeriods, o.ThrottledPeriods)
	s.Throttled = signals.Plus(s.Throttled, o.Throttled)
	s.limit = Higher(s.limit, o.limit)
	s.ListenDrops = signals.Plus(s.ListenDrops, o.ListenDrops)
	s.AcceptQueue, s.Backlog = Higher(s.AcceptQueue, o.AcceptQueue), Higher(s.Backlog, o.Backlog)
	s.Refaults = signals.Plus(s.Refaults, o.Refaults)
	s.ProcessesEnded = signals.Plus(s.ProcessesEnded, o.ProcessesEnded)
	s.stalled = signals.Plus(s.stalled, o.stalled)
	s.threads.merge(o.threads)
	s.OOMKills = signals.Plus(s.OOMKills, o.OOMKills)
	s.Restarts = signals.Plus(s.Restarts, o.Restarts)
	s.MemoryPeak = Higher(s.MemoryPeak, o.MemoryPeak)
	s.MemoryUsed = Higher(s.MemoryUsed, o.MemoryUsed)
	s.MemoryTogether = Higher(s.MemoryTogether, o.MemoryTogether)
	s.MemoryLimit = Higher(s.MemoryLimit, o.MemoryLimit)
	s.MostCores = Higher(s.MostCores, o.MostCores)
	s.Scaled.merge(&o.Scaled)
}

// count returns how many replicas there were, on average if their number changed.
func (s *Server) count() float64 {
	if mean := s.Scaled.Mean(); mean != nil {
		return *mean
	}
	return float64(len(s.replicas))
}

// Cores is the CPU of all replicas together; nil if it was not measured, or for too short
// a time.
func (s *Server) Cores() *float64 {
	if s.cpu == nil || s.seconds < signals.Measurable.Seconds()*float64(max(1, len(s.replicas))) {
		return nil
	}
	return new(*s.cpu / s.seconds * s.count())
}

// LimitCores is the limit of all replicas together; nil: none.
func (s *Server) LimitCores() *float64 {
	if s.limit == nil {
		return nil
	}
	return new(*s.limit * s.count())
}

// OfLimit is the CPU as a share of the limit, 0..1; nil without a limit.
func (s *Server) OfLimit() *float64 { return Over(s.Cores(), s.LimitCores()) }

// ThrottledShare is throttled periods as a share of all periods, 0..1.
func (s *Server) ThrottledShare() *float64 {
	if s.Periods == nil || s.ThrottledPeriods == nil || *s.Periods == 0 {
		return nil
	}
	return new(float64(*s.ThrottledPeriods) / float64(*s.Periods))
}

// Refused is the share, 0..1, of the CPU time that the service wanted and that its limit
// refused: throttled ÷ (used + throttled), both summed over CPUs. nil: not measured.
func (s *Server) Refused() *float64 {
	if s.Throttled == nil || s.cpu == nil {
		return nil
	}
	return Over(s.Throttled, new(*s.Throttled+*s.cpu))
}

// CPUSeconds is the CPU time of all replicas; nil: not measured.
func (s *Server) CPUSeconds() *float64 { return s.cpu }

// Backlogs is how many connections may wait for all replicas together.
func (s *Server) Backlogs() float64 { return float64(Value(s.Backlog)) * max(1, s.count()) }

// MemoryStalled is the share of the time, 0..1, in which something in the service waited
// for memory; nil: not measured.
func (s *Server) MemoryStalled() *float64 { return Over(s.stalled, &s.seconds) }

// PerThrottledPeriod is the seconds in which a throttled period stopped it, summed over
// CPUs; nil: not measured, or it was never throttled.
func (s *Server) PerThrottledPeriod() *float64 {
	if s.ThrottledPeriods == nil {
		return nil
	}
	return Over(s.Throttled, new(float64(*s.ThrottledPeriods)))
}

// PeakTogether is the highest memory of all replicas at one time. The kernel keeps the
// peak of each replica but not its time. For one replica that peak is the answer. For
// several it is the highest sum at the end of an interval, and at least the highest
// peak of one.
func (s *Server) PeakTogether() *int64 { return Higher(s.MemoryPeak, s.MemoryTogether) }

// Scaled sums up how many replicas there were during the measurement.
type Scaled struct {
	Least, Most int

	seconds  float64
	replicas float64 // times seconds
}

func (s *Scaled) add(f *signals.Frame) {
	n := f.Scale.Replicas
	s.merge(&Scaled{Least: n, Most: n, seconds: f.Seconds(), replicas: float64(n) * f.Seconds()})
}

func (s *Scaled) merge(o *Scaled) {
	switch {
	case o.seconds == 0:
		return
	case s.seconds == 0:
		s.Least = o.Least
	}
	s.Least, s.Most = min(s.Least, o.Least), max(s.Most, o.Most)
	s.seconds += o.seconds
	s.replicas += o.replicas
}

// Mean is the mean number of replicas over time; nil if the service was not scaled.
func (s *Scaled) Mean() *float64 { return Over(&s.replicas, &s.seconds) }
