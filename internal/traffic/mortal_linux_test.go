package traffic

import (
	"context"
	"testing"

	"github.com/millicore/millicore/internal/platform"
)

// able is a platform, a unit and a replica with abilities.
type able struct {
	given
	gone bool // the second replica has ended
}

func (a *able) Start(context.Context, platform.UnitSpec) (platform.Unit, error) { return a, nil }
func (a *able) SeesThrottleWindows() bool                                       { return false }
func (a *able) Evicted() string                                                 { return "evicted" }
func (a *able) Machine() string                                                 { return "node-1" }

func (a *able) CurrentReplicas() []platform.Replica {
	if a.gone {
		return []platform.Replica{a, nil}
	}
	return []platform.Replica{a, a}
}

func TestMortalKeepsTheAbilities(t *testing.T) {
	inner, ended := &able{}, false
	wrapped := Mortal(inner, func() bool { return ended })
	if sees, ok := platform.As[platform.ThrottleVisibility](wrapped); !ok || sees.SeesThrottleWindows() {
		t.Errorf("platform: got %v, %v; want the inner platform", sees, ok)
	}
	if _, ok := platform.As[platform.ImageRunner](wrapped); ok {
		t.Error("platform: reports an ability that the inner one does not have")
	}
	unit, err := wrapped.Start(t.Context(), platform.UnitSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if why := platform.Evicted([]platform.Unit{unit}); why != "evicted" {
		t.Errorf("unit: eviction %q", why)
	}
	scaled, ok := platform.As[platform.Autoscaled](unit)
	if !ok {
		t.Fatal("unit: it is not autoscaled")
	}
	ended = true
	all := scaled.CurrentReplicas()
	if len(all) != 2 {
		t.Fatalf("%d replicas, want 2", len(all))
	}
	if _, err := all[1].Counters(); err == nil {
		t.Error("a current replica is read after the end of the process")
	}
	if named, ok := platform.As[platform.MachineNamer](all[0]); !ok || named.Machine() != "node-1" {
		t.Errorf("replica: got %v, %v; want the inner replica", named, ok)
	}
	inner.gone = true
	if all = scaled.CurrentReplicas(); len(all) != 2 || all[1] != nil {
		t.Errorf("got %v; want nil for a replica that has ended", all)
	}
	plain, err := Mortal(given{}, func() bool { return false }).Start(t.Context(), platform.UnitSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := platform.As[platform.Autoscaled](plain); ok {
		t.Error("a unit with a fixed number of replicas is autoscaled")
	}
}
