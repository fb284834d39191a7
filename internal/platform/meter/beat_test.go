package meter

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestThrottleSamplesKeepToAScheduleAndMeetThePeriodEverywhere(t *testing.T) {
	seen := map[time.Duration]bool{}
	for n := range 10000 {
		at := DueAt(n)
		if turn := time.Duration(n) * Every; at < turn || at >= turn+Every/2 {
			t.Fatalf("sample %d at %v", n, at)
		}
		seen[at%(100*time.Millisecond)/time.Millisecond] = true
	}
	if len(seen) != 50 { // half of every turn of 10 ms
		t.Errorf("the samples met %d of the period's milliseconds", len(seen))
	}
}

// A delayed beat continues without repeating the missed calls.
func TestABeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop, over := make(chan struct{}), make(chan struct{})
		began, n := time.Now(), 0
		go func() {
			defer close(over)
			Beat(stop, func() {
				if n++; n == 10 {
					time.Sleep(500 * time.Millisecond)
				}
			})
		}()
		time.Sleep(time.Second)
		close(stop)
		<-over
		if n < 49 || n > 51 || time.Since(began) != time.Second {
			t.Errorf("%d samples in %v, half of which were missed", n, time.Since(began))
		}
	})
}
