package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Bound is a --fail-on: by how much B may differ from A.
type Bound struct {
	Text string // as it was written
	verdict.Bound
}

// ParseBound reads "p99>+10%", "rate<-5%", "p99>+20ms" or "throttled>+5pp": a
// metric, a sign of comparison, and a signed difference of B from A. The error
// has what is wrong and how it is written.
func ParseBound(text string) (Bound, error) {
	wrong := func(format string, args ...any) (Bound, error) {
		return Bound{}, fmt.Errorf("--fail-on %q: %s", text, fmt.Sprintf(format, args...))
	}
	plain := strings.ReplaceAll(text, " ", "")
	at := strings.IndexAny(plain, "<>")
	if at < 0 {
		return wrong("want a metric, > or <, and a difference, as in p99>+10%%")
	}
	m := metricOf(plain[:at])
	if m == nil {
		return wrong("%q is no metric; these are: %s", plain[:at], MetricNames())
	}
	b := Bound{plain, verdict.Bound{Metric: m.Name, Above: plain[at] == '>'}}
	amount := plain[at+1:]
	sign := "+"
	if !b.Above {
		sign = "-"
	}
	if !strings.HasPrefix(amount, sign) {
		return wrong("after %c a difference of B from A begins with %s, as in %s%c%s10%%", plain[at], sign, m.Name, plain[at], sign)
	}
	digits := strings.TrimRight(amount, "%abcdefghijklmnopqrstuvwxyz/")
	unit := amount[len(digits):]
	switch unit {
	case "%":
		b.Percent = true
	case m.bound:
	default:
		return wrong("a difference of %s is given in %s", m.Name, m.boundUnits())
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return wrong("%q is no number", digits)
	}
	b.Value = value
	return b, nil
}

func (m *metric) boundUnits() string {
	switch m.bound {
	case "":
		return "%, or as a bare number of " + m.Unit
	case "pp":
		return "%, or pp (percentage points)"
	}
	return "%, or " + m.bound
}

// Judgment is one bound held against one pair.
type Judgment struct {
	Bound   string          `json:"bound"`
	Cell    string          `json:"cell"` // of B
	Outcome verdict.Outcome `json:"outcome"`
	Why     string          `json:"why"`
}

// Judge holds every bound against every pair, and keeps the judgments in the
// result. It reports whether the comparison fails: if a bound is broken and, if
// strict, if one is undecided.
func (r *Result) Judge(bounds []Bound, strict bool) (failed bool) {
	for i := range r.Pairs {
		p := &r.Pairs[i]
		for _, b := range bounds {
			d := p.Row(b.Metric)
			j := b.Bound.Judge(d)
			r.FailOn = append(r.FailOn, Judgment{Bound: b.Text, Cell: p.B, Outcome: j.Outcome, Why: narrative.Judged(b.Bound, d, j)})
			failed = failed || j.Outcome == verdict.Broken || strict && j.Outcome == verdict.Undecided
		}
	}
	return failed
}
