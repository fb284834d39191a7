// Package compare holds two records, or two cells of one, against each other:
// what differs, by how much, how sure, and whether they may be compared at all.
// The comparison itself (Compare) is pure; reading records is Open's, and the
// forms in which a comparison is shown are the writers'. What a trial's figures
// are is decided in analysis, and the tests come from analysis/stats.
package compare

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/record"
)

// Cell is one cell of a record.
type Cell struct {
	Record  string // its folder, as it was named
	Run     *record.Run
	Plan    *experiment.Cell
	Figures *analysis.CellSummary
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
}

// Side names one side's record.
type Side struct {
	Record     string `json:"record"`
	Experiment string `json:"experiment"`
	Started    string `json:"started"` // RFC 3339
}

// Pair is one cell of each side, with every metric that either of them has.
type Pair struct {
	A       string     `json:"cell_a"`
	B       string     `json:"cell_b"`
	Main    string     `json:"main"`    // the metric that answers: the objective's, or the breaking point
	Differs []Contrast `json:"differs"` // what was set differently
	Notes   []string   `json:"notes"`   // what to mind when reading it
	Rows    []Row      `json:"metrics"`
}

// Contrast is something that is not the same on both sides, in words.
type Contrast struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

func (c Contrast) String() string { return fmt.Sprintf("%s: %s in A, %s in B", c.What, c.A, c.B) }

// Verdict is what a row says.
type Verdict string

const (
	Higher   Verdict = "higher"   // B lies above A, significantly
	Lower    Verdict = "lower"    // B lies below A, significantly
	Alike    Verdict = "alike"    // no difference was seen, which does not show that there is none
	TooFew   Verdict = "too few"  // trials to show a difference
	OneSided Verdict = "one side" // measured on one side only
)

// Row is one metric of a pair: medians over trials, and the Hodges-Lehmann shift
// from A to B as their difference.
type Row struct {
	Metric     string   `json:"metric"`
	Unit       string   `json:"unit"`
	A          *float64 `json:"a"`
	B          *float64 `json:"b"`
	Trials     [2]int   `json:"trials"`
	Difference *float64 `json:"difference"`
	Percent    *float64 `json:"percent"` // of A; null where A is 0
	Low        *float64 `json:"low"`     // of the difference's 95% interval
	High       *float64 `json:"high"`
	P          *float64 `json:"p"`
	PHolm      *float64 `json:"p_holm"` // corrected over the pairs
	Verdict    Verdict  `json:"verdict"`
	// ByIntervals says that the two breaking points' ends were compared, as ramps and
	// lower bounds are no samples: they differ where the ends do not overlap, and
	// only where enough searches stand behind both.
	ByIntervals bool `json:"by_intervals,omitempty"`
	// AtLeast are sides whose breaking point is a lower bound.
	AtLeast [2]bool `json:"at_least"`

	metric   *metric
	family   int      // tests that Holm's correction went over
	infinite [2]share // trials in which it is a latency that failed requests make infinite
}

// Significant reports whether B was seen to differ from A.
func (r *Row) Significant() bool { return r.Verdict == Higher || r.Verdict == Lower }

// Row gives a pair's row of a metric; nil where neither side has it.
func (p *Pair) Row(name string) *Row {
	for i := range p.Rows {
		if p.Rows[i].Metric == name {
			return &p.Rows[i]
		}
	}
	return nil
}

// RefusedError says why two sides cannot be compared.
type RefusedError struct{ Contrasts []Contrast }

func (e *RefusedError) Error() string {
	lines := make([]string, len(e.Contrasts))
	for i, c := range e.Contrasts {
		lines[i] = "\n  " + c.String()
	}
	return "these cannot be compared, since a difference would not be the service's:" + strings.Join(lines, "") +
		"\nmeasure both under the same conditions, or compare them with --anyway"
}

// Compare compares all matches. It refuses with a RefusedError where the
// conditions differ, unless anyway is set. Each metric's tests are one family:
// Holm's correction goes over the pairs.
func Compare(matches []Match, anyway bool) (*Result, error) {
	r := &Result{Incomparable: incomparable(matches), Pairs: []Pair{}, OnlyInA: []string{}, OnlyInB: []string{}, FailOn: []Judgment{}}
	if len(r.Incomparable) > 0 && !anyway {
		return nil, &RefusedError{r.Incomparable}
	}
	r.A, r.B = sideOf(&matches[0].A), sideOf(&matches[0].B)
	for i := range matches {
		r.Pairs = append(r.Pairs, newPair(&matches[i]))
	}
	for i := range metrics {
		r.addRows(matches, &metrics[i])
	}
	r.Answer = answer(r)
	return r, nil
}

func sideOf(c *Cell) Side {
	return Side{Record: c.Record, Experiment: c.Run.Experiment.Name, Started: c.Run.Started.Format("2006-01-02T15:04:05Z07:00")}
}

func newPair(m *Match) Pair {
	p := Pair{A: m.A.Figures.Label, B: m.B.Figures.Label, Main: mainMetric(m), Differs: settings(m), Notes: []string{}, Rows: []Row{}}
	p.Notes = append(p.Notes, flagged(m)...)
	for _, side := range []struct {
		name string
		cell *Cell
	}{{"A", &m.A}, {"B", &m.B}} {
		if b := side.cell.Figures.Breaking; b != nil && b.Reason != "" {
			p.Notes = append(p.Notes, side.name+"'s breaking point: "+b.Reason)
		}
	}
	if m.A.Plan.Load.Benchmark && m.B.Plan.Load.Benchmark {
		p.Notes = append(p.Notes, "benchmarks are compared by benchstat: millicore compare RECORD --format benchstat, for one record or each of two")
	}
	if m.A.Plan.Load.Find && m.B.Plan.Load.Find {
		p.Notes = append(p.Notes, "latencies and rates are those at each side's own highest load that was tested")
	}
	return p
}

// flagged gives the flags of both sides.
func flagged(m *Match) []string {
	a, b := m.A.Figures.Flags.Join(", "), m.B.Figures.Flags.Join(", ")
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
// where it was searched, else the objective's quantile, else p99.
func mainMetric(m *Match) string {
	if m.A.Plan.Load.Find || m.B.Plan.Load.Find {
		return breakingPoint
	}
	for _, c := range []*Cell{&m.A, &m.B} {
		if o := c.Run.Experiment.Objective; o != nil && o.Quantile != "" {
			return o.Quantile
		}
	}
	return "p99"
}

// addRows adds one metric's row to each pair that has it.
func (r *Result) addRows(matches []Match, m *metric) {
	pairs := make([]stats.Pair, len(matches))
	for i := range matches {
		pairs[i] = stats.Pair{Base: m.trials(matches[i].A.Figures), Value: m.trials(matches[i].B.Figures)}
	}
	for i, c := range stats.Family(pairs) {
		a, b := matches[i].A.Figures, matches[i].B.Figures
		var row Row
		if m.name == breakingPoint && (min(c.Trials[0], c.Trials[1]) < analysis.EnoughSearches || bounded(a.Breaking) || bounded(b.Breaking)) {
			row = byIntervals(a.Breaking, b.Breaking, len(matches))
		} else {
			row = byTrials(&c)
		}
		if row.A == nil && row.B == nil {
			continue
		}
		row.metric, row.Metric, row.Unit = m, m.name, m.unitOf(a, b)
		row.infinite = [2]share{infinite(a, m.name), infinite(b, m.name)}
		r.Pairs[i].Rows = append(r.Pairs[i].Rows, row)
	}
}

// byTrials is a row from the trials of both sides.
func byTrials(c *stats.Comparison) Row {
	row := Row{Trials: c.Trials, Verdict: OneSided}
	if c.Trials[0] > 0 {
		row.A = &c.Base
	}
	if c.Trials[1] > 0 {
		row.B = &c.Value
	}
	if row.A == nil || row.B == nil {
		return row
	}
	row.set(c.Shift)
	row.family = c.Family
	if c.Interval != nil {
		row.Low, row.High, row.P, row.PHolm = &c.Interval.Low, &c.Interval.High, &c.P, &c.PHolm
	}
	switch {
	case !c.Enough():
		row.Verdict = TooFew
	case !c.Significant:
		row.Verdict = Alike
	case c.Shift > 0:
		row.Verdict = Higher
	default:
		row.Verdict = Lower
	}
	return row
}

func (r *Row) set(difference float64) {
	r.Difference = &difference
	if *r.A != 0 {
		percent := 100 * difference / *r.A
		r.Percent = &percent
	}
}

// bounded reports whether a breaking point is only a lower bound.
func bounded(b *analysis.BreakingPoint) bool { return b != nil && b.AtLeast }

// byIntervals compares two breaking points by their ends, in so many pairs: they
// differ where these do not overlap. An interval of one search is that of one start
// of the service, and the next start breaks elsewhere; so both sides need as many
// searches as a test over them would.
func byIntervals(a, b *analysis.BreakingPoint, pairs int) Row {
	row := Row{Verdict: OneSided, ByIntervals: true, AtLeast: [2]bool{bounded(a), bounded(b)}, family: pairs}
	for i, side := range []*analysis.BreakingPoint{a, b} {
		if side != nil && side.Load() != nil {
			row.Trials[i] = max(side.Searches, 1)
		}
	}
	if a != nil {
		row.A = a.Load()
	}
	if b != nil {
		row.B = b.Load()
	}
	if row.A == nil || row.B == nil {
		return row
	}
	row.set(*row.B - *row.A)
	if min(row.Trials[0], row.Trials[1]) < stats.TrialsNeeded(pairs) || a.Low == nil || b.Low == nil {
		row.Verdict = TooFew
		return row
	}
	if a.OverStarts() && b.OverStarts() {
		row.Low, row.High = minus(b.Low, a.High), minus(b.High, a.Low)
	}
	switch side := b.Against(a); {
	case side > 0:
		row.Verdict = Higher
	case side < 0:
		row.Verdict = Lower
	default:
		row.Verdict = Alike
	}
	return row
}

// minus is nil where either end is not bounded.
func minus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}
