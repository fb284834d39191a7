package capacity

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/cost"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// The highest loads of a search: more requests than one agent can send, and as many
// connections as one machine can open.
const (
	mostRate  = 1_000_000
	mostUsers = 20_000
)

// mostAfter is the longest traffic of a search after its answer is known. A service that
// recovers at once from an overload takes about a quarter of it.
const mostAfter = time.Minute

// SearchConfig returns the configuration of the search in one cell of the experiment. bounds
// replace those of the experiment; nil: they do not.
func SearchConfig(e *experiment.Experiment, c *experiment.Cell, bounds *signals.SearchBounds) search.Config {
	target := c.Load.Target()
	config := objective.Of(e, c).Allowed()
	config.First, config.Whole, config.Most = target.Value, c.Load.Users != nil, mostRate
	config.Block, config.Budget = e.Measure.Interval, e.Measure.Duration-e.Measure.Warmup
	config.After, config.Timeout = min(config.Budget, mostAfter), c.Load.Timeout
	if config.Whole {
		config.Most = mostUsers
	}
	if bounds != nil {
		config.First, config.Most = bounds.First, cmp.Or(bounds.Most, config.Most)
		if bounds.Short {
			config.Budget, config.After = config.Budget/2, 0
		}
	}
	if n := time.Duration(e.Measure.SearchSpeed); n > 1 { // the search's clock is so many times as fast as the load's
		for _, d := range []*time.Duration{&config.Block, &config.Budget, &config.After, &config.Timeout, &config.Late} {
			*d *= n
		}
	}
	return config
}

// Observed collects the frames of one step's window, as far as they have arrived. The
// lab passes it to the search while it runs, and a report rebuilds it from the record.
type Observed struct {
	Stretch
	service string
	load    float64
	bounded bool // whether the backlog is bounded: requests beyond it are dropped
	blocks  []search.Block
	at      map[int]int     // seq of an interval -> index in blocks
	last    int             // seq of the last block
	pending map[int]int64   // requests sent or due and not ended, at the end of the last block, by agent
	cpu     map[int]float64 // s that all replicas used, by seq
	unknown map[int]bool    // seq of which that of a replica was not measured
	ended   map[int]int64   // requests that ended, by seq
}

// Observe returns an empty window of a step.
func Observe(e *experiment.Experiment, c *experiment.Cell, load float64) *Observed {
	return &Observed{Stretch: stretchOf(e, c),
		service: c.Service.Name, load: load, bounded: c.Load.Waiting != nil, at: map[int]int{}, last: -1, pending: map[int]int64{},
		cpu: map[int]float64{}, unknown: map[int]bool{}, ended: map[int]int64{}}
}

// Add takes a frame of the window.
func (o *Observed) Add(f *signals.Frame) {
	o.Sums.Add(f, o.service)
	if f.Server != nil && f.Of == o.service {
		if f.Server.CPU == nil {
			o.unknown[f.Seq] = true
		} else {
			o.cpu[f.Seq] += *f.Server.CPU
		}
	}
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
	o.ended[f.Seq] += k.Ended() + k.Carried
	if o.Goal.HasLatency() {
		b.Late += k.Latency.Late(o.Goal.Objective.Latency, o.Goal.Timeout, bad, k.Timeouts)
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
	blocks := slices.Clone(o.blocks)
	if overdue := o.overdue(); overdue > 0 {
		last := &blocks[len(blocks)-1]
		last.Requests += overdue
		last.Late += overdue
		if !o.Goal.HasLatency() {
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
	if o.Goal.HasLatency() {
		within = o.Goal.Objective.Latency
	}
	if !o.Open { // users wait, so the rate is that of the answers
		rate = 0
		if r := o.Sums.Client.Rate(); r != nil {
			rate = *r
		}
	}
	expected := rate * within.Seconds()
	return max(0, pending-int64(math.Ceil(expected+3*math.Sqrt(expected)+1)))
}

// Observation returns what the search learns from the whole window.
func (o *Observed) Observation() search.Observation {
	return search.Observation{Blocks: o.Blocks(), Limited: o.outside() != "", Disturbed: o.others(), Costs: o.costs()}
}

// costs returns the CPU time of the blocks, and the requests that ended in them.
func (o *Observed) costs() []cost.Block {
	all := make([]cost.Block, len(o.blocks))
	for seq, i := range o.at {
		if all[i].Ended = o.ended[seq]; !o.unknown[seq] {
			all[i].CPU = o.cpu[seq]
		}
	}
	return all
}
