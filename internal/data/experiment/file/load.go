package file

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

const (
	mostUsers       = 1_000_000
	mostRate        = 10_000_000
	mostAgents      = 1000
	mostThreads     = 256
	mostConnections = 1_000_000
	shortestTimeout = time.Millisecond
	longestThought  = time.Hour
	longestTimeout  = 60 * time.Second // the range of the histograms
)

// load reads the traffic or, of a benchmark, that there is none.
func (d *decoder) load(n *node, f *field, v reflect.Value) bool {
	if d.benchmark {
		d.nothingSent(n, f, v)
		return true
	}
	f.free = n != nil && n.child("find").given()
	return d.structure(n, f, v)
}

// courseOf is the course that a load takes, as a map; an absent node: a number is
// held.
func courseOf(load *node) *node {
	users := load.child("users")
	if users.kind == mapNode {
		return users
	}
	if rate := load.child("rate"); rate.kind == mapNode {
		return rate
	}
	return &node{absent: true}
}

// courseName names a course in errors.
func courseName(course *node) string {
	if course.child("ramp").kind == mapNode {
		return "a ramp"
	}
	return "stages"
}

// target reads users or a rate: a number, or the course that the load takes.
func (d *decoder) target(n *node, f *field, to **experiment.Target) bool {
	if n != nil && n.kind == listNode {
		return d.wants(n, "a number, {ramp: {...}} or {stages: [...]}")
	}
	most := float64(mostRate)
	if f.key == "users" {
		most = mostUsers
	}
	if n == nil || n.kind != mapNode {
		var value float64
		if d.scalar(n, f, reflect.ValueOf(&value).Elem()) {
			*to = &experiment.Target{Value: value}
			if d.cell != nil && value == 0 {
				d.wrong(n, "0 is not a load")
			} else if n != nil {
				d.checkLevel(n, value, f.key, most)
			}
		}
		return true
	}
	var c course
	d.structure(n, f, reflect.ValueOf(&c).Elem())
	switch {
	case d.cell == nil || d.failed:
	case c.Ramp != nil:
		*to = d.readRamp(c.Ramp, n.child("ramp"), f.key, most)
	default:
		*to = d.readStages(c.Stages, n, f.key, most)
	}
	return true
}

// checkLevel refuses fractions of users, and levels above the maximum.
func (d *decoder) checkLevel(n *node, value float64, what string, most float64) {
	switch {
	case d.cell == nil:
	case what == "users" && value != math.Trunc(value):
		d.wrong(n, "%v is not a whole number", value)
	case value > most:
		d.wrong(n, "%s is more than %s", number64(value), number64(most))
	}
}

func (d *decoder) readStages(stages []experiment.Stage, course *node, what string, most float64) *experiment.Target {
	out := &experiment.Target{Stages: stages}
	items := course.child("stages").items
	for i := range stages {
		d.checkLevel(items[i].child("target"), stages[i].Target, what, most)
	}
	if d.failed {
		return out
	}
	first := []*node{items[0].child("duration")}
	if out.Length() == 0 {
		d.conflict(course.path, first, "the stages have no length")
	}
	if out.Highest() == 0 {
		d.conflict(course.path, first, "no stage has a target above 0")
	}
	return out
}

// readLoad reads the traffic of a cell.
func (d *decoder) readLoad(n *node) experiment.Load {
	d.failed = false
	var l experiment.Load
	f := fieldOf("load")
	d.value(n, &f, reflect.ValueOf(&l).Elem())
	l.Settle()
	if len(l.Mix) > 0 {
		for i := range l.Mix {
			item := n.child("mix").items[i]
			d.checkRequest(&l.Mix[i], item)
			switch r, weight := &l.Mix[i], item.child("weight"); {
			case !l.Session && (r.Think > 0 || r.Capture != nil):
				d.conflict(item.path, []*node{item.child("think"), item.child("capture")}, "think and capture are for the requests of a session; set load.session to true")
			case l.Session && d.has(weight):
				d.conflict(weight.path, []*node{weight}, "the requests of a session are sent in their order; leave weight out")
			}
		}
		l.Request = l.Mix[0]
	} else {
		d.checkRequest(&l.Request, n.child("request"))
	}
	if l.Users != nil {
		l.Rate = nil // of a search
	}
	if !d.failed {
		d.checkLoad(&l, n)
	}
	return l
}

// checkRequest finds contradictions in a request of the load.
func (d *decoder) checkRequest(r *experiment.Request, n *node) {
	if body := n.child("body"); r.BodyFile != "" && d.has(body) {
		d.conflict(n.path, []*node{n.child("body_file"), body}, "body and body_file exclude one another; keep one")
	}
	if r.GRPC == "" && (r.Proto != "" || r.Gzip || r.Largest > 0) || len(r.Imports) > 0 && r.Proto == "" {
		d.conflict(n.path, []*node{n.child("proto"), n.child("import_paths"), n.child("gzip"), n.child("max_message")}, "proto, gzip and max_message are for grpc, and import_paths is for proto")
	}
	for name := range r.Headers {
		if auth := n.child("auth"); r.Auth != nil && strings.EqualFold(name, "Authorization") {
			d.conflict(auth.path, []*node{auth.child("basic_env"), auth.child("bearer_env")}, "the header %s is set by auth; keep one", name)
		}
	}
	if r.Check != nil {
		slices.Sort(r.Check.Status)
	}
}

// checkLoad finds values out of bounds, and contradictions.
func (d *decoder) checkLoad(l *experiment.Load, n *node) {
	if l.Timeout < shortestTimeout || l.Timeout > longestTimeout {
		d.wrong(n.child("timeout"), "%s is outside 1ms to 60s", span.Text(l.Timeout))
	}
	for _, one := range []struct {
		key         string
		value, most int
	}{{"agents", l.Agents, mostAgents}, {"threads", l.Threads, mostThreads}, {"connections", l.Connections, mostConnections}, {"streams", l.Streams, mostConnections}} {
		if one.value > one.most {
			d.wrong(n.child(one.key), "%d are more than %d", one.value, one.most)
		}
	}
	contradicts := func(key, format string, args ...any) {
		d.conflict(n.child(key).path, []*node{n.child(key)}, format, args...)
	}
	if l.Connections > 0 && l.Agents > l.Connections {
		d.conflict("load.connections", []*node{n.child("connections"), n.child("agents")}, "%d are too few for %d agents", l.Connections, l.Agents)
	}
	switch {
	case l.Requests > 0 && l.Find:
		contradicts("requests", "a search ends at its result, not after a number of requests; leave requests or find out")
	case l.Requests > 0 && l.Rate != nil:
		contradicts("requests", "requests is for users; with a rate, set measure.duration")
	case l.Requests > 0 && len(l.Users.Stages) > 0:
		contradicts("requests", "requests contradicts users in %s; keep one", courseName(courseOf(n)))
	default:
		d.checkUsers(l, n)
	}
	const noCertificate = "there is no certificate without TLS; use the protocol https or h2"
	for _, c := range []struct {
		key, why string
		wrong    bool
	}{
		{"spacing", "spacing is for rate, or for users that think; other users send as soon as they have their answer", l.Rate == nil && l.Think == 0 && !l.Session && d.has(n.child("spacing"))},
		{"insecure", noCertificate, l.Insecure && !l.Secure()},
		{"ca_file", noCertificate, l.CAFile != "" && !l.Secure()},
		{"cert_file", noCertificate, l.CertFile != "" && !l.Secure()},
		{"key_file", "a key needs its certificate; add cert_file", l.KeyFile != "" && l.CertFile == ""},
		{"session_tickets", noCertificate, l.Tickets && !l.Secure()},
		{"server_name", noCertificate, l.Name != "" && !l.Secure()},
		{"streams", "a connection of HTTP/1.1 has one request at a time; use the protocol h2 or h2c", l.Streams > 0 && !l.HTTP2()},
		{"think", "think is for users; a rate does not depend on the answers", l.Think > 0 && l.Users == nil},
		{"session", "a session is a mix of HTTP/1.1: list its requests in mix, use the protocol http/1.1 or https, and leave out grpc", l.Session && (len(l.Mix) == 0 || l.HTTP2())},
		{"waiting", "waiting is for rate; a user has one request at a time", l.Waiting != nil && l.Rate == nil},
	} {
		if c.wrong {
			contradicts(c.key, "%s", c.why)
		}
	}
	if l.Secure() && l.CAFile != "" && l.Insecure {
		d.conflict("load.ca_file", []*node{n.child("ca_file"), n.child("insecure")}, "insecure accepts any certificate, so there is no authority to check; keep one of ca_file and insecure")
	}
	if l.Think > longestThought {
		d.wrong(n.child("think"), "%s is longer than %s", span.Text(l.Think), span.Text(longestThought))
	}
}

// checkUsers finds users that are too few.
func (d *decoder) checkUsers(l *experiment.Load, n *node) {
	if l.Users == nil {
		return
	}
	users := l.Users.Highest()
	if l.Requests > 0 && float64(l.Requests) < users {
		d.conflict("load.requests", []*node{n.child("requests"), n.child("users")}, "%d are too few for %.0f users to send one each", l.Requests, users)
	}
	if float64(l.Agents) > users {
		d.conflict("load.agents", []*node{n.child("agents"), n.child("users")}, "%d agents are too many for %.0f users", l.Agents, users)
	}
}
