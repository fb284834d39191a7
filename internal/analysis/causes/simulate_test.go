package causes

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// simulated is a service with a known fault. Requests arrive at random at a rate, wait
// in one queue for a thread, take a fixed time of CPU there, and then may wait for a
// dependency without holding the thread. It is exact: times are nanoseconds, and work
// is half nanoseconds, because the CPU runs at full or half speed. The same seed gives
// the same arrivals for every fault.
type simulated struct {
	seed    uint64
	length  time.Duration
	rate    float64 // requests/s
	work    time.Duration
	threads int
	users   int // closed loop with that many users instead of the rate

	quota   time.Duration // of CPU time in each period of 100 ms; 0: no limit
	hogged  times         // at half speed, because others have the CPU
	frozen  times         // the generator neither sends nor receives
	down    times         // the replica is down: requests in progress are lost
	calls   func(*rand.Rand) time.Duration
	bounds  []float64     // of the histogram of calls, seconds
	timeout time.Duration // after which a lost request is given up; 0: its connection is cut, and it is no latency

	// sleeps is the CPU that it uses, in cores, if its work is to sleep: then others who
	// have the CPUs do not slow it down, beyond the time for which it waits for one.
	sleeps   float64
	pressure float64 // CPU pressure, as a share of the time; 0: not measured
	stalled  times   // it stops by itself

	uneven   bool // work is exponential, with the same mean
	blocking bool // a call holds its thread
}

const (
	simPeriod = int64(100 * time.Millisecond)
	simFrame  = int64(time.Second)
	simStart  = int64(1_700_000_000) * int64(time.Second)
)

// job is a request in the simulation.
type job struct {
	intended, sent, done int64 // relative to the start
	left                 int64 // work, half nanoseconds
	call                 int64
	lost                 bool
}

// outcome is the result of a simulation.
type outcome struct {
	jobs    []*job
	windows times // throttled
	down    times
	calls   []*job // that called the dependency
}

func within(t times, at int64) (stretch, bool) {
	if i := t.after(at); i < len(t) && t[i].from <= at {
		return t[i], true
	}
	return stretch{}, false
}

// edge is the first start or end of a stretch after a time.
func edge(t times, at int64) int64 {
	if i := t.after(at); i < len(t) {
		if t[i].from > at {
			return t[i].from
		}
		return t[i].to
	}
	return never
}

func (s *simulated) arrivals() []*job {
	random := rand.New(rand.NewPCG(s.seed, 1))
	calling := rand.New(rand.NewPCG(s.seed, 2))
	working := rand.New(rand.NewPCG(s.seed, 4))
	var all []*job
	at := 0.0
	for {
		at += random.ExpFloat64() / s.rate * 1e9
		if int64(at) >= int64(s.length) {
			return all
		}
		j := &job{intended: int64(at), sent: int64(at), left: 2 * int64(s.work)}
		if e, ok := within(s.frozen, j.intended); ok {
			j.sent = e.to
		}
		if e, ok := within(s.down, j.intended); ok {
			j.sent = e.to // no connection before
		}
		if s.uneven {
			j.left = int64(float64(j.left)*working.ExpFloat64()) + 1
		}
		if s.calls != nil {
			j.call = int64(s.calls(calling))
		}
		all = append(all, j)
	}
}

func (s *simulated) run() *outcome {
	if s.users > 0 {
		return s.closed()
	}
	o := &outcome{jobs: s.arrivals(), down: s.down}
	slices.SortStableFunc(o.jobs, func(a, b *job) int { return cmp.Compare(a.sent, b.sent) })
	e := &engine{simulated: s, left: int64(s.quota), out: o}
	for _, j := range o.jobs {
		e.until(j.sent)
		e.queue = append(e.queue, j)
	}
	e.until(never)
	return o
}

// closed runs users that send again when they are answered.
func (s *simulated) closed() *outcome {
	o := &outcome{}
	e := &engine{simulated: s, left: int64(s.quota), out: o}
	ask := func(at int64) {
		j := &job{intended: at, sent: at, left: 2 * int64(s.work)}
		o.jobs, e.queue = append(o.jobs, j), append(e.queue, j)
	}
	e.answered = func(at int64) {
		if at < int64(s.length) {
			ask(at)
		}
	}
	for range s.users {
		ask(0)
	}
	e.until(never)
	return o
}

// engine is the running service.
type engine struct {
	*simulated
	now      int64
	period   int64 // index
	left     int64 // of the quota in this period
	stopped  int64 // since when it is throttled; 0: it is not
	running  []*job
	calling  []*job // while holding a thread
	queue    []*job
	out      *outcome
	answered func(at int64)
}

// until runs the service up to a time.
func (e *engine) until(moment int64) {
	for e.now < moment {
		e.begin()
		if moment == never && len(e.running)+len(e.calling) == 0 && e.stopped == 0 {
			return
		}
		speed := e.speed()
		next := min(moment, (e.period+1)*simPeriod, edge(e.down, e.now), edge(e.hogged, e.now), edge(e.stalled, e.now))
		for _, j := range e.running {
			if speed > 0 {
				next = min(next, e.now+(j.left+speed-1)/speed)
			}
		}
		for _, j := range e.calling {
			next = min(next, j.done)
		}
		n := int64(len(e.running))
		if e.quota > 0 && speed > 0 && n > 0 {
			next = min(next, e.now+(e.left+n-1)/n)
		}
		e.pass(next, speed)
	}
}

// begin assigns waiting requests to free threads.
func (e *engine) begin() {
	if s, dead := within(e.down, e.now); dead && s.from == e.now {
		for _, j := range append(e.running, e.queue...) {
			j.lost, j.done = true, j.sent+int64(e.timeout)
		}
		e.running, e.queue = nil, nil
	}
	e.calling = slices.DeleteFunc(e.calling, func(j *job) bool { return j.done <= e.now })
	for len(e.running)+len(e.calling) < e.threads && len(e.queue) > 0 {
		e.running, e.queue = append(e.running, e.queue[0]), e.queue[1:]
	}
}

func (e *engine) speed() int64 {
	if _, dead := within(e.down, e.now); dead || e.stopped > 0 {
		return 0
	}
	if _, stops := within(e.stalled, e.now); stops {
		return 0
	}
	if _, slow := within(e.hogged, e.now); slow && e.sleeps == 0 {
		return 1
	}
	return 2
}

// pass advances to a time before which nothing changes.
func (e *engine) pass(next, speed int64) {
	took := next - e.now
	if e.quota > 0 && speed > 0 {
		e.left -= took * int64(len(e.running))
	}
	e.now = next
	still := e.running[:0:0]
	for _, j := range e.running {
		if j.left -= took * speed; j.left > 0 {
			still = append(still, j)
		} else {
			j.done = e.now + j.call
			if e.calls != nil {
				e.out.calls = append(e.out.calls, j)
				if e.blocking {
					e.calling = append(e.calling, j)
				}
			}
		}
	}
	ended := len(e.running) - len(still)
	e.running = still
	if e.answered != nil {
		for range ended {
			e.answered(e.now)
		}
	}
	if e.quota > 0 && e.left <= 0 && e.stopped == 0 && len(e.running)+len(e.queue) > 0 {
		e.stopped = e.now
	}
	if e.now == (e.period+1)*simPeriod {
		e.period++
		e.left = min(e.left, 0) + int64(e.quota)
		if e.stopped > 0 && e.left > 0 {
			e.out.windows = append(e.out.windows, stretch{e.stopped, e.now})
			e.stopped = 0
		}
	}
}

// observed is what the lab would have measured of an outcome.
type observed struct {
	slow      []signals.SlowLine
	windows   []signals.Window
	frames    []*signals.Frame
	latencies []int64       // in the order of intended
	threshold time.Duration // p99
	typical   time.Duration // median of done - sent
	mean      float64       // of the slowest hundredth, nanoseconds
}

func quantile(sorted []int64, q float64) int64 {
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// observe keeps the requests above the p95, as an agent does: of each second the
// slowest, and a random sample of the others.
func (s *simulated) observe(o *outcome, others int) *observed {
	out := &observed{}
	var services []int64
	o.jobs = slices.DeleteFunc(o.jobs, func(j *job) bool { return j.lost && s.timeout == 0 })
	slices.SortStableFunc(o.jobs, func(a, b *job) int { return cmp.Compare(a.intended, b.intended) })
	for _, j := range o.jobs {
		if e, ok := within(s.frozen, j.done); ok {
			j.done = e.to // the answer waited until then
		}
		out.latencies = append(out.latencies, j.done-j.intended)
		services = append(services, j.done-j.sent)
	}
	slices.Sort(services)
	latencies := slices.Sorted(slices.Values(out.latencies))
	p95, p99 := quantile(latencies, 0.95), quantile(latencies, 0.99)
	out.threshold, out.typical = time.Duration(p99), time.Duration(quantile(services, 0.5))
	slowest := latencies[int(0.99*float64(len(latencies))):]
	for _, l := range slowest {
		out.mean += float64(l) / float64(len(slowest))
	}

	seconds := map[int64][]signals.SlowLine{}
	for _, j := range o.jobs {
		if j.done-j.intended < p95 {
			continue
		}
		one := signals.Slow{Intended: simStart + j.intended, Sent: simStart + j.sent, Done: simStart + j.done, TimedOut: j.lost, For: 1}
		if _, ok := within(s.frozen, j.intended); ok {
			one.Lag = one.Sent - one.Intended
		}
		seconds[j.done/simFrame] = append(seconds[j.done/simFrame], signals.SlowLine{Trial: 1, Slow: one})
	}
	random := rand.New(rand.NewPCG(s.seed, 3))
	for _, second := range slices.Sorted(maps.Keys(seconds)) {
		out.slow = append(out.slow, sample(seconds[second], others, random)...)
	}
	seen := func(kind signals.WindowKind, all times) {
		for _, w := range all {
			out.windows = append(out.windows, signals.Window{Trial: 1, Of: "sim", Kind: kind, Start: simStart + w.from, End: simStart + w.to})
		}
	}
	seen(signals.Throttled, o.windows)
	seen(signals.Down, o.down)
	out.frames = s.frames(o)
	return out
}

// sample keeps the slowest requests and a number of others, which stand for all.
func sample(all []signals.SlowLine, others int, random *rand.Rand) []signals.SlowLine {
	const slowest = 8
	if len(all) <= slowest+others {
		return all
	}
	slices.SortStableFunc(all, func(a, b signals.SlowLine) int { return cmp.Compare(latency(&b), latency(&a)) })
	rest := all[slowest:]
	random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	for i := range others {
		rest[i].For = float64(len(rest)) / float64(others)
	}
	return all[:slowest+others]
}

// frames are those of the client, the host and the dependency, one per second.
func (s *simulated) frames(o *outcome) []*signals.Frame {
	var out []*signals.Frame
	frames := int(int64(s.length)/simFrame) + 5
	clients := make([]*signals.Client, frames)
	waits := make([]*signals.Waits, frames)
	for i := range frames {
		f := signals.Frame{Trial: 1, Seq: i, Phase: signals.Measure, Start: simStart + int64(i)*simFrame, End: simStart + int64(i+1)*simFrame}
		client, host, wait := f, f, f
		clients[i] = &signals.Client{Latency: signals.NewHistogram(), Service: signals.NewHistogram()}
		waits[i] = &signals.Waits{Bounds: s.bounds, Counts: make([]int64, len(s.bounds)+1)}
		client.Client = clients[i]
		host.Host = &signals.Host{CPUs: 2, Idle: 1.2, Services: 0.5}
		hogged := float64(s.hogged.within(int64(i)*simFrame, int64(i+1)*simFrame)) / float64(simFrame)
		host.Host.Foreign, host.Host.Idle = hogged, 1.2-1.18*hogged
		if s.sleeps > 0 {
			host.Host.Foreign, host.Host.Services, host.Host.Idle = 1.92*hogged, s.sleeps, 1.9-1.84*hogged
		}
		wait.Of, wait.Waits = "sim", waits[i]
		out = append(out, &client, &host)
		if s.pressure > 0 {
			server := f
			server.Of, server.Server = "sim", &signals.Server{CPUPressure: &s.pressure, Up: true}
			out = append(out, &server)
		}
		if s.calls != nil {
			out = append(out, &wait)
		}
	}
	in := func(at int64) int { return min(int(at/simFrame), frames-1) }
	for _, j := range o.jobs {
		clients[in(j.intended)].Intended++
		clients[in(j.done)].Latency.Record(time.Duration(j.done - j.intended))
		clients[in(j.done)].Service.Record(time.Duration(j.done - j.sent))
	}
	for _, j := range o.calls {
		w := waits[in(j.done)]
		seconds := float64(j.call) / 1e9
		i, _ := slices.BinarySearch(s.bounds, seconds)
		w.Counts[i]++
		w.Sum += seconds
	}
	return out
}

func (v *observed) result() *summary.Causes {
	b := New("sim", 0)
	for _, f := range v.frames {
		b.Frame(f)
	}
	for _, w := range v.windows {
		b.Window(w)
	}
	for _, s := range v.slow {
		b.Slow(s)
	}
	return b.Result("p99", v.threshold, v.typical)
}

// grid is bucket bounds in seconds, each larger than the one before by a factor.
func grid(from, to, factor float64) (out []float64) {
	for b := from; b < to; b *= factor {
		out = append(out, b)
	}
	return out
}

// every returns stretches of one length that repeat.
func every(period, length, until time.Duration) (out times) {
	for at := int64(period); at < int64(until); at += int64(period) {
		out = append(out, stretch{at, at + int64(length)})
	}
	return out
}
