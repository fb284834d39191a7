package threads

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/proc"
)

const ms = time.Millisecond

// reading is a reading of threads 1, 2 and so on, after a number of seconds: pairs of
// milliseconds that each ran and waited since it started. A pair of -1 is no thread.
func reading(after int, all ...[2]time.Duration) *Reading {
	r := &Reading{At: time.Unix(1000+int64(after), 0), Of: map[int]proc.Schedstat{}}
	for i, of := range all {
		if of[0] >= 0 {
			r.Of[i+1] = proc.Schedstat{Ran: of[0] * ms, Waited: of[1] * ms, Turns: int64(of[0])} // of 1 ms
		}
	}
	return r
}

func TestSince(t *testing.T) {
	none := [2]time.Duration{-1, -1}
	for _, test := range []struct {
		name        string
		before, now *Reading
		truncated   bool
		want        Use
	}{
		{name: "one thread at its bound", before: reading(0, [2]time.Duration{5000, 100}), now: reading(10, [2]time.Duration{13_500, 200}),
			want: Use{Read: 1, Busy: 1, Bound: 1, Ran: 8500 * ms, Waited: 100 * ms, Turns: 8500, BusyRan: 8500 * ms, BusyWaited: 100 * ms}},
		{name: "below it", before: reading(0, [2]time.Duration{0, 0}), now: reading(10, [2]time.Duration{8499, 0}),
			want: Use{Read: 1, Busy: 1, Ran: 8499 * ms, Turns: 8499, BusyRan: 8499 * ms}},
		{name: "one that always wanted a CPU and ran for a part", before: reading(0, [2]time.Duration{0, 0}), now: reading(10, [2]time.Duration{1750, 7250}),
			want: Use{Read: 1, Busy: 1, Full: 1, Held: 1, Ran: 1750 * ms, Waited: 7250 * ms, Turns: 1750, BusyRan: 1750 * ms, BusyWaited: 7250 * ms}},
		{name: "one that hardly ran, and waited", before: reading(0, [2]time.Duration{0, 0}), now: reading(10, [2]time.Duration{499, 8501}),
			want: Use{Read: 1, Full: 1, Held: 1, Ran: 499 * ms, Waited: 8501 * ms, Turns: 499}},
		{name: "one that hardly ran, and slept", before: reading(0, [2]time.Duration{0, 0}), now: reading(10, [2]time.Duration{499, 8500}),
			want: Use{Read: 1, Ran: 499 * ms, Waited: 8500 * ms, Turns: 499}},
		{name: "two that shared a small limit, and one that woke often and waited out the stops",
			before: reading(0, [2]time.Duration{}, [2]time.Duration{}, [2]time.Duration{}), now: reading(10, [2]time.Duration{940, 9060}, [2]time.Duration{1050, 8950}, [2]time.Duration{6, 8998}),
			want: Use{Read: 3, Busy: 2, Full: 2, Held: 2, Ran: 1996 * ms, Waited: 27_008 * ms, Turns: 1996, BusyRan: 1990 * ms, BusyWaited: 18_010 * ms}},
		{name: "two of which one got the least fair part",
			before: reading(0, [2]time.Duration{}, [2]time.Duration{}), now: reading(10, [2]time.Duration{2000, 8000}, [2]time.Duration{500, 9500}),
			want: Use{Read: 2, Busy: 2, Full: 2, Held: 2, Ran: 2500 * ms, Waited: 17_500 * ms, Turns: 2500, BusyRan: 2500 * ms, BusyWaited: 17_500 * ms}},
		{name: "one that started and one that ended", before: reading(0, [2]time.Duration{7000, 0}, none), now: reading(10, none, [2]time.Duration{700, 100}),
			want: Use{Read: 1, Busy: 1, Ran: 700 * ms, Waited: 100 * ms, Turns: 700, BusyRan: 700 * ms, BusyWaited: 100 * ms}},
		{name: "one of many that is new to the reading", before: reading(0, none), now: reading(10, [2]time.Duration{9000, 0}), truncated: true,
			want: Use{Read: 1, Truncated: true}},
		{name: "counters that decreased", before: reading(0, [2]time.Duration{7000, 7000}), now: reading(10, [2]time.Duration{6000, 6000}),
			want: Use{Read: 1}},
	} {
		test.before.Truncated = test.truncated
		test.want.Length = 10 * time.Second
		if diff := cmp.Diff(&test.want, test.now.Since(test.before)); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
	lock := reading(10, [2]time.Duration{1750, 7250})
	lock.Of[1] = proc.Schedstat{Ran: 1750 * ms, Waited: 7250 * ms, Turns: 1751}
	if got := lock.Since(reading(0)); got.Full != 1 || got.Held != 0 {
		t.Errorf("a thread that runs for less than a millisecond each time: got %+v", got)
	}
	if got := reading(0).Since(reading(0)); got != nil {
		t.Errorf("no time has passed: got %+v", got)
	}
}

func TestAdd(t *testing.T) {
	a := Use{Length: 9 * time.Second, Read: 2, Busy: 2, Full: 1, Held: 1, Bound: 1, Ran: 9, Waited: 8, Turns: 3, BusyRan: 7, BusyWaited: 6}
	b := Use{Length: 10 * time.Second, Read: 3, Truncated: true, Busy: 1, Full: 1, Held: 1, Bound: 1, Ran: 1, Waited: 2, Turns: 4, BusyRan: 3, BusyWaited: 4}
	want := Use{Length: 10 * time.Second, Read: 5, Truncated: true, Busy: 3, Full: 2, Held: 2, Bound: 2, Ran: 10, Waited: 10, Turns: 7, BusyRan: 10, BusyWaited: 10}
	if diff := cmp.Diff(want, a.Add(b)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// The time of what started and ended during the watch is reported where it is most.
func TestAccount(t *testing.T) {
	for _, test := range []struct {
		name               string
		of                 Account
		processes, threads float64
	}{
		{"a server", Account{0.8, 0.79, 0.79}, 0, 0},
		{"loops that fork", Account{0.8, 0.02, 0.02}, 0.78, 0},
		{"a pool whose threads end", Account{0.8, 0.8, 0.13}, 0, 0.67},
		{"half of it", Account{0.8, 0.8, 0.4}, 0, 0.4},
		{"less than half", Account{0.8, 0.5, 0.26}, 0, 0},
		{"readings at different times", Account{0.8, 0.83, 0.81}, 0, 0},
		{"an idle group", Account{0.01, 0, 0}, 0, 0},
	} {
		if p, n := test.of.ShortProcesses(), test.of.ShortThreads(); math.Abs(p-test.processes) > 1e-9 || math.Abs(n-test.threads) > 1e-9 {
			t.Errorf("%s: got %v and %v, want %v and %v", test.name, p, n, test.processes, test.threads)
		}
	}
}

// A wait is for the end of a throttled period, for threads of the same group, or for others.
func TestTheParts(t *testing.T) {
	for _, test := range []struct {
		name            string
		busy            int
		ran, waited     float64 // CPUs
		throttled       float64
		cpus            int
		inUse           float64
		stopped, queued float64
	}{
		{"one thread beside others", 1, 0.47, 0.53, 0, 2, 2, 0, 0.53 * 1.53 / 2},
		{"one thread, throttled alone", 1, 0.4, 0.6, 0.6, 2, 0.4, 0.6, 0},
		{"eight threads on two CPUs, throttled", 8, 0.8, 7.2, 1.2, 2, 1.9, 4.8, 2.4 * 1.1 / 1.9},
		{"eight threads, the CPUs of which are not known", 8, 0.8, 7.2, 1.2, 0, 0.8, 1.2, 0},
		{"threads of which each ran little", 0, 0.03, 38.5, 0.03, 2, 2, 0.03 * 39 / 2, (38.5 - 0.03*39/2) * 1.97 / 2},
		{"more throttled than waited", 1, 0.5, 0.1, 0.5, 1, 2, 0.5, 0},
		{"a host that was not read", 1, 0.5, 0.1, 0, 1, 0, 0, 0},
	} {
		at := func(n float64) time.Duration { return time.Duration(n * float64(10*time.Second)) }
		u := Use{Length: 10 * time.Second, Busy: test.busy, Ran: at(test.ran), Waited: at(test.waited)}
		stopped := u.Stopped(test.throttled, test.cpus)
		if queued := u.Queued(stopped, test.ran, test.inUse); math.Abs(stopped-test.stopped) > 1e-6 || math.Abs(queued-test.queued) > 1e-6 {
			t.Errorf("%s: got %v and %v, want %v and %v", test.name, stopped, queued, test.stopped, test.queued)
		}
	}
}
