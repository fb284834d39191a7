package experiment

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Draft is an experiment before it has a file: what a program says instead of a
// person. Its YAML is given to Parse, which finds what is wrong with it; so what
// is run is what can be saved. Zero values are left out, and have the file's
// defaults. Texts are letters: a ${ in them is written so that it stays one.
type Draft struct {
	Name      string
	About     string
	Services  []DraftService
	Limits    DraftLimits
	Load      Load
	Measure   Measure
	Objective *Objective
	Profile   bool
}

// DraftService is a service that is started by a command.
type DraftService struct {
	Name    string
	Command []string
	// Dir is the working folder. It is written whole, since the file may come to
	// lie anywhere: what is relative, or empty, counts from the current folder.
	Dir string
	Env map[string]*string // nil: unset
	// TakesPort says that ${port} in Command and Env is not letters, but stands
	// for the port that the service is given; $${port} is the letters then.
	TakesPort bool
	Port      int // the service listens on it whatever it is told
	FindPort  bool
	Ready     Ready
	Metrics   *Metrics
	Limits    DraftLimits // key by key in the place of the Draft's
}

// DraftLimits are limits as a file has them: quantities ("500m", "256Mi"), or
// Null; what is empty is left out.
type DraftLimits struct {
	CPU, Memory, Burst, Period, CPUSet, Replicas string
}

// Null takes away the limit that a service would have from the Draft's.
const Null = "null"

// YAML is the experiment file. The same Draft gives the same file. What no file
// can hold, text that is not UTF-8, is left for Parse to refuse.
func (d *Draft) YAML() []byte {
	root := newMap()
	root.put("name", optional(escape(d.Name)))
	root.put("about", optional(d.About))
	services := newMap()
	for i := range d.Services {
		services.put(d.Services[i].Name, d.Services[i].node())
	}
	root.put("services", services)
	root.put("limits", d.Limits.node().unlessEmpty())
	root.put("load", d.Load.node())
	root.put("measure", d.Measure.node().unlessEmpty())
	if d.Objective != nil {
		root.put("objective", d.Objective.node())
	}
	if d.Profile {
		root.put("profile", single("true"))
	}
	return root.yaml()
}

func (s *DraftService) node() *node {
	n, letters := newMap(), escape
	if s.TakesPort {
		letters = escapeButPort
	}
	command := &node{kind: listNode}
	for _, word := range s.Command {
		command.items = append(command.items, single(letters(word)))
	}
	n.put("command", command)
	dir := s.Dir
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	n.put("dir", optional(escape(dir)))
	env := newMap()
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		value := &node{kind: nullNode}
		if s.Env[name] != nil {
			value = single(letters(*s.Env[name]))
		}
		env.put(name, value)
	}
	n.put("env", env.unlessEmpty())
	if s.FindPort {
		n.put("port", single("find"))
	} else {
		n.put("port", whole(s.Port))
	}
	n.put("ready", optional(escape(s.Ready.Path)))
	n.put("ready_timeout", length(s.Ready.Timeout))
	n.put("limits", s.Limits.node().unlessEmpty())
	if s.Metrics != nil {
		m := newMap()
		m.put("path", optional(escape(s.Metrics.Path)))
		m.put("dependency", optional(escape(s.Metrics.Dependency)))
		n.put("metrics", m)
	}
	return n
}

func (l *DraftLimits) node() *node {
	n := newMap()
	for _, limit := range []struct{ key, text string }{
		{"cpu", l.CPU}, {"memory", l.Memory}, {"burst", l.Burst},
		{"period", l.Period}, {"cpuset", l.CPUSet}, {"replicas", l.Replicas},
	} {
		if limit.text == Null {
			n.put(limit.key, &node{kind: nullNode})
		} else {
			n.put(limit.key, optional(escape(limit.text)))
		}
	}
	return n
}

func (l *Load) node() *node {
	n := newMap()
	if len(l.Mix) == 0 {
		n.put("request", l.Request.node())
	} else {
		mix := &node{kind: listNode}
		for i := range l.Mix {
			mix.items = append(mix.items, l.Mix[i].node())
		}
		n.put("mix", mix)
	}
	n.put("protocol", optional(l.Protocol))
	if l.Insecure {
		n.put("insecure", single("true"))
	}
	n.put("users", l.Users.node())
	n.put("rate", l.Rate.node())
	if l.Find {
		n.put("find", single(breakingPoint))
	}
	n.put("requests", whole(int(l.Requests)))
	if l.Even {
		n.put("spacing", single("even"))
	}
	n.put("think", length(l.Think))
	if l.Waiting != nil {
		n.put("waiting", single(strconv.FormatInt(*l.Waiting, 10)))
	}
	n.put("agents", whole(l.Agents))
	n.put("threads", whole(l.Threads))
	n.put("connections", whole(l.Connections))
	n.put("timeout", length(l.Timeout))
	return n
}

func (t *Target) node() *node {
	switch {
	case t == nil:
		return nil
	case len(t.Stages) == 0:
		return single(string(number64(t.Value)))
	}
	stages := &node{kind: listNode}
	for _, s := range t.Stages {
		one := newMap()
		one.put("duration", single(short(s.Duration)))
		one.put("target", single(string(number64(s.Target))))
		stages.items = append(stages.items, one)
	}
	n := newMap()
	n.put("stages", stages)
	return n
}

func (r *Request) node() *node {
	n := newMap()
	n.put("weight", whole(r.Weight))
	n.put("method", optional(escape(r.Method)))
	n.put("path", optional(escape(r.Path)))
	headers := newMap()
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		headers.put(name, single(escape(r.Headers[name])))
	}
	n.put("headers", headers.unlessEmpty())
	n.put("body", optional(escape(r.Body)))
	n.put("body_file", optional(escape(r.BodyFile)))
	if a := r.Auth; a != nil {
		auth := newMap()
		auth.put("basic_env", optional(a.Basic))
		auth.put("bearer_env", optional(a.Bearer))
		n.put("auth", auth)
	}
	if k := r.Check; k != nil {
		check, codes := newMap(), &node{kind: listNode}
		for _, code := range k.Status {
			codes.items = append(codes.items, whole(code))
		}
		check.put("status", codes.unlessEmpty())
		check.put("contains", optional(escape(k.Contains)))
		n.put("check", check.unlessEmpty())
	}
	return n
}

func (m *Measure) node() *node {
	n := newMap()
	n.put("warmup", length(m.Warmup))
	n.put("duration", length(m.Duration))
	n.put("repeats", whole(m.Repeats))
	if m.Kept {
		n.put("restart", single("false"))
	}
	if m.Resize {
		n.put("resize", single("true"))
	}
	n.put("interval", length(m.Interval))
	return n
}

func (o *Objective) node() *node {
	n := newMap()
	if o.Quantile != "" {
		n.put(o.Quantile, single(short(o.Latency)))
	}
	if o.Availability != 0 {
		n.put("availability", single(string(number64(o.Availability))))
	}
	return n
}

// escape writes the letters ${ so that they are no name's beginning.
func escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// escapeButPort leaves ${port} and $${port} as they mean in a file.
func escapeButPort(text string) string {
	const name, letters = "${port}", "$${port}"
	var b strings.Builder
	for {
		i := strings.Index(text, name)
		if i < 0 {
			return b.String() + escape(text)
		}
		before := text[:i]
		if strings.HasSuffix(before, "$") {
			b.WriteString(escape(before[:i-1]) + letters)
		} else {
			b.WriteString(escape(before) + name)
		}
		text = text[i+len(name):]
	}
}

// The values of a file; nil stands for a key that is left out.

func newMap() *node            { return &node{kind: mapNode} }
func single(text string) *node { return &node{kind: scalarNode, text: text} }
func optional(text string) *node {
	if text == "" {
		return nil
	}
	return single(text)
}

func whole(n int) *node {
	if n == 0 {
		return nil
	}
	return single(strconv.Itoa(n))
}

func length(d time.Duration) *node {
	if d == 0 {
		return nil
	}
	return single(short(d))
}

func (n *node) put(key string, value *node) {
	if value != nil {
		n.entries = append(n.entries, &entry{key: key, value: value})
	}
}

func (n *node) unlessEmpty() *node {
	if n.empty() {
		return nil
	}
	return n
}
