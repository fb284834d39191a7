package compare

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis"
)

// metric is one line of a comparison: a metric of analysis, and how it is
// compared.
type metric struct {
	name    string // for programs, and in --fail-on
	words   string // for people
	unit    string // of the values
	bound   string // the unit of a bound in --fail-on that is not a percentage
	scale   float64
	higher  bool // is better
	seldom  bool // shown only where it is asked for
	bench   string
	benchBy float64 // times the value is that in the unit of bench
	of      func(*analysis.TrialFigures) *float64
}

const breakingPoint = analysis.BreakingPointMetric

// metrics in the order in which they are shown. The unit of a value is the
// record's; scale makes it that of people and of bounds.
var metrics = shared([]metric{
	{name: "rate", scale: 1, higher: true, bench: "requests/s", benchBy: 1},
	{name: "p50", bound: "ms", scale: 1, bench: "p50-ns/op", benchBy: 1e6},
	{name: "p90", bound: "ms", scale: 1, seldom: true, bench: "p90-ns/op", benchBy: 1e6},
	{name: "p95", bound: "ms", scale: 1, seldom: true, bench: "p95-ns/op", benchBy: 1e6},
	{name: "p99", bound: "ms", scale: 1, bench: "p99-ns/op", benchBy: 1e6},
	{name: "p999", bound: "ms", scale: 1, bench: "p99.9-ns/op", benchBy: 1e6},
	{name: "availability", bound: "pp", scale: 1, higher: true, bench: "available-%", benchBy: 1},
	{name: "cpu_per_request", bound: "ms", scale: 1, bench: "cpu-ns/op", benchBy: 1e6},
	{name: "throttled", bound: "pp", scale: 100, bench: "throttled-%", benchBy: 100},
	{name: breakingPoint, scale: 1, higher: true, bench: "breaking-point", benchBy: 1},
})

// shared fills in what analysis knows of the metrics.
func shared(all []metric) []metric {
	for i := range all {
		known, ok := analysis.MetricOf(all[i].name)
		if !ok {
			panic("compare: analysis has no metric " + all[i].name)
		}
		all[i].words, all[i].unit, all[i].of = known.Words, known.Unit, known.Of
	}
	return all
}

// metricOf finds a metric by its name; nil: there is none.
func metricOf(name string) *metric {
	for i := range metrics {
		if metrics[i].name == name {
			return &metrics[i]
		}
	}
	return nil
}

// subject is the metric at the beginning of a sentence: "p99", "the rate".
func (m *metric) subject() string {
	switch m.name {
	case "rate", breakingPoint:
		return "the " + m.words
	case "throttled":
		return "the share of throttled periods"
	}
	return m.words
}

// MetricNames lists the metrics that --fail-on knows.
func MetricNames() string {
	names := make([]string, len(metrics))
	for i := range metrics {
		names[i] = metrics[i].name
	}
	return strings.Join(names, ", ")
}

// trials are the metric's values, one a trial that measured it.
func (m *metric) trials(c *analysis.CellSummary) []float64 {
	return analysis.Metric{Of: m.of}.Trials(c)
}

// unitOf is the metric's unit for these cells: a closed loop breaks at a number
// of users.
func (m *metric) unitOf(a, b *analysis.CellSummary) string {
	for _, c := range []*analysis.CellSummary{a, b} {
		if m.name == breakingPoint && c.Breaking != nil && c.Breaking.Users != nil {
			return "users"
		}
	}
	return m.unit
}

// shown is the unit for people.
func (r *Row) shown() string {
	if r.Unit == "share" {
		return "%"
	}
	return r.Unit
}

// after is the unit behind a figure.
func (r *Row) after() string {
	if r.shown() == "%" {
		return "%"
	}
	return " " + r.shown()
}

// points is the unit of a difference for people: percentages differ by points.
func (r *Row) points() string {
	if r.shown() == "%" {
		return "points"
	}
	return r.Unit
}
