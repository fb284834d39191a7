package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// slept is a call that a share of the requests makes.
func slept(share float64, call func(*rand.Rand) time.Duration) func(*rand.Rand) time.Duration {
	return func(r *rand.Rand) time.Duration {
		if r.Float64() < share {
			return call(r)
		}
		return 0
	}
}

// The interval of throttling's share of a slow tail contains, to 10 points, the extra time
// compared with the same service without its limit of 500m, on the same arrivals: by the means
// of the two tails, or of the same requests. After a pause these differ: without the limit
// others are the slowest.
func TestTheShareOfThrottling(t *testing.T) {
	for _, c := range []struct {
		name string
		cpu  float64 // of a request, ms, on average
		Service
	}{
		{"2% sleep 700 ms", 4, Service{Workers: 64, Work: Exponential(4 * ms), Call: slept(0.02, Fixed(700*ms))}},
		{"20% sleep 300 ms", 4, Service{Workers: 64, Work: Exponential(4 * ms), Call: slept(0.2, Fixed(300*ms))}},
		{"all sleep about 100 ms", 4, Service{Workers: 64, Work: Fixed(3 * ms), After: ms, Call: Exponential(100 * ms)}},
		{"4% need 60 ms of CPU", 4.32, Service{Workers: 4, Work: Mixed(2*ms, 60*ms, 0.04)}},
		{"pauses of 300 ms", 4, Service{Workers: 8, Work: Exponential(4 * ms), Every: 5 * time.Second, Pause: 300 * ms}},
		{"work, 8 threads", 4, Service{Workers: 8, Work: Exponential(4 * ms)}},
		{"a backlog that stays", 4, Service{Workers: 2, Work: Exponential(4 * ms), Aged: func(at time.Duration) float64 {
			if at < 1500*ms {
				return 4
			}
			return 1.13
		}}},
		{"work, 1 thread", 4, Service{Workers: 1, Work: Exponential(4 * ms)}},
	} {
		for _, use := range []float64{0.4, 0.88} {
			t.Run(fmt.Sprintf("%s, %.0f%% of the limit", c.name, 100*use), func(t *testing.T) {
				t.Parallel()
				load := math.Round(use * 500 / c.cpu)
				c := constant("500m", load, 120, Behaviour{Service: c.Service})
				with := summaryOf(t, c, 1).Cells[0].Causes
				free := Behaviour{Service: c.Behaves(nil, 1).Service, Unlimited: true}
				without := summaryOf(t, constant("500m", load, 120, free), 1).Cells[0].Causes
				tails := max(0, 1-without.MeanMS/with.MeanMS)
				same := extra(NewSteady(c.Behaves(nil, 1), cellOf(t, c), load, 1, 1), NewSteady(free, cellOf(t, c), load, 1, 1), with.FromMS)
				if low, high := with.Throttling, with.ThrottlingHigh; max(tails, same) < low-0.1 || min(tails, same) > high+0.1 {
					t.Errorf("stated %.0f to %.0f%%, the limit makes %.0f%% of it, and %.0f%% of the same requests", 100*low, 100*high, 100*tails, 100*same)
				}
			})
		}
	}
}

// extra is the share of the time of the requests that took at least so many ms with the limit
// that they did not take without it.
func extra(with, without *Steady, from float64) float64 {
	free := map[int64]time.Duration{}
	for _, r := range without.Measured(time.Second, 120*time.Second) {
		free[r.Number] = r.Latency
	}
	took, more := 0.0, 0.0
	for _, r := range with.Measured(time.Second, 120*time.Second) {
		if r.Latency >= millis(0.998*from) { // the upper end of a bucket
			took += float64(r.Latency)
			more += float64(r.Latency - free[r.Number])
		}
	}
	return more / took
}
