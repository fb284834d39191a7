// Package group makes control groups: it finds where this process may make
// them (cgroup v1, v2 and hosts with both), sets limits, kills what runs in a
// group and removes it. Everything that one process makes lies below one
// directory per hierarchy and is written into a ledger first, so that what a
// killed process left can be found ([Sweep]) and proven to be its own.
//
// It starts no processes (package shim does, inside a group) and reads no
// counters (maxprocs/cgroup does).
package group

import "github.com/millicore/millicore/maxprocs/cgroup"

// prefix begins the name of every directory that is made here.
const prefix = "millicore-"

// leaf is the group below a run's directory into which the caller's own
// processes move where cgroup v2 wants them out of the way.
const leaf = "lab"

// names are the controllers' names in the kernel's files.
func names(controllers []cgroup.Controller) []string {
	var all []string
	for _, c := range controllers {
		all = append(all, c.String())
	}
	return all
}
