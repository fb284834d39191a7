package facts

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// part is the sum of some frames of a cell.
type part struct {
	good, timeouts, refused, cut, malformed, failed, status, dropped int64
	stuck                                                            int64 // of the warm-up, which ended in the drain

	latency, service, lag *signals.Histogram
	seconds, answers      float64 // of the client frames that were measured
	unjudged              float64 // carried answers of frames without others

	limit, cpu, cpuSeconds float64
	periods, throttled     int64
	stopped                float64 // seconds, over CPUs
	kills, restarts        int64
	memory                 int64

	hostSeconds, idle, foreign, steal float64
	cpus                              int
	down                              bool // at the end
}

func newPart() *part {
	return &part{latency: signals.NewHistogram(), service: signals.NewHistogram(), lag: signals.NewHistogram()}
}

// add takes a frame: requests also of the drain, times only of the measurement, deaths
// of every phase.
func (p *part) add(f *signals.Frame) {
	measured := f.Phase == signals.Measure
	if k := f.Client; k != nil && f.Phase != signals.Warmup {
		if f.Phase == signals.Drain {
			p.stuck += k.Carried
		}
		p.good += k.Good
		p.timeouts += k.Timeouts
		p.refused += k.Refused
		p.cut += k.Cut
		p.malformed += k.Malformed
		p.failed += k.Failed
		p.dropped += k.Dropped
		for code, n := range k.Status {
			if code[0] != '2' {
				p.status += n - k.Wanted[code]
			}
		}
		p.latency.Merge(k.Latency)
		p.service.Merge(k.Service)
		if measured {
			p.lag.Merge(k.SendLag)
			p.seconds += f.Seconds()
			p.answers += float64(k.Good)
			if ended := k.Ended(); ended > 0 {
				p.answers += float64(k.Good) / float64(ended) * float64(k.Carried)
			} else {
				p.unjudged += float64(k.Carried)
			}
		}
	}
	if s := f.Server; s != nil {
		p.down = !s.Up
		if s.OOMKills != nil {
			p.kills += *s.OOMKills
		}
		p.restarts += s.Restarts
		if s.MemoryPeak != nil {
			p.memory = max(p.memory, *s.MemoryPeak)
		}
		if measured && s.CPU != nil {
			p.cpu, p.cpuSeconds = p.cpu+*s.CPU, p.cpuSeconds+f.Seconds()
		}
		if measured && s.CPULimit != nil {
			p.limit = *s.CPULimit
			p.periods += *s.Periods
			p.throttled += *s.ThrottledPeriods
			if s.Throttled != nil {
				p.stopped += *s.Throttled
			}
		}
	}
	if h := f.Host; h != nil && measured {
		p.cpus = h.CPUs
		p.hostSeconds += f.Seconds()
		p.idle += h.Idle * f.Seconds()
		p.foreign += h.Foreign * f.Seconds()
		p.steal += h.Steal * f.Seconds()
	}
}

func (p *part) bad() int64 {
	return p.timeouts + p.refused + p.cut + p.malformed + p.failed + p.status + p.dropped
}
func (p *part) requests() int64       { return p.good + p.bad() }
func (p *part) availability() float64 { return 100 * float64(p.good) / float64(p.requests()) }
func (p *part) rate() float64         { return p.carriedToo() / p.seconds }

// carriedToo are the good answers with those to requests of the warm-up.
func (p *part) carriedToo() float64 {
	if ended := p.requests() - p.dropped; ended > 0 {
		return p.answers + p.unjudged*float64(p.good)/float64(ended)
	}
	return p.answers + p.unjudged
}
func (p *part) throttledShare() float64 {
	return float64(p.throttled) / float64(p.periods)
}
func (p *part) cores() float64   { return p.cpu / p.cpuSeconds }
func (p *part) ofLimit() float64 { return p.cores() / p.limit }

// ms is a quantile of the latencies of the requests that were answered or given up.
func (p *part) ms(quantile string) float64 {
	return float64(p.latency.Quantile(shareOf(quantile))) / 1e6
}

// ofAll is a quantile of all requests, in ms: a failed one is infinitely late.
func (p *part) ofAll(quantile string) float64 {
	q, requests, answered := shareOf(quantile), float64(p.requests()), float64(p.latency.Count())
	switch {
	case float64(p.bad()) > (1-q)*requests*(1+1e-9):
		return math.Inf(1)
	case requests <= answered || answered == 0:
		return p.ms(quantile)
	}
	return float64(p.latency.Quantile(min(1, q*requests/answered))) / 1e6
}

// late is how many requests missed a latency: a request without a good answer is
// infinitely late.
func (p *part) late(limit time.Duration) int64 {
	return p.latency.Above(limit) + p.bad() - p.timeouts
}

// meets judges by an objective; known is false if no request ended.
func (p *part) meets(o *objective) (met, known bool) {
	n := float64(p.requests())
	if o == nil || n == 0 {
		return false, false
	}
	met = true
	if o.Quantile != "" {
		met = float64(p.late(o.Latency)) <= (1-shareOf(o.Quantile))*n*(1+1e-9)
	}
	if o.Availability > 0 {
		met = met && float64(p.bad()) <= (1-o.Availability/100)*n*(1+1e-9)
	}
	return met, true
}

// shareOf is the share of requests that a quantile means: p999 and p99.9 are 0.999.
func shareOf(quantile string) float64 {
	digits := strings.ReplaceAll(strings.TrimPrefix(quantile, "p"), ".", "")
	share, unit := 0.0, 1.0
	for _, d := range digits {
		unit /= 10
		share += float64(d-'0') * unit
	}
	return share
}

// sum adds the frames of trials that a function accepts; nil: all.
func sum(trials []*trial, in func(*trial, *signals.Frame) bool) *part {
	p := newPart()
	for _, t := range trials {
		for _, f := range t.frames {
			if in == nil || in(t, f) {
				p.add(f)
			}
		}
		if t.outcome != "done" && t.outcome != "disturbed" || len(t.steps) > 0 {
			// the end of the load, and not the service, dropped them
			for _, f := range t.frames {
				if f.Client != nil && f.Phase != signals.Warmup && (in == nil || in(t, f)) {
					p.dropped -= f.Client.Dropped
				}
			}
		}
	}
	return p
}

// all is the sum of a cell's trials.
func (c *cell) all() *part {
	if c.sum == nil {
		c.sum = sum(c.trials, nil)
	}
	return c.sum
}

// each is the sum of each trial.
func (c *cell) each() []*part {
	if c.sums == nil {
		for _, t := range c.trials {
			c.sums = append(c.sums, sum([]*trial{t}, nil))
		}
	}
	return c.sums
}

// window is the sum of the frames of a step of a search.
func window(t *trial, s *signals.SearchStep) *part {
	return sum([]*trial{t}, func(_ *trial, f *signals.Frame) bool {
		return f.Phase == signals.Measure && f.Seq >= s.First && f.Seq <= s.Last
	})
}

// held is a load that was held: a step of a search, or a level of a ramp.
type held struct {
	load  float64
	stage string
	cut   bool
	trial *trial
	*part
}

// searchStages are those that look for the breaking point from below.
var searchStages = []string{"bracket", "narrow", "test"}

// loads are all loads that a cell held, of each trial.
func (c *cell) loads() []held {
	if c.held == nil {
		c.held = c.hold()
	}
	return c.held
}

func (c *cell) hold() (all []held) {
	for _, t := range c.trials {
		for i := range t.steps {
			s := &t.steps[i]
			if one := (held{s.Load, s.Stage, s.Cut, t, window(t, s)}); s.Last >= s.First && slices.Contains(searchStages, s.Stage) {
				all = append(all, one)
			} else if s.Last >= s.First && s.Stage == "overload" {
				c.pushed = append(c.pushed, one)
			}
		}
		var began int64 = math.MaxInt64
		for _, f := range t.frames {
			began = min(began, f.Start)
		}
		levels := c.staged()
		for i, l := range levels {
			last := i == len(levels)-1 && l.to >= c.lasts() // the answers of the drain are its own
			p := sum([]*trial{t}, func(_ *trial, f *signals.Frame) bool {
				return last && f.Phase == signals.Drain || f.Phase == signals.Measure && time.Duration(f.Start-began) >= l.from && time.Duration(f.End-began) <= l.to
			})
			if p.seconds > 0 {
				all = append(all, held{l.target, "level", false, t, p})
			}
		}
	}
	return all
}
func (p *part) merge(o *part) {
	p.good += o.good
	p.timeouts += o.timeouts
	p.refused += o.refused
	p.cut += o.cut
	p.malformed += o.malformed
	p.failed += o.failed
	p.status += o.status
	p.dropped += o.dropped
	p.latency.Merge(o.latency)
	p.service.Merge(o.service)
	p.lag.Merge(o.lag)
	p.seconds += o.seconds
	p.answers += o.carriedToo()
	p.limit = max(p.limit, o.limit)
	p.cpu += o.cpu
	p.cpuSeconds += o.cpuSeconds
	p.periods += o.periods
	p.throttled += o.throttled
	p.stopped += o.stopped
	p.kills += o.kills
	p.restarts += o.restarts
	p.stuck += o.stuck
	p.memory = max(p.memory, o.memory)
	p.hostSeconds += o.hostSeconds
	p.idle += o.idle
	p.foreign += o.foreign
	p.steal += o.steal
	p.cpus = max(p.cpus, o.cpus)
}
