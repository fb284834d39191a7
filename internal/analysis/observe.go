package analysis

import (
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/analysis/disturbance"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// The highest loads of a search: more requests than one agent can send, and as many
// connections as one machine can open.
const (
	mostRate  = 1_000_000
	mostUsers = 20_000
)

// SearchConfig returns the configuration of the search in one cell of the experiment.
func SearchConfig(e *experiment.Experiment, c *experiment.Cell) search.Config {
	target := c.Load.Target()
	config := allowed(e.Objective)
	config.First, config.Whole, config.Most = target.Value, c.Load.Users != nil, mostRate
	config.Block, config.Budget = e.Measure.Interval, e.Measure.Duration-e.Measure.Warmup
	if config.Whole {
		config.Most = mostUsers
	}
	return config
}

// shareOf returns the share of requests that a quantile's name means: 0.999 for p999.
func shareOf(quantile string) float64 {
	digits := quantile[1:]
	share, unit := 0.0, 1.0
	for _, d := range digits {
		unit /= 10
		share += float64(d-'0') * unit
	}
	return share
}

// Observed collects the frames of one step's window, as far as they have arrived. The
// lab passes it to the search while it runs, and a report rebuilds it from the record.
type Observed struct {
	objective *experiment.Objective
	service   string
	load      float64
	open      bool
	bounded   bool // whether the backlog is bounded: requests beyond it are dropped
	timeout   time.Duration
	blocks    []search.Block
	at        map[int]int   // seq of an interval -> index in blocks
	last      int           // seq of the last block
	pending   map[int]int64 // requests sent or due and not ended, at the end of the last block, by agent
	tally     *tally
}

// Observe returns an empty window of a step.
func Observe(e *experiment.Experiment, c *experiment.Cell, load float64) *Observed {
	return &Observed{objective: e.Objective, service: c.Service.Name, load: load, open: c.Load.Users == nil,
		bounded: c.Load.Waiting != nil, timeout: c.Load.Timeout, at: map[int]int{}, last: -1, pending: map[int]int64{}, tally: newTally()}
}

// Add takes a frame of the window.
func (o *Observed) Add(f *signals.Frame) {
	o.tally.add(f, o.service)
	if f.Client == nil || f.Phase != signals.Measure {
		return
	}
	i, known := o.at[f.Seq]
	if !known {
		i = len(o.blocks)
		o.at[f.Seq] = i
		o.blocks = append(o.blocks, search.Block{})
	}
	b, k := &o.blocks[i], f.Client
	bad := k.Bad()
	if o.bounded { // otherwise requests are dropped only when the load ends
		bad += k.Dropped
	}
	b.Requests += k.Good + bad
	b.Bad += bad
	if o.objective != nil && o.objective.Quantile != "" {
		b.Late += k.Latency.Late(o.objective.Latency, o.timeout, bad, k.Timeouts)
	}
	if f.Seq > o.last {
		o.last = f.Seq
		clear(o.pending)
	}
	if f.Seq == o.last && f.Agent != nil {
		o.pending[*f.Agent] = k.InFlight + k.Waiting
	}
}

// Blocks returns what the window has shown so far, including requests that are overdue
// now.
func (o *Observed) Blocks() []search.Block {
	blocks := append([]search.Block(nil), o.blocks...)
	if overdue := o.overdue(); overdue > 0 {
		last := &blocks[len(blocks)-1]
		last.Requests += overdue
		last.Late += overdue
		if o.objective == nil || o.objective.Quantile == "" {
			last.Bad += overdue // without a latency objective: they may never be answered
		} else {
			last.Overdue = overdue
		}
	}
	return blocks
}

// overdue returns how many of the pending requests will certainly miss the objective's
// latency. By Little's law, if all of them were in time, at most rate x latency would
// be pending. It allows for three standard deviations of a Poisson count. Without
// this, a service that answers nothing would look like one that receives no requests.
func (o *Observed) overdue() int64 {
	if len(o.blocks) == 0 {
		return 0
	}
	var pending int64
	for _, n := range o.pending {
		pending += n
	}
	rate, within := o.load, time.Second
	if o.objective != nil && o.objective.Quantile != "" {
		within = o.objective.Latency
	}
	if !o.open { // users wait, so the rate is that of the answers
		rate = 0
		if r := o.tally.client.rate(); r != nil {
			rate = *r
		}
	}
	expected := rate * within.Seconds()
	return max(0, pending-int64(math.Ceil(expected+3*math.Sqrt(expected)+1)))
}

// Observation returns what the search learns from the whole window. Errors are
// attributed to the service, even if others took CPU.
func (o *Observed) Observation() search.Observation {
	seen := search.Observation{Blocks: o.Blocks(), Limited: o.limited() != ""}
	if !o.erring() {
		seen.Disturbed = o.tally.noise.disturbers()
	}
	return seen
}

// If the service has used this share of its own CPU limit, or is throttled in this
// share of periods, a host without idle CPU is not what limits it.
const (
	atLimit         = 0.9
	throttledLittle = 0.1
	// fewLate is so few late requests that they may be chance: of a hundred requests,
	// one is the 99th percentile.
	fewLate = 3
	// fullHost is so little idle CPU that something certainly waited for it.
	fullHost = 0.05
)

// limited returns ByGenerator or ByHost if the window says more about them than about
// the service; "" otherwise.
//
// The send lag shows whether the generator was the limit. In a closed loop a user
// sends only after the answer to the request before, so little is late, however slow
// the generator is. There the agent's wait for a CPU shows it, too.
//
// Errors and deaths are the service's own, whatever the host does. If others took the
// CPU, neither the generator nor the host was too weak.
func (o *Observed) limited() string {
	s := &o.tally.server
	if o.tally.noise.disturbers() != 0 || o.erring() || deref(s.oomKills) > 0 || deref(s.restarts) > 0 {
		return ""
	}
	n := &o.tally.noise
	if n.agentThrottled() { // part of its latencies is its own, whatever limits the service
		return ByGenerator
	}
	lagged := n.Limited() && n.lag.Above(disturbance.LateLag) >= fewLate
	if (lagged || o.lagMisses()) && o.inTime() { // only the lag misses the objective
		return ByGenerator
	}
	if used := o.tally.server.ofLimit(); used != nil && *used >= atLimit {
		return ""
	}
	if share := o.tally.server.throttledShare(); share != nil && *share >= throttledLittle {
		return ""
	}
	fullest := n.machines.fullest()
	switch waited := !o.open && n.waited(); {
	case lagged:
		return ByGenerator
	case fullest != nil && fullest.idleShare() < fullHost:
		return ByHost
	case waited && n.lowIdle(): // perhaps for the service
		return ByHost
	case waited:
		return ByGenerator
	}
	return ""
}

// limitEvidence describes the figures which show that the generator or the host was the
// limit.
func (o *Observed) limitEvidence(by string) string {
	n := &o.tally.noise
	if by == ByHost {
		m := n.machines.fullest()
		return fmt.Sprintf("%.2f cores of %d were idle%s", m.idleCores(), m.cpus, m.on())
	}
	if n.agentThrottled() {
		return n.throttledText()
	}
	if !n.Limited() {
		return fmt.Sprintf("the agent's threads waited %.2g s in each second for a CPU", n.runWait/n.clientSeconds)
	}
	return fmt.Sprintf("1%% of the requests were sent more than %.1f ms late", ms(n.lag.Quantile(0.99)))
}

// lagMisses reports whether so many requests were sent so late that the lag takes half
// of the objective's latency. If the answers themselves were in time, the generator
// caused the miss, even if it was one request in a short window.
func (o *Observed) lagMisses() bool {
	if o.objective == nil || o.objective.Quantile == "" {
		return false
	}
	h := o.tally.noise.lag
	return search.Exceeds(float64(h.Above(o.objective.Latency/2)), float64(h.Count()), allowed(o.objective).AllowedLate)
}

// inTime reports whether the service time met the objective's latency. It includes
// neither the generator's lag nor the wait for a connection.
func (o *Observed) inTime() bool {
	if o.objective == nil || o.objective.Quantile == "" {
		return false
	}
	h := o.tally.client.service
	return !search.Exceeds(float64(h.Above(o.objective.Latency)), float64(h.Count()), allowed(o.objective).AllowedLate)
}

// erring reports whether errors, other than timeouts, miss the objective.
func (o *Observed) erring() bool {
	k := &o.tally.client
	errors := k.requests() - k.good - k.timeouts - k.dropped
	return o.objective != nil && search.Exceeds(float64(errors), float64(k.requests()), allowedErrors(o.objective))
}
