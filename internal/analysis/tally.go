package analysis

import (
	"maps"

	"github.com/millicore/millicore/internal/signals"
)

// tally sums frames: of one trial, of one level of a load in stages, or, merged, of a
// whole cell. What no frame measured stays unknown.
type tally struct {
	client clientSums
	server serverSums
	deps   map[string]*serverSums
	waits  waitSums
	noise  Noise
}

func newTally() *tally {
	return &tally{
		client: clientSums{status: map[string]int64{}, latency: signals.NewHistogram(), service: signals.NewHistogram(), agents: map[int]float64{}, open: map[int]int64{}},
		server: serverSums{replicas: map[int]bool{}},
		deps:   map[string]*serverSums{},
	}
}

// clientSums are the client frames. Seconds and answers count in measured intervals
// only. Requests and latencies count in the drain, too: those requests were intended
// during the measurement, and without them the tail would be cut.
type clientSums struct {
	agents    map[int]float64 // measured seconds of each agent in this trial
	earlier   float64         // seconds of trials that were merged in
	answers   float64         // good answers within the measured intervals, including carried ones
	good      int64
	timeouts  int64
	refused   int64
	cut       int64
	malformed int64
	failed    int64 // by a check
	dropped   int64
	status    map[string]int64 // outside 200 to 299, and not accepted by a check
	cpu       float64
	open      map[int]int64 // open connections of all agents, by interval of this trial
	mostOpen  int64         // highest of any interval of any trial; 0: not measured
	latency   *signals.Histogram
	service   *signals.Histogram
}

func (c *clientSums) add(f *signals.Frame) {
	k := f.Client
	if f.Phase == signals.Measure {
		if f.Agent != nil {
			c.agents[*f.Agent] += f.Seconds()
		}
		c.cpu += k.CPU
		// It is unknown whether a carried answer was good. The same share of them is
		// assumed to be good as of the interval's own answers.
		share := 1.0
		if ended := k.Ended(); ended > 0 {
			share = float64(k.Good) / float64(ended)
		}
		c.answers += float64(k.Good) + share*float64(k.Carried)
	}
	c.good += k.Good
	c.timeouts += k.Timeouts
	c.refused += k.Refused
	c.cut += k.Cut
	c.malformed += k.Malformed
	c.failed += k.Failed
	c.dropped += k.Dropped
	for code, n := range k.Status {
		if bad := n - k.Wanted[code]; bad > 0 && !(len(code) == 3 && code[0] == '2') {
			c.status[code] += bad
		}
	}
	c.open[f.Seq] += k.OpenConnections
	c.mostOpen = max(c.mostOpen, c.open[f.Seq])
	c.latency.Merge(k.Latency)
	c.service.Merge(k.Service)
}

func (c *clientSums) merge(o *clientSums) {
	c.earlier += o.seconds()
	c.answers += o.answers
	c.good += o.good
	c.timeouts += o.timeouts
	c.refused += o.refused
	c.cut += o.cut
	c.malformed += o.malformed
	c.failed += o.failed
	c.dropped += o.dropped
	for code, n := range o.status {
		c.status[code] += n
	}
	c.cpu += o.cpu
	c.mostOpen = max(c.mostOpen, o.mostOpen)
	c.latency.Merge(o.latency)
	c.service.Merge(o.service)
}

func (c *clientSums) requests() int64 {
	n := c.good + c.timeouts + c.refused + c.cut + c.malformed + c.failed + c.dropped
	for _, k := range c.status {
		n += k
	}
	return n
}

// seconds returns the measured time. Agents start together, but with a fixed number of
// requests each ends by itself, so a trial lasts as long as its last agent.
func (c *clientSums) seconds() float64 {
	longest := 0.0
	for _, s := range c.agents {
		longest = max(longest, s)
	}
	return c.earlier + longest
}

// rate is good answers per second, over all agents.
func (c *clientSums) rate() *float64 { return over(&c.answers, ptr(c.seconds())) }

// availability is a percentage of the intended requests.
func (c *clientSums) availability() *float64 {
	if c.requests() == 0 {
		return nil
	}
	return ptr(100 * float64(c.good) / float64(c.requests()))
}

func (c *clientSums) cores() *float64 { return over(&c.cpu, ptr(c.seconds())) }

// serverSums are the server frames of all replicas of a service in measured intervals.
type serverSums struct {
	replicas         map[int]bool
	seconds          float64 // of frames that measured CPU, summed over replicas
	cpu              *float64
	limit            *float64 // CPUs of one replica
	periods          *int64
	throttledPeriods *int64
	throttled        *float64
	memoryPeak       *int64
	memoryUsed       *int64 // the highest at the end of an interval, for a service whose kernel peak is that of an earlier trial
	memoryTogether   *int64 // the highest of all replicas at the end of one interval
	memoryLimit      *int64
	oomKills         *int64
	restarts         *int64

	scaled scaled // if their number changes

	at  int   // seq of the latest interval
	now int64 // bytes of memory of its replicas so far
}

// deaths counts OOM kills and restarts in every phase, including the warm-up.
func (s *serverSums) deaths(f *signals.Frame) {
	k := f.Server
	s.oomKills = signals.Plus(s.oomKills, k.OOMKills)
	s.restarts = signals.Plus(s.restarts, &k.Restarts)
}

func (s *serverSums) add(f *signals.Frame) {
	k := f.Server
	s.replicas[f.Index] = true
	s.deaths(f)
	s.memoryPeak = higher(s.memoryPeak, k.MemoryPeak)
	s.memoryPeak = higher(s.memoryPeak, k.Memory)
	s.memoryUsed = higher(s.memoryUsed, k.Memory)
	s.memoryLimit = higher(s.memoryLimit, k.MemoryLimit)
	s.addMemory(f)
	if f.Phase != signals.Measure {
		return
	}
	if k.CPU != nil {
		s.seconds += f.Seconds()
	}
	s.cpu = signals.Plus(s.cpu, k.CPU)
	s.periods = signals.Plus(s.periods, k.Periods)
	s.throttledPeriods = signals.Plus(s.throttledPeriods, k.ThrottledPeriods)
	s.throttled = signals.Plus(s.throttled, k.Throttled)
	s.limit = higher(s.limit, k.CPULimit)
}

// addMemory sums the memory of the replicas at the end of an interval. All frames of
// an interval come before those of the next one.
func (s *serverSums) addMemory(f *signals.Frame) {
	if f.Server.Memory == nil {
		return
	}
	if f.Seq != s.at {
		s.at, s.now = f.Seq, 0
	}
	s.now += *f.Server.Memory
	s.memoryTogether = higher(s.memoryTogether, &s.now)
}

func (s *serverSums) merge(o *serverSums) {
	maps.Copy(s.replicas, o.replicas)
	s.seconds += o.seconds
	s.cpu = signals.Plus(s.cpu, o.cpu)
	s.periods = signals.Plus(s.periods, o.periods)
	s.throttledPeriods = signals.Plus(s.throttledPeriods, o.throttledPeriods)
	s.throttled = signals.Plus(s.throttled, o.throttled)
	s.limit = higher(s.limit, o.limit)
	s.oomKills = signals.Plus(s.oomKills, o.oomKills)
	s.restarts = signals.Plus(s.restarts, o.restarts)
	s.memoryPeak = higher(s.memoryPeak, o.memoryPeak)
	s.memoryUsed = higher(s.memoryUsed, o.memoryUsed)
	s.memoryTogether = higher(s.memoryTogether, o.memoryTogether)
	s.memoryLimit = higher(s.memoryLimit, o.memoryLimit)
	s.scaled.merge(&o.scaled)
}

// count returns how many replicas there were, on average if their number changed.
func (s *serverSums) count() float64 {
	if r := s.scaled.summary(); r != nil {
		return r.Mean
	}
	return float64(len(s.replicas))
}

// cores is the CPU of all replicas together.
func (s *serverSums) cores() *float64 {
	if s.cpu == nil || s.seconds == 0 {
		return nil
	}
	return ptr(*s.cpu / s.seconds * s.count())
}

// limitCores is the limit of all replicas together; nil: none.
func (s *serverSums) limitCores() *float64 {
	if s.limit == nil {
		return nil
	}
	return ptr(*s.limit * s.count())
}

func (s *serverSums) ofLimit() *float64 { return over(s.cores(), s.limitCores()) }

// throttledShare is throttled periods as a share of all periods, 0..1.
func (s *serverSums) throttledShare() *float64 {
	if s.periods == nil || s.throttledPeriods == nil || *s.periods == 0 {
		return nil
	}
	return ptr(float64(*s.throttledPeriods) / float64(*s.periods))
}

// add takes a frame of the measurement or the drain, and deaths of the warm-up.
func (t *tally) add(f *signals.Frame, service string) {
	switch {
	case f.Server != nil && f.Phase == signals.Warmup:
		t.of(f.Of, service).deaths(f)
	case f.Phase == signals.Warmup:
	case f.Client != nil:
		t.client.add(f)
	case f.Server != nil:
		t.of(f.Of, service).add(f)
	case f.Waits != nil && f.Of == service && f.Phase == signals.Measure:
		t.waits.add(f.Waits)
	case f.Scale != nil && f.Phase == signals.Measure:
		t.of(f.Of, service).scaled.add(f)
	}
	t.noise.Add(f)
}

// of returns the sums of the service, or of one of its dependencies.
func (t *tally) of(name, service string) *serverSums {
	if name == service {
		return &t.server
	}
	if t.deps[name] == nil {
		t.deps[name] = &serverSums{replicas: map[int]bool{}}
	}
	return t.deps[name]
}

func (t *tally) merge(o *tally) {
	t.client.merge(&o.client)
	t.server.merge(&o.server)
	for name, d := range o.deps {
		if t.deps[name] == nil {
			t.deps[name] = &serverSums{replicas: map[int]bool{}}
		}
		t.deps[name].merge(d)
	}
	t.waits.merge(&o.waits)
	t.noise.Merge(&o.noise)
}

func ptr[T any](v T) *T { return &v }

func higher[T int64 | float64](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		if b == nil {
			return nil
		}
		return ptr(*b)
	}
	return a
}

func over(a, b *float64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	return ptr(*a / *b)
}
