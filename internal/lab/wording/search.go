package wording

import (
	"fmt"
	"strconv"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

// Longer is the advice for a search whose traffic was too short.
const Longer = "give the search more time (measure.duration, or --traffic of try)"

// searchWords words why a search has no answer, or only a bound, and why it is not known
// whether the service recovers.
var searchWords = map[finding.Kind]func(f finding.Finding) string{
	finding.NothingToMiss:   fixed("there is no objective that a load could miss; set a latency or an availability"),
	finding.UpperEndUnknown: at("above %s the generator or the host was the limit; the upper end of the interval is not known"),
	finding.WideInterval: func(f finding.Finding) string {
		return fmt.Sprintf("the interval is wide: %s s of traffic gave too few windows near %s; %s", load(f.Seconds), load(f.Load), Longer)
	},
	finding.FailsAtAnyLoad: func(f finding.Finding) string {
		return fmt.Sprintf("about %s of the requests have no good answer, whatever the load; the objective allows %s", percent(f.Share), percent(f.Allowed))
	},
	finding.MissedAtEveryLoad: at("it misses the objective at every load tried, down to %s, and the search time is used up: start lower"),
	finding.MissedAtLowest: func(f finding.Finding) string {
		return fmt.Sprintf("it misses the objective even at the lowest load tried, %s: %s", load(f.Load), because(f))
	},
	finding.NothingAnswered: at("it misses the objective even at the lowest load tried, %s: no good answer to any request, at any load; it does not answer in time, or only with errors"),
	finding.TooShort: func(f finding.Finding) string {
		return fmt.Sprintf("the search time, %v, is too short for a result; %s", f.Time, Longer)
	},
	finding.GeneratorLimitAbove:    at("above %s the generator or the host was the limit; the service may handle more"),
	finding.GeneratorLimitAtLowest: at("the generator or the host was the limit even at the lowest load tried, %s: nothing is known about the service"),
	finding.MetAtHighestAllowed:    at("the objective is still met at %s, the highest load allowed"),
	finding.NothingMissed:          at("the search time was used up before any load missed the objective; the highest load tried was %s: start higher, or " + Longer),
	finding.Unavailable: func(f finding.Finding) string {
		return fmt.Sprintf("the service became unavailable at a load of %s: %s", load(f.Load), because(f))
	},
	finding.EndedUnavailable: func(f finding.Finding) string {
		return fmt.Sprintf("the search ended early because the service became unavailable at a load of %s: %s", load(f.Load), because(f))
	},
	finding.NothingEnded: func(f finding.Finding) string {
		return fmt.Sprintf("no request ended in %d windows at a load of %s: the service does not answer, or too slowly to be judged", f.N, load(f.Load))
	},
	finding.BesideOthers: func(f finding.Finding) string {
		met := ""
		if len(f.Because) > 0 {
			met = " " + because(f) + ";"
		}
		return fmt.Sprintf("%s%s;%s %s", did(f.Who), howOften(f), met, against(f.Who))
	},
	finding.BoundBesideOthers: func(f finding.Finding) string {
		return fmt.Sprintf("%s%s, where a miss does not count; at %s the objective was met, with %s requests; %s", did(f.Who), howOften(f), load(f.Load), count(f.Requests), against(f.Who))
	},
	finding.EndedEarly: func(f finding.Finding) string { return "the search ended early: " + f.Text },
	finding.BoundEndedEarly: func(f finding.Finding) string {
		return "the search ended early, and the service may handle more: " + f.Text
	},
	finding.CapacityRose: func(f finding.Finding) string {
		return capacityChanged(f) + "; it still warms up, as it seems"
	},
	finding.CapacityFell: func(f finding.Finding) string {
		return capacityChanged(f) + "; a leak, a backlog, heat or pauses do that"
	},
	finding.MetFarAbove: func(f finding.Finding) string {
		return fmt.Sprintf("it missed the objective at %s, and later met it at %s; it misses it in bursts or by a few slow requests, or it still warms up", load(f.Load), load(f.Other))
	},
	finding.TooFewToDecide: func(f finding.Finding) string {
		return fmt.Sprintf("%s requests are too few: %s of them had no good answer, whatever the load, and to decide whether more than %s do takes %s", count(f.Requests), percent(f.Share), percent(f.Allowed), count(f.Again))
	},
	finding.MissesInBursts: func(f finding.Finding) string {
		often := "in bursts"
		if f.Seconds > 0 {
			often += fmt.Sprintf(", about every %.0f s", f.Seconds)
		}
		return fmt.Sprintf("at %s it missed the objective %s: %s of the requests were late, and %s may be", load(f.Load), often, percent(f.Share), percent(f.Allowed))
	},
	finding.BurstsUndecided: func(f finding.Finding) string {
		return fmt.Sprintf("in %.0f s at %s %s of the requests were late, in %s, and %s may be: a longer time decides", f.Seconds, load(f.Load), percent(f.Share), phrase.Plural(f.N, "moment"), percent(f.Allowed))
	},
	finding.LateAtAnyLoad: func(f finding.Finding) string {
		return fmt.Sprintf("%s of the requests were late or failed at loads up to %s, and no fewer at lower ones; the objective allows %s", percent(f.Share), load(f.Load), percent(f.Allowed))
	},
	finding.PerhapsLateAtAnyLoad: func(f finding.Finding) string {
		return fmt.Sprintf("%s of the requests were late or failed at loads up to %s, and the objective allows %s; whether fewer are at lower loads is not known", percent(f.Share), load(f.Load), percent(f.Allowed))
	},
	finding.Interrupted: fixed("the search was interrupted"),

	finding.LateOrFailed: func(f finding.Finding) string {
		return fmt.Sprintf("%s of the requests were late or failed; the objective allows %s", percent(f.Share), percent(f.Allowed))
	},
	finding.WithoutGoodAnswer: func(f finding.Finding) string {
		return fmt.Sprintf("%s had no good answer; the objective allows %s", percent(f.Share), percent(f.Allowed))
	},
	finding.StoppedAnswering: func(f finding.Finding) string {
		return fmt.Sprintf("the service stopped answering: none of %.0f requests had a good answer, and none of %.0f at %s, a load that it had handled before", f.Requests, f.Again, load(f.Load))
	},
	finding.NoRequestEnded: func(f finding.Finding) string { return fmt.Sprintf("no request ended in %d windows", f.N) },
	finding.MetAndMissedNear: func(f finding.Finding) string {
		return fmt.Sprintf("at %s the objective was met, with %s requests, but a load near it missed", load(f.Load), count(f.Requests))
	},
	finding.MetTooBriefly: func(f finding.Finding) string {
		return fmt.Sprintf("at %s the objective was met %s, with %s requests in %s s: too short for a lower bound", load(f.Load), times(f.N), count(f.Requests), load(f.Seconds))
	},
	finding.MetByTooFew: func(f finding.Finding) string {
		requests := count(f.Requests) + " requests"
		if requests == "1 requests" {
			requests = "1 request"
		}
		return fmt.Sprintf("at %s the objective was met %s, with %s: too few for a lower bound", load(f.Load), times(f.N), requests)
	},
	finding.Recorded: func(f finding.Finding) string { return f.Text },

	finding.RecoveryNotAsked:  fixed("it is not part of this search"),
	finding.FewUsers:          fixed("so few users cannot be reduced in steps"),
	finding.OthersTookCPU:     func(f finding.Finding) string { return did(f.Who) },
	finding.GeneratorLimit:    fixed("the generator or the host was the limit"),
	finding.RecoveryTimeUsed:  fixed("the time for it was used up; " + Longer),
	finding.OverloadMet:       at("an overload of %s did not miss the objective"),
	finding.NoOverload:        fixed("no load could be generated that is clearly above its limit"),
	finding.NoBreakingPoint:   fixed("no breaking point was found"),
	finding.UnavailableBefore: fixed("the service became unavailable during the search"),
	finding.NotBroken:         fixed("no load was seen to break the service"),
	finding.NotMeasured:       fixed("it was not measured"),
	finding.NothingSustained:  fixed("no load met the objective for long before the overload"),
}

// capacityChanged writes the capacities that a search began and ended with.
func capacityChanged(f finding.Finding) string {
	return fmt.Sprintf("its capacity changed from about %s to about %s in the %.0f s of the search",
		about(f.Load), about(f.Other), f.Seconds)
}

// about writes a figure that is known to two digits.
func about(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 2, 64), 64)
	return digits.Significant(v, 2)
}

// howOften writes in how many windows of a search others took CPU.
func howOften(f finding.Finding) string {
	if f.Time > 0 {
		return fmt.Sprintf(" for %v or more while the search doubled the load", f.Time)
	}
	return " in most of the windows that decide"
}

// CommonLoad words the load at which cells are measured again after their searches: percent of
// the lowest breaking point, or the bound that all held.
func CommonLoad(load float64, users bool, percent float64, held bool) string {
	which := fmt.Sprintf("%v%% of the lowest breaking point, or bound", percent)
	if held {
		which = "the lowest of the loads that each held, because nothing broke"
	}
	at := digits.Three(load) + " requests/s"
	if users {
		at = digits.Three(load) + " users"
	}
	return at + ", " + which
}
