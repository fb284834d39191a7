package attached

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// plainPlatform is a platform, a unit and its only replica, without abilities.
type plainPlatform struct{ platform.Platform }

func (plainPlatform) Start(context.Context, platform.UnitSpec) (platform.Unit, error) {
	return plainPlatform{}, nil
}
func (plainPlatform) Replicas() []platform.Replica        { return []platform.Replica{plainPlatform{}} }
func (plainPlatform) Stop(context.Context) error          { return nil }
func (plainPlatform) Check(*experiment.Experiment) error  { return nil }
func (plainPlatform) Address() string                     { return "127.0.0.1:8080" }
func (plainPlatform) Counters() (signals.Counters, error) { return signals.Counters{Up: true}, nil }
func (plainPlatform) ThrottleSample() (signals.ThrottleSample, error) {
	return signals.ThrottleSample{Up: true}, nil
}
func (plainPlatform) PIDs() []int { return []int{4711} }

// able is a platform, a unit and a replica with abilities.
type able struct {
	plainPlatform
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

func TestUntilEndedKeepsAbilities(t *testing.T) {
	inner, ended := &able{}, false
	wrapped := UntilEnded(inner, func() bool { return ended })
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
	plain, err := UntilEnded(plainPlatform{}, func() bool { return false }).Start(t.Context(), platform.UnitSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := platform.As[platform.Autoscaled](plain); ok {
		t.Error("a unit with a fixed number of replicas is autoscaled")
	}
}

func TestAnEndedProcessIsNotRead(t *testing.T) {
	ended := false
	unit, err := UntilEnded(plainPlatform{}, func() bool { return ended }).Start(t.Context(), platform.UnitSpec{})
	if err != nil {
		t.Fatal(err)
	}
	r := unit.Replicas()[0]
	read := func() [2]bool {
		c, err1 := r.Counters()
		p, err2 := r.ThrottleSample()
		return [2]bool{c.Up && err1 == nil, p.Up && err2 == nil}
	}
	if read() != [2]bool{true, true} || r.Address() != "127.0.0.1:8080" {
		t.Error("a living process is not read")
	}
	if ended = true; read() != [2]bool{} {
		t.Error("an ended process is read")
	}
}

func TestAZombieHasEnded(t *testing.T) {
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = c.Process.Kill(), c.Wait() }() // it may have ended
	p, err := Watch(c.Process.Pid)
	if err != nil {
		t.Skipf("needs pidfd_open: %v", err)
	}
	defer p.Close()
	if p.Ended() {
		t.Fatal("it has ended")
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); !p.Ended(); time.Sleep(time.Millisecond) { // a zombie
		if time.Now().After(end) {
			t.Fatal("its end was not detected")
		}
	}
	if _, err := Watch(1 << 30); err == nil || !strings.Contains(err.Error(), "watch process 1073741824 for its end") {
		t.Errorf("a process that is not there: %v", err)
	}
}
