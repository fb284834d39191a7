// Package maxprocs sets GOMAXPROCS from the CPU limit of the container that the
// program runs in.
//
//	import _ "github.com/millicore/millicore/maxprocs/auto"
//
// does all of it: the limit rounded down, at least 1, followed while the program
// runs. [Set] does it with other rounding, tells what it did and can undo it.
// [Limit] tells the limit as a number, for pools that are not goroutines;
// [ReadStats] what the kernel counts of throttling.
//
// # What it goes by
//
// The limit in effect is the lowest of the process's control group and all
// groups above it that can be seen, on cgroup v1, v2 and hosts with both. What
// is set is never more than the CPUs that the process may run on (its affinity,
// which a cpuset narrows) and never more than [runtime.NumCPU]. Where the
// environment has GOMAXPROCS, whatever is in it, nothing is done. Where there is
// no limit, or where it is not known whether there is one, GOMAXPROCS is left as
// it is: what cannot be read is never taken for "unlimited".
//
// # Beside Go's own
//
// From Go 1.25 on, in modules whose go line is 1.25 or later, the runtime sets
// GOMAXPROCS from the limit itself and follows it: of the process's own group
// only, rounded up, and no lower than 2. It stops to do so for good when the
// program calls [runtime.GOMAXPROCS]. So this package does not call it where the
// runtime has chosen the right value already; where the runtime would choose it,
// it asks the runtime to; and an undo gives GOMAXPROCS back to the runtime.
//
// # Instead of go.uber.org/automaxprocs
//
//	import _ "go.uber.org/automaxprocs"       import _ ".../maxprocs/auto"
//	undo, err := maxprocs.Set(...)            result, undo := maxprocs.Set(...); result.Err()
//	maxprocs.Logger(log.Printf)               the same
//	maxprocs.Min(2)                           the same
//	maxprocs.RoundQuotaFunc(f)                the same; or Floor, Ceil, Round for f
//
// What differs in behaviour is in docs/maxprocs.md of the repository.
//
// The package has no dependencies, and on systems other than Linux it does
// nothing. It does not set GOMEMLIMIT, and it does not know which GOMAXPROCS is
// best for a service: that takes a measurement under load (`millicore try`).
package maxprocs

import (
	"fmt"

	"github.com/millicore/millicore/maxprocs/cgroup"
)

// CPULimit is a CPU limit; see [cgroup.CPULimit].
type CPULimit = cgroup.CPULimit

// The three answers to "is there a limit?", which a CPULimit has as State.
const (
	Unknown   = cgroup.Unknown   // it could not be read; Err says why
	Unlimited = cgroup.Unlimited // no group that can be seen sets one
	Limited   = cgroup.Limited   // there is one, of CPUs
)

// Limit returns the CPU limit in effect for this process: the lowest that its
// control group or one above it sets. CPUs is the quota as a number, in CPUs,
// neither rounded nor bounded by the CPUs that there are. It reads a handful of
// small files, and may be asked again at any time: limits change.
func Limit() CPULimit {
	return thisHost.limit()
}

// Why says on what grounds GOMAXPROCS is what it is after Set.
type Why uint8

// The grounds.
const (
	LimitUnknown Why = iota // left as it was: the limit could not be read
	NoLimit                 // left as it was: there is no limit
	Environment             // left as it was: the environment has GOMAXPROCS
	FromLimit               // the limit, rounded
	Minimum                 // the limit, rounded, is below the minimum, which is used
	AllCPUs                 // the limit or the minimum is above the CPUs that there are, and all of them are used
)

var whys = [...]string{"the limit is not known", "there is no limit", "GOMAXPROCS is in the environment",
	"the limit, rounded", "the minimum", "all CPUs"}

func (w Why) String() string {
	if int(w) < len(whys) {
		return whys[w]
	}
	return fmt.Sprintf("Why(%d)", uint8(w))
}

// Result is what Set, or a look at the limit later on, did.
type Result struct {
	Before, After int      // GOMAXPROCS
	Why           Why      // the grounds of After
	Limit         CPULimit // in effect; its zero value, which is unknown, where the environment decides
	CPUs          int      // that the process may run on, at most runtime.NumCPU()

	// Following is true if the limit is being followed: Follow was asked for
	// and this host has control groups.
	Following bool
}

// Err says why the limit is not known, so that GOMAXPROCS was left as it was.
// It is nil in all other cases; so a program may go on whatever it is.
func (r Result) Err() error {
	if r.Why != LimitUnknown {
		return nil
	}
	return fmt.Errorf("maxprocs: GOMAXPROCS is left at %d, the CPU limit is not known: %w", r.After, r.Limit.Err)
}

// String is a sentence for a log.
func (r Result) String() string {
	what := change(r.Before, r.After)
	switch r.Why {
	case LimitUnknown:
		return fmt.Sprintf("maxprocs: %s, the CPU limit is not known: %v", what, r.Limit.Err)
	case NoLimit:
		if r.Limit.Hidden {
			return fmt.Sprintf("maxprocs: %s, no CPU limit can be seen from within this namespace", what)
		}
		return fmt.Sprintf("maxprocs: %s, there is no CPU limit", what)
	case Environment:
		return fmt.Sprintf("maxprocs: %s, GOMAXPROCS is in the environment", what)
	}
	unit := "CPUs"
	if r.Limit.CPUs == 1 {
		unit = "CPU"
	}
	limit := fmt.Sprintf("the limit of %.6g %s that %s sets", r.Limit.CPUs, unit, r.Limit.Dir)
	switch r.Why {
	case Minimum:
		return fmt.Sprintf("maxprocs: %s, the minimum, above %s", what, limit)
	case AllCPUs:
		return fmt.Sprintf("maxprocs: %s, all CPUs that there are, with %s", what, limit)
	}
	return fmt.Sprintf("maxprocs: %s, from %s", what, limit)
}

// change says what has become of GOMAXPROCS.
func change(before, after int) string {
	if before == after {
		return fmt.Sprintf("GOMAXPROCS stays %d", after)
	}
	return fmt.Sprintf("GOMAXPROCS %d -> %d", before, after)
}
