package meter

import (
	"math"
	"time"
)

// Every is the mean time between two pulses.
const Every = 10 * time.Millisecond

// DueAt is when pulse number n is due, since the first. It is spread over half
// of its turn by the golden ratio: evenly spaced pulses would meet every period
// of 100 ms at the same phases, and never tell nearer than 10 ms where it ends.
func DueAt(n int) time.Duration {
	_, turn := math.Modf(float64(n) * (math.Phi - 1))
	return time.Duration((float64(n) + turn/2) * float64(Every))
}

// Beat calls read a hundred times a second until stop is closed. What was missed
// is not made up for: a late pulse tells several windows.
func Beat(stop <-chan struct{}, read func()) {
	began := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; ; {
		select {
		case <-timer.C:
		case <-stop:
			return
		}
		read()
		n = max(n, int(time.Since(began)/Every)) + 1
		timer.Reset(time.Until(began.Add(DueAt(n))))
	}
}
