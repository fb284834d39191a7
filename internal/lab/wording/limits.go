package wording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/base/phrase"
)

// Evidence words the figures that show a limit: "it used 99% of its CPU limit, throttled in
// 87% of the periods".
func Evidence(all []finding.Finding) string { return strings.Join(each(all), ", ") }

// limitWords words what shows that something limits a service, and what refutes that.
var limitWords = map[finding.Kind]func(f finding.Finding) string{
	finding.OOMKills:       func(f finding.Finding) string { return phrase.Plural(f.N, "OOM kill") + " in the windows above it" },
	finding.RequestsFailed: failed,
	finding.AlsoFailed: func(f finding.Finding) string {
		return "and at the lowest loads that missed the objective " + failed(f)
	},
	finding.LimitUsed: func(f finding.Finding) string { return followed(used(f.Use), throttled(f.Use)) },
	finding.LimitOrParallelism: func(f finding.Finding) string {
		return fmt.Sprintf("%s, as %s; whether it was throttled was not measured, so it is the limit, busy threads or a lock", used(f.Use), busyThreads(f.N))
	},
	finding.LimitOrLock: func(f finding.Finding) string {
		return followed(usedAt(f), throttled(f.Use)) + ": the limit, or a lock beside it; a search without the limit decides"
	},
	finding.ThrottledInBursts: func(f finding.Finding) string {
		return fmt.Sprintf("it was %s, though it used %s of its CPU limit on average", throttled(f.Use), ofLimit(f.Use))
	},
	finding.DependencyLimitUsed: func(f finding.Finding) string {
		return followed(fmt.Sprintf("%s used %s of its own CPU limit", f.Text, ofLimit(f.Use)), throttled(f.Use))
	},
	finding.DependencyThrottled: func(f finding.Finding) string {
		return fmt.Sprintf("%s was %s, though it used %s of its own CPU limit on average", f.Text, throttled(f.Use), ofLimit(f.Use))
	},
	finding.DependencyWaited: func(f finding.Finding) string {
		return fmt.Sprintf("a request took %s ms, of which it waited %s ms for a dependency", digits.Three(f.Value), digits.Three(f.Other))
	},
	finding.DependencyOrPool: func(f finding.Finding) string {
		return fmt.Sprintf("a request took %s ms, of which it waited %s ms for a dependency, or a pool of calls to it", digits.Three(f.Value), digits.Three(f.Other))
	},
	finding.AlsoWaited: func(f finding.Finding) string {
		return fmt.Sprintf("and at low loads a request took %s ms, of which it waited %s ms for a dependency", digits.Three(f.Value), digits.Three(f.Other))
	},
	finding.ThreadsBusy: func(f finding.Finding) string {
		return followed(usedAt(f), throttled(f.Use)) + "; a lock or a pool may use as much"
	},
	finding.ThreadsFull: func(f finding.Finding) string {
		return fmt.Sprintf("%s, and %s ran or waited for a CPU nearly all the time; not at lower loads", followed(usedAt(f), throttled(f.Use)), phrase.Plural(f.N, "thread"))
	},
	finding.HostBusy: func(f finding.Finding) string {
		text := fmt.Sprintf("%s, and %.2f of the %d CPUs%s were busy", usedAt(f), f.Host.Busy, f.Host.CPUs, on(f.Host))
		if f.N > 0 { // a busy thread and a host without idle CPU use as much
			text += ": its parallelism may be the limit as well"
		}
		return text
	},
	finding.FallsBehind: func(f finding.Finding) string {
		text := fmt.Sprintf("%s: of %s requests/s it answered %s with %.2f CPUs, ", none(f), digits.Three(f.Load), digits.Three(f.Other), *f.Use.Cores)
		if f.Share > 0 {
			return text + noneBusy(f)
		}
		return text + "which is no whole number of busy threads: locks, queues, or workers that wait"
	},
	finding.NothingUsedUp: func(f finding.Finding) string {
		if f.Share > 0 {
			return none(f) + ": " + used(f.Use) + ", " + noneBusy(f)
		}
		return none(f) + ": its own parallelism, locks or queues; " + used(f.Use)
	},
	finding.KeepsUp: func(f finding.Finding) string {
		text := fmt.Sprintf("%s: of %s requests/s it answered %s with %.2f CPUs, but late", none(f), digits.Three(f.Load), digits.Three(f.Other), *f.Use.Cores)
		if f.Share > 0 {
			text += fmt.Sprintf("; the busiest thread was busy %.0f%% of the time", 100*f.Share)
		}
		return text + ": requests wait for each other (a lock, timers, batches) or for a backend"
	},
	finding.HostNotIdle: func(f finding.Finding) string {
		return fmt.Sprintf("%.2f of %d CPUs were idle%s", f.Host.Idle, f.Host.CPUs, on(f.Host))
	},
	finding.NoFreePorts: func(f finding.Finding) string {
		return fmt.Sprintf("connections that could not be made for lack of a free local port: %d", f.N)
	},
	finding.AcceptQueueFull: func(f finding.Finding) string {
		return fmt.Sprintf("the kernel dropped %s at its listening socket, where %d may wait to be accepted", phrase.Plural(f.N, "connection attempt"), f.Of)
	},
	finding.MemoryStalled: func(f finding.Finding) string {
		return fmt.Sprintf("it waited for memory %.0f%% of the time, and a request read %s pages again that its memory limit had evicted", 100*f.Share, digits.Three(f.Value))
	},
	finding.MemoryRefaults: func(f finding.Finding) string {
		return fmt.Sprintf("a request read %s pages again that its memory limit had evicted", digits.Three(f.Value))
	},
	finding.AcksDelayed: func(f finding.Finding) string {
		return fmt.Sprintf("the last part of %s came about 40 ms after the part before, as when it waits for a delayed acknowledgement: %.0f%% of those that took as long", phrase.Plural(f.N, "answer"), 100*f.Share)
	},
	finding.AlsoDelayed: func(f finding.Finding) string {
		return fmt.Sprintf("and the last part of %s came about 40 ms after the part before, as when it waits for a delayed acknowledgement (TCP_NODELAY): %.0f%% of those that took as long", phrase.Plural(f.N, "answer"), 100*f.Share)
	},
	finding.AlsoCollected: func(f finding.Finding) string {
		return fmt.Sprintf("and %.0f%% of its CPU time collected garbage", 100*f.Share)
	},
	finding.AlsoAwake: func(f finding.Finding) string {
		text := fmt.Sprintf("and threads that never sleep, because they wait busily or work in the background, used %.2f CPUs without requests", f.Value)
		if f.Share > 0 {
			text += fmt.Sprintf(", %.0f%% of its limit", 100*f.Share)
		}
		return text
	},
	finding.AgentsRan: func(f finding.Finding) string {
		return fmt.Sprintf("%.0f of %d agents ran until the end of trial %d", f.Value, f.Of, f.N)
	},

	finding.TailOfGenerator: func(f finding.Finding) string {
		return tail(f, "the generator's own") + ", so nothing is known about the service"
	},
	finding.TailNotThrottled: func(f finding.Finding) string {
		return fmt.Sprintf("%s, although it was throttled in %.0f%% of the periods there", butTail(f, "throttling"), 100*f.Allowed)
	},
	finding.TailThrottled:      func(f finding.Finding) string { return butTail(f, "throttling") },
	finding.TailOfDependency:   func(f finding.Finding) string { return butTail(f, "the dependency") },
	finding.NoMoreWithoutLimit: func(f finding.Finding) string { return butWithoutLimit(f, "it holds "+noMore(f)) },
	finding.NoMoreAsItIs:       func(f finding.Finding) string { return butWithoutLimit(f, "the server as it is holds "+noMore(f)) },
	finding.LateBesideLimit: func(f finding.Finding) string {
		text := fmt.Sprintf("%s; but %.0f%% of the late requests waited while it had some of the limit left", above(f), 100*f.Share)
		if f.Text == "" { // late requests of one kind are no sign of a pause
			text += ", as in a service that stands still now and then"
		}
		return text
	},
	finding.MissesWithoutLimit: func(f finding.Finding) string {
		return fmt.Sprintf("without the limit it misses the objective at %s as well", load(f.Other))
	},
	finding.MoreWithoutLimit: func(f finding.Finding) string { return butWithoutLimit(f, "it holds more") },
}

// Failed words what happened to failed requests, by the name of a summary.Failure: "were
// refused".
func Failed(name string) string {
	switch name {
	case "timeout":
		return "timed out"
	case "malformed":
		return "got an answer that was not HTTP"
	case "failed check":
		return "got an answer that failed a check"
	case summary.BadStatus:
		return "got an error status"
	case "dropped":
		return "were due and never sent"
	}
	return "were " + name // refused, cut off
}

// failed words how many requests got no good answer: "12% of the requests got no good
// answer (214 were cut off)".
func failed(f finding.Finding) string {
	counts := slices.Clone(f.Counts)
	slices.SortStableFunc(counts, func(x, y finding.Count) int { return int(max(-1, min(1, y.N-x.N))) })
	parts := make([]string, len(counts))
	for i, c := range counts {
		parts[i] = fmt.Sprintf("%d %s", c.N, Failed(c.Name))
	}
	text := fmt.Sprintf("%.3g%% of the requests got no good answer (%s)", 100*f.Share, strings.Join(parts, ", "))
	if f.N > 0 {
		text += fmt.Sprintf("; the service ended %s there", phrase.Plural(f.N, "time"))
	}
	return text
}

// used words how much of its limit a service used, or how many CPUs without one.
func used(u finding.Use) string {
	switch {
	case u.OfLimit != nil:
		return "it used " + ofLimit(u) + " of its CPU limit"
	case u.Cores != nil:
		return fmt.Sprintf("it used %.2f CPUs", *u.Cores)
	}
	return "its CPU was not measured"
}

func ofLimit(u finding.Use) string {
	share := 0.0
	if u.OfLimit != nil {
		share = *u.OfLimit
	}
	return fmt.Sprintf("%.0f%%", 100*share)
}

// throttled words how much a limit throttled: "throttled in 87% of the periods (54 ms per
// throttled period, summed over CPUs)"; "" if it is not known.
func throttled(u finding.Use) string {
	if u.Throttled == nil {
		return ""
	}
	text := fmt.Sprintf("throttled in %.0f%% of the periods", 100**u.Throttled)
	if u.PerPeriod != nil {
		text += fmt.Sprintf(" (%s ms per throttled period, summed over CPUs)", digits.Three(1e3**u.PerPeriod))
	}
	return text
}

// followed adds a clause that may be empty.
func followed(text, clause string) string {
	if clause == "" {
		return text
	}
	return text + ", " + clause
}

// usedAt words what a service used at a load: "at 300 requests/s it used 1.00 CPUs, as one
// busy thread does".
func usedAt(f finding.Finding) string {
	unit := "requests/s"
	if f.Users {
		unit = "users"
	}
	text := fmt.Sprintf("at %s %s %s", digits.Three(f.Load), unit, used(f.Use))
	if f.Kind != finding.LimitOrLock {
		text = fmt.Sprintf("at %s %s it used %.2f CPUs", digits.Three(f.Load), unit, *f.Use.Cores)
	}
	if f.N > 0 && f.Kind != finding.ThreadsFull {
		text += ", as " + busyThreads(f.N)
	}
	return text
}

// noneBusy words that no thread is busy, and what that leaves.
func noneBusy(f finding.Finding) string {
	return fmt.Sprintf("and no thread is busy (the busiest %.0f%% of the time): locks, queues, workers that wait, or a runtime that runs few threads at once (GOMAXPROCS, a global lock)", 100*f.Share)
}

func busyThreads(n int) string {
	if n == 1 {
		return "one busy thread does"
	}
	return fmt.Sprintf("%d busy threads do", n)
}

// none words what does not limit a service: what it has no limit of does not need a word.
func none(f finding.Finding) string {
	var not []string
	if f.Use.OfLimit != nil {
		not = append(not, "its CPU limit")
	}
	not = append(not, "memory")
	if !f.Failed {
		not = append(not, "errors")
	}
	if len(not) == 1 {
		return "not memory"
	}
	return "neither " + strings.Join(not, ", nor ")
}

func tail(f finding.Finding, what string) string {
	return fmt.Sprintf("%.0f%% of the time of its slowest requests at the breaking point is %s", 100*f.Share, what)
}

// above words what shows the limit of a breaking point.
func above(f finding.Finding) string { return "above the breaking point " + Evidence(f.Because) }

func butTail(f finding.Finding, what string) string { return above(f) + "; but " + tail(f, what) }

func butWithoutLimit(f finding.Finding, but string) string {
	text := fmt.Sprintf("without the limit %s (%s against %s)", but, digits.Three(f.Other), digits.Three(f.Load))
	if len(f.Because) > 0 { // it refutes them
		text = above(f) + "; but " + text
	}
	return text
}

func noMore(f finding.Finding) string {
	if f.Other > f.Load {
		return "no more, within the intervals,"
	}
	return "no more"
}
