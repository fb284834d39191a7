package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/endpoints"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// A frame counts if its CPU time is known and few of its requests were in flight at its start and
// at its end.
func TestIntervalsOfKinds(t *testing.T) {
	var k kindFrames
	server := func(seq int, cpu *float64, phase signals.Phase) {
		k.add(&signals.Frame{Seq: seq, Phase: phase, Of: "api", Server: &signals.Server{CPU: cpu, Up: true}}, "api", &experiment.Measure{})
	}
	client := func(seq int, inFlight, a, b int64) {
		k.add(&signals.Frame{Seq: seq, Phase: signals.Measure, Client: &signals.Client{InFlight: inFlight,
			Kinds: map[string]*signals.Kind{"a": {Sent: a + 1, Ended: a}, "b": {Sent: 2 * b, Ended: b}}}}, "api", &experiment.Measure{})
	}
	server(1, new(0.5), signals.Measure)
	client(1, 1, 20, 5) // what was in flight at the start is not known
	// Two replicas and two agents.
	server(2, new(0.25), signals.Measure)
	server(2, new(0.5), signals.Measure)
	client(2, 2, 20, 5)
	client(2, 1, 10, 5)
	server(3, new(0.5), signals.Measure)
	client(3, 3, 20, 5) // many are in flight at the end
	server(4, new(0.5), signals.Measure)
	client(4, 0, 20, 5) // and at the start
	server(5, nil, signals.Measure)
	client(5, 0, 20, 5)
	client(6, 0, 20, 5) // no replica
	k.add(&signals.Frame{Seq: 13, Phase: signals.Measure, Of: "api", Server: &signals.Server{CPU: new(0.1), Up: true, Restarts: 1}}, "api", &experiment.Measure{})
	client(13, 0, 20, 5) // of a service that died
	server(7, new(0.5), signals.Measure)
	client(7, 0, 0, 0)
	server(8, new(9.), signals.Warmup)
	k.add(&signals.Frame{Seq: 2, Phase: signals.Measure, Of: "db", Server: &signals.Server{CPU: new(9.)}}, "api", &experiment.Measure{})
	want := []endpoints.Interval{{CPU: 0.75, Ended: []float64{30, 10}, Grown: []float64{2, 10}}}
	if d := cmp.Diff(want, k.intervals([]string{"a", "b"}, 0.1, 1, false)); d != "" {
		t.Error(d)
	}
	if more := k.intervals([]string{"a", "b"}, 0.13, 1, false); len(more) != 3 {
		t.Errorf("%d frames with up to 13%% in flight, want 3", len(more))
	}
	// Two frames are one, if they follow each other and few are in flight at both ends.
	two := []endpoints.Interval{{CPU: 1.25, Ended: []float64{50, 15}, Grown: []float64{3, 15}}}
	if d := cmp.Diff(two, k.intervals([]string{"a", "b"}, 0.1, 2, false)); d != "" {
		t.Error(d)
	}
	// Where the mix varies on purpose, frames without requests count, too, and those alone.
	for seq, n := range map[int]int64{10: 4, 11: 0, 12: 0} {
		k.add(&signals.Frame{Seq: seq, Phase: signals.Vary, Of: "api", Server: &signals.Server{CPU: new(0.125), Up: true}}, "api", &experiment.Measure{})
		k.add(&signals.Frame{Seq: seq, Phase: signals.Vary, Client: &signals.Client{Kinds: map[string]*signals.Kind{"a": {Sent: n, Ended: n}}}}, "api", &experiment.Measure{})
	}
	idle := endpoints.Interval{CPU: 0.125, Ended: []float64{0, 0}, Grown: []float64{0, 0}}
	if d := cmp.Diff([]endpoints.Interval{idle, idle}, k.intervals([]string{"a", "b"}, 0.1, 1, true)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, k.intervals([]string{"a", "b"}, 0.1, 1, false)); d != "" {
		t.Error(d)
	}
	// Before the measured part it varies at the end of the warm-up.
	var before kindFrames
	for seq := range 3 {
		f := signals.Frame{Seq: seq, Phase: signals.Warmup, Of: "api", Server: &signals.Server{CPU: new(0.25), Up: true}}
		before.add(&f, "api", &experiment.Measure{Warmup: 3 * time.Second, Vary: 2 * time.Second, Interval: time.Second})
	}
	if before[0] != nil || !before[1].varied || !before[2].varied {
		t.Errorf("%+v", before)
	}
}
