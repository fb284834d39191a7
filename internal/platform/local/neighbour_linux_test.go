package local

import (
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform/neighbour"
	"github.com/millicore/millicore/test/testkit"
)

// A neighbour computes in a group of its own, which has the weight of its request, and is gone
// once it was stopped. A request that is taken away leaves the weight of an ordinary group.
func TestANeighbourUsesItsCPUsInAGroupOfItsOwn(t *testing.T) {
	p := open(t, Options{})
	d := &experiment.Dependency{Name: "neighbour", Builtin: experiment.Neighbour, Limits: experiment.Limits{CPUMillis: 500, RequestMillis: 250, Replicas: 1}}
	u, err := neighbour.Unit(d, "", 1, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	running := start(t, p, u)
	r := running.(*unit).replicas[0]
	requests := func() []float64 {
		group, err := cgroup.Host().At(r.group.Dirs()...)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := group.CPURequests().Get()
		return all
	}
	if got := requests(); len(got) == 0 || got[len(got)-1] < 0.24 || got[len(got)-1] > 0.25 {
		t.Errorf("the weight stands for requests of %v CPUs, want 0.25", got)
	}
	testkit.Until(t, "it was throttled in three periods", func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return *c.ThrottledPeriods >= 3
	})
	if err := running.(*unit).Resize(t.Context(), experiment.Limits{Replicas: 1}); err != nil {
		t.Fatal(err)
	}
	if got := requests(); len(got) == 0 || got[len(got)-1] < 0.98 || got[len(got)-1] > 1 {
		t.Errorf("without a request the weight stands for %v CPUs, want 1", got)
	}
	if err := running.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pids := r.PIDs(); len(pids) > 0 {
		t.Errorf("processes %v are left", pids)
	}
}
