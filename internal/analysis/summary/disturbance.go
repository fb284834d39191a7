package summary

import (
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/data/signals"
)

// Disturbance is how much of a cell's trials was disturbed, and the latency that the
// objective is about (or p99) in those that were and those that were not. Attempts that
// were repeated are among them.
type Disturbance struct {
	By        []string `json:"by"`        // Neighbours, Hypervisor, Agent
	Trials    int      `json:"trials"`    // that ran to their end; of searches: windows
	Disturbed int      `json:"disturbed"` // of them
	Kept      int      `json:"kept"`      // disturbed trials that count
	// Neighbours are the processes that used most CPU in the disturbed trial in which they
	// used most; empty: not known, or it was somebody else.
	Neighbours []signals.Neighbour `json:"neighbours,omitempty"`
	Why        []finding.Finding   `json:"-"`                  // what Reasons word
	Reasons    []string            `json:"reasons,omitempty"`  // of each disturbed trial: "trial 4: the hypervisor took 0.78 cores"
	Quantile   string              `json:"quantile"`           // "": a service that measures itself has none
	Quiet      []float64           `json:"quiet_ms,omitempty"` // one per undisturbed trial that held one load; absent if all were quiet
	Noisy      []float64           `json:"noisy_ms,omitempty"` // one per disturbed one
}

// The values of BreakingPoint.DisturbedBy and Disturbance.By.
const (
	Neighbours = "neighbours" // processes that the experiment did not start
	Hypervisor = "hypervisor" // what this host runs on: steal time
	Waiting    = "agent"      // the generator waited for a CPU, and sent late; not of a breaking point
	Stops      = "stop"       // a signal or a frozen control group held the service or a dependency
)
