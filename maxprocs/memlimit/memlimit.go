// Package memlimit sets Go's soft memory limit (GOMEMLIMIT) from the memory limit of the
// container that the program runs in:
//
//	import _ "github.com/millicore/millicore/maxprocs/memlimit/auto"
//
// sets 90% of the limit and follows it. [Set] has the options. The environment variable
// MEMLIMIT_HEADROOM=0.25 leaves another share than 10% free.
//
// Near its limit the garbage collector then runs more often, where the kernel would
// otherwise kill the process. The rest is headroom for memory that Go's runtime does not
// manage: C libraries, mapped files, the kernel's own for the process. A program whose live
// heap does not fit still ends: the collector uses at most half of the CPU time.
//
// The limit in effect is the lowest of the process's control group and all its visible
// ancestors, on cgroup v1 and v2. If other processes share it, give more [Headroom].
//
// The package never replaces a limit of somebody else: it does nothing if the environment
// variable GOMEMLIMIT is set, to any value, or if the program has called
// [debug.SetMemoryLimit]. A limit that cannot be read is never treated as "unlimited".
package memlimit

import (
	"fmt"
	"math"

	"github.com/millicore/millicore/maxprocs"
)

// None is the memory limit of a Go program that has none.
const None = math.MaxInt64

// Why is the reason for Go's memory limit after Set.
type Why uint8

// The reasons.
const (
	LimitUnknown Why = iota // unchanged: the container's limit could not be read
	NoLimit                 // none: the container has no limit
	Environment             // unchanged: the environment sets GOMEMLIMIT
	Program                 // unchanged: the program has set a memory limit itself
	FromLimit               // the container's limit without the headroom
)

var whys = [...]string{"the memory limit is not known", "there is no memory limit", "GOMEMLIMIT is in the environment",
	"the program has set it", "the memory limit, with headroom"}

func (w Why) String() string {
	if int(w) < len(whys) {
		return whys[w]
	}
	return fmt.Sprintf("Why(%d)", uint8(w))
}

// Limit is the memory limit of the container.
type Limit struct {
	State maxprocs.LimitState
	Bytes int64  // 0 unless Limited
	Dir   string // the directory of the control group that sets it; "" unless a visible one does

	// Hidden and Err are as in maxprocs.CPULimit. v1 reports the limits of groups that
	// are not visible too, so Hidden is false there.
	Hidden bool
	Err    error
}

// Result is what Set, or a later check of the limit, did.
type Result struct {
	Before, After int64 // Go's memory limit in bytes, or None
	Why           Why   // the reason for After
	Limit         Limit // the zero value, which is unknown, for the reason Environment
	Following     bool
}

// Err returns why the container's limit is not known, in which case Go's memory limit is
// unchanged, and nil in all other cases. A program may continue in any case.
func (r Result) Err() error {
	if r.Why != LimitUnknown {
		return nil
	}
	return fmt.Errorf("memlimit: GOMEMLIMIT is left at %s, the memory limit is not known: %w", size(r.After), r.Limit.Err)
}

// String is a message for a log.
func (r Result) String() string {
	what := change(r.Before, r.After)
	switch {
	case r.Why == LimitUnknown:
		return fmt.Sprintf("memlimit: %s, the memory limit is not known: %v", what, r.Limit.Err)
	case r.Why == NoLimit && r.Limit.Hidden:
		return fmt.Sprintf("memlimit: %s, no memory limit is visible from within this namespace", what)
	case r.Why != FromLimit:
		return fmt.Sprintf("memlimit: %s, %s", what, r.Why)
	case r.Limit.Dir == "":
		return fmt.Sprintf("memlimit: %s, from the limit of %s", what, size(r.Limit.Bytes))
	}
	return fmt.Sprintf("memlimit: %s, from the limit of %s that %s sets", what, size(r.Limit.Bytes), r.Limit.Dir)
}

// change describes the change of Go's memory limit.
func change(before, after int64) string {
	if before == after {
		return "GOMEMLIMIT stays " + size(after)
	}
	return fmt.Sprintf("GOMEMLIMIT %s -> %s", size(before), size(after))
}

// size is a number of bytes for people.
func size(bytes int64) string {
	if bytes == None {
		return "off"
	}
	return fmt.Sprintf("%.4gMiB", float64(bytes)/(1<<20))
}
