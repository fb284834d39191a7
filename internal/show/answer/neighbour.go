package answer

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/show/narrative"
)

// leastKept is the CPU, in CPUs, from which the limit keeps it for the neighbour: what a
// machine disturbs by from then on.
const leastKept = 0.1

// leastUsed is the share of its CPU limit from which a server reaches it.
const leastUsed = 0.9

// besideNeighbour is the answer about a server beside a busy neighbour: what its CPU limit
// costs it, and what the limit keeps for the neighbour.
func (t *tried) besideNeighbour() Answer {
	own := t.cells[0]
	limit := strings.TrimPrefix(t.variants[0].Limits, "a limit of ")
	if own.Breaking == nil || own.Breaking.Load() == nil {
		return t.notFound(fmt.Sprintf("%s under %s beside a neighbour", t.server, limit), []*summary.Cell{own})
	}
	var others, missing []string
	found := []*summary.Cell{own} // the last one without the limit, with the weight of its request if that ran
	for i, c := range t.cells[1:] {
		if c == nil || c.Breaking == nil || t.variants[i+1].NoEffect != "" {
			continue
		}
		name := "without it"
		if c.Limits.RequestMillis != nil {
			name = "with only the request"
		}
		if c.Breaking.Load() == nil {
			missing = append(missing, name)
			continue
		}
		figure := narrative.LoadFigure(c.Breaking, *c.Breaking.Load()) + " " + name
		if c.Breaking.AtLeast {
			figure = "at least " + figure
		}
		found, others = append(found, c), append(others, figure)
	}
	what := fmt.Sprintf("Beside a neighbour of %s, %s %s under %s", display.CPULimit(own.Beside.Wanted), t.server, breaks(own), limit)
	if len(others) > 0 {
		what += ", " + phrase.List(others)
	}
	if len(missing) > 0 {
		what += "; no breaking point was found " + phrase.List(missing)
	}
	answer := Answer{What: what + "." + leaves(found)}
	switch used, cpu := own.Beside.Service, own.Limits.CPUMillis; {
	case own.Breaking.LimitedBy == summary.ByHost && used != nil && cpu != nil && 1000**used < leastUsed*float64(*cpu):
		answer.Why = fmt.Sprintf("the limit was not reached: overloaded, it got %s CPUs.", cpus(*used))
		answer.Do = "use a smaller --neighbour."
	case own.Breaking.AtLeast:
		answer.Do = t.next(own)
	case len(found) > 1:
		answer.Do = t.worth(own, found[len(found)-1])
	}
	return answer
}

// leaves is what the overloaded server leaves the neighbour in some settings; "": it was not
// measured in all.
func leaves(cells []*summary.Cell) string {
	var left []string
	for _, c := range cells {
		if c.Beside == nil || c.Beside.Neighbour == nil {
			return ""
		}
		left = append(left, cpus(*c.Beside.Neighbour))
	}
	return fmt.Sprintf(" Overloaded, it leaves the neighbour %s CPUs.", phrase.List(left))
}

// cpus writes CPUs in use: "1.49".
func cpus(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// worth is what to do about a limit, by what it costs and what it keeps for the neighbour. Few
// searches rank no breaking points: if their intervals do not overlap, more would.
func (t *tried) worth(own, free *summary.Cell) string {
	a, b := own.Breaking, free.Breaking
	if own.Beside.Neighbour == nil || free.Beside.Neighbour == nil || own.Beside.Service == nil || free.Beside.Service == nil {
		return ""
	}
	lost, got := *own.Beside.Neighbour-*free.Beside.Neighbour, *free.Beside.Service-*own.Beside.Service
	share := fmt.Sprintf("%.0f%%", 100*(1-*a.Load()/(*b.Load())))
	if b.AtLeast {
		share = "at least " + share
	}
	without, other := "drop the limit", "no limit"
	if free.Limits.RequestMillis != nil {
		without, other = "use only the request", "only the request"
	}
	kept := lost >= leastKept
	costs := verdict.Rank(t.s, verdict.BreakingPointMetric).Between(free, own)
	few := costs.Basis == summary.Untested && a.High != nil && b.Low != nil && *b.Low > *a.High
	again := fmt.Sprintf("run it again with --repeats %d: the limit costs %s in %s of each, no ranking.", summary.EnoughTrials, share, searches(own, max(1, a.Searches)))
	switch {
	case kept && got < leastKept:
		return "use a machine with more CPUs: what the neighbour lost without the limit, the server did not get."
	case costs.Sign > 0 && kept:
		return fmt.Sprintf("keep the limit, which costs %s, if the neighbour needs that; else %s.", share, without)
	case costs.Sign > 0:
		return fmt.Sprintf("%s: the limit costs %s, and leaves the neighbour no more.", without, share)
	case few:
		return again
	case kept:
		return "keep the limit: a cost was not shown."
	}
	return fmt.Sprintf("nothing: against %s, no cost and no effect of the limit was shown; more --repeats may.", other)
}

// generatorsShare is how much of the machine the generator used while the server was overloaded,
// where it is enough to matter: neither the server nor the neighbour had it.
func (a *asked) generatorsShare() string {
	most := 0.0
	for i := range a.s.Cells {
		if b := a.s.Cells[i].Beside; b != nil && b.Generator != nil {
			most = math.Max(most, *b.Generator)
		}
	}
	if most < leastKept {
		return ""
	}
	return fmt.Sprintf("The generator used up to %s CPUs.", cpus(most))
}
