// Package cgroup reads the CPU, memory and pressure files of Linux control groups: the
// limits that apply to a group, and the kernel's counters. It supports cgroup v1, v2
// and hosts with both.
//
// It locates a group ([FS.Self], [FS.Process], [FS.At]), reads its limits
// ([Group.CPULimit], [Group.MemoryLimit], [Group.CPUs]) and reads its counters
// repeatedly without allocating ([Group.Open], [Reader]). Times are in
// nanoseconds (time.Duration) and memory in bytes, regardless of the kernel's unit.
//
// Every answer is one of three: a value, absent (this kernel or host does not have it)
// or unreadable (it should exist but could not be read, with the reason). A value that
// was not measured is never 0, and a limit that could not be read is never "unlimited".
//
// The package only reads: it neither creates groups nor sets limits, and it does not
// decide what a limit means for GOMAXPROCS. On systems other than Linux it compiles and
// every answer is absent.
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
	PIDs                      // number of processes and threads
	Freezer                   // stops all processes of the group
	Unified                   // the v2 hierarchy itself, which alone has pressure (PSI)

	controllers = iota
)

var controllerNames = [controllers]string{"cpu", "cpuacct", "cpuset", "memory", "pids", "freezer", "unified"}

// String is the controller's name in /proc/PID/cgroup.
func (c Controller) String() string {
	if int(c) < len(controllerNames) {
		return controllerNames[c]
	}
	return fmt.Sprintf("Controller(%d)", uint8(c))
}

var (
	// ErrGone means that the group was removed. It is wrapped in the error of the
	// reading, together with the kernel's error (ENODEV from an open file, ENOENT
	// otherwise).
	ErrGone = errors.New("the control group is gone")

	// ErrOutside means that the group is outside of the reader's cgroup namespace or
	// of the mounts, so that its files cannot be read. Its limits are unknown.
	ErrOutside = errors.New("the control group is not visible from here")

	// ErrMalformed means that a file does not have the kernel's format.
	ErrMalformed = errors.New("not in the kernel's format")

	errNotLocated = errors.New("a Group must come from FS.Self, FS.Process or FS.At")
	errNotAsked   = errors.New("this controller was not requested; pass it to FS.Self too")
)
