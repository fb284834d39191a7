package traffic

import (
	"fmt"
	"maps"
	"slices"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/display"
)

// kinds has the figures of each kind of request, of a load with several: those with most CPU time
// first, where it is known, else those with most requests.
func kinds(r *Result, out display.Terminal) string {
	all := r.Cell.Kinds
	if len(all) == 0 {
		return ""
	}
	column := func(head string, of func(*summary.KindFigures) string) display.Column {
		c := display.Column{Head: head}
		for i := range all {
			c.Cells = append(c.Cells, of(&all[i]))
		}
		return c
	}
	latency := func(of func(*summary.Quantiles) float64) func(*summary.KindFigures) string {
		return func(k *summary.KindFigures) string {
			if k.Latency == nil {
				return display.Absent
			}
			return display.Milliseconds(of(k.Latency))
		}
	}
	columns := []display.Column{
		{Head: "Kind of request", Left: true, Cells: indented(column("", func(k *summary.KindFigures) string { return display.Plain(k.Name) }).Cells)},
		column("share", func(k *summary.KindFigures) string { return display.Share(k.Share) }),
		column("good", func(k *summary.KindFigures) string { return display.Maybe(k.Availability, display.Percent) }),
		column("p50, ms", latency(func(q *summary.Quantiles) float64 { return q.P50 })),
		column("p99, ms", latency(func(q *summary.Quantiles) float64 { return q.P99 })),
	}
	if slices.ContainsFunc(all, func(k summary.KindFigures) bool { return k.CPUMS != nil }) {
		columns = append(columns,
			column("CPU each, ms", func(k *summary.KindFigures) string { return display.Maybe(k.CPUMS, display.Figure) }),
			column("95% interval", func(k *summary.KindFigures) string {
				if k.CPULow == nil || k.CPUHigh == nil {
					return display.Absent
				}
				return display.Figure(*k.CPULow) + "–" + display.Figure(*k.CPUHigh)
			}),
			column("of the CPU", func(k *summary.KindFigures) string { return display.Maybe(k.ShareOfCPU, display.Share) }))
	}
	return out.Table(columns) + "\n"
}

// sessions says how the sessions ended, of a load that has them.
func sessions(r *Result, out display.Terminal) string {
	s := r.Cell.Sessions
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("Sessions: %s whole, %s broken off by a request without a good answer", display.Grouped(s.Whole), display.Grouped(s.Broken))
	for i, name := range slices.Sorted(maps.Keys(s.Missing)) {
		text += [...]string{"; ", ", "}[min(i, 1)] + fmt.Sprintf("%s answers had no {{%s}}", display.Grouped(s.Missing[name]), display.Plain(name))
	}
	return out.Line(text+".", display.Quiet) + "\n"
}
