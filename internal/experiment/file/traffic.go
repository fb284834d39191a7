package file

import (
	"math"
	"time"

	"github.com/millicore/millicore/internal/experiment"
)

const (
	mostUsers       = 1_000_000
	mostRate        = 10_000_000
	mostAgents      = 1000
	mostThreads     = 256
	mostConnections = 1_000_000
	shortestTimeout = time.Millisecond
	longestThought  = time.Hour
	// longestTimeout is what the histograms reach to.
	longestTimeout = 60 * time.Second
)

// readLoad reads the traffic in a cell.
func (c *cellReader) readLoad(l *load) experiment.Load {
	c.failed = false
	out := experiment.Load{Find: l.searches(), Insecure: l.Insecure.value}
	if l.Protocol.value != experiment.Protocols[0] {
		out.Protocol = l.Protocol.value
	}
	c.readAsked(l, &out)
	if l.Users.present() {
		out.Users = c.readTarget(&l.Users, "users", mostUsers)
	} else {
		out.Rate = c.readTarget(&l.Rate, "rate", mostRate)
	}
	requests, counted := read(c, &l.Requests)
	spacing, _ := read(c, &l.Spacing)
	agents, _ := read(c, &l.Agents)
	threads, _ := read(c, &l.Threads)
	connections, _ := read(c, &l.Connections)
	timeout, _ := read(c, &l.Timeout)
	out.Think, _ = read(c, &l.Think)
	if waiting, ok := read(c, &l.Waiting); ok {
		out.Waiting = &waiting
	}
	out.Requests, out.Even, out.Timeout = requests, spacing == "even", timeout
	out.Agents, out.Threads, out.Connections = int(agents), int(threads), int(connections)
	if c.failed {
		return out
	}

	if timeout < shortestTimeout || timeout > longestTimeout {
		c.wrong(&l.Timeout.scalar, "%s is outside 1ms to 60s", short(timeout))
	}
	if agents > mostAgents {
		c.wrong(&l.Agents.scalar, "%d are more than %d", agents, mostAgents)
	}
	if threads > mostThreads {
		c.wrong(&l.Threads.scalar, "%d are more than %d", threads, mostThreads)
	}
	if connections > mostConnections {
		c.wrong(&l.Connections.scalar, "%d are more than %d", connections, mostConnections)
	}
	if connections > 0 && agents > connections {
		c.conflict("load.connections", []*scalar{&l.Connections.scalar, &l.Agents.scalar}, "%d are too few for %d agents", connections, agents)
	}
	c.checkClosed(l, &out, counted)
	if l.Spacing.given && out.Rate == nil && out.Think == 0 && !c.absent(&l.Spacing.scalar) {
		c.conflict("load.spacing", []*scalar{&l.Spacing.scalar}, "users send when their answer has come; spacing is for rate, or for users that think")
	}
	if out.Insecure && out.Protocol != "https" && out.Protocol != "h2" {
		c.conflict("load.insecure", []*scalar{&l.Insecure.scalar}, "there is no certificate without TLS; it is for the protocols https and h2")
	}
	if out.Think > 0 && out.Users == nil {
		c.conflict("load.think", []*scalar{&l.Think.scalar}, "a rate comes whatever the answers do; think is for users")
	}
	if out.Think > longestThought {
		c.wrong(&l.Think.scalar, "%s is longer than %s", short(out.Think), short(longestThought))
	}
	if out.Waiting != nil && out.Rate == nil {
		c.conflict("load.waiting", []*scalar{&l.Waiting.scalar}, "a user waits for one's own request alone; waiting is for rate")
	}
	return out
}

// checkClosed finds contradictions between what belongs to users and what not.
func (c *cellReader) checkClosed(l *load, out *experiment.Load, counted bool) {
	if counted {
		switch {
		case out.Find:
			c.conflict("load.requests", []*scalar{&l.Requests.scalar}, "a search ends when it has found what it searches, not after so many requests; leave out requests or find")
			return
		case out.Rate != nil:
			c.conflict("load.requests", []*scalar{&l.Requests.scalar}, "an end after so many requests is for users; with a rate, set measure.duration")
			return
		case out.Users != nil && len(out.Users.Stages) > 0:
			c.conflict("load.requests", []*scalar{&l.Requests.scalar}, "an end after so many requests contradicts users in %s; keep one", l.course().what())
			return
		}
	}
	if out.Users == nil {
		return
	}
	users := out.Users.Highest()
	if counted && float64(out.Requests) < users {
		c.conflict("load.requests", []*scalar{&l.Requests.scalar, &l.Users.number.scalar}, "%d are too few for %.0f users to send one each", out.Requests, users)
	}
	if float64(out.Agents) > users {
		c.conflict("load.agents", []*scalar{&l.Agents.scalar, &l.Users.number.scalar}, "%d agents cannot share %.0f users", out.Agents, users)
	}
}

func (c *cellReader) readRequest(r *request) experiment.Request {
	var out experiment.Request
	out.Method, _ = read(c, &r.Method)
	out.Path = need(c, &r.Path)
	for i := range r.Headers.entries {
		h := &r.Headers.entries[i]
		value, ok := read(c, &h.value)
		if !ok {
			continue
		}
		if out.Headers == nil {
			out.Headers = make(map[string]string)
		}
		out.Headers[h.name] = value
	}
	out.Body, _ = read(c, &r.Body)
	return out
}

// course is the one that the load takes; nil: a number is held.
func (l *load) course() *course {
	if l.Users.course != nil {
		return l.Users.course
	}
	return l.Rate.course
}

// present reports whether the load has this target.
func (t *target) present() bool { return t.course != nil || t.number.given || t.number.bad }

// readTarget reads users or rate; nil where it is absent and has no default.
func (c *cellReader) readTarget(t *target, what string, most float64) *experiment.Target {
	if t.course != nil {
		if t.course.Ramp.given {
			return c.readRamp(&t.course.Ramp, what, most)
		}
		return c.readStages(t.course, what, most)
	}
	if !t.number.given && t.number.fallback == "" {
		return nil
	}
	value := need(c, &t.number)
	if c.failed {
		return nil
	}
	if value == 0 {
		c.wrong(&t.number.scalar, "0 is no load")
	}
	c.checkLevel(&t.number, value, what, most)
	return &experiment.Target{Value: value}
}

// checkLevel refuses parts of users, and more than can be asked for.
func (c *cellReader) checkLevel(v *varied[level, float64], value float64, what string, most float64) {
	switch {
	case what == "users" && value != math.Trunc(value):
		c.wrong(&v.scalar, "%v is no whole number", value)
	case value > most:
		c.wrong(&v.scalar, "%s is more than %s", number64(value), number64(most))
	}
}

func (c *cellReader) readStages(s *course, what string, most float64) *experiment.Target {
	out := &experiment.Target{}
	if len(s.Stages) == 0 {
		c.failed = true // reported as missing or empty
		return out
	}
	for i := range s.Stages {
		one := &s.Stages[i]
		length, value := need(c, &one.Duration), need(c, &one.Target)
		c.checkLevel(&one.Target, value, what, most)
		out.Stages = append(out.Stages, experiment.Stage{Duration: length, Target: value})
	}
	if c.failed {
		return out
	}
	first := &s.Stages[0].Duration.scalar
	if out.Length() == 0 {
		c.conflict("load."+what, []*scalar{first}, "the stages take no time together")
	}
	if out.Highest() == 0 {
		c.conflict("load."+what, []*scalar{first}, "no stage has a target above 0")
	}
	return out
}
