package answer

import (
	"fmt"
	"math"
	"strings"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/base/digits"
	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/lab/wording"
)

// limit is what limits a service at its breaking point, with the figures that show it; "":
// it is not known. A reader needs one word for each cause: throttling is its CPU limit.
func (a *asked) limit(c *summary.Cell) string {
	b := c.Breaking
	switch {
	case b.Refuted.Kind == finding.LateBesideLimit && len(b.Refuted.Because) > 0:
		use := b.Refuted.Because[0].Use
		use.Throttled = nil
		return fmt.Sprintf("not known: its CPU limit is %s, but %s of the late requests also waited for something else.", usedOf(use), whole(b.Refuted.Share))
	case b.Contradiction != "":
		return "not known: " + display.Plain(b.Contradiction) + "."
	case a.restless([]*summary.Cell{c}) && (b.AtLeast || b.Untested):
		return uncapital(a.disturbed())
	case b.AtLeast && causeWords[b.LimitedBy] != "": // of the two, it is known which
		return strings.Replace(reason(c), "the generator or the host was the limit", "the limit was "+strings.TrimSuffix(causeOf(b.LimitedBy), ", not the service"), 1)
	case b.AtLeast || b.LimitedBy == "":
		return reason(c)
	case len(b.Shown) == 0 || limits[b.Shown[0].Kind] == nil:
		return causeOf(b.LimitedBy) + "."
	}
	text := limits[b.Shown[0].Kind](b.Shown[0])
	for _, f := range b.Shown[1:] {
		switch f.Kind {
		case finding.AlsoFailed:
			text += "; just above its breaking point " + display.Share(f.Share) + " of the requests fail"
		case finding.AlsoDelayed:
			text += fmt.Sprintf("; %s of the slow answers also wait 40 ms for an acknowledgement (TCP_NODELAY)", whole(f.Share))
		case finding.AlsoCollected:
			text += fmt.Sprintf("; %s of its CPU time collected garbage", whole(f.Share))
		case finding.AlsoAwake:
			text += "; " + neverSleep(f, "it")
		case finding.AlsoWaited:
			text += fmt.Sprintf("; at low loads a request waits %s of %s ms for its dependency", digits.Three(f.Other), digits.Three(f.Value))
		}
	}
	return text + "."
}

// awake reports whether a finding is that threads never sleep.
func awake(f finding.Finding) bool { return f.Kind == finding.AlsoAwake }

// neverSleep is how much CPU such threads use, as a share of a limit if there is one.
func neverSleep(f finding.Finding, limit string) string {
	used := fmt.Sprintf("%.2f CPUs", f.Value)
	if f.Share > 0 {
		used = whole(f.Share) + " of " + limit
	}
	return "threads that never sleep use " + used + " without requests"
}

// causeWords are the limits without figures.
var causeWords = map[string]string{
	summary.ByCPULimit:    "its CPU limit",
	summary.ByThrottling:  "its CPU limit",
	summary.ByMemory:      "its memory limit",
	summary.ByErrors:      "its errors",
	summary.ByAcceptQueue: "its accept queue",
	summary.ByDelayedAck:  "delayed acknowledgements",
	summary.ByDependency:  "its dependency",
	summary.ByParallelism: "busy threads, a lock or a pool",
	summary.ByService:     "a lock, a pool or a backend",
	summary.ByGenerator:   "the generator, not the service",
	summary.ByHost:        "the CPUs of the machine",
}

// causeOf words a limit.
func causeOf(by string) string {
	if text, ok := causeWords[by]; ok {
		return text
	}
	return display.Plain(by)
}

// limits words what shows a limit.
var limits = map[finding.Kind]func(f finding.Finding) string{
	finding.LimitUsed: func(f finding.Finding) string { return "its CPU limit: " + usedOf(f.Use) },
	finding.LimitOrParallelism: func(f finding.Finding) string {
		return "its CPU limit, busy threads or a lock: " + usedOf(f.Use) + "; throttling was not measured"
	},
	finding.LimitOrLock:       func(f finding.Finding) string { return "its CPU limit, or a lock: " + usedOf(f.Use) },
	finding.ThrottledInBursts: func(f finding.Finding) string { return "its CPU limit, in bursts: " + usedOf(f.Use) },
	finding.OOMKills:          func(f finding.Finding) string { return "its memory limit: " + display.Counted(int64(f.N), "OOM kill") },
	finding.AcceptQueueFull: func(f finding.Finding) string {
		return fmt.Sprintf("its accept queue: %s at a backlog of %d; each waits 0.2 s, or 1 s and more", display.Counted(int64(f.N), "dropped connection attempt"), f.Of)
	},
	finding.AcksDelayed: func(f finding.Finding) string {
		return "probably delayed acknowledgements: the last part of " + whole(f.Share) + " of the slow answers comes 40 ms after the part before"
	},
	finding.MemoryStalled: func(f finding.Finding) string {
		return "its memory limit: it waits for evicted pages " + whole(f.Share) + " of the time"
	},
	finding.MemoryRefaults: func(f finding.Finding) string {
		return "its memory limit, probably: a request reads " + digits.Three(f.Value) + " evicted pages again"
	},
	finding.RequestsFailed: func(f finding.Finding) string {
		what := "got no good answer"
		if name := commonError(f); name != "" {
			what = wording.Failed(name)
		}
		return "its errors: " + display.Share(f.Share) + " of the requests " + what
	},
	finding.DependencyLimitUsed: func(f finding.Finding) string {
		return "its dependency " + display.Plain(f.Text) + ": of its own CPU limit " + usedOf(f.Use)
	},
	finding.DependencyThrottled: func(f finding.Finding) string {
		return "its dependency " + display.Plain(f.Text) + ", in bursts: of its own CPU limit " + usedOf(f.Use)
	},
	finding.DependencyOrPool: func(f finding.Finding) string {
		return fmt.Sprintf("its dependency, or a pool of calls to it: a request waits %s of %s ms", digits.Three(f.Other), digits.Three(f.Value))
	},
	finding.DependencyWaited: func(f finding.Finding) string {
		return fmt.Sprintf("its dependency: a request waits %s of %s ms for it", digits.Three(f.Other), digits.Three(f.Value))
	},
	finding.ThreadsFull: func(f finding.Finding) string { return busyThreads(f.N) + ": " + usedCPUs(f.Use) },
	finding.ThreadsBusy: func(f finding.Finding) string {
		return busyThreads(f.N) + ", a lock or a pool: " + usedCPUs(f.Use)
	},
	finding.NoMoreWithoutLimit: noMore,
	finding.NoMoreAsItIs:       noMore,
	finding.HostBusy: func(f finding.Finding) string {
		return fmt.Sprintf("the CPUs of the machine: %.2f of %d were busy", f.Host.Busy, f.Host.CPUs)
	},
	finding.FallsBehind: func(f finding.Finding) string {
		return fmt.Sprintf("a lock, a pool or a backend: it answered %s of %s requests/s with %s", digits.Three(f.Other), digits.Three(f.Load), usedCPUs(f.Use)) + noneBusy(f)
	},
	finding.NothingUsedUp: func(f finding.Finding) string {
		if f.Use.OfLimit == nil {
			return "a lock, a pool or a backend: " + usedCPUs(f.Use) + noneBusy(f)
		}
		return "a lock, a pool or a backend, not its CPU limit: " + usedOf(f.Use) + noneBusy(f)
	},
	finding.KeepsUp: func(f finding.Finding) string {
		return fmt.Sprintf("not known: it answered %s of %s requests/s, but late, with %s", digits.Three(f.Other), digits.Three(f.Load), usedCPUs(f.Use)) + noneBusy(f)
	},
}

// commonError names what happened to most of the requests that failed, as summary.Failure
// does; "": no one thing did.
func commonError(f finding.Finding) string {
	all := int64(0)
	for _, c := range f.Counts {
		all += c.N
	}
	for _, c := range f.Counts {
		if 2*c.N > all {
			return c.Name
		}
	}
	return ""
}

func busyThreads(n int) string {
	if n == 1 {
		return "one busy thread"
	}
	return fmt.Sprintf("%d busy threads", n)
}

// noneBusy is that no thread is busy; "" if that is not known.
func noneBusy(f finding.Finding) string {
	if f.Share == 0 {
		return ""
	}
	return "; the busiest thread " + whole(f.Share)
}

// noMore is what limits a service with and without its CPU limit.
func noMore(f finding.Finding) string {
	return fmt.Sprintf("%s: without the CPU limit it holds no more, %s against %s", causeOf(f.By), digits.Three(f.Other), digits.Three(f.Load))
}

// usedOf is how much of a CPU limit was used, and how often it throttled: "99% used,
// throttled in 87% of the periods".
func usedOf(u finding.Use) string {
	var parts []string
	if u.OfLimit != nil {
		parts = append(parts, whole(*u.OfLimit)+" used")
	} else {
		parts = append(parts, usedCPUs(u))
	}
	if u.Throttled != nil {
		parts = append(parts, "throttled in "+whole(*u.Throttled)+" of the periods")
	}
	return strings.Join(parts, ", ")
}

// usedCPUs is how many CPUs were used: "1.01 CPUs".
func usedCPUs(u finding.Use) string {
	if u.Cores == nil {
		return "its CPU use was not measured"
	}
	if u.OfLimit != nil && *u.OfLimit > 0 {
		limit := math.Round(100**u.Cores / *u.OfLimit) / 100
		if limit == 1 {
			return fmt.Sprintf("%.2f of 1 CPU used", *u.Cores)
		}
		return fmt.Sprintf("%.2f of %s CPUs used", *u.Cores, digits.Three(limit))
	}
	return fmt.Sprintf("%.2f CPUs used", *u.Cores)
}

// whole writes a share as the evidence of a limit has it.
func whole(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }
