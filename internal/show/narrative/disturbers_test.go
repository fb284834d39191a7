package narrative

import (
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/signals"
)

// Whoever is to be stopped is named, with the process that used most.
func TestDisturbersAreNamed(t *testing.T) {
	c := &summary.Cell{Load: summary.Load{Find: true}, Disturbance: &summary.Disturbance{By: []string{summary.Neighbours}, Trials: 43, Disturbed: 43,
		Neighbours: []signals.Neighbour{{PID: 4242, Name: "sh", Processes: 1, CPUs: 0.987}}}}
	if text := Disturbed([]*summary.Cell{c}); !strings.Contains(text, "disturbed by other processes (most CPUs: sh (PID 4242) 0.99)") {
		t.Error(text)
	}
}
