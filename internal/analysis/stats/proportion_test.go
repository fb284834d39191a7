package stats

import (
	"math"
	"testing"
)

// The examples of R. G. Newcombe, Statistics in Medicine 17, 1998, table I, method 3.
func TestProportionIsWilsonsInterval(t *testing.T) {
	for _, c := range []struct{ k, n, low, high float64 }{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		low, high := Proportion(c.k, c.n)
		if math.Abs(low-c.low) > 5e-5 || math.Abs(high-c.high) > 5e-5 {
			t.Errorf("%g of %g: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
	if low, high := Proportion(20, 20); low < 0.8 || high != 1 {
		t.Errorf("20 of 20: %g to %g", low, high)
	}
}
