package maxprocs

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestStats(t *testing.T) {
	f := newFixture(t)
	f.write("sys/fs/cgroup/pod/cpu.stat", "nr_periods 50\nnr_throttled 20\nthrottled_usec 3000000\n")
	f.write("sys/fs/cgroup/pod/box/cpu.stat", "nr_periods 7\nnr_throttled 1\nthrottled_usec 5\n")
	for _, tt := range []struct {
		name      string
		own, pod  string
		limit     float64
		periods   int64
		throttled time.Duration
	}{
		{"by its own group", "100000", "300000", 1, 7, 5 * time.Microsecond},
		{"by the group above", "max", "300000", 3, 50, 3 * time.Second},
		{"not limited", "max", "max", 0, 7, 5 * time.Microsecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f.limit(tt.own)
			f.limitPod(tt.pod)
			s := f.host.stats(new(counters))
			if s.GOMAXPROCS != runtime.GOMAXPROCS(0) || s.Limit.CPUs != tt.limit ||
				s.Throttling == nil || s.Throttling.Periods != tt.periods || s.Throttling.Throttled != tt.throttled {
				t.Errorf("got %+v, %+v", s, s.Throttling)
			}
		})
	}
}

// The counters never decrease, and grow by no more than a group counted between two
// readings of it, whatever sets the limit.
func TestCountersAcrossGroups(t *testing.T) {
	f := newFixture(t)
	count := func(group string, periods, throttled, micros int) {
		f.write("sys/fs/cgroup/"+group+"/cpu.stat", fmt.Sprintf("nr_periods %d\nnr_throttled %d\nthrottled_usec %d\n", periods, throttled, micros))
	}
	f.limit("50000")
	f.limitPod("max")
	count("pod/box", 28, 20, 3000)
	count("pod", 0, 0, 0)
	var sum counters
	for _, step := range []struct {
		name                       string
		change                     func()
		periods, throttled, micros int64 // of the reading; periods -1: not measured
	}{
		{"the first reading has the group's counters", func() {}, 28, 20, 3000},
		{"and grows with them", func() { count("pod/box", 30, 21, 3500) }, 30, 21, 3500},
		{"the pod's limit is lower, and its counters too", func() { f.limitPod("20000"); count("pod", 27, 27, 900) }, 30, 21, 3500},
		{"it grows with those", func() { count("pod", 29, 28, 1900); count("pod/box", 99, 99, 99000) }, 32, 22, 4500},
		{"back to the box, whose counters are far higher", func() { f.limitPod("max") }, 32, 22, 4500},
		{"it grows with those", func() { count("pod/box", 100, 99, 99001) }, 33, 22, 4501},
		{"the file cannot be read", func() { f.write("sys/fs/cgroup/pod/box/cpu.stat", "nr_periods x\n") }, -1, 0, 0},
		{"the file is back", func() { count("pod/box", 102, 100, 99003) }, 35, 23, 4503},
		{"the group was created again", func() { count("pod/box", 5, 1, 7) }, 35, 23, 4503},
		{"it grows with the new one", func() { count("pod/box", 6, 2, 8) }, 36, 24, 4504},
		{"created again, with one counter as high", func() { count("pod/box", 8, 1, 9) }, 36, 24, 4504},
		{"without any limit the own group counts", func() { f.limit("max"); count("pod/box", 8, 1, 10) }, 36, 24, 4505},
	} {
		step.change()
		s := f.host.stats(&sum)
		if s.Throttling == nil {
			if step.periods >= 0 {
				t.Errorf("%s: not measured: %v", step.name, s.Err)
			}
			continue
		}
		want := Throttling{step.periods, step.throttled, time.Duration(step.micros) * time.Microsecond}
		if *s.Throttling != want {
			t.Errorf("%s: got %+v, want %+v", step.name, *s.Throttling, want)
		}
	}
}

// The figures besides throttling, of the group that sets each limit, and of the process's
// own group.
func TestStatsOfAllFiles(t *testing.T) {
	f := newFixture(t)
	f.limitPod("50000") // the CPU limit is the pod's, and the memory limit the box's
	f.write("sys/fs/cgroup/pod/cpu.stat", "usage_usec 7000000\n")
	f.write("sys/fs/cgroup/pod/box/cpu.stat", "usage_usec 1\n")
	f.write("sys/fs/cgroup/pod/memory.max", "max\n")
	f.write("sys/fs/cgroup/pod/box/memory.max", "4096000\n")
	f.write("sys/fs/cgroup/pod/box/memory.current", "1000\n")
	f.write("sys/fs/cgroup/pod/box/memory.stat", "anon 1\nfile 1\ninactive_file 400\n")
	f.write("sys/fs/cgroup/pod/box/memory.events", "oom 1\noom_kill 3\n")
	f.write("sys/fs/cgroup/pod/box/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000000\n")
	f.write("sys/fs/cgroup/pod/box/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n")
	f.write("proc/self/task/7/schedstat", "1 3000000000 1\n")
	f.write("proc/self/task/8/schedstat", "1 1000000000 1\n")
	var sum counters
	want := func(s Stats, cpu, wait, workingSet, kills, some, io string) {
		t.Helper()
		text := func(p any) string {
			switch p := p.(type) {
			case *time.Duration:
				if p != nil {
					return p.String()
				}
			case *int64:
				if p != nil {
					return fmt.Sprint(*p)
				}
			}
			return "nil"
		}
		got := []string{text(s.CPUTime), text(s.Wait), text(s.Memory.WorkingSet), text(s.Memory.OOMKills), text(s.Pressure.CPU.Some), text(s.Pressure.IO.Full),
			text(s.Pressure.CPU.Full), text(s.Pressure.Memory.Some)}
		want := []string{cpu, wait, workingSet, kills, some, io, "nil", "nil"}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("got %q, want %q", got, want)
				return
			}
		}
	}
	s := f.host.stats(&sum)
	want(s, "7s", "4s", "600", "3", "5s", "1s")
	if s.Err != nil || s.Throttling != nil || s.Memory.Limit == nil || *s.Memory.Limit != 4096000 {
		t.Errorf("got %+v", s)
	}

	// Thread 7 ends, 8 waits for half a second more, and 9 begins; the pod's limit goes, and
	// with it the group whose CPU time is read.
	os.RemoveAll(f.path("proc/self/task/7"))
	f.write("proc/self/task/8/schedstat", "1 1500000000 1\n")
	f.write("proc/self/task/9/schedstat", "1 250000000 1\n")
	f.limitPod("max")
	f.write("sys/fs/cgroup/pod/memory.max", "2048000\n")
	f.write("sys/fs/cgroup/pod/memory.current", "1900\n")
	want(f.host.stats(&sum), "7s", "4.75s", "nil", "3", "5s", "1s") // the pod has no memory.stat
	f.write("sys/fs/cgroup/pod/memory.stat", "inactive_file 900\n")
	f.write("sys/fs/cgroup/pod/box/cpu.stat", "usage_usec 2000001\n")
	f.write("proc/self/task/9/schedstat", "1 50000000 1\n") // another thread with this id
	want(f.host.stats(&sum), "9s", "4.8s", "1000", "3", "5s", "1s")

	f.write("sys/fs/cgroup/pod/box/memory.events", "oom_kill x\n")
	if s = f.host.stats(&sum); s.Memory.OOMKills != nil || s.Err == nil || s.CPUTime == nil {
		t.Errorf("got %+v, want no kills and the reason", s)
	}
}

// Concurrent readings are added in their order: none is lower than one that had ended
// before it began, and nothing counts twice.
func TestCountersOfConcurrentReadings(t *testing.T) {
	f := newFixture(t)
	f.limit("50000")
	const last = 300
	write := func(n int) {
		stat := f.path("sys/fs/cgroup/pod/box/cpu.stat")
		text := fmt.Sprintf("nr_periods %d\nnr_throttled 0\nthrottled_usec 0\n", n)
		if err := errors.Join(os.WriteFile(stat+".new", []byte(text), 0o644), os.Rename(stat+".new", stat)); err != nil {
			t.Error(err)
		}
	}
	write(1)
	var sum counters
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for before := int64(0); before < last; {
				s := f.host.stats(&sum)
				if s.Throttling == nil || s.Throttling.Periods < before || s.Throttling.Periods > last {
					t.Errorf("got %+v, %v after %d", s.Throttling, s.Err, before)
					return
				}
				before = s.Throttling.Periods
			}
		}()
	}
	for n := 2; n <= last; n++ {
		write(n)
	}
	all.Wait()
}

func TestStatsNotMeasured(t *testing.T) {
	f := newFixture(t)
	f.write("sys/fs/cgroup/pod/box/cpu.stat", "usage_usec 9\n")
	if s := f.host.stats(new(counters)); s.Limit.State != Unlimited || s.Throttling != nil || s.Err != nil {
		t.Errorf("no CPU controller: got %+v, want absent", s)
	}
	f.write("sys/fs/cgroup/pod/box/cpu.stat", "nr_periods x\n")
	if s := f.host.stats(new(counters)); s.Throttling != nil || s.Err == nil {
		t.Errorf("garbage: got %+v, want unreadable", s)
	}
	os.RemoveAll(f.path("sys/fs/cgroup/pod/box"))
	if s := f.host.stats(new(counters)); s.Limit.State != Unknown || s.Throttling != nil || s.Err == nil {
		t.Errorf("gone: got %+v, want unknown and unreadable", s)
	}
	os.RemoveAll(f.path("proc"))
	if s := f.host.stats(new(counters)); s.Limit.State != Unknown || s.Limit.Err == nil || s.Throttling != nil || s.Err == nil {
		t.Errorf("no /proc: got %+v, want unknown and unreadable", s)
	}
	os.MkdirAll(f.path("proc/self"), 0o755)
	if s := f.host.stats(new(counters)); s.Limit.State != Unlimited || s.Throttling != nil || s.Err != nil {
		t.Errorf("no control groups: got %+v, want unlimited and absent", s)
	}
}

// What package maxprocs says of this process, whatever that is, holds together.
func TestThisHost(t *testing.T) {
	l, s := Limit(), ReadStats()
	if l.State != s.Limit.State || l.CPUs != s.Limit.CPUs || (l.State == Limited) != (l.CPUs > 0) {
		t.Errorf("got %+v and %+v", l, s)
	}
}
