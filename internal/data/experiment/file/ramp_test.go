package file_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

const ramping = `
name: ramping
services: {s: {command: [./server]}}
vary: {to: [300, 450], each: [10s, 1m]}
load: {request: {path: /}, rate: {stages: null, ramp: {from: 100, to: "${to}", by: 100, times: null, each: "${each}"}}}
`

// levelsOf are the levels of a load that jumps to each and holds it for each.
func levelsOf(t testing.TB, target *experiment.Target, each time.Duration) []float64 {
	t.Helper()
	var levels []float64
	for i := 0; i+1 < len(target.Stages); i += 2 {
		jump, hold := target.Stages[i], target.Stages[i+1]
		if jump.Duration != 0 || hold.Duration != each || jump.Target != hold.Target {
			t.Fatalf("stages %d and %d are no jump and hold of %v: %+v, %+v", i, i+1, each, jump, hold)
		}
		levels = append(levels, hold.Target)
	}
	if len(target.Stages)%2 != 0 || target.Value != 0 {
		t.Fatalf("no jumps and holds alone: %+v", target)
	}
	return levels
}

func TestTheLevelsOfARamp(t *testing.T) {
	for _, c := range []struct {
		name, ramp string
		want       []float64
	}{
		{"published steps", "rate: {ramp: {from: 100, to: 500, by: 100, each: 10s}}", []float64{100, 200, 300, 400, 500}},
		{"the last is held though no step leads to it", "rate: {ramp: {from: 100, to: 350, by: 100, each: 10s}}", []float64{100, 200, 300, 350}},
		{"a step beyond the end", "rate: {ramp: {from: 100, to: 150, by: 1000, each: 10s}}", []float64{100, 150}},
		{"tenths are tenths", "rate: {ramp: {from: 0.1, to: 0.5, by: 0.1, each: 10s}}", []float64{0.1, 0.2, 0.3, 0.4, 0.5}},
		{"doubling", "rate: {ramp: {from: 100, to: 1000, times: 2, each: 10s}}", []float64{100, 200, 400, 800, 1000}},
		{"doubling that meets its end", "rate: {ramp: {from: 1, to: 8, times: 2, each: 10s}}", []float64{1, 2, 4, 8}},
		{"by a tenth", "rate: {ramp: {from: 1, to: 1.4641, times: 1.1, each: 10s}}", []float64{1, 1.1, 1.21, 1.331, 1.4641}},
		{"users", "users: {ramp: {from: 5, to: 20, by: 5, each: 10s}}", []float64{5, 10, 15, 20}},
		{"users are whole, and rounding does not add up", "users: {ramp: {from: 5, to: 60, times: 1.5, each: 10s}}", []float64{5, 8, 11, 17, 25, 38, 57, 60}},
		{"a null beside what is given", "rate: {stages: null, ramp: {from: 1, to: 2, by: null, times: 2, each: 10s}}", []float64{1, 2}},
		{"all of it varied", "rate: {ramp: {from: \"${from}\", to: \"2${from}\", times: \"${from}\", each: \"${each}\"}}", []float64{1.5, 2.25, 3.375, 5.0625, 7.59375, 11.390625, 17.0859375, 21.5}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "name: x\nservices: {s: {command: [./server]}}\nload: {request: {path: /}, " + c.ramp + "}\n"
			if strings.Contains(c.ramp, "${") {
				text += "vary: {from: [1.5], each: [10s]}\n"
			}
			if diff := cmp.Diff(c.want, levelsOf(t, parse(t, text).Cells[0].Load.Target(), 10*time.Second)); diff != "" {
				t.Errorf("levels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARampIsAsLongAsItsLevels(t *testing.T) {
	type cell struct {
		Label    string
		Levels   []float64
		Measured time.Duration
	}
	var got []cell
	e := parse(t, ramping)
	for i := range e.Cells {
		c := &e.Cells[i]
		each := 10 * time.Second
		if *c.Vary[1].Value == "1m" {
			each = time.Minute
		}
		got = append(got, cell{c.Label(), levelsOf(t, c.Load.Rate, each), e.Measure.Measured(c)})
	}
	want := []cell{
		{"s to=300 each=10s", []float64{100, 200, 300}, 30 * time.Second},
		{"s to=300 each=1m", []float64{100, 200, 300}, 3 * time.Minute},
		{"s to=450 each=10s", []float64{100, 200, 300, 400, 450}, 50 * time.Second},
		{"s to=450 each=1m", []float64{100, 200, 300, 400, 450}, 5 * time.Minute},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestARampOfAHundredSteps(t *testing.T) {
	e := parse(t, "name: x\nservices: {s: {command: [./server]}}\nmeasure: {interval: 100ms}\nload: {request: {path: /}, rate: {ramp: {from: 1, to: 100, by: 1, each: 200ms}}}\n")
	levels := levelsOf(t, e.Cells[0].Load.Rate, 200*time.Millisecond)
	if len(levels) != 100 || levels[99] != 100 {
		t.Errorf("%d levels, want 100", len(levels))
	}
}

// Whatever a ramp says, it climbs from from to to, or it is refused.
func TestARampClimbs(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) string {
		whole := rapid.StringMatching(`[0-9]{1,4}`).Draw(t, "whole")
		return whole + rapid.SampledFrom([]string{"", ".5", ".1", ".000000001", ".999999999"}).Draw(t, "part")
	})
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"users", "rate"}).Draw(t, "kind")
		step := rapid.SampledFrom([]string{"by", "times"}).Draw(t, "step")
		from, to := number.Draw(t, "from"), number.Draw(t, "to")
		text := "name: x\nservices: {s: {command: [./server]}}\nload: {request: {path: /}, " + kind + ": {ramp: {from: " + from + ", to: " + to + ", " + step + ": " + number.Draw(t, "size") + ", each: 2s}}}\n"
		e, err := file.Parse("x.yaml", []byte(text), nil)
		if err != nil {
			return
		}
		stages := e.Cells[0].Load.Target().Stages
		if len(stages) < 4 || len(stages) > 2000 {
			t.Fatalf("%d stages of\n%s", len(stages), text)
		}
		for i := 1; i+1 < len(stages); i += 2 {
			if stages[i+1].Target <= stages[i].Target {
				t.Fatalf("%v is not above %v in\n%s", stages[i+1].Target, stages[i].Target, text)
			}
		}
		first, _ := strconv.ParseFloat(from, 64)
		last, _ := strconv.ParseFloat(to, 64)
		if stages[0].Target != first || stages[len(stages)-1].Target != last {
			t.Fatalf("from %v to %v of\n%s", stages[0].Target, stages[len(stages)-1].Target, text)
		}
	})
}
