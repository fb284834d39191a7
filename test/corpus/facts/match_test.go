package facts

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pattern recognises a clause of a sentence and checks what it states.
//
// <cell> is the name of a cell, <cells> a list of them, <n:x> a number named x, <ms:x> a
// latency with its unit, <pct:x> a percentage, <unit> that of a load, and <any:x> any
// text. The rest is a regular expression for the whole clause, without the full stop.
type pattern struct {
	where string // the places where it may stand, as in statement; "": any
	text  string
	check func(*check) error
}

// check is a clause that a pattern recognised.
type check struct {
	*examined
	about *cell // "it", "its": the cell of the fact, or the one named last; nil: none
	where string
	whole string // the sentence
	m     map[string]string
}

var placeholder = regexp.MustCompile(`<(cell\d?|cells|unit|(?:n|ms|pct|any):\w+)>`)

// compile writes the pattern as a regular expression for the names of a record.
func (p *pattern) compile(names []string) *regexp.Regexp {
	var quoted []string
	for _, n := range names {
		quoted = append(quoted, regexp.QuoteMeta(n))
	}
	slices.SortFunc(quoted, func(a, b string) int { return len(b) - len(a) })
	name := "(?:" + strings.Join(quoted, "|") + ")"
	text := placeholder.ReplaceAllStringFunc(p.text, func(at string) string {
		kind, as, _ := strings.Cut(strings.Trim(at, "<>"), ":")
		switch kind {
		case "cells":
			return "(?P<cells>" + name + "(?:, " + name + ")*(?: and " + name + ")?)"
		case "unit":
			return "(?P<unit>requests/s|users?)"
		case "n":
			return "(?P<" + as + ">[−+]?[\\d,]*\\d(?:\\.\\d+)?)"
		case "ms":
			return "(?P<" + as + ">(?:> |≥)?[\\d,.]*\\d (?:ms|s))"
		case "pct":
			return "(?P<" + as + ">[<>]?[\\d.]+%)"
		case "any":
			return "(?P<" + as + ">.+)"
		}
		return "(?P<" + kind + ">" + name + ")"
	})
	return regexp.MustCompile("^(?:" + text + ")$")
}

// clauses parts a sentence at its semicolons, without those in brackets.
func clauses(text string) (all []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';' && depth == 0 && strings.HasPrefix(text[i:], "; "):
			all = append(all, text[from:i])
			from = i + 2
		}
	}
	return append(all, text[from:])
}

// compiled are the patterns for the names of one record.
type compiled []struct {
	*pattern
	expression *regexp.Regexp
}

func compileAll(r *recorded) (all compiled) {
	var names []string
	for _, c := range r.Experiment.Cells {
		names = append(names, c.aliases()...)
	}
	for i := range patterns {
		all = append(all, struct {
			*pattern
			expression *regexp.Regexp
		}{&patterns[i], patterns[i].compile(names)})
	}
	return all
}

var errUnknown = errors.New("no pattern recognises it")

// examine checks a statement: each clause, or several together, must be recognised.
func (e *examined) examine(s statement) []error {
	var found []error
	parts := clauses(strings.TrimSuffix(s.text, "."))
	about := s.about
	if about == nil && len(e.Experiment.Cells) == 1 {
		about = e.Experiment.Cells[0]
	}
	for i := 0; i < len(parts); {
		k := len(parts)
		for ; k > i; k-- {
			clause := strings.Join(parts[i:k], "; ")
			p, m := e.patterns.find(s.where, clause)
			if p == nil {
				continue
			}
			c := &check{examined: e, about: about, where: s.where, whole: s.text, m: m}
			if named := e.named(m["cell"]); named != nil {
				c.about, about = named, named
			}
			if p.check != nil {
				if err := p.check(c); err != nil {
					found = append(found, fmt.Errorf("%q: %w", clause, err))
				}
			}
			break
		}
		if k == i && i == 0 && s.where == "headline" { // the reason that a search gave
			c := &check{examined: e, about: about, where: s.where, whole: s.text, m: map[string]string{}}
			if err := c.reason(s.text); !errors.Is(err, errUnknown) {
				return append(found, wrapped(s.text, err)...)
			}
		}
		if k == i {
			return append(found, fmt.Errorf("%q: %w", parts[i], errUnknown))
		}
		i = k
	}
	return found
}

func wrapped(text string, err error) []error {
	if err == nil {
		return nil
	}
	return []error{fmt.Errorf("%q: %w", text, err)}
}

// find is the first pattern that recognises a clause at a place.
func (all compiled) find(where, clause string) (*pattern, map[string]string) {
	for _, p := range all {
		if p.where != "" && !slices.Contains(strings.Fields(p.where), where) {
			continue
		}
		values := p.expression.FindStringSubmatch(clause)
		if values == nil {
			continue
		}
		m := map[string]string{}
		for i, name := range p.expression.SubexpNames() {
			if name != "" && values[i] != "" {
				m[name] = values[i]
			}
		}
		return p.pattern, m
	}
	return nil, nil
}

// has reports whether the clause has a figure or words of that name.
func (k *check) has(name string) bool { return k.m[name] != "" }

// figure is the value of a printed number and half a unit of its last digit. Latencies
// are in milliseconds.
func figure(text string) (value, half float64, err error) {
	scale := 1.0
	digits := strings.TrimSpace(text)
	for unit, factor := range map[string]float64{" ms": 1, " s": 1000, "%": 1, " requests/s": 1, " users": 1} {
		if rest, ok := strings.CutSuffix(digits, unit); ok {
			digits, scale = rest, factor
			break
		}
	}
	digits = strings.NewReplacer(",", "", "−", "-", "+", "", "<", "", ">", "", "≥", "", "~", "", " ", "").Replace(digits)
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("no figure: %q", text)
	}
	half = 0.5
	if _, decimals, ok := strings.Cut(digits, "."); ok {
		half /= math.Pow(10, float64(len(decimals)))
	}
	return v * scale, half * scale, nil
}

// is compares a stated figure with that of the record.
func is(what, stated string, record float64) error { return within(what, stated, record, record) }

// within compares a stated figure with a range of the record.
func within(what, stated string, low, high float64) error {
	v, half, err := figure(stated)
	if err != nil {
		return err
	}
	slack := half*1.001 + 1e-9*math.Abs(v)
	switch {
	case strings.HasPrefix(stated, "<"):
		if high > 0 && low < v+slack {
			return nil
		}
	case strings.HasPrefix(stated, ">"):
		if high > v-slack {
			return nil
		}
	case v >= low-slack && v <= high+slack:
		return nil
	}
	if low == high {
		return fmt.Errorf("%s is stated as %s, the record has %.5g", what, stated, low)
	}
	return fmt.Errorf("%s is stated as %s, the record has %.5g to %.5g", what, stated, low, high)
}

// available compares a stated availability, which is rounded down.
func available(stated string, record float64) error {
	v, half, err := figure(stated)
	if err == nil && (v > record+1e-6 || v+2*half < record-1e-6) {
		err = fmt.Errorf("availability is stated as %s, the record has %.5f%%", stated, record)
	}
	return err
}

// list parts "a, b and c".
func list(text string) []string {
	return strings.Split(strings.ReplaceAll(text, " and ", ", "), ", ")
}

// cells are the cells of a list of names.
func (k *check) cells(text string) (all []*cell) {
	for _, name := range list(text) {
		all = append(all, k.named(name))
	}
	return all
}

func TestFiguresAreParsedWithTheirPrecision(t *testing.T) {
	for text, want := range map[string][2]float64{"9.17 ms": {9.17, 0.005}, "1.46 s": {1460, 5}, "2,001": {2001, 0.5}, "−0.3%": {-0.3, 0.05}, ">99%": {99, 0.5}} {
		v, half, err := figure(text)
		if err != nil || math.Abs(v-want[0]) > 1e-9 || math.Abs(half-want[1]) > 1e-9 {
			t.Errorf("%s: %v ± %v, %v; want %v", text, v, half, err, want)
		}
	}
	if is("x", "9.17 ms", 9.18) == nil || is("x", "9.17 ms", 9.174) != nil || within("x", "<0.1%", 0.2, 0.2) == nil || within("x", "<0.1%", -2, 2) != nil {
		t.Error("a figure that is rounded differs from one that is wrong")
	}
}

func TestOwnStatisticsAreThoseOfTables(t *testing.T) {
	for _, test := range []struct {
		x, y []float64
		p    float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}, 2.0 / 924},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, 1},
	} {
		if p, _ := mannWhitney(test.x, test.y); math.Abs(p-test.p) > 1e-9 {
			t.Errorf("%v, %v: p %v, want %v", test.x, test.y, p, test.p)
		}
	}
	if low, high, ok := medianEnds([]float64{6, 5, 4, 3, 2, 1}); !ok || low != 1 || high != 6 {
		t.Error("six values: their range is the interval")
	}
	if _, _, ok := medianEnds([]float64{1, 2, 3, 4, 5}); ok {
		t.Error("five values have no interval")
	}
	if got := holm([]float64{0.01, 0.04, math.NaN(), 0.03}); got[0] != 0.03 || got[1] != 0.06 || got[3] != 0.06 {
		t.Errorf("Holm: %v", got)
	}
}
