package verdict

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Metric is a figure of a cell's trials that can be compared or claimed.
type Metric struct {
	Name  string // for programs, in --fail-on and in claims
	Words string // for people
	Unit  string // of the values: "share" is 0..1, "times" a ratio
	// Of returns the value of a trial; nil: the metric is not a figure of one trial.
	Of func(*summary.TrialFigures) *float64
}

// Metrics with special rules.
const (
	BreakingPointMetric = "breaking_point"
	memoryGrowthMetric  = "memory_growth"
	oomKillsMetric      = "oom_kills"
	restartsMetric      = "restarts"
	startMetric         = "start_up"
)

// metrics are ordered as people read them.
var metrics = []Metric{
	{"rate", "rate", "requests/s", func(t *summary.TrialFigures) *float64 { return t.RateRPS }},
	{"requests", "good answers", "requests", func(t *summary.TrialFigures) *float64 { return t.Good }},
	{"p50", "p50", "ms", func(t *summary.TrialFigures) *float64 {
		return latencyOf(t, t.P50, func(a *summary.AllRequests) *float64 { return a.P50 })
	}},
	{"p90", "p90", "ms", func(t *summary.TrialFigures) *float64 {
		return latencyOf(t, t.P90, func(a *summary.AllRequests) *float64 { return a.P90 })
	}},
	{"p95", "p95", "ms", func(t *summary.TrialFigures) *float64 {
		return latencyOf(t, t.P95, func(a *summary.AllRequests) *float64 { return a.P95 })
	}},
	{"p99", "p99", "ms", func(t *summary.TrialFigures) *float64 {
		return latencyOf(t, t.P99, func(a *summary.AllRequests) *float64 { return a.P99 })
	}},
	{"p999", "p99.9", "ms", func(t *summary.TrialFigures) *float64 {
		return latencyOf(t, t.P999, func(a *summary.AllRequests) *float64 { return a.P999 })
	}},
	{"min", "lowest latency", "ms", func(t *summary.TrialFigures) *float64 { return t.Min }},
	{"max", "highest latency", "ms", func(t *summary.TrialFigures) *float64 { return t.Max }},
	{"availability", "availability", "%", func(t *summary.TrialFigures) *float64 { return t.Availability }},
	{"cpu_per_request", "CPU per request", "ms", func(t *summary.TrialFigures) *float64 { return t.CPUPerReqMS }},
	{"cpu_of_limit", "CPU of its limit", "share", func(t *summary.TrialFigures) *float64 { return t.CPUOfLimit }},
	{"cpu_max", "CPU in the busiest frame", "cores", func(t *summary.TrialFigures) *float64 { return t.CPUMax }},
	{"throttled", "throttled periods", "share", func(t *summary.TrialFigures) *float64 { return t.Throttled }},
	{"memory_peak", "memory peak", "bytes", func(t *summary.TrialFigures) *float64 { return t.MemoryPeak }},
	{memoryGrowthMetric, "growth of memory", "times", nil},
	{oomKillsMetric, "OOM kills", "kills", func(t *summary.TrialFigures) *float64 { return t.OOMKills }},
	{restartsMetric, "restarts", "restarts", func(t *summary.TrialFigures) *float64 { return t.Restarts }},
	{"insert_p99", "p99 of waiting for the dependency", "ms", func(t *summary.TrialFigures) *float64 { return t.WaitsP99 }},
	{"dependency_cores", "CPU of the dependencies", "cores", func(t *summary.TrialFigures) *float64 { return t.Dependencies }},
	{startMetric, "start-up", "s", func(t *summary.TrialFigures) *float64 { return t.StartS }},
	{BreakingPointMetric, "breaking point", "requests/s", func(t *summary.TrialFigures) *float64 { return t.Breaking }},
}

// events reports whether the metric counts events over all replicas.
func (m Metric) events() bool { return m.Name == oomKillsMetric || m.Name == restartsMetric }

// counts reports whether the metric counts answers, of which a generator that is the
// limit gets fewer.
func (m Metric) counts() bool { return m.Name == "rate" || m.Name == "requests" }

// HigherIsBetter reports whether a higher value is the better one.
func (m Metric) HigherIsBetter() bool {
	switch m.Name {
	case "rate", "requests", "availability", BreakingPointMetric:
		return true
	}
	return false
}

// MetricOf finds a metric by its name; false if there is none.
func MetricOf(name string) (Metric, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// path is the metric's field path of a cell, or its name if it is no field.
func (m Metric) path() string {
	if _, ok := summary.ShareOf(m.Name); ok {
		return summary.LatencyPath(m.Name)
	}
	return m.Name
}

// Trials returns the metric's values, one for each trial that measured it, in the
// order of the trials.
func (m Metric) Trials(c *summary.Cell) []float64 {
	var all []float64
	for i := range c.PerTrial {
		if m.Of == nil {
			break
		}
		if v := m.Of(&c.PerTrial[i]); v != nil {
			all = append(all, *v)
		}
	}
	return all
}

// unanswered reports whether the metric is a latency of all requests of a trial that held
// one load and answered none of them, so that it is infinite and no answer has it.
func (m Metric) unanswered(t *summary.TrialFigures) bool {
	return m.Of(t) == nil && t.OfAll != nil && Infinite(t, m.Name)
}

// UnitOf is the metric's unit in a cell. The breaking point of a closed loop is a
// number of users.
func (m Metric) UnitOf(c *summary.Cell) string {
	if m.Name == BreakingPointMetric && c.Breaking != nil && c.Breaking.Users != nil {
		return "users"
	}
	return m.Unit
}

// latencyOf is a quantile of all requests of a trial. If it is infinite, it is that of the
// answered ones, which is a lower bound: see Infinite.
func latencyOf(t *summary.TrialFigures, answered *float64, of func(*summary.AllRequests) *float64) *float64 {
	if t.OfAll != nil {
		if v := of(t.OfAll); v != nil {
			return v
		}
	}
	return answered
}

// ofMemory reports whether other processes hardly influence the metric.
func ofMemory(metric string) bool { return strings.HasPrefix(metric, "memory_") }

// Infinite reports whether so many of a trial's requests failed that a latency metric
// over all of them is infinite. Its value in t is that of the answered requests, and
// so a lower bound. It returns false for any other metric.
func Infinite(t *summary.TrialFigures, metric string) bool {
	share, ok := summary.ShareOf(metric)
	return ok && t.Availability != nil && search.Exceeds(100-*t.Availability, 100, 1-share)
}
