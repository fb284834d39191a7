package tui

import (
	"math"
	"testing"
)

func TestSparkBar(t *testing.T) {
	for _, c := range []struct {
		v, top float64
		want   rune
	}{
		{0, 1, '▁'},
		{0.001, 1, '▄'}, // above 0, so not the lowest bar
		{1, 1, '█'},
		{2, 1, '█'},
		{-1, 1, '▁'},
		{0, 0, '▁'},
		{math.NaN(), 1, '·'},
	} {
		if got := SparkBar(c.v, c.top, "▁▄█"); got != c.want {
			t.Errorf("SparkBar(%v, %v) = %c, want %c", c.v, c.top, got, c.want)
		}
	}
}
