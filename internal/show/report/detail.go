package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Detail is all that is known of a cell, for those who want to check.
type Detail struct {
	Name      string
	Explained []Fact // what limits it, where latency leaves its floor
	Head      string // of the explanations
	Unfound   string // why it has no breaking point, if they have nothing else
	Groups    []FactGroup
	Trials    Table
	Loads     Table // that a search held
	Causes    *summary.Causes
	TailLoad  string // the load of Causes: "at 955 requests/s"; "": the cell has one load
}

// Fact is a statement under its name.
type Fact struct{ Name, Text string }

// FactGroup is a short table of facts under a heading.
type FactGroup struct {
	Head  string
	Facts []Fact
}

func newDetail(c *cellSummary, name string) Detail {
	if c.MeasuresItself() {
		return benchmarkDetail(c, name)
	}
	d := Detail{Name: name, Head: "Knee", Causes: c.Causes}
	explained := narrative.Explained(c)
	for _, f := range explained {
		d.Explained = append(d.Explained, Fact(f))
	}
	d.Unfound = narrative.OnlyUnfound(explained)
	if c.Searched() {
		d.Head = narrative.BreakLine(c)
	}
	d.Groups = []FactGroup{
		{"Setup", setupFacts(name, c)},
		{"Requests", requestFacts(c)},
		{latencyHead(c), latencyFacts(c)},
		{"Service", serviceFacts(c)},
		{"Generator and host", generatorFacts(c)},
	}
	if facts := dependencyFacts(c); len(facts) > 0 {
		d.Groups = append(d.Groups, FactGroup{"Dependencies", facts})
	}
	if c.Causes != nil {
		d.TailLoad = narrative.TailLoad(c)
		d.Groups = append(d.Groups, FactGroup{strings.TrimSpace("Slow tail " + d.TailLoad), tailFacts(c.Causes)})
	}
	if c.Searched() && !c.Load.Stages && len(c.Steps) > 0 {
		var rows []level
		for i := range c.Steps {
			rows = append(rows, level{Step: &c.Steps[i]})
		}
		d.Loads = Table{Title: "Loads held", Columns: levelColumns(rows, narrative.LoadUnit(c), c.Quantile())}
	}
	if len(c.PerTrial) > 0 {
		d.Trials = Table{Title: "Trials", Columns: trialColumns(c.PerTrial)}
	}
	return d
}

// latencyHead names whose latencies the facts are: failed requests have none.
func latencyHead(c *cellSummary) string {
	if c.OfAll != nil {
		return "Latency of the answered requests, ms"
	}
	return "Latency of all requests, ms"
}

// benchmarkDetail is that of a cell that measures itself: it has no requests and no
// agent.
func benchmarkDetail(c *cellSummary, name string) Detail {
	d := Detail{Name: name, Groups: []FactGroup{{"Setup", setupFacts(name, c)}}}
	for i := range c.Benchmarks {
		r := narrative.BenchRow{Cell: c, Of: &c.Benchmarks[i]}
		d.Groups = append(d.Groups, FactGroup{r.Name() + ", " + r.UnitName(), benchmarkFacts(&r)})
	}
	d.Groups = append(d.Groups, FactGroup{"Process", serviceFacts(c)}, FactGroup{"Host", hostFacts(c)})
	return d
}

// benchmarkFacts are a figure and what it rests on.
func benchmarkFacts(r *narrative.BenchRow) []Fact {
	facts := []Fact{{"median", r.Figure()}}
	switch _, _, what := r.Ends(); what {
	case verdict.IntervalOfTrials:
		facts = append(facts, Fact{"95% interval", r.Spread()})
	case verdict.RangeOfTrials:
		facts = append(facts, Fact{"range", r.Spread()})
	}
	times, _ := r.Unit()
	var values []string
	for _, v := range r.Of.Values {
		values = append(values, narrative.BenchFigure(v*times))
	}
	return append(facts, Fact{"GOMAXPROCS at the start", r.Procs()}, Fact{"each trial", strings.Join(values, ", ")})
}

// trialColumns are the figures of each trial of a cell.
func trialColumns(rows []summary.TrialFigures) []Column {
	figure := func(head, unit string, of func(summary.TrialFigures) *float64, write func(float64) string) Column {
		return Column{Head: head, Unit: unit, Cells: words(rows, func(t summary.TrialFigures) string { return display.Maybe(of(t), write) })}
	}
	return []Column{
		{Head: "trial", Cells: words(rows, func(t summary.TrialFigures) string { return display.Grouped(int64(t.Trial)) })},
		{Head: "attempt", Cells: words(rows, func(t summary.TrialFigures) string { return display.Grouped(int64(t.Attempt) + 1) })},
		figure("requests", "/s", func(t summary.TrialFigures) *float64 { return t.RateRPS }, display.Figure),
		figure("p50", "ms", func(t summary.TrialFigures) *float64 { return t.P50 }, display.Figure),
		figure("p99", "ms", func(t summary.TrialFigures) *float64 { return t.P99 }, display.Figure),
		figure("throttled", "% of periods", func(t summary.TrialFigures) *float64 { return t.Throttled }, func(v float64) string { return share(&v) }),
	}
}

func setupFacts(name string, c *cellSummary) []Fact {
	facts := []Fact{{"cell", name}, {"limits", narrative.LimitsText(c)}, {"load", narrative.LoadText(c)}, {"trials", display.Grouped(int64(c.Trials))}}
	if c.Objective != nil {
		facts = append(facts, Fact{"objective", display.Plain(c.Objective.Text) + ": " + narrative.ObjectiveWords(c)})
	}
	return facts
}

// requestFacts count the requests and each kind of error that occurred.
func requestFacts(c *cellSummary) []Fact {
	facts := []Fact{{"ended", display.Grouped(c.Requests)}}
	failures := c.Errors.Failures()
	for _, f := range failures {
		if f.Name != summary.BadStatus {
			facts = append(facts, Fact{f.Name, display.Grouped(f.N)})
			continue
		}
		for _, code := range slices.Sorted(maps.Keys(c.Errors.Status)) {
			facts = append(facts, Fact{"status " + display.Plain(code), display.Grouped(c.Errors.Status[code]) + display.Said(c.Errors.Said[code])})
		}
	}
	if len(failures) == 0 {
		facts = append(facts, Fact{"errors", "none"})
	}
	if n := c.Generator.Resent; n*100 > c.Requests {
		facts = append(facts, Fact{"resent", fmt.Sprintf("%s (%s): the service had closed the idle connection, or did not process them", display.Grouped(n), display.Share(float64(n)/float64(max(c.Requests, 1))))})
	}
	return facts
}

// latencyFacts are both latencies side by side: from intended, and from sent.
func latencyFacts(c *cellSummary) []Fact {
	var facts []Fact
	if c.LatencyMS != nil && c.LatencyMS.Mean > 0 {
		facts = append(facts, Fact{"lowest", pair(c, func(q *summary.Quantiles) string { return display.Milliseconds(q.Min) })},
			Fact{"on average", pair(c, func(q *summary.Quantiles) string { return display.MeanMilliseconds(q.Mean, q.Beyond) })})
	}
	for i, name := range []string{"p50", "p90", "p95", "p99", "p99.9", "highest"} {
		facts = append(facts, Fact{name, pair(c, func(q *summary.Quantiles) string { return display.Milliseconds(q.All()[i].Value) })})
	}
	if f := c.FirstByteMS; f != nil && c.StreamsMS == nil {
		facts = append(facts, Fact{"first byte, p99", display.Milliseconds(f.P99)})
	}
	if d := c.DialsMS; d != nil {
		facts = append(facts, Fact{"connect, p99", display.Milliseconds(d.Connect.P99)})
		if d.Handshake != nil {
			facts = append(facts, Fact{"TLS handshake, p99", display.Milliseconds(d.Handshake.P99)})
		}
	}
	if s := c.StreamsMS; s != nil && s.First != nil {
		facts = append(facts, Fact{"first message, p99", display.Milliseconds(s.First.P99)})
		if s.Between != nil {
			facts = append(facts, Fact{"between messages, p99", display.Milliseconds(s.Between.P99)})
		}
	}
	return facts
}

// pair writes a figure of both latencies.
func pair(c *cellSummary, of func(*summary.Quantiles) string) string {
	text := display.Absent
	if c.LatencyMS != nil {
		text = of(c.LatencyMS)
	}
	if c.ServiceMS != nil {
		text += " (" + of(c.ServiceMS) + " from sent)"
	}
	return text
}

func serviceFacts(c *cellSummary) []Fact {
	count := func(v *int64) string { return display.Maybe(v, display.Grouped) }
	facts := []Fact{
		{"CPU", cores(c.CPU.Cores)},
		{"throttled", throttledText(c)},
		{"per throttled period", throttledPerPeriod(c)},
		{"restarts", count(c.Restarts)},
		{"killed for memory", count(c.Memory.OOMKills)},
	}
	if r := c.Replicas; r != nil {
		facts = append(facts, Fact{"replicas", replicasText(r)})
	}
	return facts
}

// replicasText is how many replicas there were: "2 to 7, 4.3 on average".
func replicasText(r *summary.Replicas) string {
	if r.Least == r.Most {
		return display.Grouped(int64(r.Most)) + " all the time"
	}
	return fmt.Sprintf("%d to %d, %s on average", r.Least, r.Most, display.Figure(r.Mean))
}

// dependencyFacts describe each dependency, and the service's waits for them.
func dependencyFacts(c *cellSummary) []Fact {
	var facts []Fact
	for i := range c.Dependencies {
		dep := &c.Dependencies[i]
		parts := []string{cores(dep.Cores) + ", peak " +
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
		facts = append(facts, Fact{display.Plain(dep.Name), strings.Join(parts, ", ")})
	}
	if w := c.WaitsMS; w != nil {
		for _, one := range []struct {
			name string
			v    *float64
		}{{"waited for, p50", w.P50}, {"waited for, p99", w.P99}, {"waited for, on average", &w.Mean}} {
			facts = append(facts, Fact{one.name, display.Maybe(summary.Finite(one.v), display.WithUnit)})
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

// throttledText writes "29 of 32 periods (91%)".
func throttledText(c *cellSummary) string {
	part := c.ThrottledShare()
	if part == nil {
		return display.Absent
	}
	return fmt.Sprintf("%s of %s periods (%s)", display.Grouped(*c.CPU.ThrottledPeriods), display.Grouped(*c.CPU.Periods), display.Share(*part))
}

// throttledPerPeriod is the time throttled per throttled period. It is summed
// over CPUs, and so can exceed the period.
func throttledPerPeriod(c *cellSummary) string {
	if c.CPU.ThrottledMS == nil || c.CPU.ThrottledPeriods == nil || *c.CPU.ThrottledPeriods == 0 {
		return display.Absent
	}
	return display.WithUnit(*c.CPU.ThrottledMS/float64(*c.CPU.ThrottledPeriods)) + ", summed over CPUs"
}

func generatorFacts(c *cellSummary) []Fact {
	limited := "no"
	if c.Generator.Limited {
		limited = "yes: rates are lower bounds"
	} else if c.Generator.SentLate {
		limited = "no, but it sent late: latencies include its delay"
	}
	facts := []Fact{
		{"agent's CPU", cores(c.Generator.Cores)},
		{"agent waited for a CPU", cores(c.Generator.RunWaitCores)},
		{"send lag, p99", display.Maybe(c.Generator.SendLagP99US, func(v float64) string { return display.Figure(v) + " µs" })},
		{"agent was the limit", limited},
	}
	if v := c.Generator.ThrottledShare; v != nil {
		facts = append(facts, Fact{"agent throttled", display.Share(*v) + " of its time"})
	}
	if n := c.Generator.Lost; n > 0 {
		facts = append(facts, Fact{"agents lost", display.Grouped(int64(n))})
	}
	return append(facts, hostFacts(c)...)
}

func hostFacts(c *cellSummary) []Fact {
	return []Fact{{"host idle", cores(c.Host.IdleCores)}, {"CPU of others", cores(c.Host.ForeignCores)}, {"steal time", cores(c.Host.StealCores)}}
}

func cores(v *float64) string {
	return display.Maybe(v, func(v float64) string { return display.Figure(v) + " CPUs" })
}
