package inspect

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// aPart is the minimum share of a group's CPU time for a process to represent it.
const aPart = 0.1

// Foremost returns the process that represents all processes under one limit: of
// those with at least aPart of the CPU time the first whose parallelism is above the
// limit, else the one that used most; if that is a worker, its parent. all must not
// be empty.
func Foremost(all []Process) Process {
	if len(all) == 1 {
		return all[0]
	}
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b Process) int { return cmp.Compare(b.Used, a.Used) })
	var total time.Duration
	byPID := map[int]Process{}
	for _, p := range all {
		total += p.Used
		byPID[p.PID] = p
	}
	main := ordered[0]
	for _, p := range ordered {
		if float64(p.Used) >= aPart*float64(total) && p.Oversized() {
			main = p
			break
		}
	}
	if parent, ok := byPID[main.Parent]; ok && parent.Info.Workers > 0 && parent.Info.Runtime == main.Info.Runtime {
		return parent
	}
	return main
}

// Oversized reports whether the process's parallelism is above its limit, rounded
// up to whole CPUs.
func (p Process) Oversized() bool {
	return p.CPU.State == Limited && p.Info.Parallelism.Value > max(1, int(math.Ceil(p.CPU.CPUs-1e-9)))
}

// Label is the process's name for people: its container or unit and its name, or its
// name only.
func (p Process) Label() string {
	switch {
	case p.Container == "" || p.Container == p.Name:
		return p.Name
	}
	return p.Container + "/" + p.Name
}
