package report

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
)

// benchView is one line of the HTML's table of benchmarks: the cell's own figures,
// and one of a benchmark.
type benchView struct {
	row
	Benchmark string
	Procs     string
	Median    value
}

// newBenchViews gives the lines; none where nothing measured itself. cells are
// those of the table of cells.
func newBenchViews(s *analysis.Summary, cells []row) []benchView {
	if !benchmarked(s) {
		return nil
	}
	var all []benchView
	for _, r := range benchRows(s) {
		one := benchView{row: cells[r.index], Benchmark: r.name(), Procs: r.procs(), Median: value{Figure: r.figure()}}
		if r.of != nil {
			one.Median.Figure += "\u00a0" + r.unitName()
		}
		if _, _, what := r.ends(); what == interval {
			one.Median.Under = r.spread()
		} else if what == ranged {
			one.Median.Under = "range " + r.spread()
		}
		all = append(all, one)
	}
	return all
}

// newBenchDetail is all else that is known of a cell that measures itself: there
// are no requests and no agent.
func newBenchDetail(c *analysis.CellSummary, name string, m mark) detail {
	d := detail{Name: name, Mark: m, Groups: []group{{Head: "Asked", Facts: askedFacts(c)}}}
	for i := range c.Benchmarks {
		r := benchRow{cell: c, of: &c.Benchmarks[i]}
		d.Groups = append(d.Groups, group{Head: r.name() + ", " + r.unitName(), Facts: r.facts()})
	}
	host := func(v *float64) string {
		return maybe(v, func(v float64) string { return display.Figure(v) + " cores" })
	}
	d.Groups = append(d.Groups, group{Head: "Process", Facts: serviceFacts(c)}, group{Head: "Host", Facts: []fact{
		{"idle", host(c.Host.IdleCores)}, {"others' CPU", host(c.Host.ForeignCores)}, {"steal", host(c.Host.StealCores)},
	}})
	return d
}

// facts are the figure and what it rests on.
func (r *benchRow) facts() []fact {
	facts := []fact{{"median", r.figure()}}
	switch _, _, what := r.ends(); what {
	case interval:
		facts = append(facts, fact{"95% interval", r.spread()})
	case ranged:
		facts = append(facts, fact{"range", r.spread()})
	}
	times, _ := r.unit()
	var values []string
	for _, v := range r.of.Values {
		values = append(values, benchFigure(v*times))
	}
	return append(facts, fact{"GOMAXPROCS as it began", r.procs()}, fact{"of each trial", strings.Join(values, ", ")})
}
