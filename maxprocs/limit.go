package maxprocs

import (
	"fmt"

	"github.com/millicore/millicore/internal/cgroup"
)

// LimitState is what is known of a limit.
type LimitState uint8

// The states of a limit.
const (
	Unknown   LimitState = iota // it could not be read; there may be one
	Unlimited                   // no visible group sets one
	Limited                     // there is one
)

func (s LimitState) String() string {
	switch s {
	case Unknown:
		return "unknown"
	case Unlimited:
		return "unlimited"
	case Limited:
		return "limited"
	}
	return fmt.Sprintf("LimitState(%d)", uint8(s))
}

// CPULimit is a CPU limit.
type CPULimit struct {
	State LimitState
	CPUs  float64 // quota / period, neither rounded nor bounded by the number of CPUs; 0 unless Limited
	Dir   string  // the directory of the control group that sets it; "" unless Limited

	// Hidden is true if there are ancestors that are not visible from here: the true
	// limit may then be lower, and Unlimited refers to visible groups only.
	Hidden bool

	// Err is the reason if the limit is Unknown. If it is Limited, Err is the first
	// error of reading an ancestor: the true limit may be lower.
	Err error
}

// limitOf is a limit as this package publishes it.
func limitOf(l cgroup.CPULimit) CPULimit {
	state := Unknown
	switch l.State {
	case cgroup.Unlimited:
		state = Unlimited
	case cgroup.Limited:
		state = Limited
	}
	return CPULimit{State: state, CPUs: l.CPUs, Dir: l.Dir, Hidden: l.Hidden, Err: l.Err}
}

// Limit returns the CPU limit in effect for this process: the lowest of its control
// group and all visible ancestors. Limit reads a few small files. It may be called again
// at any time, because limits change.
func Limit() CPULimit {
	return thisHost.limit()
}
