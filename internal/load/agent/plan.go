package agent

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/recording"
	"github.com/millicore/millicore/internal/load/engine"
	"github.com/millicore/millicore/internal/load/message"
	"github.com/millicore/millicore/internal/load/protocol"
	"github.com/millicore/millicore/internal/load/schedule"
	"github.com/millicore/millicore/internal/load/session"
	"github.com/millicore/millicore/internal/load/transport"
	"github.com/millicore/millicore/internal/load/wire"
)

// newPlan converts the protocol's plan to the engine's.
func newPlan(p *protocol.Prepare) (engine.Plan, error) {
	load, err := newLoad(p.Load, len(p.Requests))
	if err != nil {
		return engine.Plan{}, err
	}
	plan := engine.Plan{
		Transport:   transport.Transport(p.Transport),
		Load:        load,
		Connections: p.Connections,
		Timeout:     time.Duration(p.Timeout),
		Think:       time.Duration(p.Think),
		Waiting:     p.Waiting,
		Warmup:      time.Duration(p.Warmup),
		Interval:    time.Duration(p.Interval),
		Threads:     p.Threads,
		Agent:       p.Agent,
		Agents:      p.Agents,
		Seed:        p.Seed,
		Hide:        hider(p.Requests),
	}
	for _, r := range p.Requests {
		kind, err := newKind(r)
		if err != nil {
			return engine.Plan{}, err
		}
		plan.Kinds = append(plan.Kinds, kind)
	}
	if plan.Session, err = newSession(p.Requests); err != nil {
		return engine.Plan{}, err
	}
	plan.Targets, err = newTargets(p.Targets, p, nil)
	return plan, err
}

// Reach makes and closes a connection to each target of a plan, as an agent would, and
// reports what transport.Reach does.
func Reach(p *protocol.Prepare) error {
	plan, err := newPlan(p)
	if err != nil {
		return err
	}
	return plan.Transport.Reach(plan.Targets)
}

func newLoad(l protocol.Load, kinds int) (engine.Load, error) {
	if l.Kind != protocol.Closed && l.Kind != protocol.Open {
		return engine.Load{}, fmt.Errorf("load: the kind %q is neither %q nor %q", l.Kind, protocol.Closed, protocol.Open)
	}
	stages := newStages(l.Stages)
	if l.Requests > 0 {
		if len(stages) != 1 {
			return engine.Load{}, fmt.Errorf("load: %d requests have %d stages: want one, without an end", l.Requests, len(stages))
		}
		stages[0].Length = schedule.Endless
	}
	curve, err := schedule.NewCurve(stages)
	if err != nil {
		return engine.Load{}, fmt.Errorf("load: %w", err)
	}
	if curve, err = curve.Led(newStages(l.Before)); err != nil {
		return engine.Load{}, fmt.Errorf("load: before: %w", err)
	}
	load := engine.Load{Open: l.Kind == protocol.Open, Even: l.Even, Curve: curve, Requests: l.Requests}
	if l.Recording == nil {
		return load, nil
	}
	if load.Recorded, err = recording.Decode(l.Recording, kinds); err == nil && !load.Open {
		err = errors.New("a recording needs an open loop")
	}
	if err == nil {
		load.Curve = curve.Peaking(load.Recorded.Peak())
	}
	return load, err
}

func newStages(stages []protocol.Stage) []schedule.Stage {
	all := make([]schedule.Stage, 0, len(stages))
	for _, s := range stages {
		all = append(all, schedule.Stage{Length: time.Duration(s.Duration), From: s.From, To: s.To, Omits: s.Omits})
	}
	return all
}

func newKind(r protocol.Request) (engine.Kind, error) {
	var check wire.Check
	if r.Check != nil {
		check = wire.Check{Status: r.Check.Status, Contains: r.Check.Contains}
	}
	compiled, err := check.Compile()
	return engine.Kind{Weight: cmp.Or(r.Weight, 1), Check: compiled, Name: r.Kind}, err
}

// newSession is the plan of the sessions; nil: the load has none.
func newSession(requests []protocol.Request) (*session.Plan, error) {
	if len(requests) == 0 || requests[0].Step == nil {
		return nil, nil
	}
	var steps []session.Step
	for _, r := range requests {
		steps = append(steps, session.Step{Think: time.Duration(r.Step.Think), Capture: r.Step.Capture})
	}
	return session.NewPlan(steps)
}

// newTemplates builds the requests for a replica.
func newTemplates(name string, requests []protocol.Request) ([]*wire.Template, error) {
	var all []*wire.Template
	for _, r := range requests {
		host := cmp.Or(r.Host, name)
		if strings.HasPrefix(host, socketPrefix) {
			host = "localhost"
		}
		template, err := newTemplate(host, r)
		if err != nil {
			return nil, err
		}
		all = append(all, template)
	}
	return all, nil
}

func hasHeader(headers map[string]string, name string) bool {
	for one := range headers {
		if strings.EqualFold(one, name) {
			return true
		}
	}
	return false
}

// hostOf is the host name for a target without one: that of a Host header, or
// localhost.
func hostOf(requests []protocol.Request) string {
	for _, r := range requests {
		for name, value := range r.Headers {
			if strings.EqualFold(name, "Host") {
				if host, _, err := net.SplitHostPort(value); err == nil {
					return host
				}
				return value
			}
		}
	}
	return "localhost"
}

// CheckRequest returns the error that an agent would report about a request, such as
// an unknown placeholder or bytes that are not one valid HTTP request.
func CheckRequest(r protocol.Request) error {
	if _, err := newKind(r); err != nil {
		return err
	}
	if r.Call != nil {
		if r.Call.Gzip && r.Check != nil && r.Check.Contains != "" {
			return errors.New("request: check.contains (load: --contains) compares bytes of messages, which gzip changes; keep one")
		}
		if err := checkMetadata(r.Headers, r.Call.Gzip); err != nil {
			return err
		}
		if r.Call.Schema == nil { // the service will say it
			r.Call = nil
		}
	}
	if _, err := newSession([]protocol.Request{r}); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	_, err := newTemplate(cmp.Or(r.Host, "localhost"), r)
	return err
}

// checkMetadata is the error of a header with which a request is no call of gRPC.
func checkMetadata(headers map[string]string, gzip bool) error {
	encoding := map[bool]string{false: "identity", true: "gzip"}[gzip]
	for name, value := range headers {
		switch {
		case strings.EqualFold(name, "Content-Type") && !wire.IsCall([]byte("\r\nContent-Type: "+value)),
			strings.EqualFold(name, "TE") && value != "trailers",
			strings.EqualFold(name, "Grpc-Encoding") && value != encoding:
			return fmt.Errorf("request: a call of gRPC cannot have the header %s: %s; leave it out", name, value)
		}
	}
	return nil
}

// hider removes secrets from what a service says of a call: those of the requests' headers,
// and what looks like one.
func hider(requests []protocol.Request) func(string) string {
	var values []string
	for _, r := range requests {
		for name, value := range r.Headers {
			if secret.Header(name) {
				values = append(values, value)
				values = append(values, strings.Fields(value)...) // Bearer TOKEN
			}
		}
	}
	scrub := secret.Scrub(values)
	return func(text string) string { return secret.Text(scrub(text)) }
}

// Sample is the head and the body of a request as an agent would send them to a host, with
// examples of the values of its placeholders, and what the answer to a gRPC call may have.
func Sample(host string, r protocol.Request) (head *http.Request, body []byte, want *wire.Call, err error) {
	t, err := newTemplate(host, r)
	if err != nil {
		return nil, nil, nil, err
	}
	v := wire.Values{Seq: 1, Random: rand.New(rand.NewPCG(0, 0))}
	whole := t.Append(nil, &v)
	if v.Err != nil {
		return nil, nil, nil, v.Err
	}
	head, err = http.ReadRequest(bufio.NewReader(bytes.NewReader(whole)))
	_, body, _ = bytes.Cut(whole, []byte("\r\n\r\n"))
	return head, body, t.Call(), err
}

// largestMessage is the maximum size of a message of an answer, in bytes: that of gRPC's clients.
const largestMessage = 4 << 20

func newTemplate(host string, r protocol.Request) (*wire.Template, error) {
	w := wire.Request{Method: r.Method, Path: r.Path, Host: host, Headers: r.Headers, Body: r.Body, Recorded: r.Recorded}
	if r.Raw != nil {
		w.Body, w.Raw = string(r.Raw), true
	}
	if r.Step != nil {
		w.Names, w.Cookies = r.Step.Names, !hasHeader(r.Headers, "Cookie")
	}
	if r.Call != nil {
		encoder, err := message.New(r.Call.Schema, r.Call.Method)
		if err != nil {
			return nil, err
		}
		if r.Call.Gzip {
			encoder = encoder.Gzip()
		}
		w.Encode, w.Call = encoder.Append, wire.Call{Single: !encoder.Streams(), Gzip: r.Call.Gzip, Largest: cmp.Or(r.Call.Largest, largestMessage)}
		if w.Raw {
			if w.Turns, err = encoder.Bodies(r.Raw); err != nil {
				return nil, err
			}
		}
	}
	return w.Compile()
}
