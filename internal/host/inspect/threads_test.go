package inspect

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/threads"
)

// schedstat writes the counters of a thread in milliseconds.
func (h tree) schedstat(pid, tid, ran, waited int) {
	h.t.Helper()
	h.write(fmt.Sprintf("proc/%d/task/%d/schedstat", pid, tid), fmt.Sprintf("%d %d 1\n", ran*1_000_000, waited*1_000_000))
}

// over scans with a watch of ten seconds, in which the host changes.
func (h tree) over(change func()) Host {
	h.t.Helper()
	s := New(h.root)
	now := time.Unix(1000, 0)
	s.now = func() time.Time { return now }
	s.sleep = func(_ context.Context, d time.Duration) {
		change()
		now = now.Add(d)
	}
	host, err := s.Scan(context.Background(), Only{}, 10*time.Second)
	if err != nil {
		h.t.Fatal(err)
	}
	return host
}

func TestThreadsOverAWatch(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "", "a")
	h.process(20, 1, "free", "/", "", "free")
	h.schedstat(20, 20, 5, 5)
	h.schedstat(10, 10, 60_000, 1000) // much before the watch
	h.schedstat(10, 11, 0, 0)
	h.schedstat(10, 12, 0, 0)
	h.schedstat(10, 14, 1000, 0)
	h.write("proc/stat", "cpu  0 0 0 1000 0 0 0 0 0 0\n")
	host := h.over(func() {
		h.schedstat(10, 10, 65_000, 5600) // 5 s ran and 4.6 s waited: full
		h.schedstat(10, 11, 600, 0)       // busy
		h.schedstat(10, 12, 400, 9000)    // hardly, and waited: not full
		h.schedstat(10, 13, 700, 100)     // started in the watch
		h.remove("proc/10/task/14")       // ended
		h.write("proc/stat", "cpu  500 0 0 1300 0 0 0 200 0 0\n")
	})
	const ms = time.Millisecond
	want := &threads.Use{
		Length: 10 * time.Second, Read: 4, Busy: 3, Full: 1, Held: 1, Ran: 6700 * ms, Waited: 13_700 * ms, Turns: 1,
		BusyRan: 6300 * ms, BusyWaited: 4700 * ms,
	}
	if diff := cmp.Diff(want, host.Processes[0].Threads); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if host.Processes[1].Threads != nil {
		t.Error("the threads of a process without a limit were read")
	}
	if host.Steal == nil || *host.Steal != 0.2 {
		t.Errorf("steal: got %v, want 0.2", host.Steal)
	}
	if host.InUse == nil || host.Idle == nil || math.Abs(*host.InUse-4) > 1e-9 || math.Abs(*host.Idle-2.4) > 1e-9 {
		t.Errorf("CPUs of 8: got %v in use and %v idle, want 4 and 2.4", host.InUse, host.Idle)
	}
}

// Of more threads than are read, the ones that are not known from the beginning are left
// out: their counters may be from before the watch.
func TestThreadsThatAreTruncated(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "", "a")
	for tid := range mostThreads + 10 {
		h.schedstat(10, 10+tid, 1000, 0)
	}
	got := h.over(func() {}).Processes[0].Threads
	if got == nil || !got.Truncated || got.Read != mostThreads || got.Ran != 0 {
		t.Errorf("got %+v", got)
	}
}

// A kernel without schedstat gives no figures rather than zeros.
func TestThreadsOfAKernelThatDoesNotCount(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "", "a")
	if got := h.over(func() {}).Processes[0].Threads; got != nil {
		t.Errorf("got %+v", got)
	}
}
