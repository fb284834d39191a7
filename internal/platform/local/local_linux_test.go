package local

import (
	"context"
	"testing"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/platform"
)

func TestStartsReplicasUnderTheirLimits(t *testing.T) {
	p, err := New(Options{State: t.TempDir(), Note: func(s string) { t.Log(s) }})
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}()
	u, err := p.Start(context.Background(), platform.Unit{
		Trial: 1, Name: "server", Command: []string{"/proc/self/exe", helper, "serve"}, Logs: t.TempDir(),
		Limits: experiment.Limits{CPUMillis: 500, Memory: 64 << 20, Replicas: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range u.Replicas() {
		c, err := r.Counters()
		if err != nil || !c.Up || c.CPU == nil || *c.CPULimit != 0.5 || *c.MemoryLimit != 64<<20 {
			t.Errorf("counters of %s: %+v, %v", r.Address(), c, err)
		}
	}
	if err := u.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
