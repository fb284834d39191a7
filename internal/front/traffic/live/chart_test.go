package live

import (
	"math"
	"testing"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  string
	}{{0, ""}, {math.NaN(), ""}, {0.001, "▏"}, {0.5, "■■■■■"}, {0.96, "■■■■■■■■■■"}, {2, "■■■■■■■■■■"}} {
		if got := bar(c.share, 10); got != c.want {
			t.Errorf("bar(%v) = %q, want %q", c.share, got, c.want)
		}
	}
}

func TestGauge(t *testing.T) {
	for share, want := range map[float64]string{-1: "|────", 0: "|────", 0.13: "╸|───", 0.5: "━━|──", 0.7: "━━╸|─", 1: "━━━━|", 7: "━━━━|"} {
		done, left := gauge(share, 4)
		if got := done + "|" + left; got != want {
			t.Errorf("gauge(%v) = %s, want %s", share, got, want)
		}
	}
}

func TestSpark(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		width  int
		top    float64
		want   string
	}{
		{nil, 8, 1, ""},
		{[]float64{0, 0.01, 0.5, 1, 2, nan}, 6, 1, "▁▂▄▇▇·"},
		{[]float64{0, 1}, 6, 1, "▁▁▁▇▇▇"},
		{[]float64{0, 1}, 100, 1, "▁▁▁▇▇▇"},
		{[]float64{1, 3, 0, nan, nan, nan, 1}, 4, 3, "▇▁·▃"},
		{[]float64{0, 0}, 2, 0, "▁▁"},
	} {
		if got := spark(c.values, fitted(len(c.values), c.width), c.top, highest); got != c.want {
			t.Errorf("spark(%v, %d, %v) = %q, want %q", c.values, c.width, c.top, got, c.want)
		}
	}
	if m := mean([]float64{1, nan, 3}); m != 2 || !math.IsNaN(mean([]float64{nan})) || !math.IsNaN(highest([]float64{nan})) {
		t.Errorf("what was not measured counts: mean %v", m)
	}
}
