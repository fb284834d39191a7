package capacity

import (
	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// others returns who else may have caused what a stretch shows. A service whose requests
// are slower because others took its CPU may refuse some, or run into limits of its own,
// so errors may be theirs, too. A death is not, nor that no request has a good answer.
func (s Stretch) others() finding.Source {
	server := &s.Sums.Server
	if s.Goal.Failed(s.Sums) && (s.Sums.Client.Good == 0 || sums.Value(server.OOMKills) > 0 || sums.Value(server.Restarts) > 0) {
		return 0
	}
	return s.Sums.Noise.Sources()
}

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
// A host that a neighbour fills on purpose is what the service is measured on.
//
// Errors and deaths are not the generator's. If others took the CPU, neither the generator
// nor the host was too weak.
func (s Stretch) outside() string {
	server, noise := &s.Sums.Server, &s.Sums.Noise
	if noise.Sources() != 0 || s.Goal.Failed(s.Sums) || sums.Value(server.OOMKills) > 0 || sums.Value(server.Restarts) > 0 {
		return ""
	}
	if noise.AgentThrottled() || s.Sums.Client.NoPorts > 0 { // part of its latencies is its own, whatever limits the service
		return summary.ByGenerator
	}
	lagged := s.lagged() && noise.SendLag().Above(disturbance.LateLag) >= fewLate
	if (lagged || s.lagMisses()) && s.inTime() { // only the lag misses the objective
		return summary.ByGenerator
	}
	if used := server.OfLimit(); used != nil && *used >= atLimit {
		return ""
	}
	if throttledALittle(server) {
		return ""
	}
	fullest := noise.Machines().Fullest()
	switch waited := !s.Open && noise.Waited(); {
	case lagged:
		return summary.ByGenerator
	case s.beside == "" && fullest != nil && fullest.IdleShare() < fullHost:
		return summary.ByHost
	case waited && noise.LowIdle(): // perhaps for the service
		return summary.ByHost
	case waited:
		return summary.ByGenerator
	}
	return ""
}

// sentLess is the share of the requests that were due from which a generator that sent
// fewer could not reach the rate.
const sentLess = 0.98

// GeneratorLimited reports whether the generator could not send the load, so that rates
// are lower bounds. In an open loop it sent late or had no port, and sent fewer requests
// than were due, not counting those that waited for the service on busy connections. A
// generator that is late and sends them all reaches the rate: its latencies include its
// own delay, and nothing is a bound. In a closed loop lateness is enough, see lagged, and
// also if a search would say so: see outside. Without answers there is no rate that could
// be a bound.
func (s Stretch) GeneratorLimited() bool {
	c := &s.Sums.Client
	if c.Latency.Count() == 0 {
		return false
	}
	if s.Open {
		due, sent := c.Due(), c.Sent()
		late := s.Sums.Noise.SentLate() || c.NoPorts > 0
		return late && due != nil && sent != nil && *sent+*c.Held() < sentLess**due
	}
	return s.lagged() || s.outside() == summary.ByGenerator
}

// lagged reports whether the generator sent so late that its figures are not those of
// the service. Users who are late send less, by the share of the mean lag in the mean
// latency; a few late ones of many change nothing.
func (s Stretch) lagged() bool {
	noise := &s.Sums.Noise
	return noise.SentLate() &&
		(s.Open || float64(noise.SendLag().Mean()) > (1-sentLess)*float64(s.Sums.Client.Latency.Mean()))
}

// lagMisses reports whether so many requests were sent so late that the lag takes half
// of the objective's latency. If the answers themselves were in time, the generator
// caused the miss, even if it was one request in a short window.
func (s Stretch) lagMisses() bool {
	if !s.Goal.HasLatency() {
		return false
	}
	h := s.Sums.Noise.SendLag()
	return search.Exceeds(float64(h.Above(s.Goal.Objective.Latency/2)), float64(h.Count()), s.Goal.Allowed().AllowedLate)
}

// GeneratorMisses reports whether only the generator's delay misses the objective.
func (s Stretch) GeneratorMisses() bool {
	return s.inTime() && s.lagMisses() && !s.Goal.Failed(s.Sums)
}

// inTime reports whether the service time met the objective's latency. It includes
// neither the generator's lag nor the wait for a connection.
func (s Stretch) inTime() bool {
	if !s.Goal.HasLatency() {
		return false
	}
	h := s.Sums.Client.Service
	return !search.Exceeds(float64(h.Above(s.Goal.Objective.Latency)), float64(h.Count()), s.Goal.Allowed().AllowedLate)
}

// shownOutside returns the figures which show that the generator or the host was the
// limit.
func (s Stretch) shownOutside(by string) finding.Finding {
	if by == summary.ByHost {
		m := s.Sums.Noise.Machines().Fullest()
		return finding.Finding{Kind: finding.HostNotIdle, Host: finding.Host{Idle: m.IdleCores(), CPUs: m.CPUs, Name: m.Name}}
	}
	if n := s.Sums.Client.NoPorts; n > 0 {
		return finding.Finding{Kind: finding.NoFreePorts, N: int(n)}
	}
	return s.Sums.Noise.Limit()
}
