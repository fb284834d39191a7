package analysis

import (
	"fmt"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// What limits a service: the values of limited_by.
const (
	ByCPULimit   = "cpu limit"  // it uses its whole quota
	ByThrottling = "throttling" // it is throttled, although it uses less than its quota on average
	ByMemory     = "memory"     // OOM kills
	ByErrors     = "errors"     // bad answers, although the latency is met
	ByDependency = "dependency" // one is at its own CPU limit, or requests mostly wait for it
	ByService    = "service"    // none of these: its own parallelism, locks, queues
	ByGenerator  = "generator"  // an agent could not send more: a lower bound
	ByHost       = "host"       // the machine had no idle CPU: a lower bound
)

const (
	// atLimit is the share of its own CPU limit from which that limit is what limits a
	// service, and not a host without idle CPU.
	atLimit = 0.9
	// throttledLittle is the share of throttled periods from which the same holds, and
	// throttledDependency that of a dependency.
	throttledLittle     = 0.1
	throttledDependency = 0.25
	// waitShare is the share of a request's time from which a wait for a dependency is
	// what limits.
	waitShare = 0.5
	// fewLate is so few late requests that they may be chance: of a hundred requests,
	// one is the 99th percentile.
	fewLate = 3
	// fullHost is so little idle CPU that something certainly waited for it.
	fullHost = 0.05
)

// stretch is a part of a trial whose limit is in question: the window of a search, a
// level of a ramp, or all of a constant load.
type stretch struct {
	goal goal
	open bool // an open loop
	sums *sums.Total
}

// limit returns what limits a stretch, the generator, the host or the service, and the
// figures that show it.
func (s stretch) limit(blocks []search.Block) (by, evidence string) {
	if by := s.outside(); by != "" {
		return by, s.outsideText(by)
	}
	return s.inside(blocks)
}

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

// inside returns what limits the service. It checks the certain causes first.
func (s stretch) inside(blocks []search.Block) (by, evidence string) {
	server := &s.sums.Server
	if server.OOMKills != nil && *server.OOMKills > 0 {
		return ByMemory, plural(int(*server.OOMKills), "OOM kill") + " in the windows above it"
	}
	if text := s.failedText(blocks); text != "" {
		return ByErrors, text
	}
	used, share := server.OfLimit(), server.ThrottledShare()
	if used != nil && *used >= atLimit {
		return ByCPULimit, fmt.Sprintf("it used %.0f%% of its CPU limit%s", 100**used, periodsText(share))
	}
	for _, name := range slices.Sorted(maps.Keys(s.sums.Deps)) {
		d := s.sums.Deps[name]
		if of, part := d.OfLimit(), d.ThrottledShare(); of != nil && *of >= atLimit || part != nil && *part >= throttledDependency {
			return ByDependency, name + " was at its own CPU limit" + periodsText(part)
		}
	}
	if text := s.waitedText(); text != "" {
		return ByDependency, text
	}
	if share != nil && *share >= throttledLittle {
		return ByThrottling, fmt.Sprintf("it was throttled in %.0f%% of the periods, though it used %.0f%% of its CPU limit on average", 100**share, 100*deref(used))
	}
	text := "neither its CPU limit, nor memory, nor errors: its own parallelism, locks or queues"
	if used != nil {
		text += fmt.Sprintf("; it used %.0f%% of its CPU limit", 100**used)
	} else if cores := server.Cores(); cores != nil {
		text += fmt.Sprintf("; it used %.2f cores", *cores)
	}
	return ByService, text
}

// waitedText states that requests spend most of their time waiting for a dependency, as
// the service reports it; "" otherwise.
func (s stretch) waitedText() string {
	n := float64(s.sums.Client.Service.Count())
	if n == 0 {
		return ""
	}
	waited, took := 1e3*s.sums.Waits.Seconds()/n, ms(s.sums.Client.Service.Mean())
	if waited < waitShare*took {
		return ""
	}
	return fmt.Sprintf("a request took %.3g ms, of which it waited %.3g ms for a dependency", took, min(waited, took))
}

// failedText states that errors, not latency, miss the objective; "" otherwise. A
// timeout is a slow answer, not such an error.
func (s stretch) failedText(blocks []search.Block) string {
	config, k := s.goal.allowed(), &s.sums.Client
	failed, n := k.Failed(), float64(k.Requests())
	if !search.Exceeds(float64(failed), n, s.goal.allowedErrors()) {
		return ""
	}
	slow := k.Errors.Timeouts - k.Bad() // failed requests count as late, too
	for _, b := range blocks {
		slow += b.Late
	}
	if config.AllowedBad >= 0 && config.AllowedLate >= 0 && search.Exceeds(float64(slow), n, config.AllowedLate) && slow > failed {
		return "" // the latency was missed first
	}
	return fmt.Sprintf("%.3g%% of the requests got no good answer", 100*float64(failed)/n)
}

func periodsText(share *float64) string {
	if share == nil {
		return ""
	}
	return fmt.Sprintf(", throttled in %.0f%% of the periods", 100**share)
}
