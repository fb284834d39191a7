package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/signals"
)

// Noise sums up, over the measured frames of a trial, what did not come from the
// service.
type Noise struct {
	machines       machines
	clientSeconds  float64 // covered by client halves, summed over agents
	runWait        float64
	runWaitKnown   bool
	throttled      float64 // seconds, by the agents' own CPU limit
	throttledKnown bool
	lag            *signals.Histogram
	latency        *signals.Histogram
}

// Add takes a frame; those outside the measurement are ignored.
func (n *Noise) Add(f *signals.Frame) {
	if f.Phase != signals.Measure {
		return
	}
	s := f.Seconds()
	switch {
	case f.Host != nil:
		n.machine(f.Machine, machineSums{seconds: s, foreign: f.Host.Foreign * s, idle: f.Host.Idle * s, steal: f.Host.Steal * s, cpus: f.Host.CPUs})
	case f.Client != nil:
		n.clientSeconds += s
		if f.Client.RunWait != nil {
			n.runWaitKnown = true
			n.runWait += *f.Client.RunWait
		}
		if f.Client.Throttled != nil {
			n.throttledKnown = true
			n.throttled += *f.Client.Throttled
		}
		n.histograms()
		n.lag.Merge(f.Client.SendLag)
		n.latency.Merge(f.Client.Latency)
	}
}

func (n *Noise) machine(name string, sums machineSums) {
	if n.machines == nil {
		n.machines = machines{}
	}
	n.machines.add(name, sums)
}

func (n *Noise) histograms() {
	if n.lag == nil {
		n.lag, n.latency = signals.NewHistogram(), signals.NewHistogram()
	}
}

// Merge adds the sums of another Noise.
func (n *Noise) Merge(o *Noise) {
	for name, sums := range o.machines {
		n.machine(name, *sums)
	}
	n.clientSeconds += o.clientSeconds
	n.runWait += o.runWait
	n.runWaitKnown = n.runWaitKnown || o.runWaitKnown
	n.throttled += o.throttled
	n.throttledKnown = n.throttledKnown || o.throttledKnown
	n.histograms()
	n.lag.Merge(o.lag)
	n.latency.Merge(o.latency)
}

// disturbers returns who took much CPU: other processes, or the hypervisor.
func (n *Noise) disturbers() (by search.Disturber) {
	if n.machines.any((*machineSums).busyNeighbours) {
		by |= search.Neighbour
	}
	if n.machines.any((*machineSums).busyHypervisor) {
		by |= search.Hypervisor
	}
	return by
}

// others describes who took much CPU, and how much; "": nobody.
func (n *Noise) others() string {
	var who []string
	for _, m := range n.machines.each() {
		if m.busyNeighbours() {
			who = append(who, fmt.Sprintf("other processes used %.2f cores%s", m.foreignCores(), m.on()))
		}
		if m.busyHypervisor() {
			who = append(who, fmt.Sprintf("the hypervisor took %.2f cores%s", m.stealCores(), m.on()))
		}
	}
	return strings.Join(who, " and ")
}

// AgentWaited states that the agent waited for a CPU and sent late because of that; ""
// if it did not.
func (n *Noise) AgentWaited() string {
	if !n.waited() || !n.Limited() {
		return ""
	}
	return fmt.Sprintf("the agent's threads waited for a CPU, %.2g of them on average, and it sent 1%% of the requests more than %.1f ms late",
		n.runWait/n.clientSeconds, ms(n.lag.Quantile(0.99)))
}

// waited reports whether the agents waited for a CPU for a tenth of their time or
// more. Other processes may have used it, or their own group has a quota. Users who
// wait for their answers then send up to a tenth less, which is more than most
// differences under comparison.
func (n *Noise) waited() bool {
	return n.clientSeconds > 0 && n.runWaitKnown && disturbance.Waited(n.runWait, n.clientSeconds)
}

// Disturbed returns the reason to repeat the trial, or "".
func (n *Noise) Disturbed() string {
	if why := n.others(); why != "" {
		return why
	}
	return n.AgentWaited()
}

// Limited reports whether the generator sent so late that it was the limit; its
// figures are then lower bounds. In a closed loop a slow generator is hardly late: see
// cell.generatorLimited.
func (n *Noise) Limited() bool {
	if n.lag.Count() == 0 || n.latency.Count() == 0 { // a lag has no meaning without answers
		return false
	}
	return disturbance.SentLate(n.lag.Quantile(0.99), n.latency.Quantile(0.99))
}

// stolen reports whether the hypervisor took noticeable CPU, even if too little to
// disturb: a flag.
func (n *Noise) stolen() bool { return n.machines.any((*machineSums).stolen) }

// lowIdle reports that little CPU was idle. This is a flag and no disturbance, because
// a service without a limit uses what is available.
func (n *Noise) lowIdle() bool { return n.machines.any((*machineSums).full) }

// flags returns the warnings that it gives.
func (n *Noise) flags() []string {
	var words []string
	by := n.disturbers()
	for _, one := range []struct {
		word string
		when bool
	}{{"busy_neighbour", by&search.Neighbour != 0}, {"busy_hypervisor", by&search.Hypervisor != 0},
		{"cpu_stolen", n.stolen()}, {"agent_waited", n.AgentWaited() != ""}, {agentThrottledFlag, n.agentThrottled()}, {"low_idle", n.lowIdle()}} {
		if one.when {
			words = append(words, one.word)
		}
	}
	return words
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
