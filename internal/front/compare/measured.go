package compare

import (
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// measured writes the trials of a cell that measured itself, with the names and
// figures of its own benchmarks, behind which stand those of the cell: a line for
// each trial and benchmark, as `go test -count` would have printed them.
func (b *benchmarks) measured(c *Cell, name string, keys []benchfmt.Config) {
	where := strings.TrimPrefix(name, "Millicore")
	var done []string
	for i := range c.Figures.Benchmarks {
		of := c.Figures.Benchmarks[i].Name
		if slices.Contains(done, of) {
			continue
		}
		done = append(done, of)
		for _, values := range valuesOf(c, of) {
			b.write(&benchfmt.Result{Config: keys, Name: benchfmt.Name(of + where), Iters: 1, Values: values})
		}
	}
}

// valuesOf are the figures of one benchmark, trial by trial. Where each trial has
// printed it, its throttled periods stand beside.
func valuesOf(c *Cell, name string) [][]benchfmt.Value {
	var trials [][]benchfmt.Value
	for i := range c.Figures.Benchmarks {
		one := &c.Figures.Benchmarks[i]
		if one.Name != name {
			continue
		}
		for k, v := range one.Values {
			if k == len(trials) {
				trials = append(trials, nil)
			}
			trials[k] = append(trials[k], benchfmt.Value{Value: digits(v), Unit: one.Unit})
		}
	}
	throttled := metricOf("throttled")
	if len(trials) != len(c.Figures.PerTrial) {
		return trials
	}
	for k := range trials {
		if v := throttled.Of(&c.Figures.PerTrial[k]); v != nil {
			trials[k] = append(trials[k], benchfmt.Value{Value: digits(*v * throttled.benchBy), Unit: throttled.bench})
		}
	}
	return trials
}
