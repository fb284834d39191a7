package analysis

import (
	"slices"
	"time"

	"github.com/millicore/millicore/internal/analysis/capacity"
	"github.com/millicore/millicore/internal/analysis/causes"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

// slowTail collects what the causes of a cell's slow tail are computed from.
type slowTail struct {
	causes *causes.Builder
	slow   []signals.SlowLine // until it is known which of them count
}

// add takes a frame of a trial. For a search it uses the warm-up alone, which shows
// when the trial began: the frames of the windows that tested its answer are added with
// the result.
func (s *slowTail) add(t *trial, f *signals.Frame) {
	if t.search == nil || f.Phase == signals.Warmup {
		s.causes.Frame(f)
	}
}

// result attributes the slow tail of the trials to its causes; all are the sums of
// their figures. It returns nil if no slow request was kept. It can be called once.
func (s *slowTail) result(trials []*trial, g objective.Goal, all *sums.Total) *summary.Causes {
	if all.Client.Latency.Count() == 0 {
		return nil
	}
	of := 0
	for _, t := range trials {
		if t.search == nil {
			of++
			continue
		}
		for _, step := range t.search.Tests() {
			s.causes.Merge(step.Causes)
		}
		of += min(1, len(t.search.Tests()))
	}
	for i := range s.slow {
		if countsForCauses(trials, &s.slow[i]) {
			s.causes.Slow(s.slow[i])
		}
	}
	s.slow = nil
	name := g.Quantile()
	if name != "p999" {
		name = "p99" // agents keep requests above their p95, so the tail of a lower quantile is incomplete
	}
	c := s.causes.Result(name, all.Client.Latency.Quantile(summary.QuantileShare(name)), all.Client.Service.Quantile(0.5))
	if c != nil {
		c.Trials = of
	}
	return c
}

// late are the slow requests of the trials that ended, later than the objective's latency,
// in the windows that show what limits the service. usual is how long a request takes. It
// returns how many they are, and how many of them the CPU limit may have delayed.
func (s *slowTail) late(trials []*trial, g objective.Goal, usual time.Duration) (may, of float64) {
	var late []signals.SlowLine
	for _, t := range trials {
		if t.search == nil || !g.HasLatency() {
			continue
		}
		windows := t.search.Above()
		for i := range s.slow {
			r := &s.slow[i]
			if r.Trial == t.attempt.Trial && r.Done-r.Intended > int64(g.Objective.Latency) && endedIn(windows, r) {
				late = append(late, *r)
			}
		}
	}
	return s.causes.Contended(late, usual)
}

// countsForCauses reports whether a slow request ended in a window whose causes are
// computed.
func countsForCauses(trials []*trial, s *signals.SlowLine) bool {
	for _, t := range trials {
		if t.attempt.Trial == s.Trial && (t.search == nil || endedIn(t.search.Tests(), s)) {
			return true
		}
	}
	return false
}

func endedIn(windows []*capacity.ReplayedStep, s *signals.SlowLine) bool {
	return slices.ContainsFunc(windows, func(w *capacity.ReplayedStep) bool { return s.Done > w.Start && s.Done <= w.End })
}
