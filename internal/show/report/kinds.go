package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/endpoints"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/display"
)

// Kinds has the figures of each kind of request, of loads that have several: those with most CPU
// time first, where it is known. Names are those of the cells, which a single one does not need.
func Kinds(s *summary.Summary, names []string) Table {
	t := Table{Title: "Kinds of requests", Lead: "CPU per request is estimated from how the CPU time follows the mix, which varies from interval to interval, with its 95% interval."}
	type kind struct {
		*summary.KindFigures
		name string
	}
	var rows []kind
	for i, name := range names {
		from := len(rows)
		for k := range s.Cells[i].Kinds {
			rows, t.About = append(rows, kind{&s.Cells[i].Kinds[k], name}), append(t.About, i)
		}
		slices.SortStableFunc(rows[from:], func(a, b kind) int { return cmp.Compare(a.Step, b.Step) })
	}
	if slices.ContainsFunc(rows, func(k kind) bool { return k.Varied }) {
		t.Lead = "CPU per request, with its 95% interval, is that of a time in which each kind was left out in turn. Where there was none, it is estimated from how the CPU time follows the mix."
	}
	head := "requests of kind"
	if slices.ContainsFunc(rows, func(k kind) bool { return k.Step > 0 }) {
		t.Title, head = "Steps of the session", "step"
	}
	named := Column{Head: head, Kind: Name, Cells: words(rows, func(k kind) string { return display.Plain(k.Name) })}
	if len(s.Cells) > 1 {
		t.Columns = []Column{{Head: "cell", Kind: Name, Cells: words(rows, func(k kind) string { return k.name })}}
		named.Kind = Word
	}
	quantile := func(head string, rank Rank, of func(*summary.Quantiles) float64) Column {
		return Column{Head: head, Unit: "ms", Rank: rank, Cells: words(rows, func(k kind) string { return quantileOf(k.Latency, of) })}
	}
	t.Columns = append(t.Columns, named,
		Column{Head: "good", Unit: "/s", Rank: 3, Cells: words(rows, func(k kind) string { return display.Maybe(k.RateRPS, display.Figure) })},
		Column{Head: "share", Unit: "% of requests", Rank: 3, Cells: words(rows, func(k kind) string { return share(&k.Share) })},
		Column{Head: "CPU", Unit: "ms each", Cells: words(rows, func(k kind) string { return display.Maybe(k.CPUMS, display.Figure) })},
		Column{Head: "95% interval", Unit: "ms each", Rank: 1, Cells: words(rows, func(k kind) string {
			if k.CPULow == nil || k.CPUHigh == nil {
				return display.Absent
			}
			return display.Figure(*k.CPULow) + "–" + display.Figure(*k.CPUHigh)
		})},
		Column{Head: "of the CPU", Unit: "%", Cells: words(rows, func(k kind) string { return share(k.ShareOfCPU) })})
	ranges, known := make([]Cell, len(rows)), false
	for i, k := range rows {
		ranges[i].Text = display.Absent
		if low, high, ok := k.EndsOfShare(); ok {
			ranges[i] = Cell{Range: &Range{Value: k.ShareOfCPU, Low: &low, High: &high, Bar: true,
				Label: fmt.Sprintf("%s of the CPU time, %s", display.Share(*k.ShareOfCPU), display.Shares(low, high))}}
			known = true
		}
	}
	if known {
		t.Columns = append(t.Columns, Column{Head: "with its interval", Kind: Picture, Rank: PageOnly, Scale: Scale{To: 1, Mid: "50%", High: "100%"}, Cells: ranges})
	}
	t.Columns = append(t.Columns,
		quantile("p50", 4, func(q *summary.Quantiles) float64 { return q.P50 }),
		quantile("p99", Kept, func(q *summary.Quantiles) float64 { return q.P99 }),
		Column{Head: "good", Unit: "%", Rank: 2, Cells: words(rows, func(k kind) string { return bare(display.Maybe(k.Availability, display.Percent)) })})
	t.measured()
	if !slices.ContainsFunc(rows, func(k kind) bool { return k.CPUMS != nil }) {
		t.Lead = WithoutCosts
		return t
	}
	longest := 0.0
	for i := range s.Cells {
		longest = max(longest, verdict.Longer(&s.Cells[i]))
	}
	if text := LongerForKinds(longest); text != "" {
		t.Lead += " " + text
	}
	return t
}

// sessions are those of users: how they ended.
func sessions(s *summary.Summary, names []string) Table {
	t := Table{Title: "Sessions", Lead: "A session is whole after a good answer to each of its requests. A request without one breaks it off. What was under way at the end is neither."}
	type row struct {
		*summary.Sessions
		name string
	}
	var rows []row
	for i, name := range names {
		if of := s.Cells[i].Sessions; of != nil {
			rows, t.About = append(rows, row{of, name}), append(t.About, i)
		}
	}
	count := func(head string, of func(row) int64) Column {
		return Column{Head: head, Cells: words(rows, func(r row) string { return display.Grouped(of(r)) })}
	}
	t.Columns = []Column{
		{Head: "cell", Kind: Name, Cells: words(rows, func(r row) string { return r.name })},
		{Head: "whole", Unit: "/s", Kind: Main, Cells: words(rows, func(r row) string { return display.Maybe(r.RatePS, display.Figure) })},
		count("begun", func(r row) int64 { return r.Begun }),
		count("whole", func(r row) int64 { return r.Whole }),
		count("broken off", func(r row) int64 { return r.Broken }),
	}
	if slices.ContainsFunc(rows, func(r row) bool { return len(r.Missing) > 0 }) {
		t.Columns = append(t.Columns, Column{Head: "answers without", Kind: Word, Cells: words(rows, func(r row) string { return Missing(r.Missing) })})
	}
	return t
}

// Missing is how many answers lacked which values of a session: "2 {{id}}, 3 {{token}}".
func Missing(counts map[string]int64) string {
	if len(counts) == 0 {
		return display.Absent
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s {{%s}}", display.Grouped(counts[name]), display.Plain(name)))
	}
	return strings.Join(all, ", ")
}

// WithoutCosts is the sentence where the CPU time of no kind is known.
var WithoutCosts = fmt.Sprintf("The CPU time of each kind is not known: that takes the CPU time of the service in %d intervals for each kind, and a mix that varies.", endpoints.Enough)

// LongerForKinds is how many times as long to measure; "" if it is long enough.
func LongerForKinds(times float64) string {
	if times == 0 {
		return ""
	}
	return fmt.Sprintf("To know the CPU time of each kind that has a tenth of it within 10%%, measure about %.0f times as long.", math.Ceil(times))
}
