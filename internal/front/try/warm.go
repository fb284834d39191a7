package try

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millicore/millicore/internal/data/display"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
	"github.com/millicore/millicore/internal/front/compose"
	"github.com/millicore/millicore/internal/front/probe"
	"github.com/millicore/millicore/internal/platform"
)

// A runtime that compiles its code while it runs (a JIT) uses several times as much CPU
// per request at first. A search that begins then measures the compiler. So each server is
// warmed up once, in a closed loop, until its CPU time per request does not fall any more.
// If it had fallen by much, every later start of the server is warmed up likewise.
const (
	// warmUsers send requests one after the other at first. Of a server that needs to be
	// warmed up, their number doubles, to at most warmMost, after each window in which it
	// used less than warmBusy of its CPUs, as long as the doubling before raised the rate by
	// warmRise: 16 users get 400 requests/s from HotSpot's com.sun.net.httpserver, whose
	// answers wait for a delayed acknowledgement (40 ms), and leave its compiler behind.
	warmUsers = 16
	warmMost  = 256
	warmBusy  = 0.5
	warmRise  = 1.25
	// A window has warmRequests good answers at least, and lasts from warmWindow to
	// warmLongest.
	warmWindow   = 500 * time.Millisecond
	warmLongest  = 3 * time.Second
	warmRequests = 10
	// warmFor bounds the whole warm-up.
	warmFor = 20 * time.Second
	// warmSpan is the number of windows whose median is compared with the median of as many
	// windows before. The CPU time per request is steady from warmSteady times that on.
	warmSpan   = 4
	warmSteady = 0.95
	// warmAnswers are the fewest good answers after which a server that needs to be warmed up
	// can be steady: HotSpot's second compiler takes a method after 5,000 calls
	// (Tier4InvocationThreshold), and until then the time per call stays on a plateau.
	warmAnswers = 5000
	// warmGain is how many times the last windows' CPU time the first window's is, from
	// which on a server needs to be warmed up.
	warmGain = 1.3
)

// warmth is what the windows of a warm-up have shown.
type warmth struct {
	requests []int64   // good answers, by window
	seconds  []float64 // length, by window
	costs    []float64 // CPU seconds per good answer, by window
	users    int       // of the closed loop
	before   float64   // rate before their number was raised; 0: it was not
}

// add takes a window. One without a good answer shows nothing.
func (w *warmth) add(requests int64, seconds, cpu float64) {
	if requests > 0 {
		w.requests, w.seconds, w.costs = append(w.requests, requests), append(w.seconds, seconds), append(w.costs, cpu/float64(requests))
	}
}

// steady reports whether the CPU time per request does not fall any more, or did not fall
// from the first window on.
func (w *warmth) steady() bool {
	n := len(w.costs)
	switch {
	case n > warmSpan && w.last() >= warmSteady*w.costs[0]:
		return true
	case n < 2*warmSpan || w.last() < warmSteady*median(w.costs[n-2*warmSpan:n-warmSpan]):
		return false
	}
	return !w.needed() || w.answers() >= warmAnswers
}

// more returns how many users to add after the last window, if cpus are the CPUs that the
// server may use.
func (w *warmth) more(cpus float64) int {
	n := len(w.costs)
	if !w.needed() || w.users >= warmMost {
		return 0
	}
	rate := float64(w.requests[n-1]) / w.seconds[n-1]
	if rate*w.costs[n-1] >= warmBusy*cpus || rate < warmRise*w.before {
		return 0
	}
	add := min(w.users, warmMost-w.users)
	w.users, w.before = w.users+add, rate
	return add
}

// last is the median CPU time per request of the last windows.
func (w *warmth) last() float64 { return median(w.costs[max(0, len(w.costs)-warmSpan):]) }

// needed reports whether the first window's CPU time per request is so much higher than
// the last ones' that the server has to be warmed up.
func (w *warmth) needed() bool { return len(w.costs) > warmSpan && w.costs[0] >= warmGain*w.last() }

// rate is the number of good answers per second in the last windows; 0: not known.
func (w *warmth) rate() float64 {
	var requests int64
	seconds := 0.0
	for i := max(0, len(w.costs)-warmSpan); i < len(w.costs); i++ {
		requests, seconds = requests+w.requests[i], seconds+w.seconds[i]
	}
	if seconds <= 0 {
		return 0
	}
	return float64(requests) / seconds
}

// recorded is the warm-up as a record has it.
func (w *warmth) recorded() signals.WarmUp {
	r := signals.WarmUp{CPUPerRequest: w.costs, Users: w.users, Steady: w.steady(), Requests: w.answers()}
	for _, s := range w.seconds {
		r.Seconds += s
	}
	return r
}

// answers is the number of good answers.
func (w *warmth) answers() (all int64) {
	for _, n := range w.requests {
		all += n
	}
	return all
}

// words describe the warm-up of a server that needed it; "" of one that did not.
func (w *warmth) words() string {
	if !w.needed() {
		return ""
	}
	r := w.recorded()
	text := fmt.Sprintf("Warm-up of %.0f s: CPU per request fell from %s to %s", r.Seconds, display.WithUnit(1000*w.costs[0]), display.WithUnit(1000*w.last()))
	if !r.Steady {
		text += " and was still falling"
	}
	return text + "; each trial begins with a warm-up."
}

// median of values, which are not empty: of an even number, the mean of the middle two.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// warm sends requests in a closed loop until the CPU time per request is steady, warmFor
// is over, or ctx ends. Without counters of the CPU time it sends nothing. The replica may
// use so many CPUs.
func warm(ctx context.Context, r platform.Replica, l *experiment.Load, cpus float64) warmth {
	w := warmth{users: warmUsers}
	used, ok := cpuOf(r)
	if !ok {
		return w
	}
	ctx, stop := context.WithTimeout(ctx, warmFor)
	var users sync.WaitGroup
	defer users.Wait()
	defer stop()
	to, err := probe.NewSender(l, r.Address(), warmMost)
	if err != nil {
		return w
	}
	defer to.Close()
	var good atomic.Int64
	user := func() {
		for ctx.Err() == nil {
			if _, err := to.Send(ctx); err == nil {
				good.Add(1)
				continue
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	for range w.users {
		users.Go(user)
	}
	tick := time.NewTicker(warmWindow / 10)
	defer tick.Stop()
	for began, counted := time.Now(), int64(0); !w.steady(); {
		select {
		case <-ctx.Done():
			return w
		case <-tick.C:
		}
		length, n := time.Since(began), good.Load()-counted
		if length < warmWindow || n < warmRequests && length < warmLongest {
			continue
		}
		now, ok := cpuOf(r)
		if !ok {
			return w
		}
		w.add(n, length.Seconds(), now-used)
		began, counted, used = began.Add(length), counted+n, now
		for range w.more(cpus) {
			users.Go(user)
		}
	}
	return w
}

// cpusOf are the CPUs that a replica may use under its limits.
func cpusOf(l experiment.Limits) float64 {
	host := float64(runtime.NumCPU())
	if l.CPUMillis == 0 {
		return host
	}
	return min(host, float64(l.CPUMillis)/1000)
}

// cpuOf is the CPU time of a replica in seconds.
func cpuOf(r platform.Replica) (seconds float64, ok bool) {
	c, err := r.Counters()
	if err != nil || c.CPU == nil {
		return 0, false
	}
	return *c.CPU, true
}

// WarmedUp wraps a platform so that each service that it starts is warmed up with the
// requests of a load before it counts as started.
func WarmedUp(on platform.Platform, l *experiment.Load) platform.Platform {
	return &warmPlatform{on, l}
}

type warmPlatform struct {
	platform.Platform
	load *experiment.Load
}

// Unwrap returns the platform that is wrapped.
func (p *warmPlatform) Unwrap() platform.Platform { return p.Platform }

func (p *warmPlatform) Start(ctx context.Context, u platform.UnitSpec) (platform.Unit, error) {
	started, starts, err := platform.Timed(ctx, p.Platform.Start, u)
	if err != nil {
		return nil, err
	}
	if _, dependency := platform.As[*compose.Kept](started); dependency || u.Name == experiment.Neighbour {
		return started, nil
	}
	replicas := started.Replicas()
	all := make([]signals.WarmUp, len(replicas))
	var each sync.WaitGroup
	for i, r := range replicas {
		each.Go(func() { w := warm(ctx, r, p.load, cpusOf(u.Limits)); all[i] = w.recorded() })
	}
	each.Wait()
	if err := ctx.Err(); err != nil {
		stopping, cancel := platform.Stopping(ctx)
		defer cancel()
		return nil, errors.Join(err, started.Stop(stopping))
	}
	return &warmUnit{started, starts, all}, nil
}

type warmUnit struct {
	platform.Unit
	starts []signals.Start
	all    []signals.WarmUp
}

// Unwrap returns the unit that is wrapped.
func (u *warmUnit) Unwrap() platform.Unit { return u.Unit }

// Starts are the starts of the replicas, without the warm-up.
func (u *warmUnit) Starts() []signals.Start { return u.starts }

// WarmUps are the warm-ups of the replicas.
func (u *warmUnit) WarmUps() []signals.WarmUp { return u.all }
