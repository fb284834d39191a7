package capacity

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
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
