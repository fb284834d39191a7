package lab

import (
	"time"

	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/meter"
)

// sampler reads, at the end of each interval, the counters of everything that a trial
// started. It produces the server and host halves of the frames.
type sampler struct {
	trial, cell int
	cut         signals.Intervals
	began       time.Time // when the load begins
	sources     []*source
	scale       *scale           // nil: the service is not autoscaled
	host        *meter.HostTimes // nil: the system does not show it
	own         float64          // CPU time of this process, in seconds
	out         func(*signals.Frame)
	noHost      bool                    // do not record this machine
	neighbours  *neighbours             // nil: unknown
	machines    platform.MachineSampler // nil: no other machines are measured
	sampled     func(seq int)           // called when everything of an interval was read
	violated    func(*source, string)   // called when a limit of a source does not hold
	held        func(*source)           // called when a signal holds an agent
}

// source is a replica or an agent, with its counters.
type source struct {
	of      string
	index   int
	machine string // on which it runs; "": not known
	role    role
	read    func() (signals.Counters, error)
	stopped func() bool   // whether a signal holds an agent; nil: not known
	broken  func() string // as in platform.LimitVerifier; nil: its limits cannot be verified
	last    signals.Counters
	known   bool
}

type role int

const (
	roleService role = iota
	roleDependency
	roleAgent
)

// of is the sum to which a role's CPU time is added.
func (r role) of(u *meter.Used) *float64 {
	return map[role]*float64{roleService: &u.Services, roleDependency: &u.Dependencies, roleAgent: &u.Agents}[r]
}

// newSource returns the source of a replica.
func newSource(of string, index int, r role, replica platform.Replica) *source {
	s := &source{of: of, index: index, role: r, read: replica.Counters}
	if placed, ok := platform.As[platform.MachineNamer](replica); ok {
		s.machine = placed.Machine()
	}
	if v, ok := platform.As[platform.LimitVerifier](replica); ok {
		s.broken = v.LimitBroken
	}
	return s
}

// run samples until stop is closed, which ends the current interval.
func (s *sampler) run(stop <-chan struct{}) {
	time.Sleep(time.Until(s.began))
	s.first()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for seq := 0; ; seq++ {
		start, end, phase := s.cut.At(seq)
		timer.Reset(time.Until(s.began.Add(end)))
		select {
		case <-timer.C:
			s.sample(seq, phase)
			s.verify()
		case <-stop:
			// The very beginning of an interval is too short to show anything.
			if time.Since(s.began.Add(start)) > s.cut.Every/20 {
				s.sample(seq, phase)
			}
			s.verify()
			s.neighbours.look(true)
			return
		}
	}
}

// first reads the counters at the begin of the load. The deaths since the start of a
// replica stay for the first frame.
func (s *sampler) first() {
	s.rescale()
	for _, src := range s.sources {
		c, err := src.read()
		if err != nil {
			continue
		}
		if src.known {
			c.Restarts, c.OOMKills = src.last.Restarts, src.last.OOMKills
		}
		src.last, src.known = c, true
	}
	if s.machines != nil {
		s.machines.Machines() // discards the time before the load
	}
	if h, err := meter.ReadHost(); err == nil && !s.noHost {
		s.host = &h
	}
	s.own = ownCPU()
	s.neighbours.look(true)
}

// verify verifies the limits of the replicas.
func (s *sampler) verify() {
	for _, src := range s.sources {
		if src.broken == nil {
			continue
		}
		if why := src.broken(); why != "" {
			s.violated(src, why)
		}
	}
}

// sample reads everything at the end of an interval.
func (s *sampler) sample(seq int, phase signals.Phase) {
	defer s.sampled(seq)
	var used meter.Used
	frame := func(from, to time.Time) *signals.Frame {
		return &signals.Frame{Trial: s.trial, Cell: s.cell, Seq: seq, Phase: phase,
			Start: steady(s.began, from).UnixNano(), End: steady(s.began, to).UnixNano()}
	}
	if s.scale != nil {
		from := s.scale.at
		s.rescale()
		f := frame(from, s.scale.at)
		f.Of, f.Scale = s.scale.of, &signals.Scale{Replicas: s.scale.replicas}
		s.out(f)
	}
	for _, src := range s.sources {
		if src.stopped != nil && src.stopped() {
			s.held(src)
		}
		c, err := src.read()
		if err != nil {
			continue // not measured: the record has no frame
		}
		if src.known {
			half := signals.Between(src.last, c)
			if half.CPU != nil {
				*src.role.of(&used) += *half.CPU
			}
			if src.role != roleAgent { // an agent's own frames have its CPU
				f := frame(src.last.At, c.At)
				f.Of, f.Index, f.Machine, f.Server = src.of, src.index, src.machine, &half
				s.out(f)
			}
		}
		src.last, src.known = c, true
	}
	if s.machines != nil {
		for _, m := range s.machines.Machines() {
			f := frame(m.Start, m.End)
			f.Machine, f.Host = m.Name, &m.Host
			s.out(f)
		}
	}
	if s.noHost {
		return
	}
	own := ownCPU()
	used.Lab = own - s.own
	s.own = own
	now, err := meter.ReadHost()
	if err != nil {
		return
	}
	if s.host != nil {
		f := frame(s.host.At, now.At)
		half := meter.HostHalf(*s.host, now, used)
		f.Host = &half
		s.out(f)
	}
	s.host = &now
	s.neighbours.look(false)
}
