package disturbance

import (
	"maps"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/data/signals"
)

// Noise sums up, over the measured frames of a trial, what did not come from the
// service. The zero value has seen no frame.
type Noise struct {
	machines      Machines
	hits          hits
	held          map[string]float64 // seconds of intervals at whose end a replica was stopped, by service or dependency
	clientSeconds float64            // covered by client frames, summed over agents
	runWait       *float64           // seconds
	throttled     *float64           // seconds, by the agents' own CPU limit
	lag           *signals.Histogram
	latency       *signals.Histogram
}

// Add takes a frame; those outside the measurement are ignored.
func (n *Noise) Add(f *signals.Frame) {
	if f.Phase != signals.Measure {
		return
	}
	s := f.Seconds()
	switch {
	case f.Host != nil:
		h := f.Host
		m := Machine{Name: f.Machine, CPUs: h.CPUs, seconds: s, foreign: h.Foreign * s, idle: h.Idle * s, steal: h.Steal * s}
		n.machine(m)
		if m.measured() {
			n.hits.host(f.Seq, &m)
		}
	case f.Server != nil && f.Server.Stopped:
		n.hold(f.Of, s)
	case f.Client != nil:
		n.clientSeconds += s
		n.hits.client(f.Seq, f.Client.Intended)
		n.runWait = signals.Plus(n.runWait, f.Client.RunWait)
		n.throttled = signals.Plus(n.throttled, f.Client.Throttled)
		n.histograms()
		n.lag.Merge(f.Client.SendLag)
		n.latency.Merge(f.Client.Latency)
	}
}

func (n *Noise) machine(m Machine) {
	if n.machines == nil {
		n.machines = Machines{}
	}
	n.machines.add(m)
}

func (n *Noise) hold(of string, seconds float64) {
	if n.held == nil {
		n.held = map[string]float64{}
	}
	n.held[of] += seconds
}

func (n *Noise) histograms() {
	if n.lag == nil {
		n.lag, n.latency = signals.NewHistogram(), signals.NewHistogram()
	}
}

// Merge adds the sums of another Noise.
func (n *Noise) Merge(o *Noise) {
	for _, m := range o.machines {
		n.machine(*m)
	}
	n.hits.merge(&o.hits)
	for of, seconds := range o.held {
		n.hold(of, seconds)
	}
	n.clientSeconds += o.clientSeconds
	n.runWait = signals.Plus(n.runWait, o.runWait)
	n.throttled = signals.Plus(n.throttled, o.throttled)
	n.histograms()
	n.lag.Merge(o.lag)
	n.latency.Merge(o.latency)
}

// Machines returns the machines that services ran on.
func (n *Noise) Machines() Machines { return n.machines }

// SendLag is the send lag of all requests; nil if no client frame was seen.
func (n *Noise) SendLag() *signals.Histogram { return n.lag }

// RunWait is the time in seconds for which the agents' threads waited for a CPU; nil:
// not measured.
func (n *Noise) RunWait() *float64 { return n.runWait }

// ThrottledShare is the share of the agents' time in which their own CPU limit
// throttled them; nil: not measured.
func (n *Noise) ThrottledShare() *float64 {
	if n.throttled == nil || n.clientSeconds == 0 {
		return nil
	}
	share := *n.throttled / n.clientSeconds
	return &share
}

// Sources returns who took much CPU on average: other processes, or the hypervisor. Stop is
// among them if the service or a dependency was stopped at the end of an interval.
func (n *Noise) Sources() (by finding.Source) {
	if len(n.held) > 0 {
		by |= finding.Stop
	}
	if n.machines.any((*Machine).busyNeighbours) {
		by |= finding.Neighbour
	}
	if n.machines.any((*Machine).busyHypervisor) {
		by |= finding.Hypervisor
	}
	return by
}

// Disturbing returns who took much CPU on average, or took it from so many requests that
// a quantile may be theirs: from more than the given share of requests, which is 0.01
// for p99. A mean does not show the latter: two intervals of twenty that are wholly a
// neighbour's are a tenth of the requests. The agent is among them if it waited for a
// CPU and sent late.
//
// The answer never depends on the latencies of the trial. If it did, the trials that
// count would be chosen by their results.
func (n *Noise) Disturbing(late float64) finding.Source {
	by := n.Sources() | n.hits.sources(late)
	if n.Waited() && n.lag.Count() > 0 && n.lag.Quantile(0.99) >= LateLag {
		by |= finding.Agent
	}
	return by
}

// Certain reports whether a trial of so many measured seconds is disturbed even if others
// take nothing any more.
func (n *Noise) Certain(seconds float64) bool {
	return len(n.held) > 0 || n.machines.any(func(m *Machine) bool {
		return m.Name == "" && Busy(m.foreign/seconds, m.CPUs) || Busy(m.steal/seconds, m.CPUs)
	})
}

// Others returns who took much CPU on average, and how much, and what was stopped; empty:
// nobody, and nothing.
func (n *Noise) Others() (who []finding.Finding) {
	for _, of := range slices.Sorted(maps.Keys(n.held)) {
		who = append(who, finding.Finding{Kind: finding.Stopped, Text: of, Seconds: n.held[of]})
	}
	for _, m := range n.machines.each() {
		if m.busyNeighbours() {
			who = append(who, finding.Finding{Kind: finding.NeighboursUsed, Host: finding.Host{Busy: m.ForeignCores(), Name: m.Name}})
		}
		if m.busyHypervisor() {
			who = append(who, finding.Finding{Kind: finding.HypervisorTook, Host: finding.Host{Busy: m.StealCores(), Name: m.Name}})
		}
	}
	return who
}

// Disturbed returns who is disturbing, and so the reason to repeat a trial; empty: nobody.
func (n *Noise) Disturbed(late float64) []finding.Finding {
	if who := n.Others(); len(who) > 0 {
		return who
	}
	switch by := n.Disturbing(late); by {
	case 0:
		return nil
	case finding.Agent:
		return []finding.Finding{{Kind: finding.AgentWaited, Value: *n.runWait / n.clientSeconds, Other: n.lagP99()}}
	default:
		return []finding.Finding{n.hits.found(by &^ finding.Agent)}
	}
}

// Waited reports whether the agents waited for a CPU for a tenth of their time or
// more. Other processes may have used it, or their own group has a quota. Users who
// wait for their answers then send up to a tenth less, which is more than most
// differences under comparison.
func (n *Noise) Waited() bool {
	return n.clientSeconds > 0 && n.runWait != nil && Waited(*n.runWait, n.clientSeconds)
}

// SentLate reports whether the generator sent so late that it was the limit; its
// figures are then lower bounds. In a closed loop a slow generator is hardly late, and
// the wait for a CPU shows it instead.
func (n *Noise) SentLate() bool {
	if n.lag.Count() == 0 || n.latency.Count() == 0 { // a lag has no meaning without answers
		return false
	}
	return SentLate(n.lag.Quantile(0.99), n.latency.Quantile(0.99))
}

// AgentThrottled reports whether the agents' own CPU limit throttled them for so much
// of their time that it shaped their figures.
func (n *Noise) AgentThrottled() bool {
	return n.throttled != nil && AgentThrottled(*n.throttled, n.clientSeconds)
}

// Limit returns what made the generator the limit.
func (n *Noise) Limit() finding.Finding {
	switch {
	case n.AgentThrottled():
		return finding.Finding{Kind: finding.AgentThrottled, Value: *n.throttled / n.clientSeconds}
	case !n.SentLate() && n.runWait != nil:
		return finding.Finding{Kind: finding.AgentWaits, Value: *n.runWait / n.clientSeconds}
	}
	return finding.Finding{Kind: finding.AgentLate, Value: n.lagP99()}
}

func (n *Noise) lagP99() float64 { return float64(n.lag.Quantile(0.99)) / float64(time.Millisecond) }

// LowIdle reports that little CPU was idle. It is no disturbance, because
// a service without a limit uses what is available.
func (n *Noise) LowIdle() bool { return n.machines.any((*Machine).full) }
