package compare

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis/verdict"
)

// metric is one line of a comparison: a metric of analysis, and how it is compared.
type metric struct {
	verdict.Metric
	bound   string  // the unit of a bound in --fail-on that is not a percentage
	seldom  bool    // shown only if it is asked for
	short   string  // its head in the table, as in a report; "": its words
	per     string  // its unit in the table instead of its own; "": its own
	bench   string  // its name in the Go benchmark format
	benchBy float64 // times the value is that in the unit of bench
}

const breakingPoint = verdict.BreakingPointMetric

// metrics in the order in which they are shown.
var metrics = []metric{
	known("rate", "", "requests/s", 1),
	known("p50", "ms", "p50-ns/op", 1e6),
	seldom(known("p90", "ms", "p90-ns/op", 1e6)),
	seldom(known("p95", "ms", "p95-ns/op", 1e6)),
	known("p99", "ms", "p99-ns/op", 1e6),
	known("p999", "ms", "p99.9-ns/op", 1e6),
	known("availability", "pp", "available-%", 1),
	short(known("cpu_per_request", "ms", "cpu-ns/op", 1e6), "CPU", "ms/request"),
	short(known("throttled", "pp", "throttled-%", 100), "throttled", ""),
	short(known(breakingPoint, "", "breaking-point", 1), "breaks at", "/s"),
}

// known is a metric that analysis has.
func known(name, bound, bench string, benchBy float64) metric {
	m, ok := verdict.MetricOf(name)
	if !ok {
		panic("compare: analysis has no metric " + name)
	}
	return metric{Metric: m, bound: bound, bench: bench, benchBy: benchBy}
}

func seldom(m metric) metric {
	m.seldom = true
	return m
}

// short sets the head of a metric's row, so that a comparison has room at 80 columns.
func short(m metric, head, unit string) metric {
	m.short, m.per = head, unit
	return m
}

// metricOf finds a metric by its name; nil: there is none.
func metricOf(name string) *metric {
	for i := range metrics {
		if metrics[i].Name == name {
			return &metrics[i]
		}
	}
	return nil
}

// MetricNames lists the metrics that --fail-on knows.
func MetricNames() string {
	names := make([]string, len(metrics))
	for i := range metrics {
		names[i] = metrics[i].Name
	}
	return strings.Join(names, ", ")
}
