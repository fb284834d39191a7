package lab

import (
	"time"

	"github.com/millicore/millicore/internal/platform/meter"
	"github.com/millicore/millicore/internal/signals"
)

// sampler reads, at the end of each interval, the counters of all that a trial
// started, and gives the server and host halves of the frames.
type sampler struct {
	trial, cell int
	cut         signals.Intervals
	began       time.Time // when the load begins
	sources     []*source
	scale       *scale           // nil: the service has the same replicas all the time
	host        *meter.HostTimes // nil where the system does not tell
	own         float64
	out         func(*signals.Frame)
	blind       bool // the host's half is left out
}

// source is one thing with counters.
type source struct {
	of    string
	index int
	role  role
	read  func() (signals.Counters, error)
	last  signals.Counters
	known bool
}

type role int

const (
	roleService role = iota
	roleDependency
	roleAgent
)

// run samples until stop is closed, which ends the interval under way.
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
		case <-stop:
			// What is left of an interval that hardly began says nothing.
			if time.Since(s.began.Add(start)) > s.cut.Every/20 {
				s.sample(seq, phase)
			}
			return
		}
	}
}

// first reads where the counters stand as the load begins. Deaths since a
// replica was started are left for the first frame.
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
	if h, err := meter.ReadHost(); err == nil && !s.blind {
		s.host = &h
	}
	s.own = ownCPU()
}

func (s *sampler) sample(seq int, phase signals.Phase) {
	var used [roleAgent + 1]float64 // CPU seconds by role
	frame := func(from, to time.Time) *signals.Frame {
		return &signals.Frame{Trial: s.trial, Cell: s.cell, Seq: seq, Start: from.UnixNano(), End: to.UnixNano(), Phase: phase}
	}
	if s.scale != nil {
		from := s.scale.at
		s.rescale()
		f := frame(from, s.scale.at)
		f.Of, f.Scale = s.scale.of, &signals.Scale{Replicas: s.scale.replicas}
		s.out(f)
	}
	for _, src := range s.sources {
		c, err := src.read()
		if err != nil {
			continue // the frame is missing: not measured
		}
		if src.known {
			half := signals.Between(src.last, c)
			if half.CPU != nil {
				used[src.role] += *half.CPU
			}
			if src.role != roleAgent { // an agent's own frames hold what it used
				f := frame(src.last.At, c.At)
				f.Of, f.Index, f.Server = src.of, src.index, &half
				s.out(f)
			}
		}
		src.last, src.known = c, true
	}
	own := ownCPU()
	if s.blind {
		return
	}
	now, err := meter.ReadHost()
	if err == nil && s.host != nil {
		f := frame(s.host.At, now.At)
		f.Host = hostHalf(*s.host, now, used, own-s.own)
		s.out(f)
	}
	s.own = own
	if err == nil {
		s.host = &now
	}
}

// hostHalf divides the host's CPU time. What nobody here used is foreign; the
// host's clock ticks in 10 ms, so it is never less than nothing but by error.
func hostHalf(before, after meter.HostTimes, used [roleAgent + 1]float64, own float64) *signals.Host {
	s := after.At.Sub(before.At).Seconds()
	if s <= 0 {
		s = 1e-9
	}
	h := &signals.Host{
		CPUs: after.CPUs, Idle: max(0, after.Idle-before.Idle) / s, Steal: max(0, after.Steal-before.Steal) / s,
		Services: used[roleService] / s, Dependencies: used[roleDependency] / s, Agents: used[roleAgent] / s, Lab: own / s,
	}
	h.Busy = max(0, float64(h.CPUs)-h.Idle-h.Steal)
	h.Foreign = max(0, h.Busy-h.Services-h.Dependencies-h.Agents-h.Lab)
	return h
}
