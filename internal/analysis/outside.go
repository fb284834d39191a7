package analysis

import (
	"fmt"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/search"
)

const (
	// fewLate is so few late requests that they may be chance: of a hundred requests,
	// one is the 99th percentile.
	fewLate = 3
	// fullHost is so little idle CPU that something certainly waited for it.
	fullHost = 0.05
)

// outside returns ByGenerator or ByHost if the stretch says more about them than about
// the service; "" otherwise.
//
// The send lag shows whether the generator was the limit. In a closed loop a user
// sends only after the answer to the request before, so little is late, however slow
// the generator is. There the agent's wait for a CPU shows it, too.
//
// Errors and deaths are the service's own, whatever the host does. If others took the
// CPU, neither the generator nor the host was too weak.
func (s stretch) outside() string {
	server, noise := &s.sums.Server, &s.sums.Noise
	if noise.Sources() != 0 || s.goal.failed(s.sums) || deref(server.OOMKills) > 0 || deref(server.Restarts) > 0 {
		return ""
	}
	if noise.AgentThrottled() { // part of its latencies is its own, whatever limits the service
		return ByGenerator
	}
	lagged := noise.SentLate() && noise.SendLag().Above(disturbance.LateLag) >= fewLate
	if (lagged || s.lagMisses()) && s.inTime() { // only the lag misses the objective
		return ByGenerator
	}
	if used := server.OfLimit(); used != nil && *used >= atLimit {
		return ""
	}
	if share := server.ThrottledShare(); share != nil && *share >= throttledLittle {
		return ""
	}
	fullest := noise.Machines().Fullest()
	switch waited := !s.open && noise.Waited(); {
	case lagged:
		return ByGenerator
	case fullest != nil && fullest.IdleShare() < fullHost:
		return ByHost
	case waited && noise.LowIdle(): // perhaps for the service
		return ByHost
	case waited:
		return ByGenerator
	}
	return ""
}

// outsideText describes the figures which show that the generator or the host was the
// limit.
func (s stretch) outsideText(by string) string {
	if by == ByHost {
		m := s.sums.Noise.Machines().Fullest()
		return fmt.Sprintf("%.2f cores of %d were idle%s", m.IdleCores(), m.CPUs, m.On())
	}
	return s.sums.Noise.LimitText()
}

// generatorLimited reports whether the generator was the limit, so that rates are lower
// bounds. It was if it sent late. In a closed loop, where waiting for answers bounds
// the lag, it also was if a search would say so: see outside. Without answers there is
// no rate that could be a bound.
func (s stretch) generatorLimited() bool {
	if s.sums.Client.Latency.Count() == 0 {
		return false
	}
	return s.sums.Noise.SentLate() || s.outside() == ByGenerator
}

// lagMisses reports whether so many requests were sent so late that the lag takes half
// of the objective's latency. If the answers themselves were in time, the generator
// caused the miss, even if it was one request in a short window.
func (s stretch) lagMisses() bool {
	if !s.goal.hasLatency() {
		return false
	}
	h := s.sums.Noise.SendLag()
	return search.Exceeds(float64(h.Above(s.goal.objective.Latency/2)), float64(h.Count()), s.goal.allowed().AllowedLate)
}

// inTime reports whether the service time met the objective's latency. It includes
// neither the generator's lag nor the wait for a connection.
func (s stretch) inTime() bool {
	if !s.goal.hasLatency() {
		return false
	}
	h := s.sums.Client.Service
	return !search.Exceeds(float64(h.Above(s.goal.objective.Latency)), float64(h.Count()), s.goal.allowed().AllowedLate)
}
