package supervise

import "testing"

func TestWorkersThatEndBesideTheMainProcess(t *testing.T) {
	var w Workers
	for i, c := range []struct {
		pids []int
		want int64
	}{
		{[]int{10, 11, 12}, 0},
		{[]int{10, 11, 12}, 0},
		{[]int{10, 12, 13}, 1},
		{[]int{10, 14, 15}, 3},
		{nil, 3},               // the service ended
		{[]int{20, 21}, 3},     // and was started again
		{[]int{20, 21, 22}, 3}, // with another worker
		{[]int{20}, 5},
	} {
		if got := w.Ended(c.pids); *got != c.want {
			t.Errorf("%d: %d ended, want %d", i, *got, c.want)
		}
	}
}
