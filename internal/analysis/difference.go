package analysis

import "github.com/millicore/millicore/internal/analysis/stats"

// Direction is how one side of a difference lies to the other.
type Direction string

const (
	Higher   Direction = "higher"   // B lies above A, significantly
	Lower    Direction = "lower"    // B lies below A, significantly
	Alike    Direction = "alike"    // no difference was seen, which does not show that there is none
	TooFew   Direction = "too few"  // trials to show a difference
	OneSided Direction = "one side" // measured on one side only
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
	Shift   *float64  `json:"difference"`
	Percent *float64  `json:"percent"` // of A; nil if A is 0
	Low     *float64  `json:"low"`     // of the 95% interval of the shift
	High    *float64  `json:"high"`
	P       *float64  `json:"p"`
	PHolm   *float64  `json:"p_holm"` // corrected over the pairs
	Verdict Direction `json:"verdict"`
	// ByIntervals: the ends of two breaking points were compared, because ramps and
	// lower bounds are no samples. They differ if the ends do not overlap, and only if
	// both rest on enough searches.
	ByIntervals bool `json:"by_intervals,omitempty"`
	// AtLeast are the sides whose breaking point is a lower bound.
	AtLeast [2]bool `json:"at_least"`
	// Family is the number of tests that Holm's correction went over.
	Family int `json:"-"`
	// Infinite are the trials of each side in which so many requests failed that the
	// metric, a latency of all of them, is infinite.
	Infinite [2]Part `json:"-"`
}

// Part is N of a number of trials.
type Part struct{ N, Of int }

// Significant reports whether B was seen to differ from A.
func (d *Difference) Significant() bool { return d.Verdict == Higher || d.Verdict == Lower }

// Better reports whether the side that lies as the verdict says is the better one.
func (d *Difference) Better() bool {
	m, _ := MetricOf(d.Metric)
	return (d.Verdict == Higher) == m.HigherIsBetter()
}

// PairOfCells are two cells to be compared.
type PairOfCells struct{ A, B *CellSummary }

// Differences compares the cells of each pair by one metric. Its tests are one
// family: Holm's correction goes over the pairs. The verdict is OneSided if neither
// cell has the metric.
func Differences(m Metric, pairs []PairOfCells) []Difference {
	trials := make([]stats.Pair, len(pairs))
	for i, p := range pairs {
		trials[i] = stats.Pair{Base: m.Trials(p.A), Value: m.Trials(p.B)}
	}
	all := make([]Difference, len(pairs))
	for i, c := range stats.Family(trials) {
		a, b := pairs[i].A, pairs[i].B
		var d Difference
		if m.Name == BreakingPointMetric && (min(c.Trials[0], c.Trials[1]) < EnoughSearches || bounded(a.Breaking) || bounded(b.Breaking)) {
			d = byIntervals(a.Breaking, b.Breaking, len(pairs))
		} else {
			d = byTrials(&c)
		}
		d.Metric, d.Unit = m.Name, m.Unit
		for _, one := range []*CellSummary{a, b} {
			if m.Name == BreakingPointMetric && one.Breaking != nil && one.Breaking.Users != nil {
				d.Unit = "users" // a closed loop breaks at a number of users
			}
		}
		d.Infinite = [2]Part{infinite(a, m.Name), infinite(b, m.Name)}
		all[i] = d
	}
	return all
}

// byTrials is a difference of the trials of both sides.
func byTrials(c *stats.Comparison) Difference {
	d := Difference{Trials: c.Trials, Verdict: OneSided}
	if c.Trials[0] > 0 {
		d.A = &c.Base
	}
	if c.Trials[1] > 0 {
		d.B = &c.Value
	}
	if d.A == nil || d.B == nil {
		return d
	}
	d.set(c.Shift)
	d.Family = c.Family
	if c.Interval != nil {
		d.Low, d.High, d.P, d.PHolm = &c.Interval.Low, &c.Interval.High, &c.P, &c.PHolm
	}
	switch {
	case !c.Enough():
		d.Verdict = TooFew
	case !c.Significant:
		d.Verdict = Alike
	case c.Shift > 0:
		d.Verdict = Higher
	default:
		d.Verdict = Lower
	}
	return d
}

func (d *Difference) set(shift float64) {
	d.Shift = &shift
	if *d.A != 0 {
		percent := 100 * shift / *d.A
		d.Percent = &percent
	}
}

// bounded reports whether a breaking point is only a lower bound.
func bounded(b *BreakingPoint) bool { return b != nil && b.AtLeast }

// byIntervals compares two breaking points by their ends, in a number of pairs: they
// differ if these do not overlap. The interval of one search is that of one start of
// the service, and the next start breaks elsewhere; so both sides need as many
// searches as a test over them would.
func byIntervals(a, b *BreakingPoint, pairs int) Difference {
	d := Difference{Verdict: OneSided, ByIntervals: true, AtLeast: [2]bool{bounded(a), bounded(b)}, Family: pairs}
	for i, side := range []*BreakingPoint{a, b} {
		if side != nil && side.Load() != nil {
			d.Trials[i] = max(side.Searches, 1)
		}
	}
	if a != nil {
		d.A = a.Load()
	}
	if b != nil {
		d.B = b.Load()
	}
	if d.A == nil || d.B == nil {
		return d
	}
	d.set(*d.B - *d.A)
	if min(d.Trials[0], d.Trials[1]) < stats.TrialsNeeded(pairs) || a.Low == nil || b.Low == nil {
		d.Verdict = TooFew
		return d
	}
	if a.OverStarts() && b.OverStarts() {
		d.Low, d.High = minus(b.Low, a.High), minus(b.High, a.Low)
	}
	switch side := b.Against(a); {
	case side > 0:
		d.Verdict = Higher
	case side < 0:
		d.Verdict = Lower
	default:
		d.Verdict = Alike
	}
	return d
}

// minus is nil if either end is not bounded.
func minus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}

// infinite counts the trials of a cell in which a latency of all requests is
// infinite; the figures are those of the answered ones.
func infinite(c *CellSummary, metric string) Part {
	p := Part{Of: len(c.PerTrial)}
	for i := range c.PerTrial {
		if c.PerTrial[i].Infinite(metric) {
			p.N++
		}
	}
	return p
}
