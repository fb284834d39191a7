package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/show/narrative"
)

// Bound is a --fail-on: by how much B may differ from A.
type Bound struct {
	Text string // as it was written
	Kind string // of requests; "": all
	verdict.Bound
}

var boundSyntax = regexp.MustCompile(`^([^<>{]*)(\{.+\})? *([<>])([^<>]*)$`)

// kindMetrics are those that are compared by kind of request.
var kindMetrics = []string{"p99", "availability", "cpu_per_request"}

// ParseBound reads "p99>+10%", "rate<-5%", "p99>+20ms", "throttled>+5pp" or "p99{GET /}>+10%": a
// metric, of the requests of one kind or of all, a sign of comparison, and a signed difference of
// B from A. The error has what is wrong and how it is written.
func ParseBound(text string) (Bound, error) {
	wrong := func(format string, args ...any) (Bound, error) {
		return Bound{}, fmt.Errorf("--fail-on %q: %s", text, fmt.Sprintf(format, args...))
	}
	parts := boundSyntax.FindStringSubmatch(text)
	if parts == nil {
		return wrong("want a metric, > or <, and a difference, as in p99>+10%% or, of one kind of requests, p99{GET /items}>+10%%")
	}
	name, compared, amount := strings.ReplaceAll(parts[1], " ", ""), parts[3], strings.ReplaceAll(parts[4], " ", "")
	m := metricOf(name)
	switch {
	case m == nil:
		return wrong("%q is no metric; these are: %s", name, MetricNames())
	case parts[2] != "" && !slices.Contains(kindMetrics, name):
		return wrong("%s is not compared by kind of request; these are: %s", name, strings.Join(kindMetrics, ", "))
	}
	b := Bound{Text: name + parts[2] + compared + amount, Bound: verdict.Bound{Metric: m.Name, Above: compared == ">"}}
	if parts[2] != "" {
		b.Kind = parts[2][1 : len(parts[2])-1]
	}
	sign := "+"
	if !b.Above {
		sign = "-"
	}
	if !strings.HasPrefix(amount, sign) {
		return wrong("after %s a difference of B from A begins with %s, as in %s%s%s10%%", compared, sign, m.Name, compared, sign)
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

// checkKinds reports a bound on a kind of requests that no pair has.
func (r *Result) checkKinds(bounds []Bound) error {
	var kinds []string
	for _, p := range r.Pairs {
		for _, k := range p.Kinds {
			kinds = append(kinds, k.Kind)
		}
	}
	slices.Sort(kinds)
	for _, b := range bounds {
		switch {
		case b.Kind == "" || slices.Contains(kinds, b.Kind):
		case len(kinds) == 0:
			return mistake("--fail-on %q: the records have no kinds of requests in common: leave out {%s}", b.Text, b.Kind)
		default:
			return mistake("--fail-on %q: no requests of both records are of the kind %q; the kinds are %s", b.Text, b.Kind, strings.Join(slices.Compact(kinds), ", "))
		}
	}
	return nil
}

// difference is what a bound is about; nil: the pair does not have it.
func (p *Pair) difference(b Bound) *verdict.Difference {
	if b.Kind == "" {
		return p.Row(b.Metric)
	}
	for i := range p.Kinds {
		if k := &p.Kinds[i]; k.Kind == b.Kind && k.Metric == b.Metric {
			return &k.Difference
		}
	}
	return nil
}

// Judge holds every bound against every pair, and keeps the judgments in the
// result. It reports whether the comparison fails: if a bound is broken and, if
// strict, if one is undecided.
func (r *Result) Judge(bounds []Bound, strict bool) (failed bool) {
	for i := range r.Pairs {
		p := &r.Pairs[i]
		for _, b := range bounds {
			d := p.difference(b)
			j := b.Bound.Judge(d)
			r.FailOn = append(r.FailOn, Judgment{Bound: b.Text, Cell: p.B, Outcome: j.Outcome, Why: narrative.Judged(b.Bound, d, j)})
			failed = failed || j.Outcome == verdict.Broken || strict && j.Outcome == verdict.Undecided
		}
	}
	return failed
}
