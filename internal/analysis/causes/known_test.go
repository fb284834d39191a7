package causes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

const (
	msec = time.Millisecond
	all  = math.MaxInt32 // slow requests are kept
)

// undisturbed is a service at 40% of its capacity.
var undisturbed = simulated{length: 60 * time.Second, rate: 200, work: 2 * msec, threads: 1, timeout: 2 * time.Second}

// The default bounds of Prometheus' libraries, and finer ones.
var (
	usualBounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	fineBounds  = grid(0.001, 5, 1.2)
)

// Each service here is slow because of exactly one cause. The extra time of the tail,
// compared with the same service and arrivals without the cause, must be attributed to
// that cause, and almost nothing to others.
func TestOneKnownCause(t *testing.T) {
	sparse := func(r *rand.Rand) time.Duration {
		if r.IntN(50) == 0 {
			return 200 * msec
		}
		return 3 * msec
	}
	exponential := func(r *rand.Rand) time.Duration { return time.Duration(r.ExpFloat64() * 40e6) }
	for _, known := range []struct {
		name    string
		cause   cause
		service func(*simulated) // with and without the cause
		fault   func(*simulated)
	}{
		{"quota, one thread, 80% of it", throttling, nil, func(s *simulated) { s.quota = 50 * msec }},
		{"quota, one thread, 90% of it", throttling, func(s *simulated) { s.rate = 225 }, func(s *simulated) { s.quota = 50 * msec }},
		{"quota, one thread, 96% of it", throttling, func(s *simulated) { s.rate = 240 }, func(s *simulated) { s.quota = 50 * msec }},
		{"quota, four threads, 80% of it", throttling, func(s *simulated) { s.threads = 4 }, func(s *simulated) { s.quota = 50 * msec }},
		{"quota, four threads, dear requests", throttling, func(s *simulated) { s.threads, s.work, s.rate = 4, 10*msec, 80 },
			func(s *simulated) { s.quota = 100 * msec }},
		{"quota, two threads, uneven work", throttling, func(s *simulated) { s.threads, s.rate, s.uneven = 2, 425, true },
			func(s *simulated) { s.quota = 100 * msec }},
		{"quota, closed loop", throttling, func(s *simulated) { s.length, s.users, s.threads = 20*time.Second, 50, 2 }, func(s *simulated) { s.quota = 100 * msec }},
		{"frozen generator", generator, nil, func(s *simulated) { s.frozen = every(20*time.Second, 600*msec, s.length) }},
		{"frozen generator, busy service", generator, func(s *simulated) { s.rate = 400 },
			func(s *simulated) { s.frozen = every(20*time.Second, 600*msec, s.length) }},
		{"hog outside, service overloaded by it", neighbours, func(s *simulated) { s.rate = 300 },
			func(s *simulated) { s.hogged = every(10*time.Second, 2*time.Second, s.length) }},
		{"hog outside, service holds out", neighbours, func(s *simulated) { s.rate = 235 },
			func(s *simulated) { s.hogged = every(10*time.Second, 2*time.Second, s.length) }},
		{"hog outside, that comes and goes within frames", neighbours, func(s *simulated) { s.rate = 300 },
			func(s *simulated) { s.hogged = every(10400*msec, 2*time.Second, s.length) }},
		{"hog outside, its queue stands for most of the trial", neighbours, func(s *simulated) { s.length, s.rate = 7*time.Second, 400 },
			func(s *simulated) { s.hogged = every(2*time.Second, 2*time.Second, 3*time.Second) }},
		{"OOM restart", restart, nil, func(s *simulated) { s.down = every(25*time.Second, 1200*msec, s.length) }},
		{"OOM restart, connections cut", restart, nil, func(s *simulated) { s.timeout, s.down = 0, every(25*time.Second, 1200*msec, s.length) }},
		{"OOM restart, busy service", restart, func(s *simulated) { s.rate = 400 },
			func(s *simulated) { s.down = every(25*time.Second, 1200*msec, s.length) }},
		{"sleeping dependency, some calls", dependency, nil, func(s *simulated) { s.calls, s.bounds = sparse, fineBounds }},
		{"sleeping dependency, some calls, usual buckets", dependency, nil, func(s *simulated) { s.calls, s.bounds = sparse, usualBounds }},
		{"sleeping dependency, all calls", dependency, nil, func(s *simulated) { s.calls, s.bounds = exponential, fineBounds }},
		{"sleeping dependency, all calls, usual buckets", dependency, nil, func(s *simulated) { s.calls, s.bounds = exponential, usualBounds }},
	} {
		for seed := uint64(1); seed <= 3; seed++ {
			t.Run(fmt.Sprintf("%s/seed %d", known.name, seed), func(t *testing.T) {
				t.Parallel()
				without := undisturbed
				if known.service != nil {
					known.service(&without)
				}
				without.seed = seed
				with := without
				known.fault(&with)
				kept := []int{all, 100, 24}[seed%3]
				checkAttributed(t, known.cause, with.observe(with.run(), kept), without.observe(without.run(), all))
			})
		}
	}
}

// checkAttributed checks that the extra time in the tail of a faulty service, compared
// with the same service without the fault, is attributed to the fault's cause.
func checkAttributed(t *testing.T, by cause, seen, base *observed) {
	t.Helper()
	extra := (seen.mean - base.mean) / seen.mean
	if extra < 0.2 {
		t.Fatalf("the fault makes only %.0f%% of the tail", 100*extra)
	}
	shares := seen.result().Shares()
	shares[generator].Value += shares[generatorQueue].Value // the pause, and the queue that it causes
	shares[generatorQueue].Value = 0
	for i, s := range shares {
		of := s.Value / extra
		switch cause(i) {
		case by:
			if by == throttling { // an interval
				if extra < s.Low-0.1 || extra > s.High+0.1 || s.High == 0 || s.Low < 0.3 {
					t.Errorf("%s has %.2f to %.2f, want an interval with the extra %.2f", s.Name, s.Low, s.High, extra)
				}
				continue
			}
			if of < 0.9 {
				t.Errorf("%s has %.1f%% of the extra tail, want 90%% or more", s.Name, 100*of)
			}
			if truth := byRequests(seen, base); truth > 0 && (s.Value < 0.9*truth || s.Value > 1.15*truth) {
				t.Errorf("%s has a share of %.3f, and the same requests without the fault say %.3f", s.Name, s.Value, truth)
			}
		case rest:
		default:
			if of > 0.02 {
				t.Errorf("%s has %.1f%% of the extra tail, which is all by another cause", s.Name, 100*of)
			}
		}
	}
}

// byRequests is the share of the tail's time by which its requests took longer than
// the same requests without the fault: what the cause's share should be. It is 0 if
// requests cannot be paired, as in a closed loop.
func byRequests(with, without *observed) float64 {
	var extra, all float64
	if len(with.latencies) != len(without.latencies) {
		return 0
	}
	for i, l := range with.latencies {
		if l >= int64(with.threshold) {
			extra += float64(l - without.latencies[i])
			all += float64(l)
		}
	}
	return extra / all
}

func TestNoCause(t *testing.T) {
	for _, s := range []struct {
		name    string
		service func(*simulated)
	}{
		{"quiet", func(*simulated) {}},
		{"at 90% of what it can do", func(s *simulated) { s.rate = 450 }},
		{"overloaded", func(s *simulated) { s.rate = 550 }},
		{"a limit that is never reached", func(s *simulated) { s.rate, s.quota = 450, 101*msec }},
		{"closed loop", func(s *simulated) { s.users = 50 }},
		{"uneven work", func(s *simulated) { s.rate, s.uneven = 400, true }},
	} {
		t.Run(s.name, func(t *testing.T) {
			with := undisturbed
			with.seed = 1
			s.service(&with)
			c := with.observe(with.run(), all).result()
			if c.Rest != 1 || c.Throttling != 0 || c.ThrottledDirectly != 0 {
				t.Errorf("shares %v, want all of it rest", c.Shares())
			}
		})
	}
}

// A short fault is not what makes an overloaded service slow.
func TestOverloadIsNotBlamedOnAShortFault(t *testing.T) {
	for _, s := range []struct {
		name  string
		fault func(*simulated)
	}{
		{"down for 300 ms", func(s *simulated) { s.down = every(20*time.Second, 300*msec, 21*time.Second) }},
		{"frozen for 300 ms", func(s *simulated) { s.frozen = every(20*time.Second, 300*msec, 21*time.Second) }},
		{"a hog for a second", func(s *simulated) { s.hogged = every(20*time.Second, time.Second, 21*time.Second) }},
	} {
		t.Run(s.name, func(t *testing.T) {
			with := undisturbed
			with.seed, with.rate, with.timeout = 1, 600, 0
			s.fault(&with)
			v := with.observe(with.run(), all)
			c := v.result()
			if v.threshold < 4*time.Second {
				t.Fatalf("p99 %v: not overloaded", v.threshold)
			}
			if c.Rest < 0.9 {
				t.Errorf("shares %v, want 90%% or more rest: the service cannot do the load", c.Shares())
			}
		})
	}
}

// Others who are there from the beginning leave no service time to compare with. They
// have at least their share of the CPUs, half of them, of what a request takes longer.
func TestAHogThroughout(t *testing.T) {
	for _, rate := range []float64{240, 300} {
		with := undisturbed
		with.seed, with.rate, with.hogged = 1, rate, times{{0, int64(with.length)}}
		if c := with.observe(with.run(), all).result(); c.Neighbours < 0.4 {
			t.Errorf("at %v/s: shares %v, want 40%% or more by neighbours", rate, c.Shares())
		}
	}
}

// A service that sleeps or stalls needs no CPU for it. Compilers that fill the machine all
// the time delay it at most for as long as its tasks waited for a CPU.
func TestWaitsThatNeedNoCPU(t *testing.T) {
	sleeper := func(s *simulated) { s.work, s.rate, s.length, s.sleeps = 20*msec, 150, 20*time.Second, 0.018 }
	staller := func(s *simulated) {
		s.work, s.rate, s.sleeps = msec, 150, 0.018
		s.stalled = every(5*time.Second, 2*time.Second, s.length)
	}
	for _, c := range []struct {
		name    string
		service func(*simulated)
	}{{"one worker that sleeps, at three times its capacity", sleeper}, {"stalls for 2 s in every 5 s", staller}} {
		for _, pressure := range []float64{0.13, 0} {
			t.Run(fmt.Sprintf("%s/pressure %v", c.name, pressure), func(t *testing.T) {
				with := undisturbed
				with.seed, with.timeout, with.pressure = 1, 0, pressure
				c.service(&with)
				with.hogged = times{{0, int64(with.length)}}
				// An overloaded worker falls behind by what it waited since the beginning.
				if c := with.observe(with.run(), all).result(); c.Neighbours > 0.3 || c.Rest < 0.7 {
					t.Errorf("shares %v, want 30%% or less by neighbours, and the rest", c.Shares())
				}
			})
		}
	}
}

// Two causes at the same time: each has about the share that it has alone, and the
// time that both explain counts for the first.
func TestTwoCauses(t *testing.T) {
	t.Run("quota and restart", func(t *testing.T) {
		with := undisturbed
		with.seed, with.rate, with.quota = 1, 225, 50*msec
		with.down = every(40*time.Second, 150*msec, with.length)
		c := with.observe(with.run(), all).result()
		if c.Restart < 0.3 || c.Throttling < 0.3 || c.Restart+c.Throttling < 0.9 {
			t.Errorf("shares %v, want both, and next to nothing else", c.Shares())
		}
	})
	t.Run("frozen generator and hog at different times", func(t *testing.T) {
		with := undisturbed
		with.seed, with.rate = 1, 300
		with.frozen = every(40*time.Second, 200*msec, with.length)
		with.hogged = every(10*time.Second, time.Second, 30*time.Second)
		c := with.observe(with.run(), all).result()
		if c.Generator+c.GeneratorQueue < 0.2 || c.Neighbours < 0.2 || c.Generator+c.GeneratorQueue+c.Neighbours < 0.9 {
			t.Errorf("shares %v, want both, and next to nothing else", c.Shares())
		}
	})
	t.Run("quota beside a hog: throttled time comes first", func(t *testing.T) {
		with := undisturbed
		with.seed, with.rate, with.quota = 1, 225, 50*msec
		alone := with.observe(with.run(), all).result()
		with.hogged = every(5*time.Second, time.Second, with.length)
		both := with.observe(with.run(), all).result()
		if both.ThrottledDirectly == 0 || both.Throttling < 0.3 || both.ThrottlingHigh+both.Neighbours < 0.9 || alone.Neighbours != 0 {
			t.Errorf("shares %v, alone %v", both.Shares(), alone.Shares())
		}
	})
}

// A known limitation in docs/method.md: requests behind a worker that waits for the
// dependency. Only the calls themselves are attributed to the dependency.
func TestQueueBehindAWaitingWorkerIsRest(t *testing.T) {
	with := undisturbed
	with.seed, with.rate, with.blocking, with.bounds = 1, 100, true, fineBounds
	with.calls = func(r *rand.Rand) time.Duration {
		if r.IntN(100) == 0 {
			return 100 * msec
		}
		return msec
	}
	c := with.observe(with.run(), all).result()
	if c.Dependency < 0.1 || c.Rest < 0.2 || c.Dependency+c.Rest < 0.999 {
		t.Errorf("shares %v", c.Shares())
	}
}
