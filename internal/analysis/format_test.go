package analysis

import (
	"fmt"
	"testing"
)

func TestLoadsHaveAllTheirDigits(t *testing.T) {
	for load, want := range map[float64]string{50: "50", 2.5: "2.5", 10_000_000: "10,000,000", 2500.5: "2,500.5", 0.000000001: "0.000000001"} {
		if got := number(load); got != want {
			t.Errorf("%v is written %q, want %q", load, got, want)
		}
	}
	if got := fmt.Sprint(listed(nil), listed([]string{"a"}), listed([]string{"a", "b", "c"})); got != "aa, b and c" {
		t.Errorf("lists %q", got)
	}
}
