package schedule

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func mustCurve(t testing.TB, stages ...Stage) *Curve {
	t.Helper()
	c, err := NewCurve(stages)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const sec = time.Second

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(a)+math.Abs(b)) }

func TestCurveByHand(t *testing.T) {
	// 0 to 100 in 10 s, 5 s at 100, then at once down to 20 for 5 s.
	c := mustCurve(t, Stage{Length: 10 * sec, From: 0, To: 100}, Stage{Length: 5 * sec, From: 100, To: 100}, Stage{Length: 5 * sec, From: 20, To: 20})
	for _, p := range []struct {
		at                  time.Duration
		is, until, integral float64
	}{
		{-sec, 0, 0, 0},
		{0, 0, 0, 0},
		{5 * sec, 50, 50, 125},
		{10 * sec, 100, 100, 500},
		{12 * sec, 100, 100, 700},
		{15 * sec, 20, 100, 1000},
		{16 * sec, 20, 20, 1020},
		{20 * sec, 20, 20, 1100},
		{99 * sec, 20, 20, 1100},
	} {
		if got := c.At(p.at); !near(got, p.is) {
			t.Errorf("at %v: %v; want %v", p.at, got, p.is)
		}
		if got := c.Until(p.at); !near(got, p.until) {
			t.Errorf("until %v: %v; want %v", p.at, got, p.until)
		}
		if got := c.Integral(p.at); !near(got, p.integral) {
			t.Errorf("integral to %v: %v; want %v", p.at, got, p.integral)
		}
	}
	if c.Length() != 20*sec || c.Peak() != 100 {
		t.Errorf("length %v, peak %v; want 20s, 100", c.Length(), c.Peak())
	}
}

func TestInverseByHand(t *testing.T) {
	c := mustCurve(t, Stage{Length: 10 * sec, From: 0, To: 100}, Stage{Length: 5 * sec, From: 0, To: 0}, Stage{Length: 10 * sec, From: 100, To: 0})
	for _, p := range []struct {
		n    float64
		at   time.Duration
		want bool
	}{
		{0, 0, true},
		{5, sec, true}, // 5 t² = 5
		{125, 5 * sec, true},
		{500, 15 * sec, true}, // nothing is due in the pause
		{500 + 95, 16 * sec, true},
		{999.999, 0, true},
		{1000, 0, false},
		{1e9, 0, false},
	} {
		at, ok := c.Inverse(p.n)
		if ok != p.want || p.at > 0 && (at-p.at).Abs() > time.Nanosecond {
			t.Errorf("inverse of %v: %v, %v; want %v, %v", p.n, at, ok, p.at, p.want)
		}
	}
}

func TestWarmupKeepsTheFirstFigure(t *testing.T) {
	c := mustCurve(t, Stage{Length: 10 * sec, From: 40, To: 80}).After(5 * sec)
	if c.Length() != 15*sec || c.At(2*sec) != 40 || c.At(5*sec) != 40 || !near(c.At(10*sec), 60) {
		t.Errorf("%v long, %v, %v, %v; want 15s, 40, 40, 60", c.Length(), c.At(2*sec), c.At(5*sec), c.At(10*sec))
	}
	if !near(c.Integral(15*sec), 200+600) {
		t.Errorf("integral %v; want 800", c.Integral(15*sec))
	}
	if same := c.After(0); same != c {
		t.Error("no warm-up changed the curve")
	}
}

func TestAnEndlessStage(t *testing.T) {
	c := mustCurve(t, Stage{Length: Endless, From: 50, To: 50})
	if c.At(1000*time.Hour) != 50 || c.Until(time.Nanosecond) != 50 {
		t.Error("an endless stage has one figure")
	}
}

// A warm-up may end with stages of its own, of which some omit a kind.
func TestAWarmUpThatEndsWithStages(t *testing.T) {
	c, err := mustCurve(t, Stage{Length: 10 * sec, From: 40, To: 80}).Led([]Stage{{Length: sec, From: 10, To: 10, Omits: "a"}, {Length: 2 * sec}})
	if err != nil {
		t.Fatal(err)
	}
	moved := c.After(5 * sec)
	for at, want := range map[time.Duration]float64{0: 40, 2*sec - 1: 40, 2 * sec: 10, 3 * sec: 0, 5*sec - 1: 0, 5 * sec: 40, 15 * sec: 80} {
		if got := moved.At(at); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
	if got := moved.Integral(15 * sec); got != 2*40+10+10*60 {
		t.Errorf("%v in all", got)
	}
	if moved.Length() != 15*sec || moved.Omits(2*sec) != "a" || moved.Omits(3*sec) != "" || !slices.Equal(moved.Omitted(), []string{"a"}) {
		t.Errorf("%+v", moved)
	}
	if whole := c.After(3 * sec); whole.At(0) != 10 || whole.Length() != 13*sec || len(whole.parts) != 3 {
		t.Errorf("a warm-up that is as long: %+v", whole)
	}
	if short := c.After(2 * sec); short.At(sec) != 40 || short.Length() != 12*sec {
		t.Errorf("a warm-up that is shorter: %+v", short)
	}
	if _, err := c.Led([]Stage{{Length: -1}}); err == nil {
		t.Error("want an error")
	}
}

func TestInvalidCurves(t *testing.T) {
	for name, stages := range map[string][]Stage{
		"none":              nil,
		"no duration":       {{Length: 0, From: 1, To: 1}},
		"negative duration": {{Length: -1, From: 1, To: 1}},
		"negative figure":   {{Length: sec, From: 1, To: -1}},
		"no number":         {{Length: sec, From: math.NaN(), To: 1}},
		"infinite":          {{Length: sec, From: 1, To: math.Inf(1)}},
		"too long":          {{Length: Endless, From: 1, To: 1}, {Length: sec, From: 1, To: 1}},
		"an endless ramp":   {{Length: Endless, From: 1, To: 2}},
	} {
		if _, err := NewCurve(stages); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

// anyCurve draws a curve of a few stages, with jumps, ramps and pauses.
func anyCurve(t *rapid.T) *Curve {
	var stages []Stage
	for range rapid.IntRange(1, 4).Draw(t, "stages") {
		stages = append(stages, Stage{Length: time.Duration(rapid.Int64Range(1, int64(100*sec)).Draw(t, "length")), From: rapid.Float64Range(0, 5000).Draw(t, "from"), To: rapid.Float64Range(0, 5000).Draw(t, "to")})
	}
	c, err := NewCurve(stages)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The integral rises, and the inverse undoes it to the nanosecond, or, where
// the figure is so low that many nanoseconds have the same integral, in the
// integral.
func TestInverseUndoesIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCurve(t)
		at := time.Duration(rapid.Int64Range(0, int64(c.Length())-1).Draw(t, "at"))
		n := c.Integral(at)
		if later := c.Integral(at + sec/10); later < n {
			t.Fatalf("the integral falls from %v to %v", n, later)
		}
		back, ok := c.Inverse(n)
		if !ok {
			if n < c.Integral(c.Length())*(1-1e-12) {
				t.Fatalf("inverse of %v: none below %v", n, c.Integral(c.Length()))
			}
			return
		}
		if again := c.Integral(back); (back-at).Abs() > 2 && math.Abs(again-n) > 1e-5 {
			t.Fatalf("inverse of %v: %v with %v; want %v", n, back, again, at)
		}
	})
}
