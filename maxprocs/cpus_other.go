//go:build !linux

package maxprocs

import "runtime"

// affinity counts the CPUs that the process may run on, as of its start.
func affinity() int { return runtime.NumCPU() }
