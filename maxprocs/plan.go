package maxprocs

import "github.com/millicore/millicore/internal/cgroup"

// plan returns the value that GOMAXPROCS should have, and the reason; 0 if this package
// does not set it.
func (o options) plan(v view) (int, Why) {
	switch v.limit.State {
	case cgroup.Unlimited:
		if o.request && v.request > 0 {
			return o.bounded(Ceil(v.request), FromCPURequest, v)
		}
		return 0, NoLimit
	case cgroup.Unknown:
		return 0, LimitUnknown
	}
	if !o.override && v.own.State == cgroup.Limited && v.own.Dir == v.limit.Dir && v.aware != nil && v.aware() {
		return 0, GoDefault
	}
	return o.bounded(o.round(v.limit.CPUs), FromLimit, v)
}

// bounded applies the minimum and the number of CPUs to a value with its reason.
func (o options) bounded(procs int, why Why, v view) (int, Why) {
	if procs < o.min {
		procs, why = o.min, Minimum
	}
	if procs > v.cpus {
		procs, why = v.cpus, AllCPUs
	}
	return procs, why
}

// state is what a Set knows while it is in force.
type state struct {
	planned int  // last time; 0 where it was not for this package to say
	ours    bool // GOMAXPROCS was set by runtime.GOMAXPROCS: the runtime does not update it
	changed bool // GOMAXPROCS is not as it was found
}

// move is what to do with GOMAXPROCS.
type move struct {
	procs int // 0: leave it

	// The runtime's default is expected to be procs: ask for that first, so
	// that the runtime goes on to follow the limit itself.
	byDefault bool

	giveBack bool // to the runtime, whatever its default is
}

// next returns what to do when GOMAXPROCS is now and should be planned (0: this package
// does not set it, for the reason why). isDefault reports whether a value is the
// runtime's default.
func (s state) next(planned int, why Why, now int, v view, isDefault func(procs int) bool) move {
	if planned == 0 && why == NoLimit && s.planned != 0 {
		planned = v.cpus // the limit was removed
	}
	switch {
	case why == GoDefault && s.ours:
		return move{giveBack: true}
	case planned == 0 || planned == now:
		return move{}
	case planned == s.planned && (s.ours || !isDefault(now)):
		return move{} // the program itself has set another value since: its to decide
	}
	return move{procs: planned, byDefault: isDefault(planned)}
}
