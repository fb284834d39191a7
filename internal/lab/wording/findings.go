package wording

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/data/experiment/span"
)

// Label marks a latency of all requests of a cell together, which is not the median over its
// trials; "" of one trial.
func Label(together bool) string {
	if together {
		return " of all requests together"
	}
	return ""
}

// objectiveWords words whether a cell meets its objective.
var objectiveWords = map[finding.Kind]func(f finding.Finding) string{
	finding.ObjectiveMet:     fixed("meets the objective"),
	finding.ObjectiveMissed:  fixed("misses the objective"),
	finding.ObjectiveUnknown: fixed("unknown whether the objective was met"),
	finding.NoLoadMeets:      fixed("no load was seen to meet the objective"),
	finding.LoadUnknown:      fixed("unknown up to which load it meets the objective"),
	finding.MeetsUpTo:        func(f finding.Finding) string { return "meets the objective up to " + upTo(f) },
	finding.EstimatedUpTo: func(f finding.Finding) string {
		return "untested: estimated to meet the objective up to " + upTo(f)
	},
	finding.ObjectiveIs: func(f finding.Finding) string { return "objective: " + f.Text },
	finding.Measured:    func(f finding.Finding) string { return "measured: " + Evidence(f.Because) },
	finding.MeasuredAt: func(f finding.Finding) string {
		return fmt.Sprintf("measured at %s: %s", digits.Three(f.Load), Evidence(f.Because))
	},
	finding.MissedAt:             func(f finding.Finding) string { return "missed at " + digits.Three(f.Load) },
	finding.NotDecided:           func(f finding.Finding) string { return "not decided: " + because(f) },
	finding.QuantileOfNoLevel:    func(f finding.Finding) string { return "no " + f.Text + " of a single load level" },
	finding.QuantileMeasured:     quantile,
	finding.QuantileTogether:     func(f finding.Finding) string { return quantile(f) + Label(true) },
	finding.AvailabilityOfNone:   fixed("no request ended"),
	finding.AvailabilityMeasured: func(f finding.Finding) string { return fmt.Sprintf("availability %.5g%%", f.Value) },
	finding.NearByTrials:         func(f finding.Finding) string { return near("95% interval of its "+f.Text, milliseconds(f)) },
	finding.NearByFew: func(f finding.Finding) string {
		return "the objective is too near to the " + f.Text + " of its trials, " + milliseconds(f) + ", for so few"
	},
	finding.TooFewRequests: func(f finding.Finding) string {
		return fmt.Sprintf("%s are too few: its %s needs %s", phrase.Plural(f.N, "request"), f.Text, digits.Grouped(fmt.Sprint(f.Of)))
	},
	finding.DisturbedMiss: fixed("others disturbed most of its trials"),
	finding.NearAvailability: func(f finding.Finding) string {
		return near("95% interval of its availability", fmt.Sprintf("%.5g to %.5g%%", f.Value, f.Other))
	},
	finding.OutlyingTrials: func(f finding.Finding) string {
		verb, worst := "miss", "infinite, as too many requests failed"
		if f.N == 1 {
			verb = "misses"
		}
		if !math.IsInf(f.Other, 1) {
			worst = digits.Significant(f.Other, 4) + " ms"
		}
		return fmt.Sprintf("the median over %d trials is %s ms: %d of them %s the objective, and their highest %s is %s",
			f.Of, digits.Significant(f.Value, 4), f.N, verb, f.Text, worst)
	},
	finding.FailedRequests: func(f finding.Finding) string {
		return fmt.Sprintf("%.3g%% of the requests failed, and a failed request counts as infinitely late", 100*f.Share)
	},
	finding.LateRequests: func(f finding.Finding) string {
		return fmt.Sprintf("%.3g%% of the requests were later than %v", 100*f.Share, span.Text(f.Time))
	},
	finding.OnlyGeneratorMisses: fixed("only the generator's delay misses it: done − sent meets it"),
}

// upTo writes a breaking point: "at least 300 requests/s".
func upTo(f finding.Finding) string {
	unit, bound := "requests/s", ""
	if f.Users {
		unit = "users"
	}
	if f.AtLeast {
		bound = "at least "
	}
	return fmt.Sprintf("%s%s %s", bound, digits.Three(f.Load), unit)
}

// quantile writes a latency that may be a lower bound: "p99 ≥166 ms".
func quantile(f finding.Finding) string {
	bound := ""
	if f.AtLeast {
		bound = "≥"
	}
	return fmt.Sprintf("%s %s%s ms", f.Text, bound, digits.Significant(f.Value, 4))
}

func milliseconds(f finding.Finding) string {
	if math.IsInf(f.Other, 1) {
		return digits.Significant(f.Value, 3) + " ms to infinite"
	}
	return digits.Significant(f.Value, 3) + " to " + digits.Significant(f.Other, 3) + " ms"
}

func near(what, ends string) string {
	return "the " + what + ", " + ends + ", contains the objective"
}

// trialWords words what happened to trials, and where cells fail as the load rises.
var trialWords = map[finding.Kind]func(f finding.Finding) string{
	finding.TrialsInvalid: func(f finding.Finding) string { return phrase.Plural(f.N, "trial") + " " + "invalid, and left out" },
	finding.TrialsFailed:  func(f finding.Finding) string { return phrase.Plural(f.N, "trial") + " failed" },
	finding.TrialsCutOff:  func(f finding.Finding) string { return phrase.Plural(f.N, "trial") + " cut off before the end" },
	finding.TrialsLeftOut: func(f finding.Finding) string {
		return phrase.Plural(f.N, "trial") + " cut off before the end, and left out"
	},
	finding.TrialsNamed: func(f finding.Finding) string {
		word, more := "trials ", ""
		if len(f.Names) == 1 {
			word = "trial "
		}
		if f.N > 0 {
			more = fmt.Sprintf("; and %d more like these", f.N)
		}
		return word + strings.Join(f.Names, ", ") + ": " + because(f) + more
	},
	finding.SkippedService: func(f finding.Finding) string { return "service " + f.Text + " was skipped" },
	finding.OrderOfFailure: fixed("order of failure as the load rises"),
	finding.LoadsOfFailure: fixed("load at which each cell failed"),
	finding.FailAtLoads:    func(f finding.Finding) string { return strings.Join(each(f.Because), ", then ") },
	finding.HoldToLoads:    func(f finding.Finding) string { return Evidence(f.Because) },
	finding.CellsFail: func(f finding.Finding) string {
		return strings.TrimSuffix(phrase.List(f.Names)+" at "+level(f)+" "+f.Text, " ")
	},
	finding.CellsHold: func(f finding.Finding) string {
		return phrase.List(f.Names) + " met the objective up to " + level(f)
	},
	finding.NotRanked: func(f finding.Finding) string { return "not ranked: " + because(f) },
	finding.NoTest:    gap,
	finding.SomeAlike: fixed("not all of these differences are significant"),

	finding.MemoryGrows: fixed("memory grows from run to run"),
	finding.MemoryPeaks: func(f finding.Finding) string {
		unit := " MiB"
		if f.Value > 0 {
			unit = fmt.Sprintf("%% of its limit of %s MiB", digits.Significant(f.Value/(1<<20), 4))
		}
		peaks := make([]string, len(f.Loads))
		for i, bytes := range f.Loads {
			if peaks[i] = digits.Significant(bytes/(1<<20), 4); f.Value > 0 {
				peaks[i] = fmt.Sprintf("%.3g", 100*bytes/f.Value)
			}
		}
		return fmt.Sprintf("peaks of %s%s: %.2g times in %d runs without a restart", strings.Join(peaks, ", "), unit, f.Other, len(f.Loads))
	},
}
