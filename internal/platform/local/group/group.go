// Package group makes control groups: it finds where this process may make them
// (cgroup v1, v2 and hosts with both), sets limits, kills the processes in a group and
// removes it. Each process makes its groups below one directory per hierarchy, and
// records them in a ledger first, so that [Sweep] can find and identify what a killed
// process left.
//
// It starts no processes (package shim does, inside a group) and reads no counters
// (internal/cgroup does).
package group

import "github.com/millicore/millicore/internal/cgroup"

// prefix begins the name of every directory that is made here.
const prefix = "millicore-"

// leaf is the group below a run's directory into which the caller's processes move if
// cgroup v2 requires it.
const leaf = "lab"

// names are the controllers' names in the kernel's files.
func names(controllers []cgroup.Controller) []string {
	var all []string
	for _, c := range controllers {
		all = append(all, c.String())
	}
	return all
}
