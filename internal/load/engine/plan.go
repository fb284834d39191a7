// Package engine makes the traffic of one agent: event loops, each on its own thread,
// send requests on schedule and record their times. The engine counts per interval
// and hands the intervals over; it does not judge, and connects to nothing but the
// targets.
//
// A loop waits for answers and for the schedule with one system call, so that neither
// delays the time stamps of the other. In the steady state a request costs no
// allocation, no lock and no channel operation.
//
// The loop does not depend on an operating system: it uses a poller, which is epoll
// on Linux and a simulation in tests. Systems other than Linux are not supported.
package engine

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/millicore/millicore/internal/data/recording"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/session"
)

// Plan is one agent's traffic in one trial.
type Plan struct {
	Targets     []Target      // connection i goes to target i mod n of those that have not gone
	Kinds       []Kind        // of requests
	Session     *session.Plan // the kinds are sent in their order; nil: by their weights
	Transport   Transport
	Load        Load // of all agents together
	Connections int  // maximum of all agents together; 0: one per user, or enough for the rate
	Timeout     time.Duration
	Think       time.Duration // closed loop: a user's mean pause after an answer
	Waiting     *int          // open loop: maximum of waiting requests of all agents; nil: bounded by memory only
	Warmup      time.Duration
	Interval    time.Duration
	Threads     int // event loops; fewer where there are fewer connections
	Agent       int // index of this agent
	Agents      int
	Seed        uint64
	Hide        func(string) string // removes secrets from what the service says; nil: there are none
}

// Load is users over time (closed) or requests per second over time (open).
type Load struct {
	Open     bool
	Even     bool // open loop: evenly spaced, not Poisson; closed loop: constant think times
	Curve    *schedule.Curve
	Requests int64                // closed loop: end after this number; 0: at the curve's end
	Recorded *recording.Recording // open loop: these requests at these times, of which the curve has the mean and the peak
}

// The default number of connections of an open loop is enough for answers that take
// defaultAnswer, within these bounds.
const (
	defaultAnswer   = 100 * time.Millisecond
	fewConnections  = 64
	manyConnections = 1024
)

// Above these values a plan is certainly a mistake: users or connections of one trial,
// and requests per second.
const (
	maxConnections = 1 << 20
	maxRate        = 5_000_000
)

// connections returns the maximum number of connections of all agents together.
func (p *Plan) connections(load Load) int {
	if p.Connections > 0 {
		return p.Connections
	}
	if !load.Open {
		return int(math.Ceil(load.Curve.Peak()))
	}
	n := int(math.Ceil(load.Curve.Peak() * defaultAnswer.Seconds()))
	n = min(max(n, fewConnections), manyConnections)
	if there := len(present(p.Targets)); n%there != 0 {
		n += there - n%there
	}
	return n
}

// place returns the first index and the number of one share's connections.
func (p *Plan) place(load Load, share int) (from, n int) {
	return schedule.Share(p.connections(load), share, p.shares())
}

// maxWaiting is the maximum number of waiting requests per loop, of 8 bytes each.
// Further requests are dropped and counted as such.
const maxWaiting = 4 << 20

// mayWait is the maximum number of requests of one share that wait for a connection.
func (p *Plan) mayWait(share int) int {
	if p.Waiting == nil {
		return maxWaiting
	}
	_, n := schedule.Share(*p.Waiting, share, p.shares())
	return min(n, maxWaiting)
}

// shares returns the number of parts of the load: one for each thread of each agent.
func (p *Plan) shares() int { return p.Agents * p.Threads }

// settle checks the plan and fills in defaults.
func (p *Plan) settle() error {
	switch {
	case len(present(p.Targets)) == 0:
		return errors.New("no targets: name at least one replica")
	case p.Load.Curve == nil:
		return errors.New("no load")
	case p.Timeout <= 0:
		return fmt.Errorf("the timeout %v is not above zero", p.Timeout)
	case p.Interval < time.Millisecond:
		return fmt.Errorf("the interval %v is below 1ms", p.Interval)
	case p.Think < 0:
		return fmt.Errorf("the think time %v is negative", p.Think)
	case p.Waiting != nil && (*p.Waiting < 0 || !p.Load.Open):
		return errors.New("waiting is a number of requests, 0 or more, of an open loop; in a closed loop each user waits for its own request")
	case p.Load.Open && p.Think > 0:
		return errors.New("a think time needs a closed loop; an open loop has no users")
	case p.Warmup < 0:
		return fmt.Errorf("the warm-up %v is negative", p.Warmup)
	case p.Agents < 1 || p.Agent < 0 || p.Agent >= p.Agents:
		return fmt.Errorf("agent %d of %d: want an index below the number of agents", p.Agent, p.Agents)
	case p.Connections < 0:
		return fmt.Errorf("%d connections", p.Connections)
	}
	if err := p.Transport.Check(); err != nil {
		return err
	}
	if err := p.settleKinds(); err != nil {
		return err
	}
	if err := p.settleLoad(); err != nil {
		return err
	}
	all := p.connections(p.Load)
	if all > maxConnections {
		return fmt.Errorf("%d connections are more than %d: set connections", all, maxConnections)
	}
	if all < p.Agents && (p.Load.Open || p.Connections > 0) {
		return fmt.Errorf("%d agents share %d connections: give each at least one", p.Agents, all)
	}
	p.Threads = min(max(p.Threads, 1), max(all/p.Agents, 1))
	return nil
}

func (p *Plan) settleLoad() error {
	switch l := p.Load; {
	case l.Requests < 0:
		return fmt.Errorf("%d requests", l.Requests)
	case !l.Open && l.Curve.Peak() > maxConnections:
		return fmt.Errorf("%v users are more than %d", l.Curve.Peak(), maxConnections)
	case l.Open && l.Curve.Peak() > maxRate:
		return fmt.Errorf("%v requests/s are more than any agent can make", l.Curve.Peak())
	case l.Requests > 0 && l.Open:
		return errors.New("a number of requests needs a closed loop; an open loop ends with its stages")
	case l.Requests > 0 && p.Warmup > 0:
		return errors.New("a load of a number of requests has no warm-up: all of them count")
	case l.Requests > 0 && l.Curve.Peak() < 1:
		return errors.New("a number of requests needs at least one user")
	case l.Requests == 0 && l.Curve.Length() >= schedule.Endless:
		return errors.New("the load has no end: give its stages durations, or a number of requests")
	}
	return nil
}
