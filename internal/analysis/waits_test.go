package analysis

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestWaitsAreReadFromTheServicesOwnBuckets(t *testing.T) {
	waits := func(seq int, bounds []float64, sum float64, counts ...int64) *signals.Frame {
		return &signals.Frame{Trial: 1, Seq: seq, Start: int64(seq) * 1e9, End: int64(seq+1) * 1e9, Phase: signals.Measure, Of: "go",
			Waits: &signals.Waits{Bounds: bounds, Counts: counts, Sum: sum}}
	}
	bounds := []float64{0.001, 0.01, 0.1}
	for _, c := range []struct {
		name   string
		frames []*signals.Frame
		want   *summary.Waits
	}{
		{"none", nil, nil},
		{"no wait", []*signals.Frame{waits(1, bounds, 0, 0, 0, 0, 0)}, nil},
		{"evenly within a bucket", []*signals.Frame{waits(1, bounds, 0.5, 0, 100, 0, 0)}, &summary.Waits{P50: new(5.5), P99: new(9.91), Mean: 5}},
		{"from nothing in the lowest", []*signals.Frame{waits(1, bounds, 0.05, 100, 0, 0, 0)}, &summary.Waits{P50: new(0.5), P99: new(0.99), Mean: 0.5}},
		{"above all bounds", []*signals.Frame{waits(1, bounds, 100, 0, 0, 0, 10)}, &summary.Waits{P50: new(100.0), P99: new(100.0), Mean: 10000}},
		{"of two intervals", []*signals.Frame{waits(1, bounds, 0.1, 10, 0, 0, 0), waits(2, bounds, 0.9, 0, 0, 10, 0)}, &summary.Waits{P50: new(1.0), P99: new(98.2), Mean: 50}},
		{"a bucket on the way is empty", []*signals.Frame{waits(1, bounds, 1, 1, 0, 1, 0)}, &summary.Waits{P50: new(1.0), P99: new(98.2), Mean: 500}},
		{"with other bounds no quantile is known", []*signals.Frame{waits(1, bounds, 0.1, 10, 0, 0, 0), waits(2, []float64{1, 2, 3}, 0.9, 10, 0, 0, 0)}, &summary.Waits{Mean: 50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
			frames := append([]*signals.Frame{fixture.Client(1, signals.Measure, 10, 0), fixture.Client(2, signals.Measure, 10, 0)}, c.frames...)
			got, _ := build(e, frames...)
			if diff := cmp.Diff(c.want, got.WaitsMS, closeTo); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

// closeTo allows for floating-point errors.
var closeTo = cmp.Comparer(func(a, b float64) bool { return a == b || (a-b < 1e-9 && b-a < 1e-9) })

func TestSeriesShowEachDependencyAndTheWaits(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	db := fixture.Server(1, signals.Warmup, 0.25, 10, 0)
	db.Of, db.Phase, db.Server.Memory = "db", signals.Warmup, new(int64(1000))
	below := fixture.Server(1, signals.Warmup, 0.5, 10, 0)
	below.Of, below.Index, below.Server.Memory = "db", 1, new(int64(500))
	w := &signals.Frame{Trial: 1, Seq: 1, Start: 1e9, End: 2e9, Phase: signals.Warmup, Of: "go", Waits: &signals.Waits{Bounds: []float64{0.01}, Counts: []int64{10, 0}, Sum: 0.05}}
	_, series := build(e, fixture.Client(1, signals.Warmup, 10, 0), db, below, w)
	p := series[0].Points[0]
	if diff := cmp.Diff(map[string]summary.DependencyPoint{"db": {CPU: new(0.75), Memory: new(1500.0)}}, p.Dependencies); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
	if p.WaitP50 == nil || *p.WaitP50 != 5 || *p.WaitMean != 5 {
		t.Errorf("waits: p50 %v, mean %v, want 5 ms each, in the warm-up too", shownFigure(p.WaitP50), shownFigure(p.WaitMean))
	}
}

func TestTheBusiestFrameIsThatOfAllReplicasTogether(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	frame := func(seq, replica int, phase signals.Phase, cpu float64) *signals.Frame {
		f := fixture.Server(seq, phase, cpu, 10, 0)
		f.Index = replica
		return f
	}
	short := frame(5, 0, signals.Measure, 0.5)
	short.End = short.Start + 1e8 // 5 cores in a tenth of a second
	got, _ := build(e, fixture.Client(1, signals.Measure, 10, 0), frame(0, 0, signals.Warmup, 9), frame(1, 0, signals.Measure, 0.5), frame(1, 1, signals.Measure, 0.75),
		frame(2, 0, signals.Measure, 1), short)
	if p := got.PerTrial[0].CPUMax; p == nil || *p != 1.25 {
		t.Errorf("the busiest frame has %v cores, want 1.25", shownFigure(p))
	}
}
