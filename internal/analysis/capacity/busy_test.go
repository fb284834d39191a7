package capacity

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// A lock or a pool that is used up answers no more at a higher load. A service that answers
// nearly all of it has requests that are late for another reason.
func TestWhatKeepsUpIsNotUsedUp(t *testing.T) {
	over := func(load, answered float64) overload {
		all := sums.New()
		cpu, h := 1.8, signals.NewHistogram()
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, Of: "node", End: 2.5e9, Server: &signals.Server{CPU: &cpu, Up: true}}, "node")
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, End: 2.5e9, Agent: new(int), Client: &signals.Client{Good: int64(2.5 * answered), Latency: h, Service: h, SendLag: h}}, "node")
		return overload{load: load, sums: all}
	}
	for _, c := range []struct {
		name   string
		lowest float64
		top    overload
		want   finding.Kind
	}{
		{"it answers nearly all of half as much again", 320, over(480, 472), finding.KeepsUp},
		{"it answers no more", 320, over(480, 325), finding.FallsBehind},
		{"no more could hardly be seen", 460, over(480, 472), finding.NothingUsedUp},
	} {
		s := Stretch{Open: true, Sums: c.top.sums, over: []overload{{load: c.lowest, sums: sums.New()}, c.top},
			Goal: objective.Goal{Objective: &experiment.Objective{Latency: 100e6}}}
		if got := s.unknown(); got.Kind != c.want {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
	}
}

// The CPUs of a machine are not what limits a service that falls behind beside idle ones: its
// requests wait for a lock. That of 3 ms held a service in Go at 330 requests/s.
func TestIdleCPUsBesideRequestsThatWait(t *testing.T) {
	for _, c := range []struct {
		name           string
		answered, idle float64
		want           string
	}{
		{"it falls behind, and a quarter is idle", 332, 0.26, ""},
		{"it falls behind, and little is idle", 332, 0.05, summary.ByHost},
		{"it keeps up, and requests wait for a CPU", 636, 0.12, summary.ByHost},
	} {
		all := sums.New()
		cpu, h := 1.36*2.5, signals.NewHistogram()
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, Of: "go", End: 2.5e9, Server: &signals.Server{CPU: &cpu, Up: true}}, "go")
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, End: 2.5e9, Agent: new(int), Client: &signals.Client{Good: int64(2.5 * c.answered), Latency: h, Service: h, SendLag: h}}, "go")
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, End: 2.5e9, Host: &signals.Host{CPUs: 2, Idle: 2 * c.idle, Busy: 2 - 2*c.idle}}, "go")
		s := Stretch{Open: true, Sums: all, over: []overload{{load: 640, sums: all}}, Goal: objective.Goal{Objective: &experiment.Objective{Quantile: "p99", Latency: 20e6}}}
		if by, shown := s.busy(); by != c.want {
			t.Errorf("%s: %q, %+v", c.name, by, shown)
		}
	}
}
