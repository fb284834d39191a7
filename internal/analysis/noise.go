package analysis

import (
	"fmt"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

// What makes a trial disturbed. The machine decides the answer unless it is
// watched: the same cells read the opposite way round with a busy neighbour.
const (
	// foreignCores, or foreignShare of the host's CPUs if that is more, used by
	// processes that the experiment did not start, on average over a trial.
	foreignCores = 0.2
	foreignShare = 0.05
	// runWaitShare is the part of a trial in which the agent's threads were
	// ready to run and waited for a CPU, summed over threads; it disturbs only
	// where it also made the agent send late.
	runWaitShare = 0.1
	lateSendLag  = 2 * time.Millisecond // at the 99th percentile
	// lateShare of the latency's own 99th percentile is the least lag that
	// matters: where answers take half a second, 2 ms are not what limits.
	lateShare = 0.05
	// lowIdleCores is little room for anything else: a flag, not a disturbance,
	// since a service without a limit uses what there is.
	lowIdleCores = 0.2
)

// Noise adds up, over the measured frames of a trial, what does not come from
// the service.
type Noise struct {
	hostSeconds   float64 // covered by host halves
	foreign       float64 // core seconds
	idle          float64
	steal         float64
	cpus          int
	clientSeconds float64 // covered by client halves, summed over agents
	runWait       float64
	runWaitKnown  bool
	lag           *signals.Histogram
	latency       *signals.Histogram
}

// Add takes a frame; those outside the measured part are passed over.
func (n *Noise) Add(f *signals.Frame) {
	if f.Phase != signals.Measure {
		return
	}
	s := f.Seconds()
	switch {
	case f.Host != nil:
		n.hostSeconds += s
		n.foreign += f.Host.Foreign * s
		n.idle += f.Host.Idle * s
		n.steal += f.Host.Steal * s
		n.cpus = f.Host.CPUs
	case f.Client != nil:
		n.clientSeconds += s
		if f.Client.RunWait != nil {
			n.runWaitKnown = true
			n.runWait += *f.Client.RunWait
		}
		n.histograms()
		n.lag.Merge(f.Client.SendLag)
		n.latency.Merge(f.Client.Latency)
	}
}

func (n *Noise) histograms() {
	if n.lag == nil {
		n.lag, n.latency = signals.NewHistogram(), signals.NewHistogram()
	}
}

// Merge adds what another has seen.
func (n *Noise) Merge(o *Noise) {
	n.hostSeconds += o.hostSeconds
	n.foreign += o.foreign
	n.idle += o.idle
	n.steal += o.steal
	n.cpus = max(n.cpus, o.cpus)
	n.clientSeconds += o.clientSeconds
	n.runWait += o.runWait
	n.runWaitKnown = n.runWaitKnown || o.runWaitKnown
	n.histograms()
	n.lag.Merge(o.lag)
	n.latency.Merge(o.latency)
}

// Neighbour tells of a busy neighbour in words; "" is none.
func (n *Noise) Neighbour() string {
	if n.hostSeconds == 0 {
		return ""
	}
	used := n.foreign / n.hostSeconds
	if used < max(foreignCores, foreignShare*float64(n.cpus)) {
		return ""
	}
	return fmt.Sprintf("other processes used %.2f cores", used)
}

// AgentWaited tells in words that the agent waited for a CPU and so sent late;
// "" is that it did not.
func (n *Noise) AgentWaited() string {
	if n.clientSeconds == 0 || !n.runWaitKnown || n.runWait/n.clientSeconds < runWaitShare {
		return ""
	}
	if !n.Limited() {
		return ""
	}
	return fmt.Sprintf("the agent waited for a CPU during %.0f%% of the time and sent 1%% of the requests more than %.1f ms late",
		100*n.runWait/n.clientSeconds, ms(n.lag.Quantile(0.99)))
}

// Disturbed gives the reason to repeat the trial, or "".
func (n *Noise) Disturbed() string {
	if why := n.Neighbour(); why != "" {
		return why
	}
	return n.AgentWaited()
}

// Limited reports whether the generator was the limit: its figures are then
// lower bounds.
func (n *Noise) Limited() bool {
	if n.lag.Count() == 0 {
		return false
	}
	lag := n.lag.Quantile(0.99)
	return lag >= lateSendLag && float64(lag) >= lateShare*float64(n.latency.Quantile(0.99))
}

// stolenCores taken by the hypervisor, on average over a trial, are a flag.
const stolenCores = 0.1

func (n *Noise) stolen() bool { return n.hostSeconds > 0 && n.steal/n.hostSeconds >= stolenCores }

func (n *Noise) lowIdle() bool { return n.hostSeconds > 0 && n.idle/n.hostSeconds < lowIdleCores }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
