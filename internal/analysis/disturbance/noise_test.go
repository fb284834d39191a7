package disturbance

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/signals"
)

func TestNoiseNamesWhoElseTookCPU(t *testing.T) {
	frame := func(phase signals.Phase, foreign float64, cpus int) *signals.Frame {
		return &signals.Frame{Phase: phase, Start: 0, End: 1e9, Host: &signals.Host{CPUs: cpus, Foreign: foreign, Idle: 1}}
	}
	stolen := func(steal, foreign float64) *signals.Frame {
		return &signals.Frame{Phase: signals.Measure, Start: 0, End: 1e9, Host: &signals.Host{CPUs: 2, Foreign: foreign, Steal: steal, Idle: 1}}
	}
	node := func(name string, foreign, idle, steal float64) *signals.Frame {
		return &signals.Frame{Phase: signals.Measure, Start: 0, End: 1e9, Machine: name, Host: &signals.Host{CPUs: 2, Foreign: foreign, Idle: idle, Steal: steal}}
	}
	for _, c := range []struct {
		name   string
		frames []*signals.Frame
		want   string
	}{
		{"a node that others use, where there is room", []*signals.Frame{node("n1", 0.8, 0.5, 0)}, ""},
		{"a node that others fill, beside one that is idle", []*signals.Frame{node("n1", 0.8, 0.1, 0), node("n2", 0, 2, 0)},
			"other processes used 0.80 cores on node n1"},
		{"each node has its own", []*signals.Frame{node("n2", 0.5, 0, 0), node("n1", 0, 1, 0.4)},
			"the hypervisor took 0.40 cores on node n1 and other processes used 0.50 cores on node n2"},
		{"quiet", []*signals.Frame{frame(signals.Measure, 0.05, 2)}, ""},
		{"a busy neighbour", []*signals.Frame{frame(signals.Measure, 0.3, 2), frame(signals.Measure, 0.3, 2)}, "other processes used 0.30 cores"},
		{"busy for a moment only", []*signals.Frame{frame(signals.Measure, 0.5, 2), frame(signals.Measure, 0, 2), frame(signals.Measure, 0, 2)}, ""},
		{"during the warm-up it does not matter", []*signals.Frame{frame(signals.Warmup, 2, 2), frame(signals.Measure, 0, 2)}, ""},
		{"a large host has more room", []*signals.Frame{frame(signals.Measure, 0.9, 64)}, ""},
		{"the hypervisor", []*signals.Frame{stolen(0.25, 0)}, "the hypervisor took 0.25 cores"},
		{"the hypervisor, a little", []*signals.Frame{stolen(0.15, 0.15)}, ""},
		{"both", []*signals.Frame{stolen(0.25, 0.5)}, "other processes used 0.50 cores and the hypervisor took 0.25 cores"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n Noise
			for _, f := range c.frames {
				n.Add(f)
			}
			if got := n.Disturbed(); got != c.want {
				t.Errorf("disturbed = %q, want %q", got, c.want)
			}
		})
	}
}

func TestALateAgentIsTheLimitWhereItsLatenessCounts(t *testing.T) {
	limited := func(lag, latency time.Duration) bool {
		f := &signals.Frame{Phase: signals.Measure, End: 1e9,
			Client: &signals.Client{SendLag: signals.NewHistogram(), Latency: signals.NewHistogram()}}
		for range 100 {
			f.Client.SendLag.Record(lag)
			f.Client.Latency.Record(latency)
		}
		var n Noise
		n.Add(f)
		return n.SentLate()
	}
	if !limited(3*time.Millisecond, 10*time.Millisecond) {
		t.Error("3 ms late where answers take 10 ms: want limited")
	}
	if limited(3*time.Millisecond, 500*time.Millisecond) {
		t.Error("3 ms late where answers take 500 ms: want not limited")
	}
	if limited(time.Millisecond, time.Millisecond) {
		t.Error("1 ms late: want not limited")
	}
}
