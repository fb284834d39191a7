package analysis

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// An agent that its own limit throttles records late times for requests that end
// meanwhile.
func TestAThrottledAgentIsTheLimit(t *testing.T) {
	users := 1.0
	for _, c := range []struct {
		seconds float64
		flagged bool
	}{{0, false}, {0.004, false}, {0.005, true}, {0.3, true}} {
		e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: users}, Agents: 1})
		// The service uses its whole limit, but that does not make the agent's times
		// right.
		s, _ := build(e, fixture.ThrottledFor(c.seconds), fixture.Server(0, signals.Measure, 0.99, 10, 10))
		if got := s.Has(summary.FlagAgentThrottled); got != c.flagged || s.Generator.Limited != c.flagged {
			t.Errorf("%v s: flags %v, limited %v", c.seconds, s.Flags, s.Generator.Limited)
		}
		if s.Generator.ThrottledShare == nil || *s.Generator.ThrottledShare != c.seconds {
			t.Errorf("%v s: a share of %v", c.seconds, s.Generator.ThrottledShare)
		}
	}
	s, _ := build(fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: users}, Agents: 1}), fixture.Client(0, signals.Measure, 100, 10*time.Millisecond))
	if s.Generator.ThrottledShare != nil {
		t.Error("what was not measured is not null")
	}
}

func TestALostAgentIsReportedAndMakesRatesLowerBounds(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Rate: &experiment.Target{Value: 100}, Agents: 4})
	b := New(e, []Attempt{{Trial: 1, Lost: []int{2, 3}}})
	b.Add(fixture.Client(0, signals.Measure, 100, 10*time.Millisecond))
	s := b.Cells()[0]
	if !s.Has(summary.FlagAgentLost) || !s.Generator.Limited || s.Generator.Lost != 2 {
		t.Errorf("flags %v, generator %+v", s.Flags, s.Generator)
	}
}

// An agent that was continued lost time, and nothing else of the record says so.
func TestAnAgentThatASignalStoppedIsReported(t *testing.T) {
	for name, attempt := range map[string]Attempt{"continued": {Trial: 1, Held: []int{0}}, "killed": {Trial: 1, State: Failed, Held: []int{0}}, "never stopped": {Trial: 1}} {
		b := New(fixture.Experiment(experiment.Load{Rate: &experiment.Target{Value: 100}, Agents: 1}), []Attempt{attempt})
		b.Add(fixture.Client(0, signals.Measure, 100, 10*time.Millisecond))
		if s := b.Cells()[0]; s.Has(summary.FlagAgentStopped) != (len(attempt.Held) > 0) {
			t.Errorf("%s: flags %v", name, s.Flags)
		}
	}
}

// If the throttle windows of a service are unknown, nothing is known about the effect
// of throttling on its tail. If it was not throttled, or the windows are known, the
// tail is divided.
func TestATailWithoutWindows(t *testing.T) {
	for name, c := range map[string]struct {
		throttled      int64
		blind, unknown bool
	}{
		"throttled, and nobody saw when": {4, true, true},
		"not throttled":                  {0, true, false},
		"throttled, and seen":            {4, false, false},
	} {
		e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 1}, Agents: 1})
		b := New(e, []Attempt{{Trial: 1}})
		if c.blind {
			b.NoWindows()
		}
		b.Add(fixture.Client(0, signals.Measure, 100, 100*time.Millisecond))
		b.Add(fixture.Server(0, signals.Measure, 0.5, 10, c.throttled))
		b.Slow(&signals.SlowLine{Trial: 1, Slow: signals.Slow{Intended: 5e8, Sent: 5e8, Done: 6e8, For: 1}})
		s := b.Cells()[0]
		if (s.Causes == nil) != c.unknown || s.Has(summary.FlagNoWindows) != c.unknown {
			t.Errorf("%s: causes %+v, flags %v", name, s.Causes, s.Flags)
		}
	}
}

func scaleFrame(seq, replicas int, phase signals.Phase) *signals.Frame {
	return &signals.Frame{Trial: 1, Seq: seq, Start: int64(seq) * 1e9, End: int64(seq+1) * 1e9, Phase: phase, Of: "go", Scale: &signals.Scale{Replicas: replicas}}
}

// New replicas use CPU from then on. Their number is that of the platform, not that of
// the frames, of which some may be missing.
func TestReplicasOverTime(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 1}, Agents: 1})
	e.Cells[0].Service.Autoscale = &experiment.Autoscale{Min: 1, Max: 8, CPUPercent: 60}
	e.Cells[0].Limits.Replicas = 1
	second := fixture.Server(2, signals.Measure, 0.5, 10, 0)
	second.Index = 1
	s, series := build(e,
		fixture.Client(0, signals.Warmup, 100, 10*time.Millisecond), scaleFrame(0, 9, signals.Warmup),
		fixture.Client(1, signals.Measure, 100, 10*time.Millisecond), scaleFrame(1, 1, signals.Measure), fixture.Server(1, signals.Measure, 1, 10, 0),
		fixture.Client(2, signals.Measure, 100, 10*time.Millisecond), scaleFrame(2, 2, signals.Measure), fixture.Server(2, signals.Measure, 1, 10, 0), second,
		fixture.Client(3, signals.Measure, 100, 10*time.Millisecond), scaleFrame(3, 3, signals.Measure),
	)
	if diff := cmp.Diff(&summary.Replicas{Least: 1, Most: 3, Mean: 2}, s.Replicas); diff != "" {
		t.Errorf("replicas (-want +got):\n%s", diff)
	}
	if s.Limits.Replicas != 1 || s.Limits.MostReplicas != 8 {
		t.Errorf("limits %+v", s.Limits)
	}
	// 2.5 s of CPU in three measured replica-seconds, with two replicas on average.
	if got := *s.CPU.Cores; math.Abs(got-2.5/3*2) > 1e-9 {
		t.Errorf("%v cores", got)
	}
	var counts []float64
	for _, p := range series[0].Points {
		counts = append(counts, *p.Replicas)
	}
	if diff := cmp.Diff([]float64{9, 1, 2, 3}, counts); diff != "" {
		t.Errorf("over time (-want +got):\n%s", diff)
	}
}
