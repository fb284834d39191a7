// Package cgroup reads what Linux control groups say about CPU, memory and
// pressure: the limits that apply to a group, and the counters that the kernel
// keeps for it. It knows cgroup v1, v2 and hosts with both.
//
// It locates a group ([FS.Self], [FS.Process], [FS.At]), tells its limits
// ([Group.CPULimit], [Group.MemoryLimit], [Group.CPUs]) and reads its counters
// over and over without allocating ([Group.Open], [Reader]). Times are in
// nanoseconds (time.Duration) and memory in bytes, whatever unit the kernel's
// file has.
//
// Every answer is one of three: a value, absent (this kernel or this host has
// no such thing) or unreadable (it should be there, and this is why it could
// not be read). "Not measured" is never 0, and a limit that could not be read
// is never "unlimited".
//
// The package does not write: it neither makes groups nor sets limits, and it
// does not decide what a limit means for GOMAXPROCS. On systems other than
// Linux it compiles and answers "absent".
package cgroup

import (
	"errors"
	"fmt"
)

// Version is the version of the hierarchy that a controller is attached to. On
// a hybrid host it differs between controllers.
type Version uint8

// The versions of control groups.
const (
	V1 Version = 1
	V2 Version = 2
)

func (v Version) String() string { return fmt.Sprintf("v%d", uint8(v)) }

// Controller names a part of the kernel whose files this package reads.
type Controller uint8

// The controllers. On v2 all of them are in the one directory of the group. On
// v1 each has a directory of its own, though several may share a mount.
const (
	CPU     Controller = iota // bandwidth limit and throttling
	CPUAcct                   // CPU time used; a controller of v1 only, part of every v2 group
	CPUSet                    // the CPUs that the group may use
	Memory                    // memory limit, use and OOM kills
	Unified                   // the v2 hierarchy itself, which alone has pressure (PSI)

	controllers = iota
)

var controllerNames = [controllers]string{"cpu", "cpuacct", "cpuset", "memory", "unified"}

// String is the controller's name in /proc/PID/cgroup.
func (c Controller) String() string {
	if int(c) < len(controllerNames) {
		return controllerNames[c]
	}
	return fmt.Sprintf("Controller(%d)", uint8(c))
}

var (
	// ErrGone says that the group was removed. It is wrapped in the error of
	// whatever was being read, together with the kernel's own (ENODEV from a
	// file that was open, ENOENT otherwise).
	ErrGone = errors.New("the control group is gone")

	// ErrOutside says that the group lies outside the reader's cgroup
	// namespace or outside of what is mounted, so that its files cannot be
	// reached from here. Its limits are unknown.
	ErrOutside = errors.New("the control group cannot be seen from here")

	// ErrMalformed says that a file does not have the kernel's format.
	ErrMalformed = errors.New("not in the kernel's format")

	errNotLocated = errors.New("a Group must come from FS.Self, FS.Process or FS.At")
	errNotAsked   = errors.New("this controller was not asked for; give it to FS.Self too")
)
