package report

import (
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// newSheets are the tables that a record has if its experiment has the shape for
// them.
func newSheets(s *summary.Summary, names []string) []Table {
	var all []Table
	for _, of := range []func(*summary.Summary, []string) Table{sessions, Kinds, distributions, runs, starts, dependencies} {
		if t := of(s, names); t.Rows() > 0 {
			t.measured()
			t.Most = manyRows
			all = append(all, t)
		}
	}
	return all
}

// distributions has the whole distribution of latency of each cell, for loads that
// end after a number of requests, as those of hey do.
func distributions(s *summary.Summary, names []string) Table {
	if !slices.ContainsFunc(s.Cells, func(c cellSummary) bool { return c.Load.Requests != nil && c.LatencyMS != nil }) {
		return Table{}
	}
	t := Table{Title: "Distribution of latency", Lead: "All trials of a cell together, from when each request was due."}
	rows := make([]*cellSummary, len(s.Cells))
	for i := range s.Cells {
		rows[i], t.About = &s.Cells[i], append(t.About, i)
	}
	milliseconds := func(head string, rank Rank, of func(*summary.Quantiles) float64) Column {
		return Column{Head: head, Unit: "ms", Rank: rank, Cells: words(rows, func(c *cellSummary) string { return quantileOf(c.LatencyMS, of) })}
	}
	t.Columns = []Column{
		{Head: "cell", Kind: Name, Cells: words(names, func(name string) string { return name })},
		{Head: "requests", Unit: "/s", Rank: 1, Cells: words(rows, func(c *cellSummary) string { return display.Maybe(c.RateRPS, display.Figure) })},
		{Head: "mean", Unit: "ms", Cells: words(rows, func(c *cellSummary) string {
			if c.LatencyMS == nil {
				return display.Absent
			}
			return display.MeanMilliseconds(c.LatencyMS.Mean, c.LatencyMS.Beyond)
		})},
		milliseconds("lowest", 2, func(q *summary.Quantiles) float64 { return q.Min }),
		milliseconds("p50", Kept, func(q *summary.Quantiles) float64 { return q.P50 }),
		milliseconds("p90", 4, func(q *summary.Quantiles) float64 { return q.P90 }),
		milliseconds("p95", 3, func(q *summary.Quantiles) float64 { return q.P95 }),
		milliseconds("p99", Kept, func(q *summary.Quantiles) float64 { return q.P99 }),
		milliseconds("highest", Kept, func(q *summary.Quantiles) float64 { return q.Max }),
	}
	return t
}

// runs has one row per trial of services that stay up between their trials, because
// what one run leaves behind affects the next one.
func runs(s *summary.Summary, names []string) Table {
	if !s.Experiment.Kept {
		return Table{}
	}
	t := Table{Title: "Run by run", Lead: "Each service stayed up between its runs. CPU is that of the busiest interval, memory the highest of the run."}
	type run struct {
		*summary.TrialFigures
		name string
		n    int
	}
	var rows []run
	for i, name := range names {
		trials := slices.SortedFunc(slices.Values(s.Cells[i].PerTrial), func(a, b summary.TrialFigures) int { return a.Trial - b.Trial })
		for n := range trials {
			rows, t.About = append(rows, run{&trials[n], name, n + 1}), append(t.About, i)
		}
	}
	figure := func(head, unit string, of func(run) *float64, write func(float64) string) Column {
		return Column{Head: head, Unit: unit, Cells: words(rows, func(r run) string { return display.Maybe(of(r), write) })}
	}
	t.Columns = []Column{
		{Head: "cell", Kind: Name, Cells: words(rows, func(r run) string { return r.name })},
		{Head: "run", Cells: words(rows, func(r run) string { return display.Grouped(int64(r.n)) })},
		figure("good", "answers", func(r run) *float64 { return r.Good }, func(v float64) string { return display.Grouped(int64(v)) }),
		figure("p95", "ms", func(r run) *float64 { return r.P95 }, display.Figure),
		figure("lowest", "ms", func(r run) *float64 { return r.Min }, display.Figure),
		figure("highest", "ms", func(r run) *float64 { return r.Max }, display.Figure),
		figure("CPU, most", "CPUs", func(r run) *float64 { return r.CPUMax }, display.Figure),
		figure("memory", "peak MiB", func(r run) *float64 { return r.MemoryPeak }, func(v float64) string { return mebibytes(int64(v)) }),
	}
	return t
}

// starts has how long each service took to be ready, if one took long enough to matter.
func starts(s *summary.Summary, names []string) Table {
	const long = 1 // second
	if !slices.ContainsFunc(s.Cells, func(c cellSummary) bool { return c.Start != nil && c.Start.Seconds >= long }) {
		return Table{}
	}
	t := Table{Title: "Start-up", Lead: "From the start of the process until it was ready, the median trial. A liveness probe that allows less time kills it."}
	type start struct {
		*summary.Start
		name string
	}
	var rows []start
	for i, name := range names {
		if at := s.Cells[i].Start; at != nil {
			rows, t.About = append(rows, start{at, name}), append(t.About, i)
		}
	}
	t.Columns = []Column{
		{Head: "cell", Kind: Name, Cells: words(rows, func(r start) string { return r.name })},
		{Head: "ready after", Unit: "s", Cells: words(rows, func(r start) string { return display.Figure(r.Seconds) })},
		{Head: "CPU", Unit: "s", Cells: words(rows, func(r start) string { return display.Maybe(r.CPUSeconds, display.Figure) })},
		{Head: "throttled", Unit: "% of periods", Rank: 1, Cells: words(rows, func(r start) string { return share(over(r.ThrottledPeriods, r.Periods)) })},
		{Head: "trials", Rank: 2, Cells: words(rows, func(r start) string { return display.Grouped(int64(r.Trials)) })},
	}
	return t
}

// dependencies has what each dependency used, and how long its service waited.
func dependencies(s *summary.Summary, names []string) Table {
	t := Table{Title: "Dependencies", Lead: "What they used, and how long their services report that they waited, interpolated in the buckets of the services’ own histograms."}
	type dependency struct {
		*summary.Dependency
		waits *summary.Waits
		name  string
	}
	var rows []dependency
	for i, name := range names {
		c := &s.Cells[i]
		for k := range c.Dependencies {
			rows, t.About = append(rows, dependency{&c.Dependencies[k], c.WaitsMS, name}), append(t.About, i)
		}
		if len(c.Dependencies) == 0 && c.WaitsMS != nil { // behind a URL: nothing else is seen of it
			rows, t.About = append(rows, dependency{&summary.Dependency{Name: display.Absent}, c.WaitsMS, name}), append(t.About, i)
		}
	}
	wait := func(head string, of func(*summary.Waits) *float64) Column {
		return Column{Head: head, Unit: "ms", Cells: words(rows, func(d dependency) string {
			if d.waits == nil {
				return display.Absent
			}
			return display.Maybe(of(d.waits), display.Figure)
		})}
	}
	t.Columns = []Column{
		{Head: "cell", Kind: Name, Cells: words(rows, func(d dependency) string { return d.name })},
		{Head: "dependency", Kind: Word, Cells: words(rows, func(d dependency) string { return display.Plain(d.Name) })},
		{Head: "CPU", Unit: "CPUs", Cells: words(rows, func(d dependency) string { return display.Maybe(d.Cores, display.Figure) })},
		{Head: "memory", Unit: "peak MiB", Rank: 1, Cells: words(rows, func(d dependency) string { return display.Maybe(d.PeakBytes, mebibytes) })},
		{Head: "throttled", Unit: "% of periods", Rank: 2, Cells: words(rows, func(d dependency) string { return share(over(d.ThrottledPeriods, d.Periods)) })},
		wait("wait p50", func(w *summary.Waits) *float64 { return w.P50 }),
		wait("wait p99", func(w *summary.Waits) *float64 { return w.P99 }),
		wait("wait mean", func(w *summary.Waits) *float64 { return &w.Mean }),
	}
	return t
}
