package analysis

import (
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/test/testkit/fixture"
)

func TestMemoryThatGrowsFromRunToRunIsFound(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name  string
		peaks []float64 // MiB
		limit int64     // MiB; 0: none
		kept  bool
		want  string // "": nothing is found
	}{
		{"the published one", []float64{80, 144, 224}, 0, true, "peaks of 80, 144, 224 MiB: 2.8 times in 3 runs without a restart"},
		{"under a limit", []float64{64, 128, 192}, 256, true, "peaks of 25, 50, 75% of its limit of 256 MiB: 3 times in 3 runs without a restart"},
		{"one step down", []float64{80, 144, 140}, 0, true, ""},
		{"the noise of a small heap", []float64{20, 20.5, 21.2}, 0, true, ""},
		{"the noise of a large one", []float64{1000, 1019, 1039}, 0, true, ""},
		{"two runs", []float64{80, 144}, 0, true, ""},
		{"restarted for each run", []float64{80, 144, 224}, 0, false, ""},
		{"not measured", nil, 0, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cell := summary.Cell{}
			if c.limit > 0 {
				cell.Limits.MemoryBytes = new(c.limit * mib)
			}
			for i, p := range c.peaks {
				cell.PerTrial = append(cell.PerTrial, summary.TrialFigures{Trial: i + 1, MemoryPeak: new(p * mib)})
			}
			b := &Builder{exp: &experiment.Experiment{Measure: experiment.Measure{Kept: c.kept}}}
			got, found := b.growth(&cell)
			got = worded(got)
			if found != (c.want != "") || got.Text != c.want {
				t.Errorf("%v %q\nwant %q", found, got.Text, c.want)
			}
		})
	}
}

// TestAKeptServiceHasPeaksOfItsTrials guards against the kernel's peak, which covers
// the replica's whole life.
func TestAKeptServiceHasPeaksOfItsTrials(t *testing.T) {
	for _, c := range []struct {
		name string
		kept bool
		want float64
	}{{"restarted", false, 90}, {"kept", true, 40}} {
		t.Run(c.name, func(t *testing.T) {
			e := fixture.Experiment(experiment.Load{Users: &experiment.Target{Value: 10}})
			e.Measure.Kept = c.kept
			f := fixture.Server(1, signals.Measure, 0.5, 10, 0)
			f.Server.Memory, f.Server.MemoryPeak = new(int64(40)), new(int64(90))
			got, _ := build(e, fixture.Client(1, signals.Measure, 10, 0), f)
			if p := got.PerTrial[0].MemoryPeak; p == nil || *p != c.want {
				t.Errorf("peak %v, want %v", shownFigure(p), c.want)
			}
		})
	}
}

// shownFigure is a figure in the message of a test.
func shownFigure(v *float64) any {
	if v == nil {
		return "none"
	}
	return *v
}
