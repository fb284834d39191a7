// Package expvars publishes this process's figures under its container's limits
// ([maxprocs.Stats]) as the expvar "maxprocs" when it is imported:
//
//	import _ "github.com/millicore/millicore/maxprocs/expvars"
//
// It is separate from package maxprocs because expvar imports net/http and serves
// /debug/vars on its default mux. If the program has already published a variable of
// this name, that one stays.
package expvars

import (
	"expvar"
	"strings"

	"github.com/millicore/millicore/maxprocs"
	"github.com/millicore/millicore/maxprocs/internal/metric"
)

func init() {
	if expvar.Get("maxprocs") == nil {
		expvar.Publish("maxprocs", expvar.Func(func() any { return figuresOf(maxprocs.ReadStats()) }))
	}
}

// figuresOf returns the published values: those of the metrics, by their names without
// maxprocs_ and _total, and null if one was not measured; limit_state (limited, unlimited or
// unknown) and limit_by, the directory of the group that sets the CPU limit.
func figuresOf(s maxprocs.Stats) map[string]any {
	figures := map[string]any{"limit_state": s.Limit.State.String()}
	if s.Limit.Dir != "" {
		figures["limit_by"] = s.Limit.Dir
	}
	for _, m := range metric.All {
		name := strings.TrimSuffix(m.Name, "_total")
		figures[name] = nil
		if value, measured := m.Value(s); measured {
			figures[name] = value
		}
	}
	return figures
}
