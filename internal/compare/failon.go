package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
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

// Outcome of a bound.
type Outcome string

const (
	Held   Outcome = "held"   // no significant difference beyond the bound was seen
	Broken Outcome = "broken" // the difference is significant, and beyond the bound
	Untold Outcome = "untold" // not measured, or too few trials
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
// if strict, where it cannot be told.
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

func (b *Bound) judge(p *Pair) Judgment {
	j := Judgment{Bound: b.Text, Cell: p.B, Outcome: Held}
	row := p.Row(b.metric.name)
	switch {
	case row == nil:
		j.Outcome, j.Why = Untold, b.metric.words+" was not measured"
		return j
	case row.Verdict == OneSided || row.Verdict == TooFew:
		j.Outcome, j.Why = Untold, sentence(row)
		return j
	case row.Significant() && b.beyond(row):
		j.Outcome = Broken
	}
	j.Why = row.moved()
	return j
}

// beyond reports whether the difference lies beyond the bound. From 0 any step
// is more than any percentage.
func (b *Bound) beyond(r *Row) bool {
	difference := *r.Difference * b.metric.scale
	if b.percent {
		difference = math.Copysign(math.Inf(1), *r.Difference)
		if r.Percent != nil {
			difference = *r.Percent
		}
	}
	if b.above {
		return difference > b.value
	}
	return difference < b.value
}
