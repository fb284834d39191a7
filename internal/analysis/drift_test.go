package analysis

import "testing"

// Five frames are unsteady only if all of them rise or fall; four are too few.
func TestFewFramesMustAllRiseOrFall(t *testing.T) {
	steady := []float64{100, 100, 100, 100, 100, 100}
	for _, c := range []struct {
		name string
		p99  []float64
		want bool
	}{
		{"four frames, each twice the one before", []float64{10, 20, 40, 80}, false},
		{"five that rise", []float64{10, 11, 13, 15, 20}, true},
		{"five that fall", []float64{20, 15, 13, 11, 10}, true},
		{"five that rise a little", []float64{10, 11, 12, 13, 14}, false},
		{"five in another order", []float64{10, 13, 11, 15, 20}, false},
		{"six in another order", []float64{10, 10, 13, 11, 20, 20}, true},
	} {
		n := len(c.p99)
		d := drift{p99: c.p99, rate: steady[:n], requests: int64(n) * driftRequests}
		if got := d.unsteady(); got != c.want {
			t.Errorf("%s: unsteady %v, want %v", c.name, got, c.want)
		}
	}
}

// The false alarms of the order of five frames, over all orders.
func TestFalseAlarmsOfFiveFrames(t *testing.T) {
	orders, alarms := 0, 0
	var each func(v []float64, k int)
	each = func(v []float64, k int) {
		if k == len(v) {
			if orders++; drifts(v) {
				alarms++
			}
			return
		}
		for i := k; i < len(v); i++ {
			v[k], v[i] = v[i], v[k]
			each(v, k+1)
			v[k], v[i] = v[i], v[k]
		}
	}
	each([]float64{10, 20, 40, 80, 160}, 0)
	if orders != 120 || alarms != 2 {
		t.Errorf("%d of %d orders are alarms, want 2 of 120", alarms, orders)
	}
}
