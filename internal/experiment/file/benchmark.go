package file

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// A benchmark is a program that measures itself and then ends, such as a Go test
// binary with -test.bench: nothing is sent to it, and it serves nothing. What
// belongs to traffic is an error in its file.

// longestBenchmark is the most time that a benchmark may take where the file
// says nothing: what `go test` gives one too.
const longestBenchmark = 10 * time.Minute

// benchmarks are the sample workloads that measure themselves.
var benchmarks = []string{"semaphore"}

// measuresItself reports whether the file has load.benchmark, before it is read:
// no request is needed then. A word that is neither true nor false counts as
// true here, and is reported later.
func measuresItself(root *node) bool {
	load := root.entry("load")
	if load == nil {
		return false
	}
	e := load.value.entry("benchmark")
	return e != nil && e.value.kind != nullNode && e.value.text != "false"
}

// decode reads the traffic or, of a benchmark, that there is none.
func (l *load) decode(d *decoder, n *node, at slot) {
	type plain load
	into := reflect.ValueOf((*plain)(l)).Elem()
	if !d.benchmark {
		d.structure(n, at, into)
		return
	}
	d.structure(nil, at, into) // every key as if it were absent
	d.unknownKeys(n, at, into.Type())
	for _, e := range n.entries {
		switch {
		case e.key == "benchmark":
			l.Benchmark.decode(d, e.value, at.child(e.key))
		case e.value.kind != nullNode && slices.Contains(keysOf(into.Type()), e.key):
			d.problems.add(e.changed(), "load."+e.key, "nothing is sent to a benchmark; leave %s out", e.key)
		}
	}
}

// schema is that of traffic, with its requests and one of its targets, or of none.
func (l *load) schema() *jsonschema.Schema {
	type plain load
	s := structSchema(reflect.TypeFor[plain]())
	measures := &jsonschema.Schema{Enum: []any{true, "true"}}
	traffic := &jsonschema.Schema{AllOf: s.AllOf, Properties: jsonschema.NewProperties()}
	traffic.Properties.Set("benchmark", &jsonschema.Schema{Not: measures})
	none := &jsonschema.Schema{Required: []string{"benchmark"}, Properties: jsonschema.NewProperties()}
	for _, key := range keysOf(reflect.TypeFor[plain]()) {
		none.Properties.Set(key, &jsonschema.Schema{Type: "null"})
	}
	none.Properties.Set("benchmark", measures)
	traffic.OneOf, s.OneOf, s.AllOf = s.OneOf, nil, nil
	s.AnyOf = []*jsonschema.Schema{traffic, none}
	return s
}

// checkBenchmark finds what has no meaning for a benchmark whatever the cell,
// and sets what has another one.
func (r *reader) checkBenchmark() {
	for i := range r.doc.Services.entries {
		r.checkMeasuring(&r.doc.Services.entries[i])
	}
	if !r.benchmark {
		return
	}
	m, o, p := &r.doc.Measure, &r.doc.Objective, &r.doc.Profile
	if m.Warmup.given && m.Warmup.value > 0 {
		r.problems.add(m.Warmup.at, "measure.warmup", "a benchmark has no warm-up but its own; leave warmup out")
	}
	r.out.Measure.Warmup = 0
	if !m.Duration.given {
		r.out.Measure.Duration = longestBenchmark
	}
	if m.Restart.given && !m.Restart.value {
		r.problems.add(m.Restart.at, "measure.restart", "a benchmark ends by itself, and every trial starts it; leave restart out")
	}
	if m.Resize.value {
		r.problems.add(m.Resize.at, "measure.resize", "a benchmark ends by itself, and every trial starts it; leave resize out")
	}
	if o.given {
		r.problems.add(o.at, "objective", "a benchmark answers no requests that could meet it; leave objective out")
	}
	if p.value {
		r.problems.add(p.at, "profile", "of a benchmark none is taken; leave profile out, and have it write its own (-test.cpuprofile)")
	}
}

// checkMeasuring finds what a service that measures itself cannot have, and a
// workload in the wrong kind of experiment.
func (r *reader) checkMeasuring(s *named[service]) {
	v, at := &s.value, "services."+s.name
	if w := &v.Workload; w.given && !w.bad {
		switch measures := slices.Contains(benchmarks, w.value); {
		case measures && !r.benchmark:
			r.problems.add(w.at, at+".workload", "%s measures itself and takes no traffic; it wants load: {benchmark: true}", w.value)
		case !measures && r.benchmark:
			r.problems.add(w.at, at+".workload", "%s serves requests and never ends; workloads that measure themselves: %s", w.value, strings.Join(benchmarks, ", "))
		}
	}
	if !r.benchmark {
		return
	}
	keys := []givenKey{
		{"port", v.Port.given, v.Port.at},
		{"ready", v.Ready.given, v.Ready.at},
		{"ready_timeout", v.ReadyTimeout.given, v.ReadyTimeout.at},
		{"metrics", v.Metrics.given, v.Metrics.at},
	}
	if len(v.Actions) > 0 {
		keys = append(keys, givenKey{"actions", true, v.Actions[0].At.around})
	}
	r.noneOf(keys, "%s: a benchmark serves nothing", at)
}

// checkOne refuses several replicas of a benchmark: they would measure one
// another.
func (c *cellReader) checkOne(l *limits, replicas int) {
	if replicas > 1 {
		c.wrong(&l.Replicas.scalar, "a benchmark has one replica, not %d", replicas)
	}
}
