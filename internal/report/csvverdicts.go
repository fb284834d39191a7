package report

import (
	"strconv"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// csvVerdicts are the columns of what analysis concludes: breaking point, knee,
// causes of the slow tail, the test against the baseline, and how long the
// service says that it waited. They are empty
// where it was not asked for or is not known.
func csvVerdicts(s *analysis.Summary) []csvColumn {
	cols := csvBreaking()
	cols = append(cols, csvKnee()...)
	cols = append(cols, csvCauses()...)
	return append(append(cols, csvComparison(s)...), csvWaits()...)
}

func csvWaits() []csvColumn {
	of := func(field func(*analysis.WaitsSummary) *float64) func(*cellSummary) string {
		return func(c *cellSummary) string {
			if c.WaitsMS == nil {
				return ""
			}
			return display.Exact(field(c.WaitsMS))
		}
	}
	return []csvColumn{
		{"wait_p50_ms", of(func(w *analysis.WaitsSummary) *float64 { return w.P50 })},
		{"wait_p99_ms", of(func(w *analysis.WaitsSummary) *float64 { return w.P99 })},
		{"wait_mean_ms", of(func(w *analysis.WaitsSummary) *float64 { return &w.Mean })},
	}
}

func csvBreaking() []csvColumn {
	of := func(field func(*analysis.BreakingPoint) string) func(*cellSummary) string {
		return func(c *cellSummary) string {
			if c.Breaking == nil {
				return ""
			}
			return field(c.Breaking)
		}
	}
	return []csvColumn{
		{"breaking_point_rps", of(func(b *analysis.BreakingPoint) string { return display.Exact(b.RateRPS) })},
		{"breaking_point_users", of(func(b *analysis.BreakingPoint) string { return display.Exact(b.Users) })},
		{"breaking_point_low", of(func(b *analysis.BreakingPoint) string { return display.Exact(b.Low) })},
		{"breaking_point_high", of(func(b *analysis.BreakingPoint) string { return display.Exact(b.High) })},
		{"breaking_point_at_least", of(func(b *analysis.BreakingPoint) string { return strconv.FormatBool(b.AtLeast) })},
		{"limited_by", of(func(b *analysis.BreakingPoint) string { return b.LimitedBy })},
		{"limited_by_evidence", of(func(b *analysis.BreakingPoint) string { return b.Evidence })},
		{"breaking_point_reason", of(func(b *analysis.BreakingPoint) string { return b.Reason })},
		{"searches", of(func(b *analysis.BreakingPoint) string { return strconv.Itoa(b.Searches) })},
		{"search_traffic_s", of(func(b *analysis.BreakingPoint) string { return display.Exact(&b.TrafficS) })},
	}
}

func csvKnee() []csvColumn {
	of := func(field func(*analysis.Knee) string) func(*cellSummary) string {
		return func(c *cellSummary) string {
			if c.Knee == nil {
				return ""
			}
			return field(c.Knee)
		}
	}
	return []csvColumn{
		{"knee_load", of(func(k *analysis.Knee) string { return display.Exact(&k.Load) })},
		{"knee_load_low", of(func(k *analysis.Knee) string { return display.Exact(&k.Low) })},
		{"knee_load_high", of(func(k *analysis.Knee) string { return display.Exact(&k.High) })},
		{"knee_of_limit", of(func(k *analysis.Knee) string { return display.Exact(k.OfLimit) })},
		{"knee_of_limit_low", of(func(k *analysis.Knee) string { return display.Exact(k.OfLimitLow) })},
		{"knee_of_limit_high", of(func(k *analysis.Knee) string { return display.Exact(k.OfLimitHigh) })},
		{"knee_quantile", of(func(k *analysis.Knee) string { return k.Quantile })},
		{"knee_floor_ms", of(func(k *analysis.Knee) string { return display.Exact(&k.FloorMS) })},
	}
}

func csvCauses() []csvColumn {
	of := func(field func(*analysis.Causes) string) func(*cellSummary) string {
		return func(c *cellSummary) string {
			if c.Causes == nil {
				return ""
			}
			return field(c.Causes)
		}
	}
	cols := []csvColumn{
		{"tail_quantile", of(func(k *analysis.Causes) string { return k.Quantile })},
		{"tail_from_ms", of(func(k *analysis.Causes) string { return display.Exact(&k.FromMS) })},
		{"tail_requests", of(func(k *analysis.Causes) string { return strconv.Itoa(k.Requests) })},
		{"tail_mean_ms", of(func(k *analysis.Causes) string { return display.Exact(&k.MeanMS) })},
	}
	for i, one := range new(analysis.Causes).Shares() {
		cols = append(cols, csvColumn{"tail_" + one.Name, of(func(k *analysis.Causes) string { return display.Exact(&k.Shares()[i].Value) })})
	}
	return append(cols, csvColumn{"tail_throttled_directly", of(func(k *analysis.Causes) string { return display.Exact(&k.ThrottledDirectly) })})
}

// csvComparison takes the first test of each cell; there is one a cell.
func csvComparison(s *analysis.Summary) []csvColumn {
	of := func(field func(*analysis.Comparison) string) func(*cellSummary) string {
		return func(c *cellSummary) string {
			for i := range s.Comparisons {
				if s.Comparisons[i].Cell == c.Cell {
					return field(&s.Comparisons[i])
				}
			}
			return ""
		}
	}
	return []csvColumn{
		{"compared_with", of(func(k *analysis.Comparison) string { return strconv.Itoa(k.Baseline) })},
		{"compared_metric", of(func(k *analysis.Comparison) string { return k.Metric })},
		{"compared_shift", of(func(k *analysis.Comparison) string { return display.Exact(&k.Shift) })},
		{"compared_shift_low", of(func(k *analysis.Comparison) string { return display.Exact(&k.Low) })},
		{"compared_shift_high", of(func(k *analysis.Comparison) string { return display.Exact(&k.High) })},
		{"compared_p", of(func(k *analysis.Comparison) string { return display.Exact(&k.P) })},
		{"compared_p_holm", of(func(k *analysis.Comparison) string { return display.Exact(&k.PHolm) })},
		{"compared_significant", of(func(k *analysis.Comparison) string { return strconv.FormatBool(k.Significant) })},
	}
}
