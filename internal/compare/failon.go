package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis"
	"github.com/millicore/millicore/internal/analysis/stats"
)

// Bound is a --fail-on: by how much B may differ from A.
type Bound struct {
	Text    string // as it was written
	metric  *metric
	above   bool    // fails above the value, else below
	value   float64 // signed; in percent of A, or in the metric's unit for people
	percent bool
}

// ParseBound reads "p99>+10%", "rate<-5%", "p99>+20ms" or "throttled>+5pp": a
// metric, a sign of comparison, and a signed difference of B from A. The error
// says what is wrong and how it is written.
func ParseBound(text string) (Bound, error) {
	wrong := func(format string, args ...any) (Bound, error) {
		return Bound{}, fmt.Errorf("--fail-on %q: %s", text, fmt.Sprintf(format, args...))
	}
	plain := strings.ReplaceAll(text, " ", "")
	at := strings.IndexAny(plain, "<>")
	if at < 0 {
		return wrong("want a metric, > or <, and a difference, as in p99>+10%%")
	}
	b := Bound{Text: plain, metric: metricOf(plain[:at]), above: plain[at] == '>'}
	if b.metric == nil {
		return wrong("%q is no metric; these are: %s", plain[:at], MetricNames())
	}
	amount := plain[at+1:]
	sign := "+"
	if !b.above {
		sign = "-"
	}
	if !strings.HasPrefix(amount, sign) {
		return wrong("after %c a difference of B from A begins with %s, as in %s%c%s10%%", plain[at], sign, b.metric.name, plain[at], sign)
	}
	digits := strings.TrimRight(amount, "%abcdefghijklmnopqrstuvwxyz/")
	unit := amount[len(digits):]
	switch unit {
	case "%":
		b.percent = true
	case b.metric.bound:
	default:
		return wrong("a difference of %s is given in %s", b.metric.name, b.metric.boundUnits())
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return wrong("%q is no number", digits)
	}
	b.value = value
	return b, nil
}

func (m *metric) boundUnits() string {
	switch m.bound {
	case "":
		return "%, or as a bare number of " + m.unit
	case "pp":
		return "%, or pp (percentage points)"
	}
	return "%, or " + m.bound
}

// Outcome of a bound, by the 95% interval of the difference of B from A.
type Outcome string

const (
	Held   Outcome = "held"   // the whole interval lies within the bound
	Broken Outcome = "broken" // the whole interval lies beyond it, and the difference is significant
	Untold Outcome = "untold" // neither: it reaches across the bound, or there is none
)

// Judgment is one bound held against one pair.
type Judgment struct {
	Bound   string  `json:"bound"`
	Cell    string  `json:"cell"` // of B
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why"`
}

// Judge holds every bound against every pair, and keeps the judgments in the
// result. It reports whether the comparison fails: where a bound is broken, and,
// if strict, where it is undecided.
func (r *Result) Judge(bounds []Bound, strict bool) (failed bool) {
	for i := range r.Pairs {
		for _, b := range bounds {
			j := b.judge(&r.Pairs[i])
			r.FailOn = append(r.FailOn, j)
			failed = failed || j.Outcome == Broken || strict && j.Outcome == Untold
		}
	}
	return failed
}

// judge is a test of non-inferiority (or, of a bound in the good direction, of its
// mirror image): not whether B differs from A, but whether it does by more than the
// bound. No difference seen is no proof that there is none.
func (b *Bound) judge(p *Pair) Judgment {
	j := Judgment{Bound: b.Text, Cell: p.B, Outcome: Untold}
	row := p.Row(b.metric.name)
	switch {
	case row == nil:
		j.Why = b.metric.words + " was not measured"
		return j
	case row.infinite[0].n+row.infinite[1].n > 0:
		j.Outcome, j.Why = b.endless(row)
		return j
	case row.Verdict == OneSided || row.Verdict == TooFew:
		j.Why = sentence(row)
		return j
	}
	j.Why = row.moved()
	low, high := b.end(row, row.Low, -1), b.end(row, row.High, 1)
	switch {
	case b.above && high <= b.value || !b.above && low >= b.value:
		j.Outcome = Held
	case b.above && low > b.value || !b.above && high < b.value:
		if j.Outcome = Broken; !row.Significant() {
			j.Outcome = Untold
			j.Why += fmt.Sprintf("; beyond the bound, and not significant among %d cells: more repeats can decide it (measure.repeats)", row.family)
		}
	default:
		across := "the 95% interval"
		if b.percent && !math.IsInf(low, 0) && !math.IsInf(high, 0) {
			across += fmt.Sprintf(", %+.3g%% to %+.3g%% of A,", low, high)
		}
		j.Why += "; " + across + " reaches across the bound: more repeats make it narrower (measure.repeats)"
	}
	return j
}

// end is an end of the difference's interval in the bound's unit; one that is not
// known lies infinitely far in direction. From 0 any step is more than any
// percentage.
func (b *Bound) end(r *Row, v *float64, direction float64) float64 {
	switch {
	case v == nil:
		return math.Inf(int(direction))
	case !b.percent:
		return *v * b.metric.scale
	case *v == 0:
		return 0
	case *r.A == 0:
		return math.Copysign(math.Inf(1), *v)
	}
	return 100 * *v / *r.A
}

// share is n of a side's trials.
type share struct{ n, of int }

// infinite counts the trials of a side in which so many requests failed that the
// metric, a latency of all of them, is infinite; the figures are those of the
// answered ones.
func infinite(c *analysis.CellSummary, metric string) share {
	s := share{of: len(c.PerTrial)}
	for i := range c.PerTrial {
		if c.PerTrial[i].Infinite(metric) {
			s.n++
		}
	}
	return s
}

// endless judges a latency that is infinite in some trials: it differs where it is
// in all trials of one side and in none of the other.
func (b *Bound) endless(r *Row) (Outcome, string) {
	a, of := r.infinite[0], r.infinite[1]
	why := fmt.Sprintf("so many requests failed that %s of all of them is infinite in %d of %d trials of A and %d of %d of B", r.metric.words, a.n, a.of, of.n, of.of)
	switch {
	case a.of == 0 || of.of == 0 || stats.LeastP(a.of, of.of) >= 1-stats.Level:
		return Untold, fmt.Sprintf("%s: more repeats can decide it, 4 and 4 at least (measure.repeats)", why)
	case a.n == 0 && of.n == of.of && b.above, a.n == a.of && of.n == 0 && !b.above:
		return Broken, why
	case a.n == 0 && of.n == of.of, a.n == a.of && of.n == 0:
		return Held, why
	}
	return Untold, why + ": compare availability, or the two at a load that both answer"
}
