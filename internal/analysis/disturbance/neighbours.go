package disturbance

import "github.com/millicore/millicore/internal/data/signals"

// Busier returns those of two lists of neighbours that used more CPU.
func Busier(a, b []signals.Neighbour) []signals.Neighbour {
	sum := func(all []signals.Neighbour) (cpus float64) {
		for _, n := range all {
			cpus += n.CPUs
		}
		return cpus
	}
	if sum(b) > sum(a) {
		return b
	}
	return a
}
