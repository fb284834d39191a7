package program

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
)

func TestKnownCausesBesideTheQuota(t *testing.T) {
	for name, c := range map[string]knownCause{
		"a dependency that sleeps": {path: "/ask?ms=0&every=20", slowPath: "/ask?ms=200&every=20", rate: "200",
			share: func(c *summary.Causes) float64 { return c.Dependency }},
		"a frozen generator": {path: "/ok", rate: "200",
			each:  func(t *testing.T, pid int) { freeze(t, pid, 600*time.Millisecond) },
			share: func(c *summary.Causes) float64 { return c.Generator }},
		// The service uses two thirds of one CPU, and gets less of it beside three hogs. The
		// agent needs little of the other CPU, which one hog keeps busy, and is on time.
		"a hog outside": {path: "/spin?us=1100", rate: "600", always: `cpuset: "1"`, flag: "busy_neighbour",
			each:  func(t *testing.T, pid int) { hogs(t, 2*time.Second, 0, 1, 1, 1) },
			share: func(c *summary.Causes) float64 { return c.Neighbours }},
		// Refused requests have no latency. Those that wait for a service that listens
		// again, but does not answer yet, have one.
		"an OOM restart": {path: "/ok", rate: "200", limits: `memory: 64Mi`, warm: "800ms",
			each:  func(t *testing.T, pid int) { exhaust(t) },
			share: func(c *summary.Causes) float64 { return c.Restart }},
	} {
		t.Run(name, c.isAttributed)
	}
}
