package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/endpoints"
	"github.com/millicore/millicore/internal/data/signals"
)

// A frame counts if its CPU time is known and few of its requests were in flight at its end.
func TestIntervalsOfKinds(t *testing.T) {
	var k kindFrames
	server := func(seq int, cpu *float64, phase signals.Phase) {
		k.add(&signals.Frame{Seq: seq, Phase: phase, Of: "api", Server: &signals.Server{CPU: cpu}}, "api")
	}
	client := func(seq int, inFlight, a, b int64) {
		k.add(&signals.Frame{Seq: seq, Phase: signals.Measure, Client: &signals.Client{InFlight: inFlight,
			Kinds: map[string]*signals.Kind{"a": {Ended: a}, "b": {Ended: b}}}}, "api")
	}
	// Two replicas and two agents.
	server(1, new(0.25), signals.Measure)
	server(1, new(0.5), signals.Measure)
	client(1, 2, 20, 5)
	client(1, 1, 10, 5)
	server(2, new(0.5), signals.Measure)
	client(2, 3, 20, 5) // many are in flight
	server(3, nil, signals.Measure)
	client(3, 0, 20, 5)
	client(4, 0, 20, 5) // no replica
	server(5, new(0.5), signals.Measure)
	client(5, 0, 0, 0)
	server(6, new(9.), signals.Warmup)
	k.add(&signals.Frame{Seq: 1, Phase: signals.Measure, Of: "db", Server: &signals.Server{CPU: new(9.)}}, "api")
	want := []endpoints.Interval{{CPU: 0.75, Ended: []float64{30, 10}}}
	if d := cmp.Diff(want, k.intervals([]string{"a", "b"})); d != "" {
		t.Error(d)
	}
}
