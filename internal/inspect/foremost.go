package inspect

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// aPart is the share of the CPU time of processes under one limit from which one
// of them counts.
const aPart = 0.1

// Foremost finds, among processes under one limit, the one that stands for them:
// of those that use a good part of the CPU time one whose parallelism is above
// the limit, else the one that uses most; and of workers the one that started
// them. There must be one process at least.
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

// Label is what a person calls the process: its container or unit with its name,
// or its name alone.
func (p Process) Label() string {
	switch {
	case p.Container == "" || p.Container == p.Name:
		return p.Name
	}
	return p.Container + "/" + p.Name
}
