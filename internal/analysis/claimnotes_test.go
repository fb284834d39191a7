package analysis

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/verdict"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/lab/wording"
	"github.com/millicore/millicore/test/testkit/fixture"
)

// TestADisturbedRampIsNoBreakingPointOfTheService covers the way from frames to the
// verdict.
func TestADisturbedRampIsNoBreakingPointOfTheService(t *testing.T) {
	for _, c := range []struct {
		name    string
		levels  []fixture.Level
		verdict summary.Verdict
	}{
		{"nobody else took CPU", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Slow, fixture.Slow}, summary.NotReproduced},
		{"somebody did where it misses", []fixture.Level{fixture.Fine, fixture.Fine, fixture.Beside, fixture.Slow}, summary.Inconclusive},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture.Ramp(100, 200, 300, 400)
			e.Claims = []experiment.Claim{{Metric: verdict.BreakingPointMetric, Of: &experiment.Selector{Service: "go"}, Above: new(350.0)}}
			b := New(e, []Attempt{{Trial: 1}})
			fill(b.cell(0), 0, c.levels)
			s := b.Summarize(summary.Experiment{}, record.Host{})
			wording.Fill(s)
			if got := s.Claims[0]; got.Verdict != c.verdict {
				t.Errorf("%s: %s, want %s", got.Verdict, got.Reason, c.verdict)
			}
			if got := s.Cells[0].Has(summary.FlagSearchDisturbed); got != (c.verdict == summary.Inconclusive) {
				t.Errorf("flags %v", s.Cells[0].Flags)
			}
		})
	}
}

func TestOOMKillsAreThoseOfAllReplicasOfATrial(t *testing.T) {
	e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
	b := New(e, []Attempt{{Trial: 1}, {Trial: 2, Repeat: 1}})
	for trial := 1; trial <= 2; trial++ {
		for replica := range 2 {
			for seq, phase := range []signals.Phase{signals.Warmup, signals.Measure, signals.Drain} {
				f := fixture.Server(seq, phase, 0.1, 10, 0)
				f.Trial, f.Index, f.Of = trial, replica, e.Cells[0].Service.Name
				f.Server.OOMKills, f.Server.Restarts = new(int64(trial)), 1
				b.Add(f)
			}
		}
	}
	got := b.Cells()[0]
	if *got.Memory.OOMKills != 18 || *got.PerTrial[0].OOMKills != 6 || *got.PerTrial[1].OOMKills != 12 || *got.PerTrial[1].Restarts != 6 {
		t.Errorf("%d kills, of the trials %v and %v, and %v restarts; want 18 of 6 and 12, and 6", *got.Memory.OOMKills, *got.PerTrial[0].OOMKills, *got.PerTrial[1].OOMKills, *got.PerTrial[1].Restarts)
	}
}

func TestAClaimAtOneLevelOfARamp(t *testing.T) {
	quick := fixture.Level{Latency: 5 * time.Millisecond}
	for _, c := range []struct {
		name    string
		metric  string
		at      float64
		bound   float64
		trials  [][]fixture.Level
		verdict summary.Verdict
		reason  string
	}{
		{"as that level shows it", "p99", 200, 8, [][]fixture.Level{{fixture.Slow, quick, fixture.Slow}, {fixture.Slow, quick, fixture.Slow}}, summary.NotReproduced,
			"the range of 2 trials, too few for a 95% interval, lies below 8 ms"},
		{"another level", "p99", 300, 8, [][]fixture.Level{{fixture.Slow, quick, fixture.Slow}, {fixture.Slow, quick, fixture.Slow}}, summary.Reproduced,
			"the range of 2 trials, too few for a 95% interval, lies above 8 ms"},
		{"its CPU", "cpu_of_limit", 200, 0.8, [][]fixture.Level{{fixture.Fine, {CPU: 0.9}, fixture.Fine}, {fixture.Fine, {CPU: 0.95}, fixture.Fine}}, summary.Reproduced,
			"the range of 2 trials, too few for a 95% interval, lies above 80%"},
		{"six ramps", "p99", 200, 8, [][]fixture.Level{{fixture.Fine, fixture.Fine}, {fixture.Fine, fixture.Fine}, {fixture.Fine, fixture.Fine}, {fixture.Fine, fixture.Fine}, {fixture.Fine, fixture.Fine}, {fixture.Fine, fixture.Fine}}, summary.Reproduced,
			"the 95% interval lies above 8 ms"},
		{"one ramp has no spread", "p99", 200, 8, [][]fixture.Level{{fixture.Fine, fixture.Fine, fixture.Fine}}, summary.Inconclusive,
			"one trial of go at 200 requests/s gives no interval; repeat it, ideally six times"},
		{"a neighbour at another level", "p99", 200, 8, [][]fixture.Level{{fixture.Beside, fixture.Fine, fixture.Fine}, {fixture.Fine, fixture.Fine, fixture.Fine}}, summary.Reproduced,
			"the range of 2 trials, too few for a 95% interval, lies above 8 ms"},
		{"a neighbour at that level", "p99", 200, 8, [][]fixture.Level{{fixture.Fine, fixture.Beside, fixture.Fine}, {fixture.Fine, fixture.Fine, fixture.Fine}}, summary.Inconclusive,
			"other processes took CPU while go at 200 requests/s was measured"},
		{"the generator sent late there", "p99", 200, 8, [][]fixture.Level{{fixture.Fine, fixture.Late, fixture.Fine}, {fixture.Fine, fixture.Late, fixture.Fine}}, summary.Inconclusive,
			"the requests of go at 200 requests/s were sent late, so part of the latency is the generator's"},
		{"the ramp was cut off below it", "p99", 300, 8, [][]fixture.Level{{fixture.Fine}, {fixture.Fine}}, summary.Inconclusive, "nothing was measured for go at 300 requests/s"},
		{"a level that the load does not hold", "p99", 250, 8, [][]fixture.Level{{fixture.Fine}, {fixture.Fine}}, summary.Inconclusive, "the load of go holds no level of 250 in this run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture.Ramp(100, 200, 300)
			e.Claims = []experiment.Claim{{Metric: c.metric, At: &c.at, Of: &experiment.Selector{Service: "go"}, Above: &c.bound}}
			var attempts []Attempt
			for i := range c.trials {
				attempts = append(attempts, Attempt{Trial: i + 1, Repeat: i})
			}
			b := New(e, attempts)
			for i, levels := range c.trials {
				fill(b.cell(0), i, levels)
			}
			s := b.Summarize(summary.Experiment{}, record.Host{})
			wording.Fill(s)
			got := s.Claims[0]
			if got.Verdict != c.verdict || got.Reason != c.reason {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Reason, c.verdict, c.reason)
			}
			if got.At == nil || *got.At != c.at {
				t.Errorf("at %v, want %v", got.At, c.at)
			}
		})
	}
}
