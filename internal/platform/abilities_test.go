package platform

import (
	"context"
	"testing"

	"github.com/millicore/millicore/internal/data/experiment"
)

// wrapper wraps a unit and adds nothing.
type wrapper struct{ Unit }

func (w wrapper) Unwrap() Unit { return w.Unit }

// resizable is a unit with limits that can be changed.
type resizable struct {
	Unit
	limits experiment.Limits
}

func (r *resizable) Resize(_ context.Context, l experiment.Limits) error {
	r.limits = l
	return nil
}

// evictable is a unit that reports an eviction.
type evictable struct{ Unit }

func (evictable) Evicted() string { return "the pod was removed: Evicted" }

// overriding wraps a unit and reports its evictions in its own way.
type overriding struct{ wrapper }

func (overriding) Evicted() string { return "overridden" }

func TestAsFindsAnAbilityThroughWrappers(t *testing.T) {
	inner := &resizable{}
	for _, c := range []struct {
		name string
		unit Unit
	}{
		{"not wrapped", inner},
		{"wrapped once", wrapper{inner}},
		{"wrapped twice", wrapper{wrapper{inner}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, ok := As[Resizer](c.unit)
			if !ok || r != inner {
				t.Errorf("got %v, %v; want the inner unit", r, ok)
			}
			if _, ok := As[Autoscaled](c.unit); ok {
				t.Error("reports an ability that no unit has")
			}
		})
	}
	if _, ok := As[Resizer](Unit(wrapper{})); ok {
		t.Error("a wrapper of nil has an ability")
	}
	if _, ok := As[Resizer](Unit(nil)); ok {
		t.Error("nil has an ability")
	}
}

func TestAsPrefersTheWrapper(t *testing.T) {
	e, ok := As[EvictionReporter](Unit(overriding{wrapper{evictable{}}}))
	if !ok || e.Evicted() != "overridden" {
		t.Errorf("got %v, %v; want the wrapper's own method", e, ok)
	}
}

func TestEvicted(t *testing.T) {
	stays, lost := wrapper{&resizable{}}, wrapper{evictable{}}
	for _, c := range []struct {
		name  string
		units []Unit
		want  string
	}{
		{"no units", nil, ""},
		{"a unit that cannot be evicted", []Unit{stays}, ""},
		{"a wrapped unit that was evicted", []Unit{stays, lost}, "the pod was removed: Evicted"},
	} {
		if got := Evicted(c.units); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
