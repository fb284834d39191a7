package try

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/platform"
)

// fed gives windows of half a second with a CPU time per request to a warm-up until it is
// steady, or has had forty.
func fed(answers int64, cost func(window int) float64) *warmth {
	w := &warmth{}
	for i := 0; i < 40 && !w.steady(); i++ {
		w.add(answers, 0.5, float64(answers)*cost(i))
	}
	return w
}

func TestAWarmUpEndsWhenTheCPUPerRequestIsSteady(t *testing.T) {
	const ms = 0.001
	// falling is the mean over a window of a cost of 1 ms, five times as high at first and
	// falling by e in each tau seconds.
	falling := func(tau float64) func(int) float64 {
		return func(i int) float64 {
			from := float64(i) / 2
			return ms * (1 + 8*tau*(math.Exp(-from/tau)-math.Exp(-(from+0.5)/tau)))
		}
	}
	for _, c := range []struct {
		name    string
		answers int64 // per window
		cost    func(int) float64
		windows int
		steady  bool
		needed  bool
		last    float64 // highest CPU time per request at the end
	}{
		{"no compiler", 400, func(int) float64 { return ms }, 5, true, false, 1 * ms},
		{"no compiler, and uneven", 400, func(i int) float64 { return ms * (1 + 0.02*float64(i%3)) }, 5, true, false, 1.04 * ms},
		{"one expensive window is no trend", 400, func(i int) float64 {
			if i == 3 {
				return 4 * ms
			}
			return ms
		}, 5, true, false, 1 * ms},
		{"the first window by chance", 400, func(i int) float64 {
			if i == 0 {
				return 1.2 * ms
			}
			return ms
		}, 8, true, false, 1 * ms},
		{"a compiler that is done in 3 s", 400, falling(1), 15, true, true, 1.01 * ms},
		{"in 9 s", 400, falling(3), 28, true, true, 1.06 * ms},
		{"not done when the time is over", 400, falling(15), 40, false, true, 2.2 * ms},
		{"two compilers, with a plateau between", 500, func(i int) float64 {
			switch {
			case i < 2:
				return 10 * ms
			case i < 8: // 4,000 requests
				return 3 * ms
			}
			return ms
		}, 15, true, true, 1 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := fed(c.answers, c.cost)
			if len(w.costs) != c.windows || w.steady() != c.steady || w.needed() != c.needed || w.last() > c.last*(1+1e-9) {
				t.Errorf("after %d windows steady %v, needed %v, %v s per request; want after %d steady %v, needed %v, at most %v",
					len(w.costs), w.steady(), w.needed(), w.last(), c.windows, c.steady, c.needed, c.last)
			}
			if (w.words() != "") != c.needed {
				t.Errorf("words %q", w.words())
			}
		})
	}
}

func TestARecordHasTheWarmUp(t *testing.T) {
	w := &warmth{}
	for range 8 {
		w.add(100, 0.5, 0.2)
	}
	w.add(0, 3, 1) // without an answer
	r := w.recorded()
	if r.Seconds != 4 || r.Requests != 800 || len(r.CPUPerRequest) != 8 || r.CPUPerRequest[7] != 0.002 || !r.Steady {
		t.Errorf("%+v, want 800 requests in 4 s of 2 ms each, steady", r)
	}
	if w.rate() != 200 {
		t.Errorf("%v requests/s, want 200", w.rate())
	}
	if (&warmth{}).rate() != 0 || (&warmth{}).needed() || (&warmth{}).steady() {
		t.Error("without windows something is known")
	}
}

func TestASearchBeginsBelowWhatTheServerHolds(t *testing.T) {
	for _, c := range []struct {
		name  string
		least time.Duration
		rate  float64 // of the closed loop
		want  float64
	}{
		{"a slow server", 400 * time.Millisecond, 2.5, 5},
		{"one request at a time", 20 * time.Millisecond, 48, 6},
		{"CPU work under a limit", 2 * time.Millisecond, 240, 30},
		{"it waits, and could do more", 10 * time.Millisecond, 390, 49},
		{"a fast server", 60 * time.Microsecond, 14000, 1750},
		{"a very fast server", 20 * time.Microsecond, 60000, 2000},
		{"no closed loop", time.Millisecond, 0, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Begin(c.least, c.rate); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if c.rate > 100 && Begin(c.least, c.rate) > c.rate/2 {
				t.Error("it begins near what the closed loop held")
			}
		})
	}
}

// counted is a platform of one server whose CPU time per request is known.
type counted struct {
	platform.Platform
	address string
	served  atomic.Int64
	stopped bool
}

func (c *counted) Start(context.Context, platform.UnitSpec) (platform.Unit, error) { return c, nil }
func (c *counted) Replicas() []platform.Replica                                    { return []platform.Replica{c} }
func (c *counted) Stop(context.Context) error                                      { c.stopped = true; return nil }
func (c *counted) Address() string                                                 { return c.address }
func (c *counted) PIDs() []int                                                     { return nil }
func (c *counted) ThrottleSample() (signals.ThrottleSample, error) {
	return signals.ThrottleSample{}, nil
}

// Counters charges each of the first 100 requests ten times the CPU time of later ones.
func (c *counted) Counters() (signals.Counters, error) {
	n := float64(c.served.Load())
	cpu := 1e-3*n + 9e-3*min(n, 100)
	return signals.Counters{CPU: &cpu}, nil
}

func TestAPlatformWarmsUpWhatItStarts(t *testing.T) {
	on := &counted{}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { on.served.Add(1) }))
	defer server.Close()
	on.address = strings.TrimPrefix(server.URL, "http://")
	load := &experiment.Load{Request: experiment.Request{Method: "GET", Path: "/"}}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := WarmedUp(on, load).Start(ended, platform.UnitSpec{}); err == nil || !on.stopped {
		t.Errorf("%v, stopped: %v; want an interrupted start that leaves nothing", err, on.stopped)
	}
	unit, err := WarmedUp(on, load).Start(t.Context(), platform.UnitSpec{})
	if err != nil {
		t.Fatal(err)
	}
	w, ok := platform.As[platform.WarmUpReporter](unit)
	if !ok {
		t.Fatal("the unit does not report its warm-up")
	}
	all := w.WarmUps()
	if len(all) != 1 || !all[0].Steady || all[0].Requests == 0 || all[0].Requests > on.served.Load() {
		t.Errorf("%+v of %d requests", all, on.served.Load())
	}
	if _, ok := platform.As[platform.ImageRunner](WarmedUp(on, load)); ok {
		t.Error("the platform reports an ability that the inner one does not have")
	}
}

func TestUsersAreAddedWhileACompilerIsNotKeptBusy(t *testing.T) {
	const ms = 0.001
	for _, c := range []struct {
		name string
		rate func(users int) float64
		cost func(window int) float64
		want int // users at the end
	}{
		{"each answer takes 40 ms", func(users int) float64 { return 25 * float64(users) }, func(i int) float64 { return 0.05 * ms * float64(max(1, 6-i)) }, 256},
		{"it uses its CPUs", func(int) float64 { return 700 }, func(i int) float64 { return 1 * ms * float64(max(1, 6-i)) }, 16},
		{"it serves four connections", func(int) float64 { return 100 }, func(i int) float64 { return 1 * ms * float64(max(1, 6-i)) }, 32},
		{"no compiler", func(users int) float64 { return 25 * float64(users) }, func(int) float64 { return 0.05 * ms }, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &warmth{users: warmUsers}
			for i := range 40 {
				answers := c.rate(w.users) / 2
				w.add(int64(answers), 0.5, answers*c.cost(i))
				w.more(1)
			}
			if w.users != c.want {
				t.Errorf("%d users, want %d", w.users, c.want)
			}
		})
	}
}
