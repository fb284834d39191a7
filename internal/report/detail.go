package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// detail is all else that is known of a cell, for those who want to check.
type detail struct {
	Name   string
	Mark   mark
	Open   bool
	Groups []group
	Trials []trialRow
	Loads  []levelRow // that a search held
	Unit   string     // of the loads
}

// group is a short table of facts under a heading.
type group struct {
	Head  string
	Facts []fact
	Words bool // sentences rather than figures
}

type fact struct{ Name, Text string }

type trialRow struct{ Trial, Attempt, Rate, P50, P99, Throttled string }

func newDetail(c *analysis.CellSummary, name string, m mark) detail {
	if results.MeasuresItself(c) {
		return newBenchDetail(c, name, m)
	}
	d := detail{Name: name, Mark: m}
	if facts := narrative.Explained(c); len(facts) > 0 {
		head := "Knee"
		if results.Searched(c) {
			head = typeset(narrative.BreakLine(c))
		}
		d.Groups = append(d.Groups, group{Head: head, Facts: typesetAll(facts), Words: true})
	}
	d.Groups = append(d.Groups,
		group{Head: "Asked", Facts: askedFacts(c)},
		group{Head: "Requests", Facts: requestFacts(c)},
		group{Head: "Latency, ms", Facts: latencyFacts(c)},
		group{Head: "Service", Facts: serviceFacts(c)},
		group{Head: "Generator and host", Facts: generatorFacts(c)},
	)
	if facts := dependencyFacts(c); len(facts) > 0 {
		d.Groups = append(d.Groups, group{Head: "Dependencies", Facts: facts})
	}
	if c.Causes != nil {
		d.Groups = append(d.Groups, group{Head: "Slow tail", Facts: tailFacts(c.Causes)})
	}
	if results.Searched(c) && !c.Load.Stages {
		d.Unit = narrative.LoadUnit(c)
		for i := range c.Steps {
			d.Loads = append(d.Loads, newLevelRow(&c.Steps[i]))
		}
	}
	for i := range c.PerTrial {
		t := &c.PerTrial[i]
		d.Trials = append(d.Trials, trialRow{Trial: display.Grouped(int64(t.Trial)), Attempt: display.Grouped(int64(t.Attempt) + 1),
			Rate: display.Maybe(t.RateRPS, display.Figure), P50: display.Maybe(t.P50, display.Figure), P99: display.Maybe(t.P99, display.Figure), Throttled: display.Maybe(t.Throttled, display.Share)})
	}
	return d
}

func typesetAll(facts []narrative.Fact) []fact {
	all := make([]fact, len(facts))
	for i, f := range facts {
		all[i] = fact{f.Name, typeset(f.Text)}
	}
	return all
}

// tailFacts divide the slow tail.
func tailFacts(c *analysis.Causes) []fact {
	facts := []fact{
		{"from " + narrative.QuantileName(c.Quantile) + " on", display.WithUnit(c.FromMS)},
		{"requests", display.Grouped(int64(c.Requests))},
		{"on average", display.WithUnit(c.MeanMS)},
	}
	for _, p := range narrative.Parts(c) {
		facts = append(facts, fact{p.Long, p.Text()})
		if p.Name == "throttling" && c.ThrottledDirectly > 0 {
			facts = append(facts, fact{"of it within windows", display.Share(c.ThrottledDirectly)})
		}
	}
	return facts
}

func askedFacts(c *analysis.CellSummary) []fact {
	facts := []fact{{"cell", display.Plain(c.Label)}, {"limits", narrative.LimitsText(c)}, {"load", narrative.LoadText(c)}, {"trials", display.Grouped(int64(c.Trials))}}
	if c.Objective != nil {
		facts = append(facts, fact{"objective", typeset(display.Plain(c.Objective.Text)) + ": " + narrative.ObjectiveWords(c)})
	}
	return facts
}

// requestFacts count the requests and each kind of error; kinds that did not
// occur are left out, but where none occurred, that is said.
func requestFacts(c *analysis.CellSummary) []fact {
	facts := []fact{{"ended", display.Grouped(c.Requests)}}
	failures := narrative.Failures(&c.Errors)
	for _, f := range failures {
		if f.Name != narrative.BadStatus {
			facts = append(facts, fact{f.Name, display.Grouped(f.N)})
			continue
		}
		for _, code := range slices.Sorted(maps.Keys(c.Errors.Status)) {
			facts = append(facts, fact{"status " + display.Plain(code), display.Grouped(c.Errors.Status[code])})
		}
	}
	if len(failures) == 0 {
		facts = append(facts, fact{"errors", "none"})
	}
	return facts
}

// latencyFacts give both latencies side by side: from intended, and from sent.
func latencyFacts(c *analysis.CellSummary) []fact {
	var facts []fact
	if c.LatencyMS != nil && c.LatencyMS.Mean > 0 {
		facts = append(facts, fact{"lowest", pair(c, func(q *analysis.Quantiles) string { return display.Milliseconds(q.Min) })},
			fact{"on average", pair(c, func(q *analysis.Quantiles) string { return display.MeanMilliseconds(q.Mean, q.Beyond) })})
	}
	for i, name := range []string{"p50", "p90", "p95", "p99", "p99.9", "highest"} {
		facts = append(facts, fact{name, pair(c, func(q *analysis.Quantiles) string { return display.Milliseconds(q.All()[i].Value) })})
	}
	return facts
}

// pair writes a figure of both latencies.
func pair(c *analysis.CellSummary, of func(*analysis.Quantiles) string) string {
	text := display.Absent
	if c.LatencyMS != nil {
		text = of(c.LatencyMS)
	}
	if c.ServiceMS != nil {
		text += " (" + of(c.ServiceMS) + " from sent)"
	}
	return text
}

func serviceFacts(c *analysis.CellSummary) []fact {
	count := func(v *int64) string { return display.Maybe(v, display.Grouped) }
	facts := []fact{
		{"CPU", display.Maybe(c.CPU.Cores, func(v float64) string { return display.Figure(v) + " cores" })},
		{"throttled", throttledText(c)},
		{"per throttled period", throttledPerPeriod(c)},
		{"restarts", count(c.Restarts)},
		{"killed for memory", count(c.Memory.OOMKills)},
	}
	if r := c.Replicas; r != nil {
		facts = append(facts, fact{"replicas", replicasText(r)})
	}
	return facts
}

// replicasText is how many replicas there were: "2 to 7, 4.3 on average".
func replicasText(r *analysis.ReplicasSummary) string {
	if r.Least == r.Most {
		return display.Grouped(int64(r.Most)) + " all the time"
	}
	return fmt.Sprintf("%d to %d, %s on average", r.Least, r.Most, display.Figure(r.Mean))
}

// dependencyFacts describe each dependency, and the service's waits for them.
func dependencyFacts(c *analysis.CellSummary) []fact {
	var facts []fact
	for i := range c.Dependencies {
		dep := &c.Dependencies[i]
		parts := []string{display.Maybe(dep.Cores, func(v float64) string { return display.Figure(v) + " cores" }) + ", peak " +
			display.Maybe(dep.PeakBytes, func(v int64) string { return display.Bytes(float64(v)) })}
		if part := over(dep.ThrottledPeriods, dep.Periods); part != nil {
			parts = append(parts, "throttled in "+display.Share(*part)+" of its periods")
		}
		if n := dep.Restarts; n != nil && *n > 0 {
			parts = append(parts, display.Counted(*n, "restart"))
		}
		if n := dep.OOMKills; n != nil && *n > 0 {
			parts = append(parts, display.Counted(*n, "kill")+" for memory")
		}
		facts = append(facts, fact{display.Plain(dep.Name), strings.Join(parts, ", ")})
	}
	if w := c.WaitsMS; w != nil {
		for _, one := range []struct {
			name string
			v    *float64
		}{{"waited for, p50", w.P50}, {"waited for, p99", w.P99}, {"waited for, on average", &w.Mean}} {
			facts = append(facts, fact{one.name, display.Maybe(results.Finite(one.v), display.WithUnit)})
		}
	}
	return facts
}

// over is a share; nil where it is not known.
func over(part, of *int64) *float64 {
	if part == nil || of == nil || *of == 0 {
		return nil
	}
	v := float64(*part) / float64(*of)
	return &v
}

// throttledPerPeriod is the time throttled per throttled period. It is summed
// over CPUs, and so can exceed the period.
func throttledPerPeriod(c *analysis.CellSummary) string {
	if c.CPU.ThrottledMS == nil || c.CPU.ThrottledPeriods == nil || *c.CPU.ThrottledPeriods == 0 {
		return display.Absent
	}
	return display.WithUnit(*c.CPU.ThrottledMS/float64(*c.CPU.ThrottledPeriods)) + ", summed over CPUs"
}

func generatorFacts(c *analysis.CellSummary) []fact {
	cores := func(v *float64) string {
		return display.Maybe(v, func(v float64) string { return display.Figure(v) + " cores" })
	}
	limited := "no"
	if c.Generator.Limited {
		limited = "yes: rates are lower bounds"
	}
	facts := []fact{
		{"agent's CPU", cores(c.Generator.Cores)},
		{"agent waited for a CPU", cores(c.Generator.RunWaitCores)},
		{"send lag, p99", display.Maybe(c.Generator.SendLagP99US, func(v float64) string { return display.Figure(v) + " µs" })},
		{"agent was the limit", limited},
		{"host idle", cores(c.Host.IdleCores)},
		{"others' CPU", cores(c.Host.ForeignCores)},
		{"steal", cores(c.Host.StealCores)},
	}
	if v := c.Generator.ThrottledShare; v != nil {
		facts = append(facts, fact{"agent throttled", display.Share(*v) + " of its time"})
	}
	if n := c.Generator.Lost; n > 0 {
		facts = append(facts, fact{"agents lost", display.Grouped(int64(n))})
	}
	return facts
}

// sortedSet gives the different values, upwards.
func sortedSet(values []float64) []float64 {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}
