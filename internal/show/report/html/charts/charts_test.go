package charts

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/test/sample"
)

func ptr[T any](v T) *T { return &v }

func values(all ...float64) []*float64 {
	out := make([]*float64, len(all))
	for i, v := range all {
		if !math.IsNaN(v) {
			out[i] = ptr(v)
		}
	}
	return out
}

var none = math.NaN()

func TestThinningKeepsSpikesAndDips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *float64 {
			if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
				return nil
			}
			return ptr(float64(rapid.IntRange(-999, 999).Draw(t, "value")))
		}), 1, 400).Draw(t, "line")
		points := rapid.IntRange(2, 100).Draw(t, "points")
		thin := newThinning(len(line), points)
		got := thin.pairs(line)
		seconds := make([]float64, len(line))
		for i := range seconds {
			seconds[i] = float64(i + 1)
		}
		times := thin.times(seconds)
		if len(got) != len(times) {
			t.Fatalf("%d values for %d moments", len(got), len(times))
		}
		for i := 1; i < len(times); i++ {
			if times[i] <= times[i-1] {
				t.Fatalf("the moments do not rise: %v", times)
			}
		}
		if len(line) > points && len(got) > points+2 {
			t.Fatalf("%d points remain of %d, at most %d are asked", len(got), len(line), points)
		}
		if a, b := extent(line), extent(got); a != b {
			t.Fatalf("from %v to %v", a, b)
		}
	})
}

func extent(line []*float64) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range line {
		if v != nil {
			low, high = min(low, *v), max(high, *v)
		}
	}
	return fmt.Sprint(low, high)
}

func TestThinningKeepsTheOrderWithinABucket(t *testing.T) {
	thin := newThinning(6, 4) // two buckets of three
	got := thin.pairs(values(5, 1, 3, 2, none, 9))
	if diff := cmp.Diff(values(5, 1, 2, 9), got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{1, 3, 4, 6}, thin.times([]float64{1, 2, 3, 4, 5, 6})); diff != "" {
		t.Error(diff)
	}
}

func TestThinnedPointsAreAFairSampleWithTheHighest(t *testing.T) {
	got := newThinning(9, 6).samples(values(5, 1, 7, 2, none, 9, none, none, none))
	if want := []int{0, 2, 3, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("samples %v, want %v", got, want)
	}
	if got := newThinning(3, 6).samples(values(1, 2, 3)); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("of few points only %v remain", got)
	}
}

func TestSpreadsTakeTheMedianOfTheTrialsThatMeasured(t *testing.T) {
	mid, low, high := spreads([][]*float64{values(1, 5, none), values(3, none, none), values(2, 7, none)})
	for name, c := range map[string][2][]*float64{
		"mid": {values(2, 6, none), mid}, "low": {values(1, 5, none), low}, "high": {values(3, 7, none), high},
	} {
		if diff := cmp.Diff(c[0], c[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTrialsShareOneGrid(t *testing.T) {
	// A negative time ends a drain.
	at := func(cell, trial int, times ...float64) summary.Series {
		one := summary.Series{Cell: cell, Trial: trial}
		for _, v := range times {
			phase := "measure"
			if v < 0 {
				phase = "drain"
			}
			one.Points = append(one.Points, summary.Point{T: math.Abs(v), RateRPS: ptr(math.Abs(v)), Phase: phase})
		}
		return one
	}
	rate := func(p *summary.Point) *float64 { return p.RateRPS }
	for name, c := range map[string]struct {
		a, b         []float64 // the ends of two trials' intervals
		moments      []float64
		laidA, laidB []*float64
	}{
		"a little early, a little late":        {[]float64{1.003, 2.001, 3.004}, []float64{0.998, 1.999, 3}, []float64{0.998, 1.999, 3}, values(1.003, 2.001, 3.004), values(0.998, 1.999, 3)},
		"a warm-up of half an interval":        {[]float64{0.5, 1.5, 2.5}, []float64{0.502, 1.501, 2.503}, []float64{0.5, 1.5, 2.5}, values(0.5, 1.5, 2.5), values(0.502, 1.501, 2.503)},
		"drains as long as their last answers": {[]float64{1, 2, -2.05}, []float64{1, 2, -2.9}, []float64{1, 2, 2.05, 2.9}, values(1, 2, 2.05, none), values(1, 2, none, 2.9)},
		"a drain that is over at once":         {[]float64{1, 2, -2}, []float64{1, 2.002}, []float64{1, 2}, values(1, 2), values(1, 2.002)},
		"a trial that was cut off":             {[]float64{1, 2, 3}, []float64{1}, []float64{1, 2, 3}, values(1, 2, 3), values(1, none, none)},
		"a gap":                                {[]float64{1, 2, 3, 4}, []float64{1, 4}, []float64{1, 2, 3, 4}, values(1, 2, 3, 4), values(1, none, none, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			series := []summary.Series{at(0, 1, c.a...), at(1, 2, c.b...)}
			g := newGrid(series)
			if diff := cmp.Diff(c.moments, g.moments); diff != "" {
				t.Fatalf("moments (-want +got): %s", diff)
			}
			if diff := cmp.Diff(c.laidA, g.lay(series[0], rate)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.laidB, g.lay(series[1], rate)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPhasesAreFoundOverAllTrials(t *testing.T) {
	d := sample.Procs()
	c := New(d)
	if math.Abs(c.Warmup-5) > 0.1 || c.Drain == nil || math.Abs(*c.Drain-25) > 0.1 {
		t.Errorf("warm-up until %v, drain from %v, want 5 and 25", c.Warmup, c.Drain)
	}
	if got := len(c.Clouds[1].Rate); got != 6*20 {
		t.Errorf("%d points in the cloud, want those of the measured part: 120", got)
	}
	if l := c.Lines["rate"][0]; l.Mid[len(l.Mid)-1] != nil {
		t.Error("the rate is drawn in the drain, where nothing was sent")
	}
	if l := c.Lines["memory"][0]; l.Mid[len(l.Mid)-1] == nil {
		t.Error("the memory is not drawn in the drain")
	}
	if c.Lines["wait_p99"][0] != nil {
		t.Error("a line for what was not measured")
	}
}

func TestEachDependencyHasItsLines(t *testing.T) {
	c := New(sample.Ramp())
	if len(c.Dependencies) != 1 || c.Dependencies[0] != "mongodb" {
		t.Fatalf("dependencies %q, want mongodb", c.Dependencies)
	}
	for _, name := range []string{"dependency_cpu:mongodb", "dependency_memory:mongodb"} {
		if all := c.Lines[name]; len(all) != 2 || all[0] == nil || all[1] == nil {
			t.Errorf("%s has no line of each cell: %v", name, all)
		}
	}
}

func TestWhatJSONCannotHoldIsNotMeasured(t *testing.T) {
	d := sample.Procs()
	d.Series[0].Points[3].P99 = ptr(math.NaN())
	d.Series[0].Points[4].RateRPS = ptr(math.Inf(1))
	d.Summary.Cells[0].LatencyMS.P99 = math.Inf(1)
	if _, err := json.Marshal(New(d)); err != nil {
		t.Fatal(err)
	}
}

func TestSeriesOfUnknownCellsAreLeftOut(t *testing.T) {
	d := sample.Failed()
	d.Series = []summary.Series{{Cell: 7, Trial: 1, Points: []summary.Point{{T: 1, RateRPS: ptr(1.0)}}}, {Cell: 0, Trial: 2}}
	if got := New(d); len(got.X) != 0 || got.Lines["rate"][0] != nil {
		t.Errorf("charts hold %v", got.X)
	}
}

func TestALongRecordIsThinnedAndKeepsItsSpike(t *testing.T) {
	c := New(sample.Long())
	if !c.Thinned {
		t.Error("the page does not say that it is thinned")
	}
	if got, want := extent(c.Lines["p99"][3].High), "9000"; got[len(got)-4:] != want {
		t.Errorf("the spike of 9,000 ms was lost: from and to %s", got)
	}
}
