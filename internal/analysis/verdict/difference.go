package verdict

import (
	"cmp"
	"math"

	"github.com/millicore/millicore/internal/analysis/stats"
	"github.com/millicore/millicore/internal/analysis/summary"
)

// Direction is how one side of a difference lies to the other.
type Direction string

const (
	Higher   Direction = "higher"     // B lies above A, significantly
	Lower    Direction = "lower"      // B lies below A, significantly
	Alike    Direction = "alike"      // no difference was seen, which does not show that there is none
	TooFew   Direction = "too few"    // trials to show a difference
	Withheld Direction = "not tested" // others, or the generator, made the figure of a side: see Gap
	OneSided Direction = "one side"   // measured on one side only
)

// Difference is one metric of two cells, A and B, which need not be of one record:
// medians over trials, and the Hodges-Lehmann shift from A to B. What was not
// measured, and an end that is not bounded, is nil.
type Difference struct {
	Metric  string    `json:"metric"`
	Unit    string    `json:"unit"`
	A       *float64  `json:"a"`
	B       *float64  `json:"b"`
	Trials  [2]int    `json:"trials"`
	Shift   *float64  `json:"difference"` // nil also if an end of its interval is not bounded
	Percent *float64  `json:"percent"`    // of A; nil if A is 0
	Low     *float64  `json:"low"`        // of the 95% interval of the shift
	High    *float64  `json:"high"`
	P       *float64  `json:"p"`
	PHolm   *float64  `json:"p_holm"` // corrected over the pairs
	Verdict Direction `json:"verdict"`
	// Gap is why the two were not tested; "": they were.
	Gap summary.Gap `json:"gap,omitempty"`
	// Censored: some trials gave only bounds, or the levels of a ramp, which are ranked as
	// such.
	Censored bool `json:"censored,omitempty"`
	// AtLeast are the sides whose figure is a lower bound.
	AtLeast [2]bool `json:"at_least"`
	// Family is the number of pairs that have the metric on both sides: Holm's correction
	// goes over those that were tested.
	Family   int             `json:"-"`
	sign     int             // of the shift
	interval *stats.Interval // its ends may be infinite; nil: not tested
	// Spoiled are the cells, A or B or both, that Gap is about if the verdict is Withheld.
	Spoiled [2]*summary.Cell `json:"-"`
	// Infinite are the trials of each side in which so many requests failed that the
	// metric, a latency of all of them, is infinite.
	Infinite [2]Part `json:"-"`
}

// Significant reports whether B was seen to differ from A.
func (d *Difference) Significant() bool { return d.Verdict == Higher || d.Verdict == Lower }

// Untested reports whether both sides have the metric and were not tested: Gap is why.
func (d *Difference) Untested() bool { return d.Verdict == TooFew || d.Verdict == Withheld }

// Size is the size of the shift in percent of A, by which pairs are compared: infinite
// where failed requests hide it, 0 where A is 0.
func (d *Difference) Size() float64 {
	switch {
	case d.Shift == nil:
		return math.Inf(1)
	case d.Percent == nil:
		return 0
	}
	return math.Abs(*d.Percent)
}

// Better reports whether the side that lies as the verdict says is the better one.
func (d *Difference) Better() bool {
	m, _ := MetricOf(d.Metric)
	return (d.Verdict == Higher) == m.HigherIsBetter()
}

// PairOfCells are two cells to be compared.
type PairOfCells struct{ A, B *summary.Cell }

// Differences compares the cells of each pair by one metric. Its tests are one
// family: Holm's correction goes over the pairs. The verdict is OneSided if neither
// cell has the metric.
func Differences(m Metric, pairs []PairOfCells) []Difference {
	all := make([]Difference, len(pairs))
	for i, pair := range pairs {
		all[i] = difference(m, pair.A, pair.B)
	}
	correct(all)
	return all
}

// difference compares two cells, without a verdict.
func difference(m Metric, a, b *summary.Cell) Difference {
	d := Difference{Metric: m.Name, Unit: m.Unit, Verdict: OneSided, Infinite: [2]Part{infinite(a, m.Name), infinite(b, m.Name)}}
	one, other := sampleOf(a, m.path()), sampleOf(b, m.path())
	d.Trials = [2]int{len(one.values), len(other.values)}
	d.A, d.AtLeast[0] = m.figure(a)
	d.B, d.AtLeast[1] = m.figure(b)
	for _, c := range []*summary.Cell{a, b} {
		if unit := m.UnitOf(c); unit != m.Unit {
			d.Unit = unit
		}
	}
	if d.A == nil || d.B == nil {
		return d
	}
	d.Verdict, d.Censored = TooFew, one.censored() || other.censored()
	enough := len(one.values) >= MinRanked && len(other.values) >= MinRanked
	switch d.Gap = cmp.Or(one.gap, other.gap); {
	case d.Gap == summary.NoFigure || !enough:
		d.Gap = summary.FewTrials // an older record has only the ends of a breaking point
	case d.Gap != summary.OneStart && d.spoiled(m, a, b):
		return d
	case d.Gap == summary.FewRequests: // the flag of the cell states it; the test of its trials holds
		d.Gap = ""
	}
	d.set(*d.B - *d.A)
	if len(one.values) == 0 || len(other.values) == 0 {
		return d
	}
	shift, interval := stats.CensoredShift(one.values, other.values)
	if shift.Known() && stats.Finite(shift.Low) {
		d.set(shift.Low)
	}
	if d.Gap != "" || interval == nil {
		d.Gap = cmp.Or(d.Gap, summary.FewTrials)
		return d
	}
	d.interval = interval
	for end, v := range map[**float64]float64{&d.Low: interval.Low, &d.High: interval.High} {
		if stats.Finite(v) {
			*end = &v
		}
	}
	if d.Low == nil || d.High == nil {
		d.Shift, d.Percent = nil, nil // a bound is all that is known
	}
	sign, p := stats.CensoredTest(other.values, one.values)
	d.P, d.sign = &p, sign
	return d
}

// spoiled withholds a verdict if a figure of either side is not the service's alone.
func (d *Difference) spoiled(m Metric, a, b *summary.Cell) bool {
	gap := cmp.Or(Spoiled(a, m.path()), Spoiled(b, m.path()))
	if gap == "" {
		return false
	}
	d.Verdict, d.Gap = Withheld, gap
	for i, c := range []*summary.Cell{a, b} {
		if Spoiled(c, m.path()) == gap {
			d.Spoiled[i] = c
		}
	}
	return true
}

// judge sets the verdict by the corrected P among a number of tests. Two sides that do
// not overlap at all, and still do not differ significantly, have too few trials for
// so many tests.
func (d *Difference) judge(corrected float64, tests int) {
	d.PHolm, d.Family = &corrected, tests
	switch {
	case corrected < 1-stats.Level && d.sign > 0:
		d.Verdict = Higher
	case corrected < 1-stats.Level:
		d.Verdict = Lower
	case *d.P <= stats.LeastP(d.Trials[0], d.Trials[1])*(1+1e-9):
		d.Gap = summary.FewTrials
	default:
		d.Verdict = Alike
	}
}

// figure is a cell's figure of a metric, and whether it is a lower bound; nil: not
// measured.
func (m Metric) figure(c *summary.Cell) (v *float64, atLeast bool) {
	if m.Name == BreakingPointMetric {
		if c.Breaking == nil {
			return nil, false
		}
		return c.Breaking.Load(), c.Breaking.AtLeast
	}
	if len(m.Trials(c)) == 0 {
		return nil, false
	}
	f, ok := FigureOf(c, m.Name)
	if !ok {
		return nil, false
	}
	return &f.Value, f.AtLeast
}

func (d *Difference) set(shift float64) {
	d.Shift = &shift
	if *d.A != 0 {
		percent := 100 * shift / *d.A
		d.Percent = &percent
	}
}
