package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/test/corpus"
)

// fewestHeld is how many requests of a load that is said to be held, of a p99.
const fewestHeld = 999.5

// searched draws a service of a kind, with or without its limit, searches its breaking
// point, and judges what the summary states.
func searched(k kind, seed uint64) ([]said, error) {
	r := k.random(seed, 3)
	s := k.draw(r)
	if r.IntN(3) == 0 {
		s.limit = 0
	}
	s.behaviour.Service.Threads = r.IntN(2) == 0
	wanted := fmt.Sprintf("p99: %dms", int(s.latency))
	if s.available > 0 {
		wanted += ", availability: " + strconv.FormatFloat(s.available, 'g', -1, 64)
	}
	c := corpus.Case{Name: k.name, Behaves: behaves(s.behaviour), File: fmt.Sprintf(
		"name: %s\n%s%sload: {request: {path: /}, find: breaking-point}\nobjective: {%s}\nmeasure: {warmup: 1s, duration: 60s, repeats: 1, interval: 500ms}\n",
		k.name, alone, s.limits(), wanted)}
	sum, err := summarize(&c, seed)
	if err != nil {
		return nil, err
	}
	e, err := file.Parse("x.yaml", []byte(c.File), nil)
	if err != nil {
		return nil, err
	}
	j := judge{kind: k, seed: seed, text: fmt.Sprintf("%s, limit %g, p99 %g ms", s.text, s.limit, s.latency)}
	cell := &sum.Cells[0]
	b := cell.Breaking
	t := truth{behaviour: s.behaviour, cell: &e.Cells[0], goal: objective.Of(e, &e.Cells[0]), seed: seed + 1}
	known := cached("search", k, seed, func() broken { return s.broken(t) })
	now := known.At[0]
	load := b.Load()
	lowest := slices.ContainsFunc(b.Why, func(f finding.Finding) bool {
		return f.Kind == finding.FailsAtAnyLoad || f.Kind == finding.MissedAtLowest || f.Kind == finding.MissedAtEveryLoad || f.Kind == finding.MissesInBursts || f.Kind == finding.LateAtAnyLoad
	})
	changed := slices.ContainsFunc(b.Why, capacityChanged)
	switch {
	case load != nil && !b.AtLeast:
		low, high := *load, math.Inf(1) // without an interval
		if b.Low != nil {
			low = *b.Low
		}
		if b.High != nil {
			high = *b.High
		}
		wrong := !slices.ContainsFunc(known.At, func(b bracket) bool { return !b.missesAt(low) && !b.meetsAt(high) })
		j.say(k.in("breaking point with its interval"), wrong, "%s", spot(b))
		if b.Untested {
			j.say(k.in("breaking point, estimated"), wrong, "%s", spot(b))
		}
	case load != nil:
		j.say(k.in("at least X"), now.missesAt(0.95**load), "at least %.4g", *load)
	case lowest:
		at := s.capacity / 4
		for _, f := range b.Why {
			switch {
			case f.Kind == finding.LateAtAnyLoad:
				at = 0
			case f.Load > 0:
				at = f.Load
			}
		}
		j.say(k.in("no load meets it"), now.meetsAt(at), "misses at %.4g", at)
	}
	if b.Held != nil {
		what := "held X"
		if b.Held.RateRPS*b.Held.Seconds < fewestHeld {
			what = "met the objective at X, of fewer than 1,000 requests"
		}
		j.say(k.in(what), now.missesAt(0.95*b.Held.Target), "held %.4g", b.Held.Target)
	}
	if changed {
		j.say(k.in("its capacity changed"), !s.moves, "%v", b.Reason)
	}
	j.answered(load != nil || lowest || changed)
	if b.Recovery != nil && b.Recovery.Reason == "" && !s.others {
		j.say(k.in("recovers"), false, "")
		if b.Recovery.Hysteresis() {
			j.say(k.in("hysteresis"), true, "not at %v", *b.Recovery.NotAt)
		}
	}
	if cell.Knee != nil {
		j.say(k.in("knee"), s.moves || now.missesAt(cell.Knee.Low), "knee %.4g (%.4g–%.4g)", cell.Knee.Load, cell.Knee.Low, cell.Knee.High)
	}
	if b.LimitedBy != "" && !b.AtLeast {
		j.limited(b, known.Helps)
	}
	causes := 0
	for what, yes := range known.Helps {
		if yes && what != "errors" && !strings.Contains(what, " and ") {
			causes++
		}
	}
	if causes == 1 && !s.moves && !s.others {
		limit, _ := named(b)
		j.caused(limit != "" && limit != both)
	}
	return j.all, nil
}

// broken is the truth about a service that is searched.
type broken struct {
	// At is where it breaks. A service whose capacity changes has two moments, of which a
	// breaking point may be one: late in the search, or once it is warm, and in its middle.
	At []bracket
	// Helps has what raises the breaking point by 3% or more.
	Helps map[string]bool
}

// broken finds where a service breaks without others, and what limits it.
func (s service) broken(t truth) (known broken) {
	t.behaviour.Foreign, t.behaviour.Steal = nil, nil
	at := []time.Duration{0}
	if s.moves {
		at = []time.Duration{75 * time.Second, 40 * time.Second}
	}
	if s.drifts {
		at = []time.Duration{time.Hour, 0}
	}
	if s.warms {
		at = []time.Duration{time.Hour}
	}
	first := t
	for i, at := range at {
		m := t
		if s.moves {
			pace := s.behaviour.Service.Aged(at)
			m.behaviour.Service.Aged = func(time.Duration) float64 { return pace }
		}
		if i == 0 {
			first = m
		}
		known.At = append(known.At, m.breaks(s.capacity))
	}
	known.Helps = map[string]bool{}
	if b := known.At[0]; b.To > 0 {
		for what, more := range relieved(first.behaviour, s.limit > 0) {
			better := first
			better.behaviour = more
			known.Helps[what] = better.meets(1.03 * b.To)
		}
	}
	return known
}

// pairs of limits may end at the same load: more of one alone changes nothing.
var alike = [][2]string{{"limit", "workers"}, {"host", "workers"}}

// together reports whether something is one of two limits that are reached at the same load.
func together(helps map[string]bool, what string) bool {
	return slices.ContainsFunc(alike, func(pair [2]string) bool {
		return (what == pair[0] || what == pair[1]) && helps[pair[0]+" and "+pair[1]] && !helps[pair[0]] && !helps[pair[1]]
	})
}

// limited judges what is said to limit a service: more of it must raise the breaking point
// by 3% or more. Errors are only named if nothing else does.
func (j *judge) limited(b *summary.BreakingPoint, helps map[string]bool) {
	limit, of := named(b)
	right := slices.ContainsFunc(of, func(what string) bool { return helps[what] || together(helps, what) })
	if b.LimitedBy == summary.ByErrors && (helps["limit"] || helps["workers"] || helps["lock"] || helps["host"]) {
		right = false
	}
	var what []string
	for name, yes := range helps {
		if yes {
			what = append(what, name)
		}
	}
	slices.Sort(what)
	j.say(j.kind.in("limited by "+limit), !right, "helps: %v; %s", what, b.Evidence)
}

// named is a limit as a reader has it, and what of it would help.
func named(b *summary.BreakingPoint) (limit string, of []string) {
	if len(b.Shown) > 0 {
		switch b.Shown[0].Kind {
		case finding.LimitOrLock:
			return both, []string{"limit", "workers", "lock", "call"}
		case finding.ThreadsFull:
			return "busy threads", []string{"workers"}
		}
	}
	switch b.LimitedBy {
	case summary.ByThrottling, summary.ByCPULimit:
		return "its CPU limit", []string{"limit"}
	case summary.ByParallelism:
		return "busy threads, a lock or a pool", []string{"workers", "lock", "call"}
	case summary.ByService:
		return "a lock, a pool or a backend", []string{"workers", "lock", "call"}
	case summary.ByDependency:
		return "its dependency, or a pool", []string{"call", "workers"}
	case summary.ByHost:
		return "the host", []string{"host"}
	case summary.ByErrors:
		return "its errors", []string{"errors"}
	}
	return b.LimitedBy, nil
}

// both is no single cause.
const both = "its CPU limit, or a lock"

func spot(b *summary.BreakingPoint) string {
	text := fmt.Sprintf("%.4g", *b.Load())
	if b.Low != nil && b.High != nil {
		text += fmt.Sprintf(" (%.4g–%.4g)", *b.Low, *b.High)
	}
	return text
}

// capacityChanged reports whether a finding is that the service changed while it was
// searched.
func capacityChanged(f finding.Finding) bool {
	return f.Kind == finding.CapacityRose || f.Kind == finding.CapacityFell
}
