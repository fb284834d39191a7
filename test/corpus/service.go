package corpus

import (
	"math/rand/v2"
	"time"
)

// Service is the truth about a simulated service.
type Service struct {
	// Workers is how many requests it works on at one time; the others wait in a
	// queue, first come, first served. At least 1.
	Workers int
	// Work is the CPU time of a request.
	Work func(*rand.Rand) time.Duration
	// Slowed multiplies the work by a function of the requests that are inside when
	// a worker takes it. nil: 1.
	Slowed func(inside int) float64
	// Aged multiplies it by a function of the time since the trial began. nil: 1.
	Aged func(at time.Duration) float64
	// Lock is how long a request, after its work, holds something that one request
	// at a time may hold. It uses no CPU, and the request keeps its worker.
	Lock time.Duration
	// Call is how long a request, after its work, waits for a dependency. nil: it has
	// none.
	Call func(*rand.Rand) time.Duration
	// Blocking requests keep their worker during the call.
	Blocking bool
	// After is the CPU time that a request needs after its lock and its call.
	After time.Duration
	// Backlog is how many requests may wait for a worker; more are refused. 0: no
	// bound.
	Backlog int
	// Collect is the CPU time that another thread of the runtime uses after a request,
	// such as one that collects garbage. It needs no worker.
	Collect time.Duration
	// Reports says that it reports its calls, as a histogram.
	Reports bool
	// Threads says that each worker is a thread, and what the scheduler's counters of the
	// threads are. It works on no request again After its call.
	Threads bool
	// Fails is the probability that a request is answered with the status 500, given
	// the requests that are inside. It costs the same work. nil: none.
	Fails func(inside int) float64
	// Retry is how long something in front of the workers waits for a request before it
	// sends it again, up to Retries times. The service works on all of them; the first
	// that is ready answers. 0: never.
	Retry   time.Duration
	Retries int
	// Sheds is how many requests may be inside; it answers more with the status 503 at
	// once. 0: no bound.
	Sheds int
	// Every and Pause stop it for a time in each period, as a collector or a checkpoint
	// does. 0: never.
	Every, Pause time.Duration
	// Down are the times at which it does not run. Requests inside are cut, new ones
	// are refused.
	Down []Stretch
	// OOM says that it is down because it used up its memory.
	OOM bool
	// Memory is what it uses, in bytes.
	Memory int64
}

// Stretch is a time since the beginning of a trial.
type Stretch struct{ From, To time.Duration }

func (s Stretch) holds(at int64) bool { return int64(s.From) <= at && at < int64(s.To) }

// during is the stretch that a time lies in.
func during(all []Stretch, at int64) (Stretch, bool) {
	for _, s := range all {
		if s.holds(at) {
			return s, true
		}
	}
	return Stretch{}, false
}

// edge is the first start or end of a stretch after a time.
func edge(all []Stretch, at int64) int64 {
	next := int64(never)
	for _, s := range all {
		for _, e := range []int64{int64(s.From), int64(s.To)} {
			if e > at {
				next = min(next, e)
			}
		}
	}
	return next
}

const never = 1<<63 - 1
