package report

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/show/narrative"
)

// csvColumns are the columns of every record, in their order.
func csvColumns() []csvColumn {
	return slices.Concat(
		csvTraffic,
		csvQuantiles("latency", func(r csvRow) *summary.Quantiles { return r.LatencyMS }),
		[]csvColumn{
			{"latency_p99_ms_low", intervalEnd("latency_ms.p99", 0)},
			{"latency_p99_ms_high", intervalEnd("latency_ms.p99", 1)},
		},
		csvQuantiles("service", func(r csvRow) *summary.Quantiles { return r.ServiceMS }),
		part(func(r csvRow) *summary.Quantiles { return r.LatencyMS },
			partColumn[summary.Quantiles]{"latency_beyond_range", func(q *summary.Quantiles) any { return q.Beyond }}),
		csvUse, csvBreaking, csvKnee, csvCauses(), csvComparison, csvWaits, csvConnections,
		part(func(r csvRow) *summary.Start { return r.Start },
			partColumn[summary.Start]{"start_s", func(s *summary.Start) any { return s.Seconds }},
			partColumn[summary.Start]{"start_cpu_s", func(s *summary.Start) any { return s.CPUSeconds }}))
}

// csvTraffic are the cell, what was set, and what it answered.
var csvTraffic = []csvColumn{
	{"cell", func(r csvRow) any { return r.Cell }},
	{"label", func(r csvRow) any { return r.Label }},
	{"service", func(r csvRow) any { return r.Service }},
	{"cpu_limit_millis", func(r csvRow) any { return r.Limits.CPUMillis }},
	{"burst_millis", func(r csvRow) any { return r.Limits.BurstMillis }},
	{"memory_limit_bytes", func(r csvRow) any { return r.Limits.MemoryBytes }},
	{"replicas", func(r csvRow) any { return r.Limits.Replicas }},
	{"load_kind", func(r csvRow) any { return r.Load.Kind }},
	{"load_users", func(r csvRow) any { return r.Load.Users }},
	{"load_rate_rps", func(r csvRow) any { return r.Load.Rate }},
	{"load_requests", func(r csvRow) any { return r.Load.Requests }},
	{"load_stages", func(r csvRow) any { return r.Load.Stages }},
	{"trials", func(r csvRow) any { return r.Trials }},
	{"requests", func(r csvRow) any { return r.Requests }},
	{"rate_rps", func(r csvRow) any { return r.RateRPS }},
	{"rate_rps_low", intervalEnd("rate_rps", 0)},
	{"rate_rps_high", intervalEnd("rate_rps", 1)},
	{"availability_percent", func(r csvRow) any { return r.Availability }},
}

// csvUse are the errors, what was used, the generator and the host.
var csvUse = []csvColumn{
	{"timeouts", func(r csvRow) any { return r.Errors.Timeouts }},
	{"refused", func(r csvRow) any { return r.Errors.Refused }},
	{"cut", func(r csvRow) any { return r.Errors.Cut }},
	{"malformed", func(r csvRow) any { return r.Errors.Malformed }},
	{"failed_checks", func(r csvRow) any { return r.Errors.Failed }},
	{"bad_status", func(r csvRow) any { return r.Errors.BadStatuses() }},
	{"dropped", func(r csvRow) any { return r.Errors.Dropped }},
	{"cpu_cores", func(r csvRow) any { return r.CPU.Cores }},
	{"cpu_limit_cores", func(r csvRow) any { return r.CPU.Limit }},
	{"cpu_of_limit", func(r csvRow) any { return r.CPU.OfLimit }},
	{"periods", func(r csvRow) any { return r.CPU.Periods }},
	{"throttled_periods", func(r csvRow) any { return r.CPU.ThrottledPeriods }},
	{"throttled_ms", func(r csvRow) any { return r.CPU.ThrottledMS }},
	{"memory_peak_bytes", func(r csvRow) any { return r.Memory.PeakBytes }},
	{"memory_of_limit", func(r csvRow) any { return r.Memory.OfLimit }},
	{"oom_kills", func(r csvRow) any { return r.Memory.OOMKills }},
	{"restarts", func(r csvRow) any { return r.Restarts }},
	{"agent_cores", func(r csvRow) any { return r.Generator.Cores }},
	{"agent_run_wait_cores", func(r csvRow) any { return r.Generator.RunWaitCores }},
	{"agent_limited", func(r csvRow) any { return r.Generator.Limited }},
	{"send_lag_p99_us", func(r csvRow) any { return r.Generator.SendLagP99US }},
	{"host_idle_cores", func(r csvRow) any { return r.Host.IdleCores }},
	{"host_foreign_cores", func(r csvRow) any { return r.Host.ForeignCores }},
	{"host_steal_cores", func(r csvRow) any { return r.Host.StealCores }},
	{"objective", func(r csvRow) any {
		if r.Objective == nil || r.Objective.Met == nil {
			return nil
		}
		return narrative.ObjectiveWord(r.cellSummary)
	}},
	{"intervals_of", func(r csvRow) any { return r.IntervalsOf }},
	{"flags", func(r csvRow) any { return r.Flags.Join(" ") }},
}

var csvBreaking = part(func(r csvRow) *summary.BreakingPoint { return r.Breaking }, []partColumn[summary.BreakingPoint]{
	{"breaking_point_rps", func(b *summary.BreakingPoint) any { return b.RateRPS }},
	{"breaking_point_users", func(b *summary.BreakingPoint) any { return b.Users }},
	{"breaking_point_low", func(b *summary.BreakingPoint) any { return b.Low }},
	{"breaking_point_high", func(b *summary.BreakingPoint) any { return b.High }},
	{"breaking_point_at_least", func(b *summary.BreakingPoint) any { return b.AtLeast }},
	{"limited_by", func(b *summary.BreakingPoint) any { return b.LimitedBy }},
	{"limited_by_evidence", func(b *summary.BreakingPoint) any { return b.Evidence }},
	{"breaking_point_reason", func(b *summary.BreakingPoint) any { return b.Reason }},
	{"searches", func(b *summary.BreakingPoint) any { return b.Searches }},
	{"search_traffic_s", func(b *summary.BreakingPoint) any { return b.TrafficS }},
}...)

var csvKnee = part(func(r csvRow) *summary.Knee { return r.Knee }, []partColumn[summary.Knee]{
	{"knee_load", func(k *summary.Knee) any { return k.Load }},
	{"knee_load_low", func(k *summary.Knee) any { return k.Low }},
	{"knee_load_high", func(k *summary.Knee) any { return k.High }},
	{"knee_of_limit", func(k *summary.Knee) any { return k.OfLimit }},
	{"knee_of_limit_low", func(k *summary.Knee) any { return k.OfLimitLow }},
	{"knee_of_limit_high", func(k *summary.Knee) any { return k.OfLimitHigh }},
	{"knee_quantile", func(k *summary.Knee) any { return k.Quantile }},
	{"knee_floor_ms", func(k *summary.Knee) any { return k.FloorMS }},
}...)

func csvCauses() []csvColumn {
	cols := []partColumn[summary.Causes]{
		{"tail_quantile", func(c *summary.Causes) any { return c.Quantile }},
		{"tail_from_ms", func(c *summary.Causes) any { return c.FromMS }},
		{"tail_requests", func(c *summary.Causes) any { return c.Requests }},
		{"tail_mean_ms", func(c *summary.Causes) any { return c.MeanMS }},
	}
	for i, one := range new(summary.Causes).Shares() {
		cols = append(cols, partColumn[summary.Causes]{"tail_" + one.Name, func(c *summary.Causes) any { return divided(c, c.Shares()[i].Value) }})
	}
	cols = append(cols, partColumn[summary.Causes]{"tail_throttled_directly", func(c *summary.Causes) any { return divided(c, c.ThrottledDirectly) }},
		partColumn[summary.Causes]{"tail_throttling_high", func(c *summary.Causes) any { return divided(c, c.ThrottlingHigh) }})
	return part(func(r csvRow) *summary.Causes { return r.Causes }, cols...)
}

// divided is a share of a slow tail; nil if the tail has too few requests for one.
func divided(c *summary.Causes, share float64) *float64 {
	if !c.Divided() {
		return nil
	}
	return &share
}

// csvComparison are the test of the cell against its baseline.
var csvComparison = part(func(r csvRow) *summary.Comparison { return r.comparison }, []partColumn[summary.Comparison]{
	{"compared_with", func(c *summary.Comparison) any { return c.Baseline }},
	{"compared_metric", func(c *summary.Comparison) any { return c.Metric }},
	{"compared_shift", func(c *summary.Comparison) any { return c.Shift }},
	{"compared_shift_low", func(c *summary.Comparison) any { return c.Low }},
	{"compared_shift_high", func(c *summary.Comparison) any { return c.High }},
	{"compared_p", func(c *summary.Comparison) any { return c.P }},
	{"compared_p_holm", func(c *summary.Comparison) any { return c.PHolm }},
	{"compared_significant", func(c *summary.Comparison) any { return c.Significant }},
}...)

// csvWaits are how long the service waited for its dependency, as it reports it.
var csvWaits = part(func(r csvRow) *summary.Waits { return r.WaitsMS }, []partColumn[summary.Waits]{
	{"wait_p50_ms", func(w *summary.Waits) any { return w.P50 }},
	{"wait_p99_ms", func(w *summary.Waits) any { return w.P99 }},
	{"wait_mean_ms", func(w *summary.Waits) any { return w.Mean }},
}...)

// csvConnections are what became of connections that the service closed or misused.
var csvConnections = []csvColumn{
	{"resent", func(r csvRow) any { return r.Generator.Resent }},
	{"stray", func(r csvRow) any { return r.Generator.Stray }},
}

// csvKinds are the figures of the requests of one kind.
var csvKinds = func() []csvColumn {
	of := func(r csvRow) *summary.KindFigures { return r.kind }
	latency := func(quantile func(*summary.Quantiles) float64) func(*summary.KindFigures) any {
		return func(k *summary.KindFigures) any {
			if k.Latency == nil {
				return nil
			}
			return quantile(k.Latency)
		}
	}
	return part(of, []partColumn[summary.KindFigures]{
		{"kind", func(k *summary.KindFigures) any { return k.Name }},
		{"kind_requests", func(k *summary.KindFigures) any { return k.Requests }},
		{"kind_rate_rps", func(k *summary.KindFigures) any { return k.RateRPS }},
		{"kind_share", func(k *summary.KindFigures) any { return k.Share }},
		{"kind_cpu_per_request_ms", func(k *summary.KindFigures) any { return k.CPUMS }},
		{"kind_cpu_per_request_ms_low", func(k *summary.KindFigures) any { return k.CPULow }},
		{"kind_cpu_per_request_ms_high", func(k *summary.KindFigures) any { return k.CPUHigh }},
		{"kind_share_of_cpu", func(k *summary.KindFigures) any { return k.ShareOfCPU }},
		{"kind_latency_p50_ms", latency(func(q *summary.Quantiles) float64 { return q.P50 })},
		{"kind_latency_p99_ms", latency(func(q *summary.Quantiles) float64 { return q.P99 })},
		{"kind_availability_percent", func(k *summary.KindFigures) any { return k.Availability }},
	}...)
}()

// csvBenchmark are the figure that a line of a benchmark is about.
var csvBenchmark = func() []csvColumn {
	of := func(r csvRow) *summary.Benchmark { return r.benchmark }
	return slices.Concat(
		part(of, []partColumn[summary.Benchmark]{
			{"benchmark", func(b *summary.Benchmark) any { return b.Name }},
			{"benchmark_unit", func(b *summary.Benchmark) any { return b.Unit }},
			{"benchmark_procs", func(b *summary.Benchmark) any { return b.Procs }},
		}...),
		[]csvColumn{{"benchmark_trials", func(r csvRow) any {
			if r.benchmark == nil {
				return 0
			}
			return len(r.benchmark.Values)
		}}},
		part(of, []partColumn[summary.Benchmark]{
			{"benchmark_median", func(b *summary.Benchmark) any { return b.Median }},
			{"benchmark_low", func(b *summary.Benchmark) any { return b.Low }},
			{"benchmark_high", func(b *summary.Benchmark) any { return b.High }},
		}...))
}()

// csvQuantiles are those of a distribution.
func csvQuantiles(name string, of func(csvRow) *summary.Quantiles) []csvColumn {
	var cols []partColumn[summary.Quantiles]
	for i, q := range new(summary.Quantiles).All() {
		cols = append(cols, partColumn[summary.Quantiles]{name + "_" + q.Name + "_ms", func(q *summary.Quantiles) any { return q.All()[i].Value }})
	}
	return part(of, cols...)
}

// intervalEnd is the lower (0) or upper (1) end of a figure's interval.
func intervalEnd(path string, end int) func(csvRow) any {
	return func(r csvRow) any {
		if ends, ok := r.Intervals[path]; ok {
			return ends[end]
		}
		return nil
	}
}
