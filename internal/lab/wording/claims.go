package wording

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

// claimWords words what the verdict on a claim rests on, and what qualifies it.
var claimWords = map[finding.Kind]func(f finding.Finding) string{
	finding.IntervalAbove:    func(f finding.Finding) string { return because(f) + " lies above " + inUnit(f) },
	finding.IntervalBelow:    func(f finding.Finding) string { return because(f) + " lies below " + inUnit(f) },
	finding.IntervalContains: func(f finding.Finding) string { return because(f) + " contains " + inUnit(f) },
	finding.LowerBoundBelow: func(f finding.Finding) string {
		return "the figure is a lower bound only, and that bound lies below " + inUnit(f)
	},

	finding.EventsInTrials: events,
	finding.EventsUnderLessLoad: func(f finding.Finding) string {
		return events(f) + "; the generator was the limit, and under more load there may be more"
	},
	finding.NoEventInOneTrial: func(f finding.Finding) string {
		return events(f) + ", and one trial without it is no proof; repeat it"
	},

	finding.InOrder: func(f finding.Finding) string {
		return fmt.Sprintf("each lies below the next one (p at most %.2g, corrected over all pairs)", f.Share)
	},
	finding.LiesAbove: func(f finding.Finding) string {
		return fmt.Sprintf("%s lies above %s (p %.2g, corrected over all pairs)", f.Names[0], f.Names[1], f.Share)
	},
	finding.Alike: func(f finding.Finding) string {
		return fmt.Sprintf("%s and %s do not differ significantly (p %.2g, corrected over all pairs)", f.Names[0], f.Names[1], f.Share)
	},
	finding.AlikeByLowerBound: func(f finding.Finding) string {
		return fmt.Sprintf("%s and %s cannot be distinguished: the figure of %s is a lower bound", f.Names[0], f.Names[1], f.Names[0])
	},
	finding.PairNotTested: func(f finding.Finding) string {
		return fmt.Sprintf("%s and %s were not tested: %s", f.Names[0], f.Names[1], gap(f))
	},

	finding.Interval:         fixed("the 95% interval"),
	finding.IntervalOfSearch: fixed("the 95% interval of one search"),
	finding.RangeOfTrials: func(f finding.Finding) string {
		return fmt.Sprintf("the range of %d trials, too few for a 95%% interval,", f.N)
	},
	finding.RangeOfSteps:  func(f finding.Finding) string { return fmt.Sprintf("the range of its %d steps", f.N) },
	finding.RangeOfLevels: fixed("the range between the levels"),

	finding.NoSuchCell: of("this run has no cell %s"),
	finding.NoSuchLevel: func(f finding.Finding) string {
		return fmt.Sprintf("the load of %s holds no level of %s in this run", f.Names[0], digits.Exact(f.Load))
	},
	finding.NothingMeasured: func(f finding.Finding) string {
		return strings.TrimSuffix("nothing was measured for "+f.Names[0]+": "+f.Text, ": ")
	},
	finding.MetricNotMeasured: func(f finding.Finding) string { return "not measured for " + f.Names[0] + ": " + f.Text },
	finding.NoSingleLevel: func(f finding.Finding) string {
		return fmt.Sprintf("the load of %s changes, so no %s over the whole load describes one level; choose the level with at", f.Names[0], f.Text)
	},
	finding.OneTrial:    of("one trial of %s gives no interval; repeat it, ideally six times"),
	finding.NotSearched: of("the breaking point of %s was not searched for"),
	finding.NoneFound: func(f finding.Finding) string {
		return strings.TrimSuffix("no breaking point of "+f.Names[0]+" was found: "+because(f), ": ")
	},
	finding.RestartedEachTrial: of("%s was restarted for each trial, so nothing can grow from one trial to the next (measure.kept)"),
	finding.MemoryNotMeasured:  of("the memory of %s was not measured"),
	finding.OneTrialNoGrowth:   of("one trial of %s shows no growth; repeat it"),
	finding.OneStepOfGrowth:    of("two trials of %s show one step of growth, and no interval; repeat it"),
	finding.Disturbed:          func(f finding.Finding) string { return did(f.Who) + " while " + f.Names[0] + " was measured" },
	finding.MostlyDisturbed:    of("most trials of %s were disturbed"),
	finding.GeneratorWasLimit:  of("the generator was the limit of %s, not the service"),
	finding.SentLate:           of("the requests of %s were sent late, so part of the latency is the generator's"),
	finding.TailIsGenerators:   of("the slow tail of %s is mostly the generator's own delay"),
	finding.RatioToZero:        of("%s is 0, and a ratio to 0 is not defined"),
	finding.BothLowerBounds:    fixed("both are lower bounds"),
	finding.TooFewCPUs: func(f finding.Finding) string {
		return fmt.Sprintf("it needs a host with %d CPUs, and this one has %d", f.Of, f.N)
	},

	finding.OneStart: func(f finding.Finding) string {
		what := "search"
		if f.Text == summary.ByLevels {
			what = "ramp"
		}
		return "from one " + what + "; the spread between runs is unknown"
	},
	finding.OnlyLowerBound: func(f finding.Finding) string {
		return "only a lower bound is known for " + f.Names[0] + ": " + because(f)
	},
	finding.LowerBoundByFailures: of("only a lower bound is known for %s: too many of its requests failed, and a failed request counts as infinitely late"),
	finding.TouchedBy: func(f finding.Finding) string {
		return touched[summary.Flag(f.Text)] + strings.Join(f.Names, " and ")
	},
	finding.NotRestarted: fixed("not restarted between runs: later runs include what grew in earlier ones"),
	finding.SetOnCommandLine: func(f finding.Finding) string {
		return "with " + phrase.List(f.Names) + " as set on the command line"
	},
}

// touched has what a flag states about some cells.
var touched = map[summary.Flag]string{
	summary.FlagBusyNeighbour:   "other processes took CPU during the trials of ",
	summary.FlagBusyHypervisor:  "the hypervisor took CPU during the trials of ",
	summary.FlagSearchDisturbed: "other processes or the hypervisor took CPU during the search for the breaking point of ",
}

// of words a finding by its cell: format has one %s.
func of(format string) func(finding.Finding) string {
	return func(f finding.Finding) string { return fmt.Sprintf(format, f.Names[0]) }
}

func events(f finding.Finding) string {
	what := fmt.Sprintf("at least %s %s", digits.Exact(f.Value), f.Text)
	if f.Value == 1 {
		what = "at least one " + strings.TrimSuffix(f.Text, "s")
	}
	return fmt.Sprintf("%s in %d of %s", what, f.N, phrase.Plural(f.Of, "trial"))
}

// gap words why two cells were not tested against one another.
func gap(f finding.Finding) string {
	switch summary.Gap(f.Gap) {
	case summary.OneStart:
		return "the service was not restarted between trials (restart: false), so they show one start only"
	case summary.FewTrials:
		return fmt.Sprintf("%s per cell, at least %d needed (measure.repeats)", phrase.Plural(f.N, cmp.Or(f.Text, "trial")), f.Of)
	case summary.DisturbedTrials:
		return "most trials of one of them were disturbed"
	case summary.GeneratorsDelay:
		return "the slow tail of one of them is mostly the generator's own"
	}
	return f.Gap
}

// inUnit writes the bound of a claim with its unit.
func inUnit(f finding.Finding) string {
	switch v := f.Value; f.Text {
	case "share":
		return digits.Significant(100*v, 6) + "%"
	case "%":
		return digits.Significant(v, 6) + "%"
	case "times":
		return digits.Significant(v, 6)
	case "bytes":
		return digits.Significant(v/(1<<20), 4) + " MiB"
	default:
		if v >= 1000 {
			return digits.Exact(v) + " " + f.Text
		}
		return digits.Significant(v, 6) + " " + f.Text
	}
}
