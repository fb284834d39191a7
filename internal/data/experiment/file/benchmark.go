package file

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// A benchmark is a program that measures itself and then ends, such as a Go test
// binary with -test.bench. It receives no requests, so that keys of traffic are
// errors in its file.

// longestBenchmark is the default time limit of a benchmark, as that of `go test`.
const longestBenchmark = 10 * time.Minute

// benchmarks are the sample workloads that measure themselves.
var benchmarks = []string{"semaphore"}

// nothingSent reads the load of a benchmark, and refuses traffic in it.
func (d *decoder) nothingSent(n *node, f *field, v reflect.Value) {
	if n == nil || d.cell != nil {
		return
	}
	fields := f.below(v.Type())
	d.unknownKeys(n, fields)
	for i := range fields {
		e := n.entry(fields[i].key)
		switch {
		case e == nil || !e.value.given():
		case e.key == "benchmark":
			d.value(e.value, &fields[i], v.FieldByIndex(fields[i].index))
		default:
			d.add(e.changed(), e.value.path, "a benchmark receives no traffic; leave %s out", e.key)
		}
	}
}

// checkBenchmark finds keys without a meaning for a benchmark, and sets measure's
// values for one.
func (d *decoder) checkBenchmark() {
	for i := range d.doc.Services {
		d.checkMeasuring(d.doc.Services[i].node, d.doc.Services[i].value.Workload)
	}
	if !d.benchmark {
		return
	}
	m, n := &d.out.Measure, d.root.child("measure")
	contradicts := func(n *node, is bool, message string) {
		if n.given() && is {
			d.report(n, "%s", message)
		}
	}
	contradicts(n.child("warmup"), m.Warmup > 0, "a benchmark has its own warm-up; leave warmup out")
	contradicts(n.child("restart"), m.Kept, "a benchmark ends by itself, and each trial starts it again; leave restart out")
	contradicts(n.child("resize"), m.Resize, "a benchmark ends by itself, and each trial starts it again; leave resize out")
	contradicts(d.root.child("objective"), true, "a benchmark answers no requests; leave objective out")
	contradicts(d.root.child("profile"), d.out.Profile, "Millicore takes no profile of a benchmark; leave profile out, and let the benchmark write its own (-test.cpuprofile)")
	m.Warmup = 0
	if !n.child("duration").given() {
		m.Duration = longestBenchmark
	}
}

// checkMeasuring finds keys that a service that measures itself cannot have, and a
// workload in the wrong kind of experiment.
func (d *decoder) checkMeasuring(n *node, workload string) {
	if w := n.child("workload"); w.sound() {
		switch measures := slices.Contains(benchmarks, workload); {
		case measures && !d.benchmark:
			d.report(w, "%s measures itself and receives no traffic; write load: {benchmark: true}", workload)
		case !measures && d.benchmark:
			d.report(w, "%s serves requests and never ends; workloads that measure themselves: %s", workload, strings.Join(benchmarks, ", "))
		}
	}
	if !d.benchmark {
		return
	}
	d.noneOf(n, []string{"port", "ready", "ready_timeout", "metrics", "actions"}, "%s: a benchmark serves nothing", n.path)
	if a := n.child("autoscale"); a.kind == mapNode {
		d.report(a, "a benchmark has one replica; leave autoscale out")
	}
}
