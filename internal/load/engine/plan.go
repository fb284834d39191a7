// Package engine makes the traffic of one agent: event loops, each on a thread
// of its own, that send requests when the schedule says so and stamp what
// happens to them. It counts and hands over intervals; it draws no conclusions
// and speaks to nobody but the targets.
//
// A loop serves answers and schedule by one wait, so that neither is stamped
// late because of the other. In the steady state a request costs no
// allocation, no lock and no channel.
//
// The loop itself knows no operating system: it sees the world through a port,
// which is epoll on Linux and a simulation in tests. Other systems than Linux
// are refused.
package engine

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/wire"
)

// Plan is the traffic of one trial as one agent has to make it.
type Plan struct {
	Targets     []Target // connection i goes to target i mod n of those that have not gone
	Kinds       []Kind   // of requests
	Transport   Transport
	Load        Load // of all agents together
	Connections int  // of all agents together; 0: users, or enough for the rate
	Timeout     time.Duration
	Think       time.Duration // closed: a user's pause after an answer, on average
	Waiting     *int          // open: requests of all agents that may wait for a connection; nil: as many as memory allows
	Warmup      time.Duration
	Interval    time.Duration
	Threads     int // event loops; fewer where there are fewer connections
	Agent       int // index of this agent
	Agents      int
	Seed        uint64
}

// Target is a replica and the requests that it gets, one of each kind.
type Target struct {
	Addr     netip.AddrPort
	Socket   string // path of a unix socket, in the place of Addr
	Name     string // of the host, which a certificate is for
	Requests []*wire.Template
	Gone     bool // it keeps its place, and gets no connection; nothing else is set
}

// Load is users over time (closed) or requests per second over time (open).
type Load struct {
	Open     bool
	Even     bool // open: evenly spaced, not Poisson; closed: think times all the same
	Curve    *schedule.Curve
	Requests int64 // closed: end after so many; 0: at the curve's end
}

// Default connections of an open loop: enough for answers that take this long,
// within these bounds.
const (
	defaultAnswer   = 100 * time.Millisecond
	fewConnections  = 64
	manyConnections = 1024
)

// Beyond these a plan is surely a slip: users or connections of one trial, and
// requests per second, of which a loop can still keep the books.
const (
	maxConnections = 1 << 20
	maxRate        = 5_000_000
)

// connections returns how many connections all agents have together.
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

// place returns the place and the number of one share's connections.
func (p *Plan) place(load Load, share int) (from, n int) {
	return schedule.Share(p.connections(load), share, p.shares())
}

// maxWaiting bounds the memory for requests that are due and cannot be sent,
// per loop: 8 bytes each. What comes due beyond it is dropped, and counted so.
const maxWaiting = 4 << 20

// mayWait is how many requests of one share may wait for a connection.
func (p *Plan) mayWait(share int) int {
	if p.Waiting == nil {
		return maxWaiting
	}
	_, n := schedule.Share(*p.Waiting, share, p.shares())
	return min(n, maxWaiting)
}

// shares returns into how many parts the load is cut: one for each thread of
// each agent.
func (p *Plan) shares() int { return p.Agents * p.Threads }

// settle checks the plan and fills in what was left open.
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
		return errors.New("how many requests may wait is said of an open loop, and is not negative: a user waits for one's own request")
	case p.Load.Open && p.Think > 0:
		return errors.New("a think time is of users; an open loop has none")
	case p.Warmup < 0:
		return fmt.Errorf("the warm-up %v is negative", p.Warmup)
	case p.Agents < 1 || p.Agent < 0 || p.Agent >= p.Agents:
		return fmt.Errorf("agent %d of %d: want an index below the number of agents", p.Agent, p.Agents)
	case p.Connections < 0:
		return fmt.Errorf("%d connections", p.Connections)
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
		return errors.New("a number of requests ends a closed loop; an open loop ends with its stages")
	case l.Requests > 0 && p.Warmup > 0:
		return errors.New("a number of requests has no warm-up: all of them count")
	case l.Requests > 0 && l.Curve.Peak() < 1:
		return errors.New("a number of requests needs at least one user")
	case l.Requests == 0 && l.Curve.Length() >= schedule.Endless:
		return errors.New("the load has no end: give its stages durations, or a number of requests")
	}
	return nil
}
