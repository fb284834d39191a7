// Package expvars publishes this process's CPU limit and throttling counters as the
// expvar "maxprocs" when it is imported:
//
//	import _ "github.com/millicore/millicore/maxprocs/expvars"
//
// It is separate from package maxprocs because expvar imports net/http and serves
// /debug/vars on its default mux. If the program has already published a variable of
// this name, that one stays.
package expvars

import (
	"expvar"

	"github.com/millicore/millicore/maxprocs"
)

func init() {
	if expvar.Get("maxprocs") == nil {
		expvar.Publish("maxprocs", expvar.Func(func() any { return figuresOf(maxprocs.ReadStats()) }))
	}
}

// figures are the published values. A figure that was not measured is null.
type figures struct {
	GOMAXPROCS       int      `json:"gomaxprocs"`
	LimitState       string   `json:"limit_state"` // limited, unlimited or unknown
	LimitCPUs        *float64 `json:"limit_cpus"`
	LimitBy          string   `json:"limit_by,omitempty"` // the directory of the group that sets it
	Periods          *int64   `json:"periods"`
	ThrottledPeriods *int64   `json:"throttled_periods"`
	ThrottledSeconds *float64 `json:"throttled_seconds"` // summed over CPUs
}

func figuresOf(s maxprocs.Stats) figures {
	f := figures{GOMAXPROCS: s.GOMAXPROCS, LimitState: s.Limit.State.String(), LimitBy: s.Limit.Dir}
	if s.Limit.State == maxprocs.Limited {
		f.LimitCPUs = &s.Limit.CPUs
	}
	if t := s.Throttling; t != nil {
		seconds := t.Throttled.Seconds()
		f.Periods, f.ThrottledPeriods, f.ThrottledSeconds = &t.Periods, &t.ThrottledPeriods, &seconds
	}
	return f
}
