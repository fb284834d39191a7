package capacity

import (
	"math"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/analysis/finding"
	"github.com/millicore/millicore/internal/analysis/summary"
	"github.com/millicore/millicore/internal/analysis/sums"
	"github.com/millicore/millicore/internal/data/signals"
)

// A service that uses about a CPU, or much less, at an overload: the threads decide what the
// CPU use leaves open.
func TestThreadsDecideWhatTheCPUUseLeavesOpen(t *testing.T) {
	// Answered are requests/s.
	of := func(answered int64, cores, full, top float64) *sums.Total {
		all := sums.New()
		for i := range 10 {
			s := signals.Server{CPU: &cores, Up: true}
			if top > 0 {
				s.Threads = &signals.Threads{Seconds: 1, Count: 20, Top: top}
				if float64(i) < 10*full {
					s.Threads.Full = 1
				}
			}
			h := signals.NewHistogram()
			for range answered {
				h.Record(time.Millisecond)
			}
			all.Add(&signals.Frame{Trial: 1, Seq: i, Phase: signals.Measure, Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Agent: new(int), Client: &signals.Client{Good: answered, Latency: h, Service: h, SendLag: h}}, "go")
			all.Add(&signals.Frame{Trial: 1, Seq: i, Phase: signals.Measure, Of: "go", Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Server: &s}, "go")
		}
		return all
	}
	for _, c := range []struct {
		name         string
		below, above *sums.Total
		by           string
		kind         finding.Kind
	}{
		{"not read", of(100, 0.3, 0, 0), of(300, 1, 0, 0), summary.ByParallelism, finding.ThreadsBusy},
		{"one busy thread", of(100, 0.3, 0, 0.3), of(300, 1, 1, 1), summary.ByParallelism, finding.ThreadsFull},
		{"one busy thread beside others", of(100, 0.4, 0, 0.3), of(300, 1.3, 1, 1), summary.ByParallelism, finding.ThreadsFull},
		{"one busy thread that waits for a CPU at times", of(100, 0.3, 0, 0.3), of(300, 0.85, 0.9, 0.97), summary.ByParallelism, finding.ThreadsFull},
		{"a lock whose work one thread does at the overload", of(100, 0.3, 0, 0.15), of(300, 1, 1, 1), summary.ByParallelism, finding.ThreadsBusy},
		{"a thread that is busy at any load, and a lock", of(100, 1.2, 1, 1), of(300, 1.4, 1, 1), "", finding.None},
		{"a lock around its work, or a pool", of(100, 0.3, 0, 0.1), of(300, 1, 0, 0.4), "", finding.None},
		{"a lock of few requests, or a runtime's one thread", of(100, 0.3, 0, 0.3), of(300, 1, 0.6, 0.85), summary.ByParallelism, finding.ThreadsBusy},
	} {
		s := Stretch{Open: true, Sums: c.above, over: []overload{{load: 300, sums: c.above}}, below: c.below}
		by, shown := s.busy()
		if by != c.by || shown.Kind != c.kind {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, by, shown.Kind, c.by, c.kind)
		}
	}
}

// The collector's share is that of the highest overloads, where its threads were read for long
// enough: a heap that is too small makes it most of the CPU time.
func TestACollectorBesideALimit(t *testing.T) {
	at := func(load, seconds, cpu, collector float64) overload {
		all, limit, periods := sums.New(), 1.0, int64(10*seconds)
		all.Add(&signals.Frame{Trial: 1, Phase: signals.Measure, Of: "java", End: int64(seconds * 1e9), Server: &signals.Server{Up: true,
			CPU: new(cpu * seconds), CPULimit: &limit, Periods: &periods, ThrottledPeriods: &periods, Throttled: new(seconds),
			Threads: &signals.Threads{Seconds: seconds, Count: 20, Top: cpu * seconds / 2, Collector: collector * seconds}}}, "java")
		return overload{load, all}
	}
	for _, c := range []struct {
		name string
		over []overload
		want float64
	}{
		{"most of it", []overload{at(100, 5, 1, 0.96)}, 0.96},
		{"a quarter", []overload{at(100, 5, 1, 0.25)}, 0},
		{"it was read too briefly", []overload{at(100, 0.5, 1, 0.96)}, 0},
		{"the highest was cut short", []overload{at(100, 5, 1, 0.9), at(400, 0.5, 1, 0.9)}, 0.9},
		{"at the highest overload", []overload{at(100, 5, 1, 0.1), at(400, 5, 1, 0.9)}, 0.9},
	} {
		s := Stretch{Sums: c.over[0].sums, Open: true, over: c.over}
		by, shown := s.inside(nil)
		share := 0.0
		for _, f := range shown {
			if f.Kind == finding.AlsoCollected {
				share = f.Share
			}
		}
		if by != summary.ByCPULimit || math.Abs(share-c.want) > 1e-9 {
			t.Errorf("%s: %s, %g, want %g", c.name, by, share, c.want)
		}
	}
}
