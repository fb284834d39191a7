package report

import (
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/display"
	"github.com/millicore/millicore/internal/narrative"
	"github.com/millicore/millicore/internal/results"
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
	if results.KindOf(s) != results.Benchmark {
		return nil
	}
	var all []benchView
	for _, r := range narrative.BenchRows(s) {
		one := benchView{row: cells[r.Index], Benchmark: r.Name(), Procs: r.Procs(), Median: value{Figure: r.Figure()}}
		if r.Of != nil {
			one.Median.Figure += "\u00a0" + r.UnitName()
		}
		if _, _, what := r.Ends(); what == analysis.IntervalOfTrials {
			one.Median.Under = r.Spread()
		} else if what == analysis.RangeOfTrials {
			one.Median.Under = "range " + r.Spread()
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
		r := narrative.BenchRow{Cell: c, Of: &c.Benchmarks[i]}
		d.Groups = append(d.Groups, group{Head: r.Name() + ", " + r.UnitName(), Facts: benchFacts(&r)})
	}
	host := func(v *float64) string {
		return display.Maybe(v, func(v float64) string { return display.Figure(v) + " cores" })
	}
	d.Groups = append(d.Groups, group{Head: "Process", Facts: serviceFacts(c)}, group{Head: "Host", Facts: []fact{
		{"idle", host(c.Host.IdleCores)}, {"others' CPU", host(c.Host.ForeignCores)}, {"steal", host(c.Host.StealCores)},
	}})
	return d
}

// benchFacts are the figure and what it rests on.
func benchFacts(r *narrative.BenchRow) []fact {
	facts := []fact{{"median", r.Figure()}}
	switch _, _, what := r.Ends(); what {
	case analysis.IntervalOfTrials:
		facts = append(facts, fact{"95% interval", r.Spread()})
	case analysis.RangeOfTrials:
		facts = append(facts, fact{"range", r.Spread()})
	}
	times, _ := r.Unit()
	var values []string
	for _, v := range r.Of.Values {
		values = append(values, narrative.BenchFigure(v*times))
	}
	return append(facts, fact{"GOMAXPROCS as it began", r.Procs()}, fact{"of each trial", strings.Join(values, ", ")})
}
