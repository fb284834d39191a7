package kubernetes

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/conductor/conductortest"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/pods"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// hub lets the platform's agents connect to this process.
func hub(t *testing.T) func(*pods.Options) {
	return func(o *pods.Options) {
		dir := conductortest.Given(t)
		listener, err := net.Listen("tcp", net.JoinHostPort(here(t, o.Client), "0"))
		if err != nil {
			t.Fatal(err)
		}
		h, err := conductor.NewHub(listener, conductor.HubOptions{
			CertFile: filepath.Join(dir, conductor.CertFile), KeyFile: filepath.Join(dir, conductor.KeyFile),
			TokenKeyFile: filepath.Join(dir, conductor.TokenKeyFile), State: func() conductor.State { return conductor.State{} }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		o.Agents, o.Conductor = h, listener.Addr().String()
	}
}

func TestAgentsDialIn(t *testing.T) {
	t.Parallel()
	p := open(t, hub(t))
	e := &experiment.Experiment{Cells: []experiment.Cell{{Service: experiment.Service{Name: "go", Workload: "go"},
		Load: experiment.Load{Users: &experiment.Target{Value: 1}, Agents: 2}}}, Measure: experiment.Measure{Duration: time.Minute}}
	if err := p.Check(e); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for trial := range 2 {
		for i := range 2 {
			began := time.Now()
			a, err := p.Agent(ctx, trial, i)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("trial %d, agent %d after %v", trial, i, time.Since(began))
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	// An agent that is killed is restarted.
	pods, err := kube.Pods.List(ctx, p.api, kube.LabelPart+"="+kube.PartAgent)
	if err != nil || len(pods) != 2 {
		t.Fatalf("%d agents, %v", len(pods), err)
	}
	if err := kube.Pods.Delete(ctx, p.api, pods[0].Name, kube.Delete{Grace: of(int64(1))}); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "another pod in its place", func() bool {
		now, err := kube.Pods.List(ctx, p.api, kube.LabelPart+"="+kube.PartAgent)
		return err == nil && len(now) == 2 && now[0].Name != pods[0].Name && now[1].Name != pods[0].Name
	})
	for i := range 2 {
		a, err := p.Agent(ctx, 2, i)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
}

func TestNodeAgentsSeeWindows(t *testing.T) {
	dialled := hub(t)
	p := openAt(t, "privileged", func(o *pods.Options) {
		dialled(o)
		o.Settings.NodeAgent = true
	})
	if !p.ImageRunner.(platform.ThrottleVisibility).SeesThrottleWindows() {
		t.Error("it does not measure throttle windows")
	}
	r := start(t, p, goService(t, p, experiment.Limits{CPUMillis: 200, Memory: 128 << 20, Replicas: 1})).Replicas()[0]
	burn(t, r.Address(), "/isPrime/1000003", 4)
	c := counted(t, r, "periods are throttled", func(c signals.Counters) bool { return c.ThrottledPeriods != nil && *c.ThrottledPeriods > 10 })
	windows := r.(platform.WindowSource).Windows()
	t.Logf("%d of %d periods throttled, %d windows", *c.ThrottledPeriods, *c.Periods, len(windows))
	if len(windows) < 5 || windows[0].Kind != signals.Throttled || windows[0].End <= windows[0].Start {
		t.Errorf("windows %+v", windows)
	}
	_ = get(t.Context(), r.Address(), "/never-mind")
	for range 4 {
		last := c.At
		c = counted(t, r, "it is newer", func(c signals.Counters) bool { return c.At.After(last) })
		t.Log(c.At.Sub(last))
	}
}
