package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/signals"
)

// Noise adds up, over the measured frames of a trial, what does not come from
// the service.
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

// Add takes a frame; those outside the measured part are passed over.
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

// Merge adds what another has seen.
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

// disturbers is who else took much CPU: others of a host, or of the one below.
func (n *Noise) disturbers() (by search.Disturber) {
	if n.machines.any((*machineSums).crowded) {
		by |= search.Neighbour
	}
	if n.machines.any((*machineSums).robbed) {
		by |= search.Hypervisor
	}
	return by
}

// others words who else took CPU, and how much; "": nobody did.
func (n *Noise) others() string {
	var who []string
	for _, m := range n.machines.each() {
		if m.crowded() {
			who = append(who, fmt.Sprintf("other processes used %.2f cores%s", m.foreignCores(), m.on()))
		}
		if m.robbed() {
			who = append(who, fmt.Sprintf("the hypervisor took %.2f cores%s", m.stealCores(), m.on()))
		}
	}
	return strings.Join(who, " and ")
}

// AgentWaited tells in words that the agent waited for a CPU and so sent late;
// "" is that it did not.
func (n *Noise) AgentWaited() string {
	if !n.waited() || !n.Limited() {
		return ""
	}
	return fmt.Sprintf("the agent's threads waited for a CPU, %.2g of them on average, and it sent 1%% of the requests more than %.1f ms late",
		n.runWait/n.clientSeconds, ms(n.lag.Quantile(0.99)))
}

// waited reports whether the agents waited for a CPU for much of their time, a
// tenth and more: that of other processes, or their own, where their group has a
// quota. Users who wait for their answers then send up to a tenth less, which is
// more than most of what is compared differs by.
func (n *Noise) waited() bool {
	return n.clientSeconds > 0 && n.runWaitKnown && signals.Waited(n.runWait, n.clientSeconds)
}

// Disturbed gives the reason to repeat the trial, or "".
func (n *Noise) Disturbed() string {
	if why := n.others(); why != "" {
		return why
	}
	return n.AgentWaited()
}

// Limited reports whether the generator sent so late that it was the limit: its
// figures are then lower bounds. Of users who wait for their answers, and are late
// only by what it took to find those, cell.generatorLimited tells more.
func (n *Noise) Limited() bool {
	if n.lag.Count() == 0 || n.latency.Count() == 0 { // without answers there is nothing to be late beside
		return false
	}
	return signals.SentLate(n.lag.Quantile(0.99), n.latency.Quantile(0.99))
}

// stolen reports whether the hypervisor took CPU that shows, be it too little to
// disturb: a flag.
func (n *Noise) stolen() bool { return n.machines.any((*machineSums).stolen) }

// lowIdle is little room for anything else: a flag, not a disturbance, since a
// service without a limit uses what there is.
func (n *Noise) lowIdle() bool { return n.machines.any((*machineSums).full) }

// flags are the warnings that it gives, as words.
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
