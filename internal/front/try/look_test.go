package try

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/signals"
)

// A server that computes for 20 s until it is ready needs 100 s under 200m, and is waited for.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		seconds, cpu, limit float64
		want                time.Duration
	}{
		{0.2, 0.1, 0.5, 30 * time.Second},
		{20, 20, 0.2, 220 * time.Second},
		{25, 1, 0.5, 30 * time.Second},
		{29, 1, 0.5, 33 * time.Second},
	} {
		if got := patience(signals.Start{Seconds: c.seconds, CPUSeconds: &c.cpu}, c.limit); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if got := patience(signals.Start{Seconds: 60}, 0.1); got != 30*time.Second {
		t.Errorf("without counters %v", got)
	}
}

func TestStartUpInWords(t *testing.T) {
	start := func(seconds, cpu float64, throttled, periods int64) signals.Start {
		return signals.Start{Seconds: seconds, CPUSeconds: &cpu, Periods: &periods, ThrottledPeriods: &throttled}
	}
	free := start(1.9, 1.8, 0, 0)
	for _, c := range []struct {
		seen Seen
		want string
	}{
		{Seen{Start: start(0.3, 0.1, 2, 3)}, ""},
		{Seen{Start: start(9.2, 1.8, 90, 92), Free: &free},
			"Start-up: ready after 9.2 s and 1.8 s of CPU time, throttled in 90 of 92 periods; without the CPU limit after 1.9 s."},
		{Seen{Start: start(3, 0.2, 0, 30)}, "Start-up: ready after 3 s and 0.2 s of CPU time."},
		{Seen{Start: signals.Start{Seconds: 20}}, "Start-up: ready after 20 s."},
		{Seen{Start: signals.Start{Seconds: 24}}, "Start-up: ready after 24 s. A liveness probe with the defaults of Kubernetes (3 failures, 10 s apart) can kill it before it is ready: add a startup probe."},
	} {
		if got := c.seen.startUp(); got != c.want {
			t.Errorf("got %q\nwant %q", got, c.want)
		}
	}
}
