// Package maxprocs is for Go services under a container's CPU limit. It reads the limit
// ([Limit]) and the kernel's throttling counters ([ReadStats]), and sets GOMAXPROCS where
// Go's own default does not see the limit ([Set]):
//
//	import _ "github.com/millicore/millicore/maxprocs/auto"
//
// Sub-packages set GOMEMLIMIT from the memory limit (memlimit) and publish the counters
// (expvars; prometheus and otel, each a module of its own).
//
// # How the value is chosen
//
// If the environment variable GOMAXPROCS is set, to any value, the package does nothing.
//
// From Go 1.25 on, in programs whose go line is 1.25 or later, the runtime sets GOMAXPROCS
// from the limit of the process's own group: rounded up, and no lower than 2. It follows
// that limit. [Set] leaves this default alone if that group's limit is the one in effect,
// unless an option is given that chooses a value: [OverrideDefault], [RoundQuotaFunc] or
// [Min].
//
// In all other cases Set uses the limit in effect: the lowest of the process's control
// group and all its visible ancestors, on cgroup v1, v2 and hosts with both. It is rounded
// up, and at least 2, as by Go's own rule; the three options make that 1. GOMAXPROCS is never set above the number of CPUs that the process
// may run on (its affinity, which a cpuset restricts) or above [runtime.NumCPU]. If there
// is no limit, or the limit could not be read, GOMAXPROCS does not change: an unreadable
// limit is never treated as "unlimited".
//
// The runtime stops its own updates permanently when the program calls
// [runtime.GOMAXPROCS]. So this package does not call it if GOMAXPROCS already has the
// right value; if the runtime's default is the right value, it restores that default; and
// an undo gives GOMAXPROCS back to the runtime.
//
// # Instead of go.uber.org/automaxprocs
//
//	import _ "go.uber.org/automaxprocs"       import _ ".../maxprocs/auto"
//	undo, err := maxprocs.Set(...)            result, undo := maxprocs.Set(...); result.Err()
//	maxprocs.Logger(log.Printf)               the same
//	maxprocs.Min(2)                           the same
//	maxprocs.RoundQuotaFunc(f)                the same; or Floor, Ceil, Round for f
//	without RoundQuotaFunc: rounds down       rounds up, to at least 2
//
// docs/maxprocs.md in the repository describes the differences in behaviour.
//
// The package does nothing on systems other than Linux. It does not know which GOMAXPROCS
// is best for a service: that needs a measurement under load (`millicore try`).
package maxprocs

import "fmt"

// Why is the reason for the value of GOMAXPROCS after Set.
type Why uint8

// The reasons.
const (
	LimitUnknown   Why = iota // unchanged: the limit could not be read
	NoLimit                   // unchanged: there is no limit
	Environment               // unchanged: the environment sets GOMAXPROCS
	GoDefault                 // left to Go's runtime, which sees the limit itself
	FromLimit                 // the rounded limit
	Minimum                   // the minimum, because the rounded limit is lower
	AllCPUs                   // all CPUs, because the limit, the request or the minimum is higher
	FromCPURequest            // the CPU request, rounded up, with FromRequest and without a limit
)

var whys = [...]string{"the limit is not known", "there is no limit", "GOMAXPROCS is in the environment",
	"Go's own default", "the limit, rounded", "the minimum", "all CPUs", "the CPU request, rounded up"}

func (w Why) String() string {
	if int(w) < len(whys) {
		return whys[w]
	}
	return fmt.Sprintf("Why(%d)", uint8(w))
}

// Result is what Set, or a later check of the limit, did.
type Result struct {
	Before, After int      // GOMAXPROCS
	Why           Why      // the reason for After
	Limit         CPULimit // in effect; the zero value, which is unknown, if the environment sets GOMAXPROCS
	Request       float64  // in CPUs, with FromRequest and without a limit; 0: none, or not known
	CPUs          int      // that the process may run on, at most runtime.NumCPU()

	// Following is true if the limit is followed: the option Follow was given, and
	// this host has control groups.
	Following bool
}

// Err returns why the limit is not known, in which case GOMAXPROCS is unchanged, and nil
// in all other cases. A program may continue in any case.
func (r Result) Err() error {
	if r.Why != LimitUnknown {
		return nil
	}
	return fmt.Errorf("maxprocs: GOMAXPROCS is left at %d, the CPU limit is not known: %w", r.After, r.Limit.Err)
}

// String is a message for a log.
func (r Result) String() string {
	what := change(r.Before, r.After)
	switch r.Why {
	case LimitUnknown:
		return fmt.Sprintf("maxprocs: %s, the CPU limit is not known: %v", what, r.Limit.Err)
	case NoLimit:
		if r.Limit.Hidden {
			return fmt.Sprintf("maxprocs: %s, no CPU limit is visible from within this namespace", what)
		}
		return fmt.Sprintf("maxprocs: %s, there is no CPU limit", what)
	case Environment:
		return fmt.Sprintf("maxprocs: %s, GOMAXPROCS is in the environment", what)
	}
	if r.Limit.State != Limited {
		return fmt.Sprintf("maxprocs: %s, %s: there is no CPU limit, and the weight stands for a request of %.4g CPUs", what, r.Why, r.Request)
	}
	unit := "CPUs"
	if r.Limit.CPUs == 1 {
		unit = "CPU"
	}
	limit := fmt.Sprintf("the limit of %.6g %s that %s sets", r.Limit.CPUs, unit, r.Limit.Dir)
	switch r.Why {
	case GoDefault:
		return fmt.Sprintf("maxprocs: %s, Go's own default, with %s", what, limit)
	case Minimum:
		return fmt.Sprintf("maxprocs: %s, the minimum, above %s", what, limit)
	case AllCPUs:
		return fmt.Sprintf("maxprocs: %s, all CPUs, with %s", what, limit)
	}
	return fmt.Sprintf("maxprocs: %s, from %s", what, limit)
}

// change describes the change of GOMAXPROCS.
func change(before, after int) string {
	if before == after {
		return fmt.Sprintf("GOMAXPROCS stays %d", after)
	}
	return fmt.Sprintf("GOMAXPROCS %d -> %d", before, after)
}
