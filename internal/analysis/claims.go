package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/millicore/millicore/internal/display/digits"
	"github.com/millicore/millicore/internal/experiment"
)

// Claim is a published statement of the experiment, compared with the record.
type Claim struct {
	Says      string   `json:"says"`
	Published string   `json:"published,omitempty"`
	Metric    string   `json:"metric"` // by its name
	At        *float64 `json:"at"`     // the level of the load at which it was taken, users or requests/s; null: the whole load
	Unit      string   `json:"unit"`   // of the metric
	// Cells are what was measured: of alone; of and over; or the cells of an order.
	Cells []ClaimedCell `json:"cells"`
	Ratio bool          `json:"ratio"` // the claim is about the first cell divided by the second
	Above *float64      `json:"above"` // the bound; all three null in an order
	Below *float64      `json:"below"`
	// Value is the figure that the claim is about; null in an order, or if it was not
	// measured. Low and High are the ends of its interval. High is also null if Value
	// is a lower bound.
	Value      *float64 `json:"value"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	IntervalOf string   `json:"interval_of"` // what the ends rest on: see ClaimedCell
	Verdict    Verdict  `json:"verdict"`
	Reason     string   `json:"reason"` // what the verdict rests on, in words, and what qualifies it
}

// ClaimedCell is one cell of a claim with its figure: the median over trials, or the
// breaking point.
type ClaimedCell struct {
	Cell  *int     `json:"cell"` // index; null: it is not in this run
	Label string   `json:"label"`
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	// IntervalOf is what the ends rest on: one of the constants below.
	IntervalOf string `json:"interval_of"`
	Trials     int    `json:"trials"`
}

// What the ends of a claim's interval rest on.
const (
	ByTrials = "trials" // the 95% interval of the median over trials
	ByRange  = "range"  // the lowest and the highest of fewer than six trials: less certain
	BySearch = "search" // the 95% interval of one search for the breaking point, on one start
	ByLevels = "levels" // the two levels of one ramp between which it lies
)

// Verdict on a claim, as it stands in summary.json.
type Verdict string

// String is the verdict for people. It differs from the value in summary.json,
// which older records and their readers have.
func (v Verdict) String() string {
	if v == Inconclusive {
		return "inconclusive"
	}
	return string(v)
}

const (
	Reproduced    Verdict = "reproduced"     // the whole interval lies on the claimed side
	NotReproduced Verdict = "not reproduced" // it lies entirely on the other side

	// Inconclusive: neither, or this run cannot judge the claim.
	Inconclusive Verdict = "cannot be told here"
)

// claims judges the experiment's claims by the cells' figures.
func (b *Builder) claims(cells []CellSummary) []Claim {
	j := judge{exp: b.exp, cells: cells, absent: make([]string, len(cells)),
		at: func(cell int, level float64) (CellSummary, bool) { return b.cells[cell].atLevel(&cells[cell], level) }}
	for _, c := range b.cells {
		for _, t := range c.trials {
			j.cpus = max(j.cpus, t.all.Noise.Machines().CPUs())
		}
	}
	for i, c := range b.cells {
		j.absent[i] = c.skipped
	}
	for _, a := range b.attempts {
		if a.State != Profiled && a.Cell < len(j.absent) {
			j.absent[a.Cell] = a.Why
		}
	}
	var all []Claim
	for i := range b.exp.Claims {
		all = append(all, j.claim(&b.exp.Claims[i]))
	}
	return all
}

// judge compares claims with cells.
type judge struct {
	exp    *experiment.Experiment
	cells  []CellSummary // in the plan's order
	absent []string      // by cell: why it has no trial, if known
	cpus   int           // of the host; 0: not known
	// at returns what a cell shows at one level of its load; false if it holds no such
	// level.
	at func(cell int, level float64) (CellSummary, bool)
}

func (j *judge) claim(c *experiment.Claim) Claim {
	m, _ := MetricOf(c.Metric)
	out := Claim{Says: c.Says, Published: c.Published, Metric: c.Metric, At: c.At, Unit: m.Unit, Above: c.Above, Below: c.Below, Cells: []ClaimedCell{}}
	selectors := slices.Clone(c.Order)
	for _, one := range []*experiment.Selector{c.Of, c.Over} {
		if one != nil {
			selectors = append(selectors, *one)
		}
	}
	var figures []figure
	for i := range selectors {
		f := j.figure(m, &selectors[i], c.At)
		if f.cell != nil {
			out.Unit = m.UnitOf(f.cell)
		}
		figures = append(figures, f)
		out.Cells = append(out.Cells, f.claimed())
	}
	if len(figures) > 1 && !slices.ContainsFunc(figures, func(f figure) bool { return f.why != "" }) {
		for i := range figures {
			figures[i].unrepeated()
		}
	}
	switch {
	case len(c.Order) > 0:
		out.Verdict, out.Reason = inOrder(m, figures)
	case c.Over != nil:
		out.Ratio = true
		out.set(ratio(figures[0], figures[1]))
	case m.events():
		out.happened(m, &figures[0])
	default:
		out.set(figures[0])
	}
	if c.CPUs > 0 && j.cpus > 0 && j.cpus < c.CPUs {
		out.Verdict, out.Reason = Inconclusive, fmt.Sprintf("it needs a host with %d CPUs, and this one has %d", c.CPUs, j.cpus)
	}
	out.Reason = joinNotes(append([]string{out.Reason}, j.notes(c, figures, out.Verdict)...)...)
	return out
}

// set judges a figure by the claim's bound.
func (c *Claim) set(f figure) {
	one := f.claimed()
	c.Value, c.Low, c.High, c.IntervalOf = one.Value, one.Low, one.High, one.IntervalOf
	if f.why != "" {
		c.Verdict, c.Reason = Inconclusive, f.why
		return
	}
	bound := 0.0
	switch {
	case c.Above != nil:
		bound = *c.Above
		c.Verdict = side(f.low > bound, f.high <= bound)
	case c.Below != nil:
		bound = *c.Below
		c.Verdict = side(f.high < bound, f.low >= bound)
	}
	text := "lies above "
	switch {
	case c.Verdict == Inconclusive && math.IsInf(f.high, 1):
		c.Reason = "the figure is a lower bound only, and that bound lies below " + boundText(bound, c.ValueUnit())
		return
	case c.Verdict == Inconclusive:
		text = "contains "
	case f.high <= bound:
		text = "lies below "
	}
	c.Reason = f.basis() + " " + text + boundText(bound, c.ValueUnit())
}

// ValueUnit is the unit of the claim's value, its interval and its bound.
func (c *Claim) ValueUnit() string {
	if c.Ratio {
		return "times"
	}
	return c.Unit
}

func side(on, off bool) Verdict {
	switch {
	case on:
		return Reproduced
	case off:
		return NotReproduced
	}
	return Inconclusive
}

// boundText formats a bound with its unit.
func boundText(v float64, unit string) string {
	switch unit {
	case "share":
		return digits.Significant(100*v, 6) + "%"
	case "%":
		return digits.Significant(v, 6) + "%"
	case "times":
		return digits.Significant(v, 6)
	case "bytes":
		return digits.Significant(v/(1<<20), 4) + " MiB"
	}
	if v >= 1000 {
		return number(v) + " " + unit
	}
	return digits.Significant(v, 6) + " " + unit
}

// inOrder judges figures that are claimed to rise from one to the next, by the tests of
// all their pairs. The claim is reproduced if each lies significantly below the next
// one, and not reproduced if two of them are significantly in the opposite order.
func inOrder(m Metric, figures []figure) (Verdict, string) {
	var cells []*CellSummary
	for i := range figures {
		if figures[i].why == "" {
			cells = append(cells, figures[i].cell)
		}
	}
	r, highest := rank(m.path(), cells), 0.0
	for i := range figures {
		for k := i + 1; k < len(figures); k++ {
			a, b := &figures[i], &figures[k]
			if e := r.Between(a.cell, b.cell); e.Sign > 0 {
				return NotReproduced, fmt.Sprintf("%s lies above %s (p %.2g, corrected over all pairs)", a.label, b.label, e.PFamily)
			}
		}
	}
	for i := range figures {
		if figures[i].why != "" {
			return Inconclusive, figures[i].why
		}
	}
	for i := 1; i < len(figures); i++ {
		a, b := &figures[i-1], &figures[i]
		e := r.Between(a.cell, b.cell)
		switch {
		case e.Basis == Untested:
			return Inconclusive, fmt.Sprintf("%s and %s were not tested: %s", a.label, b.label, e.gapText(plural(min(a.trials, b.trials), "trial")))
		case e.Sign == 0 && math.IsInf(a.high, 1):
			return Inconclusive, fmt.Sprintf("%s and %s cannot be distinguished: the figure of %s is a lower bound", a.label, b.label, a.label)
		case e.Sign == 0:
			return Inconclusive, fmt.Sprintf("%s and %s do not differ significantly (p %.2g, corrected over all pairs)", a.label, b.label, e.PFamily)
		}
		highest = max(highest, e.PFamily)
	}
	return Reproduced, fmt.Sprintf("each lies below the next one (p at most %.2g, corrected over all pairs)", highest)
}
