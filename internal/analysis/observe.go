package analysis

import (
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/signals"
)

// The highest loads that a search goes to: more than one agent can send, and as
// many connections as a machine can be asked for.
const (
	mostRate  = 1_000_000
	mostUsers = 20_000
)

// SearchConfig is what the experiment asks of a search in one of its cells.
func SearchConfig(e *experiment.Experiment, c *experiment.Cell) search.Config {
	target := c.Load.Target()
	config := search.Config{First: target.Value, Whole: c.Load.Users != nil, AllowedLate: -1, AllowedBad: -1,
		Block: e.Measure.Interval, Budget: e.Measure.Duration - e.Measure.Warmup, Most: mostRate}
	if config.Whole {
		config.Most = mostUsers
	}
	if o := e.Objective; o != nil {
		if o.Quantile != "" {
			config.AllowedLate, config.Late = 1-shareOf(o.Quantile), o.Latency
		}
		if o.Availability > 0 {
			config.AllowedBad = 1 - o.Availability/100
		}
	}
	return config
}

// shareOf is the share of requests that a quantile's name stands for: 0.999 for
// p999.
func shareOf(quantile string) float64 {
	digits := quantile[1:]
	share, unit := 0.0, 1.0
	for _, d := range digits {
		unit /= 10
		share += float64(d-'0') * unit
	}
	return share
}

// Observed is the window of one step of a search, as far as its frames have
// come. The lab shows it to the search while it runs, and a report builds it
// again from the record.
type Observed struct {
	objective *experiment.Objective
	service   string
	load      float64
	open      bool
	blocks    []search.Block
	at        map[int]int   // seq of an interval -> index in blocks
	last      int           // seq of the last block
	under     map[int]int64 // requests under way at the end of the last block, by agent
	tally     *tally
}

// Observe begins the window of a step.
func Observe(e *experiment.Experiment, c *experiment.Cell, load float64) *Observed {
	return &Observed{objective: e.Objective, service: c.Service.Name, load: load, open: c.Load.Users == nil,
		at: map[int]int{}, last: -1, under: map[int]int64{}, tally: newTally()}
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
	b.Requests += k.Ended()
	b.Bad += k.Bad()
	if o.objective != nil && o.objective.Quantile != "" {
		b.Late += k.Latency.Above(o.objective.Latency)
		if o.objective.Availability == 0 {
			b.Late += k.Bad() - k.Timeouts // who got no answer did not get it in time
		}
	}
	if f.Seq > o.last {
		o.last = f.Seq
		clear(o.under)
	}
	if f.Seq == o.last && f.Agent != nil {
		o.under[*f.Agent] = k.InFlight + k.Waiting
	}
}

// Blocks are what the window showed so far, with what is overdue now.
func (o *Observed) Blocks() []search.Block {
	blocks := append([]search.Block(nil), o.blocks...)
	if overdue := o.overdue(); overdue > 0 {
		last := &blocks[len(blocks)-1]
		last.Requests += overdue
		last.Late += overdue
		if o.objective == nil || o.objective.Quantile == "" {
			last.Bad += overdue // no latency is asked: they may never be answered
		} else {
			last.Overdue = overdue
		}
	}
	return blocks
}

// overdue is how many of the requests under way will surely miss the
// objective's latency: by Little's law, were all of them in time, no more than
// rate x latency would be under way. Three standard deviations of a Poisson
// count are allowed for. Without it a service that answers nothing would look
// like one that is asked nothing.
func (o *Observed) overdue() int64 {
	if len(o.blocks) == 0 {
		return 0
	}
	var under int64
	for _, n := range o.under {
		under += n
	}
	rate, within := o.load, time.Second
	if o.objective != nil && o.objective.Quantile != "" {
		within = o.objective.Latency
	}
	if !o.open { // users wait: what comes back tells the rate
		rate = 0
		if r := o.tally.client.rate(); r != nil {
			rate = *r
		}
	}
	expected := rate * within.Seconds()
	return max(0, under-int64(math.Ceil(expected+3*math.Sqrt(expected)+1)))
}

// Observation is what the search is told of the whole window. Errors are the
// service's own, whoever takes CPU beside it.
func (o *Observed) Observation() search.Observation {
	seen := search.Observation{Blocks: o.Blocks(), Limited: o.limited() != ""}
	if !o.erring() {
		seen.Disturbed = o.tally.noise.disturbers()
	}
	return seen
}

// Where the service's own CPU limit is this far used up, or it is throttled in
// this share of periods, a host without idle CPU is not what limits it.
const (
	atLimit         = 0.9
	throttledLittle = 0.1
	// fewLate is so few requests that were sent late, that it may be chance: of a
	// hundred requests one makes the 99th percentile.
	fewLate = 3
	// fullHost is so little idle CPU that something surely waited for it.
	fullHost = 0.05
)

// limited is ByGenerator or ByHost where the window says more about them than
// about the service; "" otherwise. A lag of sending tells of the generator. In a
// closed loop nothing is due before the answer to what went before has come, so
// that little is late, however slow the generator is: its waiting for a CPU tells
// there too. Errors and deaths are the service's own,
// whatever the host does; and where others took the CPU, it is neither the
// generator nor the host that was too weak.
func (o *Observed) limited() string {
	s := &o.tally.server
	if o.tally.noise.disturbers() != 0 || o.erring() || deref(s.oomKills) > 0 || deref(s.restarts) > 0 {
		return ""
	}
	n := &o.tally.noise
	if n.agentThrottled() { // its latencies are in part its own, whatever limits the service
		return ByGenerator
	}
	lagged := n.Limited() && n.lag.Above(signals.LateLag) >= fewLate
	if (lagged || o.lagMisses()) && o.inTime() { // it is the lag alone that misses the objective
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
	case waited && n.lowIdle(): // for the service, it may be
		return ByHost
	case waited:
		return ByGenerator
	}
	return ""
}

// weakness are the figures that tell of the generator or the host as the limit.
func (o *Observed) weakness(by string) string {
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

// lagMisses reports whether so many requests were sent so late that this takes up
// half of the objective's latency. Where the answers were in time, then even one
// request in a short window misses the objective by the generator's fault.
func (o *Observed) lagMisses() bool {
	if o.objective == nil || o.objective.Quantile == "" {
		return false
	}
	h := o.tally.noise.lag
	return float64(h.Above(o.objective.Latency/2)) > (1-shareOf(o.objective.Quantile))*float64(h.Count())
}

// inTime reports whether the objective's latency was met from sent to done, in
// what neither the generator nor a wait for a connection takes part.
func (o *Observed) inTime() bool {
	if o.objective == nil || o.objective.Quantile == "" {
		return false
	}
	h := o.tally.client.service
	return float64(h.Above(o.objective.Latency)) <= (1-shareOf(o.objective.Quantile))*float64(h.Count())
}

// erring reports whether errors, other than timeouts, miss the objective.
func (o *Observed) erring() bool {
	k := &o.tally.client
	errors, allowed := k.requests()-k.good-k.timeouts-k.dropped, 0.0
	switch {
	case o.objective == nil:
		return false
	case o.objective.Availability > 0:
		allowed = 1 - o.objective.Availability/100
	case o.objective.Quantile != "":
		allowed = 1 - shareOf(o.objective.Quantile)
	}
	return float64(errors) > allowed*float64(k.requests())
}
