package narrative

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
)

// ClaimedCells names what a claim is about: "p99 of procs=6"; if several cells take
// part, with the figure of each.
func ClaimedCells(s *summary.Summary, names []string, c *summary.Claim) string {
	words := display.Plain(c.Metric)
	if m, ok := verdict.MetricOf(c.Metric); ok {
		words = m.Words
	}
	if at := summary.Finite(c.At); at != nil {
		words += " at " + InUnit(*at, levelUnit(s, c))
	}
	var parts []string
	for i := range c.Cells {
		one := &c.Cells[i]
		name := display.Plain(one.Label)
		if one.Cell != nil {
			if at := s.CellAt(*one.Cell); at >= 0 {
				name = names[at]
			}
		}
		switch {
		case c.Ratio: // which has ends of its own
			name = display.Maybe(summary.Finite(one.Value), func(v float64) string { return InUnit(v, c.Unit) }) + " (" + name + ")"
		case len(c.Cells) > 1:
			name += " " + ClaimFigure(one.Value, one.Low, one.High, one.IntervalOf, c.Unit)
		}
		parts = append(parts, name)
	}
	if c.Ratio {
		return words + " " + strings.Join(parts, " over ")
	}
	return words + " of " + phrase.List(parts)
}

// levelUnit is the unit of the level that a claim is about.
func levelUnit(s *summary.Summary, c *summary.Claim) string {
	for i := range c.Cells {
		if one := c.Cells[i].Cell; one != nil {
			if at := s.CellAt(*one); at >= 0 && s.Cells[at].Load.Kind == "closed" {
				return "users"
			}
		}
	}
	return "requests/s"
}

// ClaimFigure writes a figure with its ends: "2.79 times (95%: 2.50–3.10)". A
// figure without an upper end is "at least" its lower one.
func ClaimFigure(value, low, high *float64, of, unit string) string {
	low, high = summary.Finite(low), summary.Finite(high)
	if low != nil && high == nil {
		return "at least " + InUnit(*low, unit)
	}
	text := display.Maybe(summary.Finite(value), func(v float64) string { return InUnit(v, unit) })
	if low == nil || high == nil {
		return text
	}
	from, to := InUnit(*low, unit), InUnit(*high, unit)
	if from == to && from == text {
		return text // the ends add nothing
	}
	if unit := strings.TrimLeft(to, "0123456789.,<>"); strings.HasSuffix(from, unit) {
		from = strings.TrimSuffix(from, unit)
		if unit != "%" && strings.HasSuffix(text, unit) {
			to = strings.TrimSuffix(to, unit)
		}
	}
	switch of {
	case summary.ByRange:
		return text + " (range " + from + "–" + to + ")"
	case summary.ByLevels:
		return text + " (between " + from + " and " + to + ")"
	}
	return text + " (95%: " + from + "–" + to + ")"
}

// InUnit writes a figure of a metric for a sentence.
func InUnit(v float64, unit string) string {
	switch unit {
	case "ms":
		return display.WithUnit(v)
	case "share":
		return display.Share(v)
	case "%":
		return display.Percent(v)
	case "bytes":
		return display.Bytes(v)
	case "cores":
		return display.Figure(v) + " CPUs"
	case "requests", "users", "kills", "restarts":
		if v != math.Trunc(v) { // a median between two
			break
		}
		return display.Grouped(int64(math.Round(v))) + " " + unit
	}
	return display.Figure(v) + " " + display.Plain(unit)
}

// ClaimCount counts the claims by verdict: "2 reproduced, 1 inconclusive".
func ClaimCount(s *summary.Summary) string {
	var parts []string
	for _, v := range []summary.Verdict{summary.Reproduced, summary.NotReproduced, summary.Inconclusive} {
		n := 0
		for i := range s.Claims {
			if s.Claims[i].Verdict == v {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(parts, ", ")
}
