package corpus

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// Behaviour is the truth about one trial: the service, its machine and the generator.
type Behaviour struct {
	Service Service
	// CPUs of the machine; 0: 4.
	CPUs float64
	// Unlimited ignores the CPU limit of the cell, as a service does that runs
	// elsewhere.
	Unlimited bool
	// Foreign and Steal are the CPUs that other processes, and the hypervisor, take
	// during some stretches.
	Foreign, Steal []Taken
	// Send is the generator's time for one request: it sends no more than one in
	// each. 0: 10 us.
	Send time.Duration
	// Stalls are the times at which the generator neither sends nor receives.
	Stalls []Stretch
}

// Taken is CPU that others use.
type Taken struct {
	Stretch
	CPUs float64
}

// over is the CPU time that others use between two times, in ns.
func over(all []Taken, from, to int64) (sum float64) {
	for _, t := range all {
		sum += t.CPUs * float64(max(0, min(to, int64(t.To))-max(from, int64(t.From))))
	}
	return sum
}

// trial is one trial under way.
type trial struct {
	Behaviour
	cell   *experiment.Cell
	trial  int   // its number
	epoch  int64 // unix ns of its beginning
	warmup int64
	draws  *draws
	server *server

	now      int64
	load     float64 // requests/s, or users
	next     int64   // open loop: when the next request is due
	number   int64   // of the next request
	due      []*job  // and not sent
	flight   []*job  // sent, in the order of sending; those that ended leave it at its front
	inFlight int     // those of it that have not ended
	busy     int64   // until when the generator sends
	users    int     // closed loop: users that exist
	waking   []int64 // closed loop: when users send again
	received []*job  // answers that a stalled generator has not read

	tally *tally // nil: frames are recorded
	part  part
	seen  *signals.Histogram // latencies of the intervals before
	above time.Duration      // their 95th percentile: slower ones are kept
}

// part is what happened in one interval.
type part struct {
	client signals.Client
	slow   []signals.Slow
	server counters
}

// counters are the server's totals.
type counters struct {
	used, throttled                             float64
	periods, throttledPeriods, restarts, killed int64
}

// newTrial begins a trial. The same seed and number give the same arrivals, and the same work
// for each request, whatever the limits and however late the service gets to it.
func newTrial(b Behaviour, c *experiment.Cell, number int, epoch int64, warmup time.Duration, seed uint64) *trial {
	if b.CPUs == 0 {
		b.CPUs = 4
	}
	if b.Send == 0 {
		b.Send = 10 * time.Microsecond
	}
	limit := float64(c.Limits.CPUMillis) / 1000
	if b.Unlimited {
		limit = 0
	}
	period := c.Limits.Period
	if period == 0 {
		period = signals.DefaultPeriod
	}
	t := &trial{Behaviour: b, cell: c, trial: number, epoch: epoch, warmup: int64(warmup), draws: newDraws(seed, number), next: never, seen: signals.NewHistogram()}
	t.server = newServer(b.Service, t.draws, b.CPUs, limit, period)
	t.server.others = courseOf(b.Foreign, b.Steal)
	t.server.ended = t.receive
	t.part.client = empty()
	return t
}

func empty() signals.Client {
	return signals.Client{Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram(), Status: map[string]int64{}}
}

func (t *trial) open() bool { return t.cell.Load.Users == nil }

// set changes the load now.
func (t *trial) set(load float64) {
	if load != t.load { // as agents do
		t.seen, t.above = signals.NewHistogram(), 0
	}
	t.load = load
	if t.open() {
		t.next = never
		if load > 0 {
			t.next = t.now + t.gap()
		}
		return
	}
	for t.users < int(load) {
		t.users++
		t.waking = append(t.waking, t.now)
	}
}

// drop forgets the requests that are due and not sent, and the users who wait for them.
func (t *trial) drop() {
	t.part.client.Dropped += int64(len(t.due))
	if !t.open() {
		t.users -= len(t.due)
	}
	t.due = nil
}

func (t *trial) gap() int64 {
	if t.cell.Load.Even {
		return int64(float64(time.Second) / t.load)
	}
	return int64(t.draws.arrivals.ExpFloat64() * float64(time.Second) / t.load)
}

// until runs the trial up to a time.
func (t *trial) until(to int64) {
	for t.now < to {
		next := min(to, t.next, edge(t.Stalls, t.now))
		for _, at := range t.waking {
			next = min(next, at)
		}
		if at, ok := t.sends(); ok {
			next = min(next, at)
		}
		if j := t.oldest(); j != nil {
			next = min(next, j.sent+int64(t.cell.Load.Timeout))
		}
		t.now = t.server.until(next)
		t.act()
	}
}

// sends is when the first request that is due can be sent, as far as that is known.
func (t *trial) sends() (int64, bool) {
	if len(t.due) == 0 || t.cell.Load.Connections > 0 && t.inFlight >= t.cell.Load.Connections {
		return 0, false
	}
	at := max(t.busy, t.now, t.due[0].due)
	if s, ok := during(t.Stalls, at); ok {
		at = int64(s.To)
	}
	return at, true
}

// act does what is due now.
func (t *trial) act() {
	if _, stalled := during(t.Stalls, t.now); !stalled && len(t.received) > 0 {
		late := t.received
		t.received = nil
		for _, j := range late {
			j.done = t.now
			t.account(j)
		}
	}
	for j := t.oldest(); j != nil && j.sent+int64(t.cell.Load.Timeout) <= t.now; j = t.oldest() {
		t.inFlight--
		j.left, j.end, j.done = true, timedOut, t.now
		t.account(j)
	}
	if t.next <= t.now {
		t.intend(t.next)
		t.next += max(t.gap(), 1)
	}
	if !t.open() {
		var asleep []int64
		for _, at := range t.waking {
			switch {
			case at > t.now:
				asleep = append(asleep, at)
			case t.users > int(t.load):
				t.users--
			default:
				t.intend(t.now)
			}
		}
		t.waking = asleep
	}
	for {
		at, ok := t.sends()
		if !ok || at > t.now {
			return
		}
		j := t.due[0]
		t.due = t.due[1:]
		t.busy = t.now + int64(t.Send)
		j.sent = t.now
		j.lag = t.now - j.due
		t.part.client.Sent++
		t.part.client.SendLag.Record(time.Duration(j.lag))
		t.part.client.CPU += t.Send.Seconds()
		t.flight = append(t.flight, j)
		t.inFlight++
		t.part.client.OpenConnections = max(t.part.client.OpenConnections, int64(t.inFlight))
		t.server.arrive(j)
	}
}

func (t *trial) intend(at int64) {
	t.part.client.Intended++
	t.due = append(t.due, &job{number: t.number, intended: at, due: at})
	t.number++
}

// oldest is the request that has been in flight for the longest time; nil: none is.
func (t *trial) oldest() *job {
	for len(t.flight) > 0 && t.flight[0].end != open {
		t.flight = t.flight[1:]
	}
	if len(t.flight) == 0 {
		return nil
	}
	return t.flight[0]
}

// receive takes an answer, or the end of a connection, from the service.
func (t *trial) receive(j *job) {
	if j.left {
		return // the client has given it up: work for nothing
	}
	t.inFlight--
	if t.cell.Load.Connections > 0 {
		t.server.pause = true // the next request waits for this answer
	}
	if _, stalled := during(t.Stalls, j.done); stalled {
		t.received = append(t.received, j)
		return
	}
	t.account(j)
}

// account counts a request that ended.
func (t *trial) account(j *job) {
	if limit := t.cell.Load.Connections; limit > 0 && len(t.due) > 0 && t.inFlight == limit-1 {
		t.due[0].due = max(t.due[0].due, j.done) // it waited for this connection
	}
	if !t.open() {
		think := int64(0)
		if mean := t.cell.Load.Think; mean > 0 {
			think = int64(t.draws.arrivals.ExpFloat64() * float64(mean))
		}
		t.waking = append(t.waking, j.done+think)
		t.server.pause = true // the user acts next
	}
	if t.tally != nil {
		t.tally.add(j)
		return
	}
	k := &t.part.client
	if j.intended < t.warmup && t.now >= t.warmup {
		k.Carried++
		return
	}
	switch j.end {
	case refused:
		k.Refused++
		return
	case cut:
		k.Cut++
		return
	case timedOut:
		k.Timeouts++
	case answered:
		if j.status != 200 {
			k.Status[strconv.Itoa(j.status)]++
			return
		}
		k.Status["200"]++
		k.Good++
	}
	k.Latency.Record(time.Duration(j.done - j.intended))
	k.Service.Record(time.Duration(j.done - j.sent))
	t.slow(j)
}

// slow keeps a request above the 95th percentile of the intervals before.
func (t *trial) slow(j *job) {
	latency := time.Duration(j.done - j.intended)
	if latency <= t.above {
		return
	}
	t.part.client.SlowSeen++
	t.part.slow = append(t.part.slow, signals.Slow{Intended: t.epoch + j.intended, Sent: t.epoch + j.sent,
		Done: t.epoch + j.done, Lag: j.lag, TimedOut: j.end == timedOut, For: 1})
}

// kept is a random sample of an interval's slow requests, as an agent keeps it.
func (t *trial) kept() []signals.Slow {
	const most = 256
	all := t.part.slow
	if len(all) <= most {
		return all
	}
	t.draws.sample.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for i := range most {
		all[i].For = float64(len(all)) / most
	}
	slices.SortFunc(all[:most], func(a, b signals.Slow) int { return cmp.Compare(a.Intended, b.Intended) })
	return all[:most]
}
