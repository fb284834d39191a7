package doctor

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/host/threads"
)

// watch is what a watch of 10 s sees of a service on a host of 2 CPUs: CPUs and shares.
type watch struct {
	limit         float64
	parallelism   int
	ran, waited   float64
	busy, full    int
	throttled     int64   // of 100 periods
	stopped       float64 // throttled time, summed over the CPUs
	others, spare float64 // CPUs that other processes used, and idle ones
	affinity      int     // 0: both
}

func (w watch) host(change ...func(*inspect.Process)) inspect.Host {
	const length = 10 * time.Second
	cpus := func(n float64) time.Duration { return time.Duration(n * float64(length)) }
	p := goService(w.parallelism, w.limit)
	p.Info.Affinity = cmp.Or(w.affinity, 2)
	used := cpus(w.ran)
	counts := inspect.Counts{Length: length, Periods: 100, Throttled: w.throttled, Stopped: cpus(w.stopped), Used: &used}
	p.Throttling, p.Used = &inspect.Throttling{Since: counts, Watch: &counts}, used
	p.Threads = &threads.Use{Length: length, Read: 9, Busy: w.busy, Full: w.full, Ran: used, Waited: cpus(w.waited), BusyRan: used, BusyWaited: cpus(w.waited)}
	for _, c := range change {
		c(&p)
	}
	inUse := w.ran + w.others
	other := inspect.Process{PID: 7, Name: "loop", CPU: inspect.CPULimit{State: inspect.Unlimited}, Used: cpus(w.others - 0.05)}
	small := inspect.Process{PID: 8, Name: "cron", CPU: inspect.CPULimit{State: inspect.Unlimited}, Used: cpus(0.05)}
	return inspect.Host{Online: 2, Watched: length, InUse: &inUse, Idle: &w.spare, Processes: []inspect.Process{p, other, small}}
}

// A wait for a CPU that the limit does not explain is the host's: no limit, burst or
// parallelism is advised from it.
func TestAServiceThatWaitsForOthers(t *testing.T) {
	const busy = "warning: the host is short of CPU, or the service's weight is too low: it used "
	for _, test := range []struct {
		name string
		of   watch
		want string // "": no finding
	}{
		{"one thread beside three loops", watch{limit: 1.7, parallelism: 1, ran: 0.47, waited: 0.53, busy: 1, full: 1, others: 1.53}, busy + "0.47 CPUs and waited for 0.53 (throttled: about 0.00)"},
		{"many threads with a low weight, throttled at times", watch{limit: 0.08, parallelism: 64, ran: 0.034, waited: 38.5, throttled: 30, stopped: 0.034, others: 1.96}, busy},
		{"bursts beside others", watch{limit: 2, parallelism: 2, ran: 0.48, waited: 0.37, busy: 2, throttled: 10, stopped: 0.05, others: 1.52}, busy},
		{"one thread that ran for 70% and waited for the rest", watch{limit: 1.7, parallelism: 1, ran: 0.7, waited: 0.3, busy: 1, full: 1, others: 1.3}, busy},
		{"one thread that ran for 80% and waited little", watch{limit: 1.7, parallelism: 1, ran: 0.8, waited: 0.12, busy: 1, full: 1, others: 1.2}, "warning: parallelism 1 under a limit of 1.7 CPUs"},
		{"one thread that used its CPU", watch{limit: 1.7, parallelism: 1, ran: 0.9, waited: 0.1, busy: 1, full: 1, others: 1.1}, "warning: parallelism 1 under a limit of 1.7 CPUs"},
		{"bursts on a quiet host", watch{limit: 0.5, parallelism: 1, ran: 0.2, waited: 0.3, busy: 1, throttled: 60, stopped: 0.3, others: 0.1, spare: 1.7},
			"warning: throttled while using 40% of its limit on average: bursts"},
		{"bursts on a busy host, stopped by the limit", watch{limit: 0.5, parallelism: 1, ran: 0.2, waited: 0.3, busy: 1, throttled: 60, stopped: 0.25, others: 1.8},
			"warning: throttled while using 40% of its limit on average: bursts"},
		{"bursts of many threads on a busy host, stopped by the limit", watch{limit: 2, parallelism: 2, ran: 0.8, waited: 7.2, busy: 8, throttled: 60, stopped: 1.2, others: 1.1, spare: 0.1},
			"warning: throttled while using 40% of its limit on average: bursts"},
		{"a limit that is used up on a busy host", watch{limit: 0.8, parallelism: 1, ran: 0.78, waited: 8, busy: 8, throttled: 95, stopped: 0.3, others: 1.2},
			"warning: limit of 800m CPU used up (98% on average): throttled in 95% of 100 periods"},
		{"threads that wait for each other", watch{limit: 2, parallelism: 2, ran: 1.5, waited: 6, busy: 8, others: 0.4, spare: 0.1}, ""},
		{"an idle service on a busy host", watch{limit: 1, parallelism: 1, ran: 0.01, waited: 0.02, others: 1.99}, ""},
		{"a wait beside idle CPUs", watch{limit: 1.7, parallelism: 1, ran: 0.47, waited: 0.53, busy: 1, others: 1, spare: 0.53}, ""},
		{"some of the CPUs", watch{limit: 1.7, parallelism: 1, ran: 0.47, waited: 0.53, busy: 1, others: 1.53, affinity: 1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			host := test.of.host()
			all := Examine(host)
			if test.want == "" && len(all) > 0 || test.want != "" && (len(all) != 1 || !strings.HasPrefix(titles(all)[0], test.want)) {
				t.Fatalf("got %q", titles(all))
			}
			if strings.HasPrefix(test.want, busy) && (all[0].Changes != nil || !strings.HasSuffix(all[0].Evidence[len(all[0].Evidence)-1], " CPUs, and 0.00 were idle: "+
				"loop (pid 7) "+fmt.Sprintf("%.2f", test.of.others-0.05))) {
				t.Errorf("got %+v", all[0])
			}
		})
	}
	unread := watch{limit: 1.7, parallelism: 1, ran: 0.47, waited: 0.53, busy: 1, others: 1.53}.host()
	unread.InUse, unread.Idle = nil, nil
	if all := Examine(unread); len(all) != 0 {
		t.Errorf("a host that was not read: got %q", titles(all))
	}
}

// Threads behind a lock wait for each other.
func TestThreadsBehindALockWaitForEachOther(t *testing.T) {
	host := watch{limit: 1.7, parallelism: 1, ran: 0.8, waited: 3, busy: 8, others: 0.5, spare: 0.1}.host(func(p *inspect.Process) {
		p.Info = runtimes.Info{Runtime: runtimes.Python, Affinity: 2, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
	})
	for _, f := range Examine(host) {
		if f.Level > Info {
			t.Errorf("got %s", f.Title)
		}
	}
}
