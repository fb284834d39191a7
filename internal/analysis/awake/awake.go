// Package awake finds CPU time that no request asks for: that of threads which wait busily, for
// work or at a barrier, and never sleep.
//
// Under load such a thread looks like one that works: it runs, or waits for a CPU, whenever it
// is read. So a search of a service that has some ends with a second without load. What an
// overload left to do, such as a backlog or garbage to collect, looks the same once more, but
// not at low loads. A job that computes in the background for as long as the search takes does.
// A timer sleeps.
package awake

import (
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

const (
	// fewestSeconds is for how long threads must be read, without load and at low loads.
	fewestSeconds = 0.8
	// much is the share of the CPU time at the overloads from which CPU time without requests
	// is named.
	much = 0.2
	// low is the share of it that threads which hardly sleep use at low loads, too, where they
	// share the CPUs with requests.
	low = 0.5
	// fewestReadings is how many readings show whether threads sleep, and mostly the share of
	// them in which threads that never sleep are seen so.
	fewestReadings, mostly = 20, 0.9
	// quietFor is how long a service is watched without load.
	quietFor = time.Second
)

// Find returns how much CPU threads that never sleep use, if it is much of the CPUs that the
// service uses at the overloads; none otherwise. Idle is the service without load, and light
// at low loads.
func Find(idle, light *sums.Server, used *float64) finding.Finding {
	without, with := idle.Threads(), light.Threads()
	if used == nil || without.Seconds < fewestSeconds || with.Seconds < fewestSeconds ||
		without.Awake < much**used || with.Awake < low*without.Awake {
		return finding.Finding{}
	}
	f := finding.Finding{Kind: finding.AlsoAwake, Value: without.Awake}
	if limit := idle.LimitCores(); limit != nil && *limit > 0 {
		f.Share = min(1, without.Awake / *limit)
	}
	return f
}

// Quiet collects the intervals in which nothing was sent, answered or awaited. The zero value
// is ready.
type Quiet struct {
	frames []*signals.Frame // of the service
	agents map[int]bool     // by interval: whether no agent had a request
}

// Add takes a frame of an agent or of a service; the others do not count.
func (q *Quiet) Add(f *signals.Frame, service string) {
	switch k := f.Client; {
	case k != nil:
		none := k.Sent+k.Ended()+k.Carried+k.InFlight+k.Waiting == 0
		if before, seen := q.agents[f.Seq]; seen {
			none = none && before
		}
		if q.agents == nil {
			q.agents = map[int]bool{}
		}
		q.agents[f.Seq] = none
	case f.Server != nil && f.Of == service && f.Server.Threads != nil:
		q.frames = append(q.frames, f)
	}
}

// Sum adds what the service did in these intervals.
func (q *Quiet) Sum(all *sums.Total, service string) {
	for _, f := range q.frames {
		if q.agents[f.Seq] {
			all.Add(f, service)
		}
	}
}

// Watch decides whether a search goes on without load. The zero value is ready.
type Watch struct{ read, awake, left int }

// Add takes a frame of any source, while a service is searched.
func (w *Watch) Add(f *signals.Frame, service string) {
	if f.Server == nil || f.Of != service || f.Server.Threads == nil {
		return
	}
	w.read++
	if f.Server.Threads.Awake > 0 {
		w.awake++
	}
}

// Begin reports whether some thread may never sleep, so that time without load is worth it:
// until Passed is true.
func (w *Watch) Begin(interval time.Duration) bool {
	if w.read < fewestReadings || float64(w.awake) < mostly*float64(w.read) {
		return false
	}
	w.left = 1 + int((quietFor+interval-1)/interval) // the load ends in the first one
	return true
}

// Runs reports whether that time has begun.
func (w *Watch) Runs() bool { return w.left > 0 }

// Passed takes the end of an interval without load, and reports whether it was the last one.
func (w *Watch) Passed() bool {
	w.left--
	return w.left <= 0
}
