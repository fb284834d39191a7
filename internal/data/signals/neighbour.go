package signals

import (
	"fmt"
	"strings"
)

// Neighbour is what processes of one name, which the run did not start, used of a machine's
// CPUs during a trial.
type Neighbour struct {
	PID       int     `json:"pid"` // of the one that used most
	Name      string  `json:"name"`
	Processes int     `json:"processes"`
	CPUs      float64 `json:"cpus"` // of all of them, on average
}

// NeighboursText names neighbours with their CPUs: "sh (PID 4242) 0.99, cc1 (12 processes)
// 0.31".
func NeighboursText(all []Neighbour) string {
	var parts []string
	for _, n := range all {
		which := fmt.Sprintf("PID %d", n.PID)
		if n.Processes > 1 {
			which = fmt.Sprintf("%d processes, most by PID %d", n.Processes, n.PID)
		}
		parts = append(parts, fmt.Sprintf("%s (%s) %.2f", n.Name, which, n.CPUs))
	}
	return strings.Join(parts, ", ")
}
