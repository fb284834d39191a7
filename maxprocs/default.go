package maxprocs

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/millicore/millicore/internal/cgroup"
)

// runtimeDefault is what Go's runtime, from 1.25 on, sets GOMAXPROCS to by
// itself: the CPUs of the affinity, and where it is aware of containers at most
// the limit of the process's own group, rounded up, which counts as 2 if it is
// lower. Go's runtime/cgroup_linux.go, as of 1.26.
func runtimeDefault(v view, aware bool) int {
	if !aware || v.own.State != cgroup.Limited {
		return v.affinity
	}
	limit := math.Max(2, math.Ceil(v.own.CPUs))
	return int(math.Min(limit, float64(v.affinity)))
}

// isDefault reports whether a value is what the runtime sets by itself. Whether
// the runtime is aware of containers is found out only where that matters, since
// it takes as long as a look.
func (v view) isDefault(procs int) bool {
	aware, unaware := runtimeDefault(v, true), runtimeDefault(v, false)
	switch {
	case !hasOwnDefault || procs != aware && procs != unaware:
		return false
	case aware == unaware:
		return true
	}
	return procs == runtimeDefault(v, v.aware != nil && v.aware())
}

// runtimeAware reports whether the runtime has a default that looks at the limit.
func runtimeAware() bool { return hasOwnDefault && containerAware() }

// containerAware reports whether the runtime's default looks at the limit:
// GODEBUG=containermaxprocs=0 switches that off. So does a go line below 1.25 in
// the go.mod of the program, which cmd/go turns into a default of GODEBUG that
// it writes into the program.
var containerAware = sync.OnceValue(func() bool {
	program := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "DefaultGODEBUG" {
				program = s.Value
			}
		}
	}
	return godebug(program, os.Getenv("GODEBUG"), "containermaxprocs")
})

// godebug reports whether a setting of the runtime that is on by default is on:
// of its values the last one counts that is a number, those of the environment
// after those of the program.
//
//	containermaxprocs=0,updatemaxprocs=0
//
// Go's runtime/runtime1.go, parsegodebug.
func godebug(program, environment, name string) bool {
	on := true
	for _, field := range strings.Split(program+","+environment, ",") {
		key, value, _ := strings.Cut(field, "=")
		if n, err := strconv.ParseInt(value, 10, 32); key == name && err == nil {
			on = n > 0
		}
	}
	return on
}
