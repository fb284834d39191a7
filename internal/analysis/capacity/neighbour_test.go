package capacity

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// A neighbour on purpose that uses its limit and fills the machine is neither what limits the
// service nor a reason to give only a bound. Another dependency at its limit is, and so is a
// machine that is full without it.
func TestANeighbourOnPurposeIsNoCause(t *testing.T) {
	n := int64(100)
	all := sums.New()
	all.Server = *serverSums(0.4, 0, nil, nil)
	all.Deps["neighbour"] = serverSums(1.5, 1.5, &n, new(5.0))
	all.Noise.Add(&signals.Frame{Trial: 1, Seq: 1, Phase: signals.Measure, End: 10e9, Host: &signals.Host{CPUs: 2, Busy: 2}})
	for _, c := range []struct {
		name, builtin, outside string
		cause                  bool
	}{
		{"on purpose", experiment.Neighbour, "", false},
		{"a database of this name", experiment.Postgres, summary.ByHost, true},
	} {
		cell := &experiment.Cell{Service: experiment.Service{Name: "go", Dependencies: []experiment.Dependency{{Name: "neighbour", Builtin: c.builtin}}}}
		s := stretchOf(&experiment.Experiment{}, cell)
		s.Sums, s.over = all, []overload{{load: 100, sums: all}}
		if got := s.outside(); got != c.outside {
			t.Errorf("%s: outside is %q, want %q", c.name, got, c.outside)
		}
		if got := s.dependency(); got.None() == c.cause {
			t.Errorf("%s: the dependency is %+v, a cause: %v", c.name, got, c.cause)
		}
	}
}

func TestALimitIsNotRefutedBesideANeighbour(t *testing.T) {
	limited, free := summary.Cell{Load: summary.Load{Kind: "open"}, Limits: summary.Limits{CPUMillis: new(int64(500)), Replicas: 1}}, summary.Cell{Load: summary.Load{Kind: "open"}, Limits: summary.Limits{Replicas: 1}}
	if !lifted(&limited, &free) {
		t.Error("the same without a limit does not decide")
	}
	if free.Beside = (&summary.Beside{Wanted: 2}); lifted(&limited, &free) {
		t.Error("beside a neighbour it decides")
	}
}
