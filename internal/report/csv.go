package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
)

// csvColumn is one column; its name has the unit and never changes, so that
// sheets and scripts can rely on it. What was not measured is an empty field.
type csvColumn struct {
	name string
	of   func(*analysis.CellSummary) string
}

// CSV writes one line a cell. The fixed columns come first, then one column
// vary_NAME for each varied setting.
func CSV(w io.Writer, s *analysis.Summary) error {
	if results.KindOf(s) == results.Benchmark {
		return csvBenchmarks(w, s)
	}
	cols := append(csvColumns(), csvVerdicts(s)...)
	for _, name := range narrative.Axes(s) {
		cols = append(cols, csvColumn{"vary_" + snake(name), func(c *analysis.CellSummary) string { return narrative.Setting(c, name) }})
	}
	out := csv.NewWriter(w)
	lines := [][]string{make([]string, len(cols))}
	for i, col := range cols {
		lines[0][i] = col.name
	}
	for i := range s.Cells {
		line := make([]string, len(cols))
		for k, col := range cols {
			line[k] = col.of(&s.Cells[i])
		}
		lines = append(lines, line)
	}
	if err := out.WriteAll(lines); err != nil {
		return fmt.Errorf("write the CSV of %q: %w", s.Experiment.Name, err)
	}
	return nil
}

// cellSummary is what a column takes its field from.
type cellSummary = analysis.CellSummary

func csvColumns() []csvColumn {
	cols := []csvColumn{
		{"cell", func(c *cellSummary) string { return strconv.Itoa(c.Cell) }},
		{"label", func(c *cellSummary) string { return c.Label }},
		{"service", func(c *cellSummary) string { return c.Service }},
		{"cpu_limit_millis", func(c *cellSummary) string { return whole(c.Limits.CPUMillis) }},
		{"burst_millis", func(c *cellSummary) string { return whole(c.Limits.BurstMillis) }},
		{"memory_limit_bytes", func(c *cellSummary) string { return whole(c.Limits.MemoryBytes) }},
		{"replicas", func(c *cellSummary) string { return strconv.Itoa(c.Limits.Replicas) }},
		{"load_kind", func(c *cellSummary) string { return c.Load.Kind }},
		{"load_users", func(c *cellSummary) string { return display.Exact(c.Load.Users) }},
		{"load_rate_rps", func(c *cellSummary) string { return display.Exact(c.Load.Rate) }},
		{"load_requests", func(c *cellSummary) string { return whole(c.Load.Requests) }},
		{"load_stages", func(c *cellSummary) string { return strconv.FormatBool(c.Load.Stages) }},
		{"trials", func(c *cellSummary) string { return strconv.Itoa(c.Trials) }},
		{"requests", func(c *cellSummary) string { return strconv.FormatInt(c.Requests, 10) }},
		{"rate_rps", func(c *cellSummary) string { return display.Exact(c.RateRPS) }},
		{"rate_rps_low", intervalEnd("rate_rps", 0)},
		{"rate_rps_high", intervalEnd("rate_rps", 1)},
		{"availability_percent", func(c *cellSummary) string { return display.Exact(c.Availability) }},
	}
	cols = append(cols, csvQuantiles("latency", func(c *cellSummary) *analysis.Quantiles { return c.LatencyMS })...)
	cols = append(cols,
		csvColumn{"latency_p99_ms_low", intervalEnd("latency_ms.p99", 0)},
		csvColumn{"latency_p99_ms_high", intervalEnd("latency_ms.p99", 1)})
	cols = append(cols, csvQuantiles("service", func(c *cellSummary) *analysis.Quantiles { return c.ServiceMS })...)
	cols = append(cols, csvColumn{"latency_beyond_range", func(c *cellSummary) string {
		if c.LatencyMS == nil {
			return ""
		}
		return strconv.FormatInt(c.LatencyMS.Beyond, 10)
	}})
	return append(cols, csvUse()...)
}

// csvUse are the columns of errors, of what was used, and of the host.
func csvUse() []csvColumn {
	return []csvColumn{
		{"timeouts", func(c *cellSummary) string { return strconv.FormatInt(c.Errors.Timeouts, 10) }},
		{"refused", func(c *cellSummary) string { return strconv.FormatInt(c.Errors.Refused, 10) }},
		{"cut", func(c *cellSummary) string { return strconv.FormatInt(c.Errors.Cut, 10) }},
		{"malformed", func(c *cellSummary) string { return strconv.FormatInt(c.Errors.Malformed, 10) }},
		{"failed_checks", func(c *cellSummary) string { return strconv.FormatInt(c.Errors.Failed, 10) }},
		{"bad_status", func(c *cellSummary) string { return strconv.FormatInt(narrative.BadStatuses(&c.Errors), 10) }},
		{"dropped", func(c *cellSummary) string { return strconv.FormatInt(c.Errors.Dropped, 10) }},
		{"cpu_cores", func(c *cellSummary) string { return display.Exact(c.CPU.Cores) }},
		{"cpu_limit_cores", func(c *cellSummary) string { return display.Exact(c.CPU.Limit) }},
		{"cpu_of_limit", func(c *cellSummary) string { return display.Exact(c.CPU.OfLimit) }},
		{"periods", func(c *cellSummary) string { return whole(c.CPU.Periods) }},
		{"throttled_periods", func(c *cellSummary) string { return whole(c.CPU.ThrottledPeriods) }},
		{"throttled_ms", func(c *cellSummary) string { return display.Exact(c.CPU.ThrottledMS) }},
		{"memory_peak_bytes", func(c *cellSummary) string { return whole(c.Memory.PeakBytes) }},
		{"memory_of_limit", func(c *cellSummary) string { return display.Exact(c.Memory.OfLimit) }},
		{"oom_kills", func(c *cellSummary) string { return whole(c.Memory.OOMKills) }},
		{"restarts", func(c *cellSummary) string { return whole(c.Restarts) }},
		{"agent_cores", func(c *cellSummary) string { return display.Exact(c.Generator.Cores) }},
		{"agent_run_wait_cores", func(c *cellSummary) string { return display.Exact(c.Generator.RunWaitCores) }},
		{"agent_limited", func(c *cellSummary) string { return strconv.FormatBool(c.Generator.Limited) }},
		{"send_lag_p99_us", func(c *cellSummary) string { return display.Exact(c.Generator.SendLagP99US) }},
		{"host_idle_cores", func(c *cellSummary) string { return display.Exact(c.Host.IdleCores) }},
		{"host_foreign_cores", func(c *cellSummary) string { return display.Exact(c.Host.ForeignCores) }},
		{"host_steal_cores", func(c *cellSummary) string { return display.Exact(c.Host.StealCores) }},
		{"objective", func(c *cellSummary) string {
			if c.Objective == nil || c.Objective.Met == nil {
				return ""
			}
			return narrative.ObjectiveWord(c)
		}},
		{"intervals_of", func(c *cellSummary) string { return c.IntervalsOf }},
		{"flags", func(c *cellSummary) string { return c.Flags.Join(" ") }},
	}
}

func csvQuantiles(name string, of func(*cellSummary) *analysis.Quantiles) []csvColumn {
	var cols []csvColumn
	for i, q := range new(analysis.Quantiles).All() {
		cols = append(cols, csvColumn{name + "_" + q.Name + "_ms", func(c *cellSummary) string {
			if of(c) == nil {
				return ""
			}
			return display.Exact(&of(c).All()[i].Value)
		}})
	}
	return cols
}

// intervalEnd gives the lower (0) or upper (1) end of a figure's interval.
func intervalEnd(path string, end int) func(*cellSummary) string {
	return func(c *cellSummary) string {
		ends, ok := c.Intervals[path]
		if !ok {
			return ""
		}
		return display.Exact(&ends[end])
	}
}

func whole(v *int64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatInt(*v, 10)
}

// snake writes a setting's name as a column's: "maxProcs" becomes "max_procs".
func snake(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = '_'
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
