package capacity

import (
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/objective"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
)

// lateIn is a stretch of 10 s with 1,000 requests, of which some are late.
func lateIn(t *testing.T, late int, after time.Duration, s signals.Server) *sums.Total {
	t.Helper()
	latency := signals.NewHistogram()
	for i := range 1000 {
		took := 5 * time.Millisecond
		if i < late {
			took = after
		}
		latency.Record(took)
	}
	total := sums.New()
	total.Add(&signals.Frame{Start: 0, End: int64(10 * time.Second), Phase: signals.Measure, Agent: new(0),
		Client: &signals.Client{Intended: 1000, Good: 1000, Latency: latency, Service: latency}}, "go")
	s.Up = true
	total.Add(&signals.Frame{Start: 0, End: int64(10 * time.Second), Phase: signals.Measure, Of: "go", Server: &s}, "go")
	return total
}

// Each cause has the case that looks like it: late requests, drops, or pages read again.
func TestCausesByTheServicesOwnCounters(t *testing.T) {
	goal := objective.Goal{Objective: &experiment.Objective{Quantile: "p99", Latency: 100 * time.Millisecond}}
	full, limit := int64(64<<20), int64(64<<20)
	half := limit / 2
	memory := func(peak, refaults int64, stall *float64) signals.Server {
		cpu := 1.0
		return signals.Server{CPU: &cpu, MemoryPeak: &peak, MemoryLimit: &limit, Refaults: &refaults, MemoryStall: stall}
	}
	queue := func(drops, backlog int64) signals.Server {
		return signals.Server{ListenDrops: &drops, Backlog: &backlog}
	}
	parts := func(late int, delayed, apart int64, s signals.Server) *sums.Total {
		all := lateIn(t, late, 45*time.Millisecond, s)
		all.Client.AckDelayed, all.Client.Apart = delayed, apart
		return all
	}
	stuck := func(users int64, drops int64) *sums.Total {
		all := lateIn(t, 0, 0, queue(drops, 8))
		all.Add(&signals.Frame{Trial: 1, Seq: 10, Phase: signals.Drain, Start: 10e9, End: 11e9, Agent: new(0), Client: &signals.Client{
			Carried: users, OpenConnections: 200, Latency: signals.NewHistogram(), Service: signals.NewHistogram(), SendLag: signals.NewHistogram()}}, "go")
		return all
	}
	stalled, calm := 4.0, 0.5
	limited := queue(30, 8)
	limited.CPU, limited.CPULimit, limited.Periods, limited.ThrottledPeriods, limited.Throttled = new(9.9), new(1.0), new(int64(100)), new(int64(95)), new(20.0)
	for name, c := range map[string]struct {
		total *sums.Total
		want  finding.Kind
	}{
		"drops, and as many wait for a retry":        {lateIn(t, 30, time.Second, queue(30, 8)), finding.AcceptQueueFull},
		"drops, and users who wait all the time":     {stuck(170, 100), finding.AcceptQueueFull},
		"users who wait all the time":                {stuck(170, 0), finding.None},
		"drops, and one user who waits":              {stuck(1, 100), finding.None},
		"drops, and no request is late":              {lateIn(t, 0, 0, queue(30, 8)), finding.None},
		"late requests, and no drops":                {lateIn(t, 30, time.Second, queue(0, 8)), finding.None},
		"many more are late than were dropped":       {lateIn(t, 300, time.Second, queue(30, 8)), finding.None},
		"a queue that is long enough to be late":     {lateIn(t, 30, time.Second, queue(30, 128)), finding.None},
		"most requests wait as well":                 {lateIn(t, 700, 300*time.Millisecond, queue(400, 8)), finding.None},
		"it is at its CPU limit":                     {lateIn(t, 30, time.Second, limited), finding.None},
		"late by less than a retry":                  {lateIn(t, 30, 150*time.Millisecond, queue(30, 8)), finding.None},
		"late last parts, 40 ms after others":        {parts(30, 28, 1, signals.Server{}), finding.AcksDelayed},
		"gaps of any length":                         {parts(60, 30, 20, signals.Server{}), finding.None},
		"most slow answers come at once":             {parts(100, 30, 1, signals.Server{}), finding.None},
		"fewer than may be late":                     {parts(9, 9, 0, signals.Server{}), finding.None},
		"it waits for memory":                        {lateIn(t, 30, time.Second, memory(full, 5000, &stalled)), finding.MemoryStalled},
		"the eviction takes CPU time, not the disk":  {lateIn(t, 30, time.Second, memory(full, 15_000, &calm)), finding.MemoryRefaults},
		"few pages beside its own work":              {lateIn(t, 30, time.Second, memory(full, 5000, &calm)), finding.None},
		"pages are read again, and no time is known": {lateIn(t, 30, time.Second, memory(full, 15_000, nil)), finding.MemoryRefaults},
		"few pages are read again":                   {lateIn(t, 30, time.Second, memory(full, 500, nil)), finding.None},
		"pages are read again, below the limit":      {lateIn(t, 30, time.Second, memory(half, 5000, &stalled)), finding.None},
	} {
		if _, got := UnderLoad(goal, c.total); got.Kind != c.want {
			t.Errorf("%s: %v, want kind %v", name, got, c.want)
		}
	}
}

// 40 ms of a request that takes twice as long are not what limits a service.
func TestADelayedAcknowledgementBesideALongerWait(t *testing.T) {
	for latency, want := range map[time.Duration]string{50 * time.Millisecond: summary.ByDelayedAck, 100 * time.Millisecond: summary.ByService} {
		all := lateIn(t, 300, latency+10*time.Millisecond, signals.Server{CPU: new(1.0)})
		all.Client.AckDelayed = 280
		s := Stretch{Open: true, Sums: all, Goal: objective.Goal{Objective: &experiment.Objective{Quantile: "p99", Latency: latency}}}
		by, shown := s.inside(nil)
		if also := len(shown) == 2 && shown[1].Kind == finding.AlsoDelayed; by != want || also != (want == summary.ByService) {
			t.Errorf("%v: %s, %+v, want %s", latency, by, shown, want)
		}
	}
}
