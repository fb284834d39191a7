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
// compared with the same service without its limit of 500m.
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
		{"work, 1 thread", 4, Service{Workers: 1, Work: Exponential(4 * ms)}},
	} {
		for _, use := range []float64{0.4, 0.88} {
			t.Run(fmt.Sprintf("%s, %.0f%% of the limit", c.name, 100*use), func(t *testing.T) {
				t.Parallel()
				load := math.Round(use * 500 / c.cpu)
				with := summaryOf(t, constant("500m", load, 120, Behaviour{Service: c.Service}), 1).Cells[0].Causes
				without := summaryOf(t, constant("500m", load, 120, Behaviour{Service: c.Service, Unlimited: true}), 1).Cells[0].Causes
				truth := max(0, 1-without.MeanMS/with.MeanMS)
				if low, high := with.Throttling, with.ThrottlingHigh; truth < low-0.1 || truth > high+0.1 {
					t.Errorf("stated %.0f to %.0f%%, the limit makes %.0f%% of it", 100*low, 100*high, 100*truth)
				}
			})
		}
	}
}
