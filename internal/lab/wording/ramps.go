package wording

import (
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

// rampWords words why a ramp has no breaking point, or only a bound, and what several
// searches found together.
var rampWords = map[finding.Kind]func(f finding.Finding) string{
	finding.FirstLevelMissed: func(f finding.Finding) string {
		return fmt.Sprintf("the first level, %s, already misses the objective; start lower", level(f))
	},
	finding.MissedAboveLimited: func(f finding.Finding) string {
		return fmt.Sprintf("%s misses the objective, and at the lower level %s the %s was the limit, not the service; start lower", level(f), digits.Exact(f.Other), f.By)
	},
	finding.MissedAboveSilence: func(f finding.Finding) string {
		return level(f) + " misses the objective, and no request ended at any lower level; hold each level longer"
	},
	finding.MissedBesideOthers: func(f finding.Finding) string {
		return fmt.Sprintf("%s misses the objective while %s; this miss does not count", level(f), Others(f.Because))
	},
	finding.LevelLimited: func(f finding.Finding) string {
		return fmt.Sprintf("at %s the %s was the limit, so nothing is known about the service", level(f), f.By)
	},
	finding.LevelLimitedAbove: func(f finding.Finding) string {
		return fmt.Sprintf("at %s the %s was the limit; the service may handle more", level(f), f.By)
	},
	finding.LevelLimitedBetween: func(f finding.Finding) string {
		return fmt.Sprintf("at %s the %s was the limit, not the service", level(f), f.By)
	},
	finding.NoLevelEnded:      fixed("no request ended at any level"),
	finding.NoLevelEndedAbove: func(f finding.Finding) string { return "no request ended at the levels above " + level(f) },
	finding.EveryLevelMet:     fixed("every level met the objective; raise the load further"),
	finding.MetAgain:          metAgain,
	finding.OthersAtLevel:     func(f finding.Finding) string { return "at " + level(f) + " " + Others(f.Because) },
	finding.TrialsBesideOthers: func(f finding.Finding) string {
		return fmt.Sprintf("in %d of %d trials others took CPU at the level that missed the objective", f.N, f.Of)
	},
	finding.AgentsStopped: func(f finding.Finding) string {
		return fmt.Sprintf("agents stopped early, and up to %.0f%% of the load was missing", 100*f.Share)
	},

	finding.ServiceSkipped: fixed("the service was skipped"),
	finding.NoSearch:       fixed("no search was possible"),
	finding.EachGaveBound: func(f finding.Finding) string {
		return fmt.Sprintf("each of the %d searches gave only a lower bound, the highest at least %s", f.N, digits.Three(f.Load))
	},
	finding.SomeFoundNoLoad: func(f finding.Finding) string { return some(f, "found no load that meets the objective") },
	finding.SomeFoundLoads:  func(f finding.Finding) string { return some(f, "did") },
	finding.SomeGaveBounds:  func(f finding.Finding) string { return some(f, "gave only a lower bound") },
	finding.SomeLeftOut: func(f finding.Finding) string {
		if f.N == 1 {
			return some(f, "found no breaking point and is left out")
		}
		return some(f, "found no breaking point and are left out")
	},
}

// level writes a level of the experiment file, with all of its digits.
func level(f finding.Finding) string { return digits.Exact(f.Load) }

// metAgain words that levels above the first miss meet the objective again.
func metAgain(f finding.Finding) string {
	met := make([]string, len(f.Loads))
	for i, v := range f.Loads {
		met[i] = digits.Exact(v)
	}
	switch n := len(met); {
	case n > 3:
		return fmt.Sprintf("%s misses the objective and %d levels above it, up to %s, meet it again: the first miss counts", level(f), n, met[n-1])
	case n > 1:
		return fmt.Sprintf("%s misses the objective and %s meet it again: the first miss counts", level(f), phrase.List(met))
	}
	return fmt.Sprintf("%s misses the objective and %s meets it again: the first miss counts", level(f), strings.Join(met, ""))
}

// some words what some searches found, and why.
func some(f finding.Finding, what string) string {
	why := because(f)
	switch {
	case f.AtLeast:
		what += ", at least " + digits.Three(f.Load) + ", so some starts may handle more"
	case f.Load > 0:
		why = "up to " + digits.Three(f.Load)
	}
	return fmt.Sprintf("%d of %d searches %s: %s", f.N, f.Of, what, why)
}
