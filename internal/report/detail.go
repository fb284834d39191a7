package report

import (
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis"
)

// detail is all else that is known of a cell, for those who want to check.
type detail struct {
	Name   string
	Mark   mark
	Open   bool
	Groups []group
	Trials []trialRow
}

// group is a short table of facts under a heading.
type group struct {
	Head  string
	Facts []fact
}

type fact struct{ Name, Text string }

type trialRow struct{ Trial, Attempt, Rate, P50, P99, Throttled string }

func newDetail(c *analysis.CellSummary, name string, m mark) detail {
	d := detail{Name: name, Mark: m}
	d.Groups = []group{
		{"Asked", askedFacts(c)},
		{"Requests", requestFacts(c)},
		{"Latency, ms", latencyFacts(c)},
		{"Service", serviceFacts(c)},
		{"Generator and host", generatorFacts(c)},
	}
	for i := range c.PerTrial {
		t := &c.PerTrial[i]
		d.Trials = append(d.Trials, trialRow{Trial: grouped(int64(t.Trial)), Attempt: grouped(int64(t.Attempt) + 1),
			Rate: maybe(t.RateRPS, figure), P50: maybe(t.P50, figure), P99: maybe(t.P99, figure), Throttled: maybe(t.Throttled, share)})
	}
	return d
}

func askedFacts(c *analysis.CellSummary) []fact {
	facts := []fact{{"cell", plain(c.Label)}, {"limits", limitsText(c)}, {"load", loadText(c)}, {"trials", grouped(int64(c.Trials))}}
	if c.Objective != nil {
		facts = append(facts, fact{"objective", typeset(plain(c.Objective.Text)) + ": " + objectiveWord(c)})
	}
	return facts
}

// requestFacts count the requests and each kind of error; kinds that did not
// occur are left out, but where none occurred, that is said.
func requestFacts(c *analysis.CellSummary) []fact {
	e := &c.Errors
	facts := []fact{{"ended", grouped(c.Requests)}}
	errors := 0
	say := func(name string, n int64) {
		if n != 0 {
			facts = append(facts, fact{name, grouped(n)})
			errors++
		}
	}
	say("timed out", e.Timeouts)
	say("refused", e.Refused)
	say("cut off", e.Cut)
	say("not HTTP", e.Malformed)
	for _, code := range slices.Sorted(maps.Keys(e.Status)) {
		say("status "+plain(code), e.Status[code])
	}
	say("due, never sent", e.Dropped)
	if errors == 0 {
		facts = append(facts, fact{"errors", "none"})
	}
	return facts
}

// latencyFacts give both latencies side by side: from intended, and from sent.
func latencyFacts(c *analysis.CellSummary) []fact {
	var facts []fact
	for i, name := range []string{"p50", "p90", "p95", "p99", "p99.9", "highest"} {
		text := absent
		if c.LatencyMS != nil {
			text = figure(c.LatencyMS.All()[i].Value)
		}
		if c.ServiceMS != nil {
			text += " (" + figure(c.ServiceMS.All()[i].Value) + " from sent)"
		}
		facts = append(facts, fact{name, text})
	}
	return facts
}

func serviceFacts(c *analysis.CellSummary) []fact {
	count := func(v *int64) string { return maybe(v, grouped) }
	facts := []fact{
		{"CPU", maybe(c.CPU.Cores, func(v float64) string { return figure(v) + " cores" })},
		{"throttled", throttledText(c)},
		{"per throttled period", throttledPerPeriod(c)},
		{"restarts", count(c.Restarts)},
		{"killed for memory", count(c.Memory.OOMKills)},
	}
	for i := range c.Dependencies {
		dep := &c.Dependencies[i]
		facts = append(facts, fact{plain(dep.Name), maybe(dep.Cores, func(v float64) string { return figure(v) + " cores" }) + ", peak " +
			maybe(dep.PeakBytes, func(v int64) string { return size(float64(v)) })})
	}
	return facts
}

// throttledPerPeriod is the time throttled per throttled period. It is summed
// over CPUs, and so can exceed the period.
func throttledPerPeriod(c *analysis.CellSummary) string {
	if c.CPU.ThrottledMS == nil || c.CPU.ThrottledPeriods == nil || *c.CPU.ThrottledPeriods == 0 {
		return absent
	}
	return milliseconds(*c.CPU.ThrottledMS/float64(*c.CPU.ThrottledPeriods)) + ", summed over CPUs"
}

func generatorFacts(c *analysis.CellSummary) []fact {
	cores := func(v *float64) string { return maybe(v, func(v float64) string { return figure(v) + " cores" }) }
	limited := "no"
	if c.Generator.Limited {
		limited = "yes: rates are lower bounds"
	}
	return []fact{
		{"agent's CPU", cores(c.Generator.Cores)},
		{"agent waited for a CPU", cores(c.Generator.RunWaitCores)},
		{"send lag, p99", maybe(c.Generator.SendLagP99US, func(v float64) string { return figure(v) + " µs" })},
		{"agent was the limit", limited},
		{"host idle", cores(c.Host.IdleCores)},
		{"others' CPU", cores(c.Host.ForeignCores)},
		{"steal", cores(c.Host.StealCores)},
	}
}

// sortedSet gives the different values, upwards.
func sortedSet(values []float64) []float64 {
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Compact(out)
}
