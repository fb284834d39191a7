package meter

import (
	"math"
	"time"
)

// Every is the mean time between two samples.
const Every = 10 * time.Millisecond

// DueAt is when sample number n is due, since the first. The golden ratio spreads the
// samples over the first half of their interval: evenly spaced samples would sample each
// period of 100 ms at the same phases, and could locate its end only within 10 ms.
func DueAt(n int) time.Duration {
	_, turn := math.Modf(float64(n) * (math.Phi - 1))
	return time.Duration((float64(n) + turn/2) * float64(Every))
}

// Beat calls read 100 times a second until stop is closed. It does not repeat missed
// calls: a late sample shows several windows.
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
