package stats

import (
	"math"
	"testing"
)

// The exact values are counts of orders (D. E. Knuth, The Art of Computer Programming 3, table
// 5.1.1-1): of ten values, 1 + 9 + 44 + 155 + 440 have at most four inversions.
func TestTrend(t *testing.T) {
	for _, c := range []struct {
		v    []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5}, 2.0 / 120},
		{[]float64{5, 4, 3, 2, 1}, 2.0 / 120},
		{[]float64{2, 1, 3, 4, 5}, 10.0 / 120},
		{[]float64{1, 1, 1, 1, 1}, 1},
		{[]float64{2, 1, 3, 5, 4, 6, 9, 7, 8, 10}, 2 * 649.0 / 3_628_800},
		{[]float64{1, 2, 3}, 1.0 / 3},
		{nil, 1},
	} {
		if got := Trend(c.v); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %g, want %g", c.v, got, c.want)
		}
	}
	// Exact and normal agree where they meet.
	v := make([]float64, exactTrend+1)
	for i := range v {
		v[i] = float64(i) + 25*math.Sin(float64(7*i))
	}
	if normal, exact := Trend(v), Trend(v[:exactTrend]); normal <= 0 || exact/normal < 0.3 || exact/normal > 3 {
		t.Errorf("exact %g, normal %g", exact, normal)
	}
}
