// Package compare compares two records, or two cells of one: which cells belong
// together, whether they may be compared at all, and what was set differently. It
// also exports trials in the Go benchmark format.
//
// What differs and how certain that is, is judged by analysis and worded by
// narrative; the tables are those of report.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Cell is one cell of a record.
type Cell struct {
	Record  string // its folder, as it was named
	Run     *record.Run
	Plan    *experiment.Cell
	Figures *summary.Cell
	Name    string // its name in the report
}

// Match is two cells to be held against each other.
type Match struct{ A, B Cell }

// Result is a comparison, and its JSON form. What was not measured, and an end
// of an interval that is not bounded, is null.
type Result struct {
	Answer string `json:"answer"` // in one sentence
	A      Side   `json:"a"`
	B      Side   `json:"b"`
	// Incomparable is what makes the two sides not comparable: it was asked to
	// compare them nevertheless.
	Incomparable []Contrast `json:"incomparable"`
	Pairs        []Pair     `json:"pairs"`
	OnlyInA      []string   `json:"only_in_a"` // cells without a partner
	OnlyInB      []string   `json:"only_in_b"`
	FailOn       []Judgment `json:"fail_on"`
	matches      []Match
}

// Side names one side's record.
type Side struct {
	Record     string `json:"record"`
	Experiment string `json:"experiment"`
	Started    string `json:"started"` // RFC 3339
}

// Pair is one cell of each side, with every metric that either of them has.
type Pair struct {
	A       string               `json:"cell_a"`
	B       string               `json:"cell_b"`
	Main    string               `json:"main"`    // the metric that answers: the objective's, the breaking point, or availability
	Differs []Contrast           `json:"differs"` // what was set differently
	Notes   []string             `json:"notes"`   // what to mind when reading it
	Rows    []verdict.Difference `json:"metrics"`
	Kinds   []KindRow            `json:"kinds,omitempty"` // of requests, of loads with several
}

// KindRow is a difference of the requests of one kind.
type KindRow struct {
	Kind string `json:"kind"`
	verdict.Difference
}

// Contrast is something that is not the same on both sides, in words.
type Contrast struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

func (c Contrast) String() string { return fmt.Sprintf("%s: A: %s; B: %s", c.What, c.A, c.B) }

// Row is a pair's difference of a metric; nil if neither side has it.
func (p *Pair) Row(name string) *verdict.Difference {
	for i := range p.Rows {
		if p.Rows[i].Metric == name {
			return &p.Rows[i]
		}
	}
	return nil
}

// RefusedError is why two sides cannot be compared.
type RefusedError struct{ Contrasts []Contrast }

func (e *RefusedError) Error() string {
	lines := make([]string, len(e.Contrasts))
	for i, c := range e.Contrasts {
		lines[i] = "\n  " + c.String()
	}
	return "These records are not comparable, because the conditions differ. A difference could come from them and not from the service:" + strings.Join(lines, "") +
		"\nMeasure both under the same conditions, or use --anyway to compare them nevertheless."
}

// Compare compares all matches. It refuses with a RefusedError where the
// conditions differ, unless anyway is set, and with a WordsError a bound on a kind of requests
// that they do not have. Each metric's tests are one family:
// Holm's correction goes over the pairs.
func Compare(matches []Match, anyway bool, bounds ...Bound) (*Result, error) {
	r := &Result{Incomparable: incomparable(matches), Pairs: []Pair{}, OnlyInA: []string{}, OnlyInB: []string{}, FailOn: []Judgment{}, matches: matches}
	if len(r.Incomparable) > 0 && !anyway {
		return nil, &RefusedError{r.Incomparable}
	}
	r.A, r.B = sideOf(&matches[0].A), sideOf(&matches[0].B)
	for i := range matches {
		r.Pairs = append(r.Pairs, newPair(&matches[i]))
	}
	if !slices.ContainsFunc(matches, func(m Match) bool { return !m.fails() }) {
		for i := range r.Pairs {
			r.Pairs[i].Main = "availability"
		}
	}
	for i := range metrics {
		r.addRows(matches, &metrics[i])
	}
	for _, name := range kindMetrics {
		r.addKinds(matches, metricOf(name))
	}
	r.Answer = r.sentence()
	return r, r.checkKinds(bounds)
}

func sideOf(c *Cell) Side {
	return Side{Record: c.Record, Experiment: c.Run.Experiment.Name, Started: c.Run.Started.Format("2006-01-02T15:04:05Z07:00")}
}

func newPair(m *Match) Pair {
	p := Pair{A: m.A.shown(), B: m.B.shown(), Main: mainMetric(m), Differs: settings(m), Notes: []string{}, Rows: []verdict.Difference{}}
	p.Notes = append(p.Notes, flagged(m)...)
	for _, side := range []struct {
		name string
		cell *Cell
	}{{"A", &m.A}, {"B", &m.B}} {
		if text := narrative.Disturbed([]*summary.Cell{side.cell.Figures}); text != "" {
			p.Notes = append(p.Notes, "of "+side.name+", "+text)
		}
		if text := narrative.FailedTrials(side.cell.Figures, p.Main); text != "" {
			p.Notes = append(p.Notes, "of "+side.name+", "+text)
		}
		if b := side.cell.Figures.Breaking; b != nil && b.Reason != "" {
			p.Notes = append(p.Notes, side.name+"'s breaking point: "+b.Reason)
		}
	}
	if m.benchmarks() {
		p.Notes = append(p.Notes, "benchmarks are compared by benchstat: millicore compare RECORD --format benchstat, for one record or each of two")
	}
	if m.A.Plan.Load.Find && m.B.Plan.Load.Find {
		p.Notes = append(p.Notes, "latencies and rates are those at each side's own highest load that was tested")
	}
	return p
}

// fails reports whether a side fails so many requests that the latency that would answer is
// infinite: how many it answers is then the question.
func (m *Match) fails() bool {
	metric := mainMetric(m)
	return verdict.Fails(m.A.Figures, metric) || verdict.Fails(m.B.Figures, metric)
}

// benchmarks reports whether both sides measured themselves.
func (m *Match) benchmarks() bool { return m.A.Plan.Load.Benchmark && m.B.Plan.Load.Benchmark }

// flagged gives the flags of both sides, without those that the note about disturbed
// trials explains.
func flagged(m *Match) []string {
	flags := func(c *Cell) string {
		var labels []string
		for _, f := range c.Figures.Flags {
			if f != summary.FlagBusyNeighbour && f != summary.FlagBusyHypervisor && f != summary.FlagSearchDisturbed {
				labels = append(labels, narrative.FlagLabel(f))
			}
		}
		return strings.Join(labels, ", ")
	}
	a, b := flags(&m.A), flags(&m.B)
	switch {
	case a == "" && b == "":
		return nil
	case a == b:
		return []string{"both are flagged " + a}
	case b == "":
		return []string{"A is flagged " + a}
	case a == "":
		return []string{"B is flagged " + b}
	}
	return []string{"A is flagged " + a, "B is flagged " + b}
}

// mainMetric is the metric that the comparison is about: the breaking point
// where it was searched or ramps have it, else the objective's quantile, else p99.
// Where a side of each pair fails, it is availability: see fails.
func mainMetric(m *Match) string {
	ramped := func(c *Cell) bool { return c.Figures.Breaking != nil && c.Figures.Breaking.Load() != nil }
	if m.A.Plan.Load.Find || m.B.Plan.Load.Find || ramped(&m.A) && ramped(&m.B) {
		return breakingPoint
	}
	for _, c := range []*Cell{&m.A, &m.B} {
		if o := c.Run.Experiment.Objective; o != nil && o.Quantile != "" {
			return o.Quantile
		}
	}
	return "p99"
}

// addRows adds the difference of one metric to each pair that has it.
func (r *Result) addRows(matches []Match, m *metric) {
	pairs := make([]verdict.PairOfCells, len(matches))
	for i := range matches {
		pairs[i] = verdict.PairOfCells{A: matches[i].A.Figures, B: matches[i].B.Figures}
	}
	for i, d := range verdict.Differences(m.Metric, pairs) {
		if d.A != nil || d.B != nil {
			r.Pairs[i].Rows = append(r.Pairs[i].Rows, d)
		}
	}
}

// addKinds adds the differences of one metric by kind of request. They are one family: Holm's
// correction goes over the kinds of all pairs.
func (r *Result) addKinds(matches []Match, m *metric) {
	var pairs []verdict.PairOfCells
	var at []int
	var names []string
	for i := range matches {
		a, b := matches[i].A.Figures, matches[i].B.Figures
		for _, name := range verdict.KindsOf(a, b) {
			pairs = append(pairs, verdict.PairOfCells{A: verdict.OfKind(a, name), B: verdict.OfKind(b, name)})
			at, names = append(at, i), append(names, name)
		}
	}
	for i, d := range verdict.Differences(m.Metric, pairs) {
		if d.A != nil || d.B != nil {
			r.Pairs[at[i]].Kinds = append(r.Pairs[at[i]].Kinds, KindRow{names[i], d})
		}
	}
}

// sentence is the answer in one sentence, with what was missing for a test.
func (r *Result) sentence() string {
	pairs := make([]narrative.ComparedPair, len(r.Pairs))
	for i := range r.Pairs {
		p := &r.Pairs[i]
		pairs[i] = narrative.ComparedPair{Name: p.B, Main: p.Row(p.Main)}
	}
	return narrative.Whole(narrative.Compared(r.Pairs[0].Main, pairs))
}
