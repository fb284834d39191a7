package verdict

import (
	"math"
	"testing"

	"github.com/millicore/millicore/internal/analysis/summary"
)

// Of the kinds with a tenth of the CPU time, the least known one decides how long to measure.
func TestHowLongToMeasureKinds(t *testing.T) {
	kind := func(each, off, share float64) summary.KindFigures {
		return summary.KindFigures{CPUMS: new(each), CPULow: new(each - off), CPUHigh: new(each + off), ShareOfCPU: new(share)}
	}
	for name, c := range map[string]struct {
		kinds []summary.KindFigures
		want  float64
	}{
		"known":                     {[]summary.KindFigures{kind(9, 0.8, 0.7), kind(2, 0.1, 0.3)}, 0},
		"one is not":                {[]summary.KindFigures{kind(9, 0.8, 0.7), kind(2, 0.6, 0.3)}, 9},
		"one has little of the CPU": {[]summary.KindFigures{kind(9, 1.8, 0.95), kind(0.2, 0.4, 0.05)}, 4},
		"one may have others' work": {[]summary.KindFigures{kind(9, 2.7, 0.7), {CPUMS: new(2.), CPULow: new(0.), CPUHigh: new(2.2), ShareOfCPU: new(0.3)}}, 0},
		"none is estimated":         {[]summary.KindFigures{{Name: "a"}, {Name: "b"}}, 0},
		"the load has one kind":     {nil, 0},
	} {
		if got := Longer(&summary.Cell{Kinds: c.kinds}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A kind is named if both ends of its interval are near its cost.
func TestCostliestHasBothEndsNear(t *testing.T) {
	kind := func(name string, low, each, high, share float64) summary.KindFigures {
		return summary.KindFigures{Name: name, CPULow: &low, CPUMS: &each, CPUHigh: &high, ShareOfCPU: &share}
	}
	for low, want := range map[float64]bool{8.5: true, 6.5: false} {
		c := &summary.Cell{Kinds: []summary.KindFigures{kind("a", low, 9, 9.5, 0.7), kind("b", 0.9, 1, 1.1, 0.3)}}
		if got := Costliest(c); (got != nil) != want {
			t.Errorf("from %v: %v", low, got)
		}
	}
}
