package capacity

import (
	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/search"
	"github.com/millicore/millicore/internal/analysis/sums"
)

// Ramps are the ramps of a cell's trials, and the breaking point that they show.
type Ramps struct {
	Goal   objective.Goal
	Users  bool // the load is a number of users, not a rate
	Agents int
	Levels *Levels
	Trials []RampTrial
}

// RampTrial is the ramp of one trial.
type RampTrial struct {
	Number int           // of the trial
	Lost   int           // agents that stopped before the load ended
	Levels []*sums.Total // of each level held
}

// Judged reports whether there is a ramp, and an objective to judge it by.
func (r *Ramps) Judged() bool { return r.Goal.Objective != nil && r.Levels != nil }

// ramp is what a load raised in steps shows of a service, in one trial or in several:
// its levels, ascending, and where the service stopped meeting the objective.
type ramp struct {
	levels      []rampLevel
	lastMet     *rampLevel // the last that met the objective before firstMissed; nil: none
	firstMissed *rampLevel // the first that missed the objective; nil: none
	// disturbed is the first level above lastMet that missed the objective while
	// others took CPU; nil: there is none. From there on it is unknown where the
	// service breaks, until a level meets the objective again, because a backlog
	// remains for a while.
	disturbed *rampLevel
}

// rampLevel is one level of a ramp.
type rampLevel struct {
	target float64
	met    *bool // nil: unknown, because of by or others, or because no request ended
	// by is what limits the service at a level that misses the objective, as in
	// limited_by. If it is the generator or the host, met is nil: the miss is not the
	// service's.
	by    string
	shown []finding.Finding
	// others are those who took CPU meanwhile; empty: nobody. A level that met the objective
	// anyway counts, since a neighbour improves nothing. If the level missed it, met
	// is nil, unless errors show that it was the service.
	others []finding.Finding
}

// of reads the ramp of one trial.
func (r *Ramps) of(t RampTrial) ramp {
	return r.read(func(level int) *sums.Total { return t.Levels[level] })
}

// merged reads the ramps of all trials together.
func (r *Ramps) merged() ramp {
	return r.read(r.level)
}

// level returns the sums of a level over all trials.
func (r *Ramps) level(level int) *sums.Total {
	all := sums.New()
	for _, t := range r.Trials {
		all.Merge(t.Levels[level])
	}
	return all
}

// read judges the levels by the sums that the function of returns. A level that is not
// above all levels before it shows how a service recovers, not where it breaks, and is
// left out.
func (r *Ramps) read(of func(level int) *sums.Total) ramp {
	var out ramp
	highest := 0.0
	for i, h := range r.Levels.Held {
		if h.Target <= highest {
			continue
		}
		highest = h.Target
		out.levels = append(out.levels, r.judge(h.Target, of(i), of))
	}
	for i := range out.levels {
		switch l := &out.levels[i]; {
		case l.disturbed():
			if out.disturbed == nil {
				out.disturbed = l
			}
		case l.met == nil:
		case *l.met:
			out.lastMet, out.disturbed = l, nil
		case out.disturbed != nil:
		default:
			out.firstMissed = l
			return out
		}
	}
	return out
}

// disturbed reports whether the level missed the objective while others took CPU.
func (r *rampLevel) disturbed() bool { return r.met == nil && len(r.others) > 0 }

// judge judges one level by its sums.
func (r *Ramps) judge(target float64, t *sums.Total, of func(level int) *sums.Total) rampLevel {
	l := rampLevel{target: target, met: r.Goal.Met(t, true), others: t.Noise.Others()}
	if l.met == nil || *l.met {
		return l
	}
	s := Stretch{Goal: r.Goal, Open: !r.Users, Sums: t, over: r.overloads(target, of), below: r.light(target, of)}
	if s.others() != 0 {
		l.met = nil
		return l
	}
	if s.outside() != "" {
		l.met = nil
	}
	l.by, l.shown = s.limit([]search.Block{r.Goal.Count(t)})
	return l
}

// overloads returns the levels from a load on that missed the objective because of the
// service.
func (r *Ramps) overloads(from float64, of func(level int) *sums.Total) (all []overload) {
	for i, h := range r.Levels.Held {
		t := of(i)
		if met := r.Goal.Met(t, true); h.Target >= from && met != nil && !*met && t.Noise.Sources() == 0 && (Stretch{Goal: r.Goal, Open: !r.Users, Sums: t}).outside() == "" {
			all = append(all, overload{h.Target, t})
		}
	}
	return all
}

// light merges the levels that met the objective at clearly lower loads; nil: none did.
func (r *Ramps) light(from float64, of func(level int) *sums.Total) (all *sums.Total) {
	for i, h := range r.Levels.Held {
		if met := r.Goal.Met(of(i), true); h.Target <= lightly*from && met != nil && *met {
			if all == nil {
				all = sums.New()
			}
			all.Merge(of(i))
		}
	}
	return all
}

// limitedLevel returns the first level above the last one met at which the generator
// or the host was the limit. It is nil if there is none, or if others took CPU at a
// lower level.
func (r *ramp) limitedLevel() *rampLevel {
	for i := range r.levels {
		switch l := &r.levels[i]; {
		case l == r.disturbed:
			return nil
		case l.met == nil && l.by != "" && (r.lastMet == nil || l.target > r.lastMet.target):
			return l
		}
	}
	return nil
}

// reason returns why there is no breaking point, or only a bound, and what qualifies it.
func (r *ramp) reason() []finding.Finding {
	limited, first := r.limitedLevel(), &r.levels[0]
	at := func(kind finding.Kind, l *rampLevel) []finding.Finding {
		return []finding.Finding{{Kind: kind, Load: l.target, By: l.by, Because: l.others}}
	}
	switch {
	case r.lastMet == nil && r.firstMissed == first:
		return append(at(finding.FirstLevelMissed, first), r.othersAtMiss()...)
	case r.lastMet == nil && r.firstMissed != nil && limited != nil && limited.target < r.firstMissed.target:
		return []finding.Finding{{Kind: finding.MissedAboveLimited, Load: r.firstMissed.target, Other: limited.target, By: limited.by}}
	case r.lastMet == nil && r.firstMissed != nil:
		return at(finding.MissedAboveSilence, r.firstMissed)
	case r.disturbed != nil && limited == nil:
		return at(finding.MissedBesideOthers, r.disturbed)
	case r.lastMet == nil && limited != nil:
		return at(finding.LevelLimited, limited)
	case r.lastMet == nil:
		return []finding.Finding{{Kind: finding.NoLevelEnded}}
	case r.firstMissed != nil:
		all := r.metAgain()
		if limited != nil && limited.target < r.firstMissed.target {
			all = append(all, at(finding.LevelLimitedBetween, limited)...)
		}
		return append(all, r.othersAtMiss()...)
	case limited != nil:
		return at(finding.LevelLimitedAbove, limited)
	case r.lastMet != &r.levels[len(r.levels)-1]:
		return at(finding.NoLevelEndedAbove, r.lastMet)
	}
	return []finding.Finding{{Kind: finding.EveryLevelMet}}
}

// metAgain returns the levels above the first miss that meet the objective again. The
// first miss counts nevertheless: a service that fails at one load and handles a higher
// one is unreliable from the lower one on.
func (r *ramp) metAgain() []finding.Finding {
	again := finding.Finding{Kind: finding.MetAgain, Load: r.firstMissed.target}
	for i := range r.levels {
		if l := &r.levels[i]; l.target > r.firstMissed.target && l.met != nil && *l.met {
			again.Loads = append(again.Loads, l.target)
		}
	}
	if len(again.Loads) == 0 {
		return nil
	}
	return []finding.Finding{again}
}

// othersAtMiss returns who took CPU at the level that decides because of its errors.
func (r *ramp) othersAtMiss() []finding.Finding {
	if len(r.firstMissed.others) == 0 {
		return nil
	}
	return []finding.Finding{{Kind: finding.OthersAtLevel, Load: r.firstMissed.target, Because: r.firstMissed.others}}
}
