package maxprocs

import (
	"os"
	"runtime"
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
			s := f.host.stats()
			if s.GOMAXPROCS != runtime.GOMAXPROCS(0) || s.Limit.CPUs != tt.limit ||
				s.Throttling == nil || s.Throttling.Periods != tt.periods || s.Throttling.Throttled != tt.throttled {
				t.Errorf("got %+v, %+v", s, s.Throttling)
			}
		})
	}
}

func TestStatsNotMeasured(t *testing.T) {
	f := newFixture(t)
	f.write("sys/fs/cgroup/pod/box/cpu.stat", "usage_usec 9\n")
	if s := f.host.stats(); s.Limit.State != Unlimited || s.Throttling != nil || s.Err != nil {
		t.Errorf("no CPU controller: got %+v, want absent", s)
	}
	f.write("sys/fs/cgroup/pod/box/cpu.stat", "nr_periods x\n")
	if s := f.host.stats(); s.Throttling != nil || s.Err == nil {
		t.Errorf("garbage: got %+v, want unreadable", s)
	}
	os.RemoveAll(f.path("sys/fs/cgroup/pod/box"))
	if s := f.host.stats(); s.Limit.State != Unknown || s.Throttling != nil || s.Err == nil {
		t.Errorf("gone: got %+v, want unknown and unreadable", s)
	}
	os.RemoveAll(f.path("proc"))
	if s := f.host.stats(); s.Limit.State != Unknown || s.Limit.Err == nil || s.Throttling != nil || s.Err == nil {
		t.Errorf("no /proc: got %+v, want unknown and unreadable", s)
	}
	os.MkdirAll(f.path("proc/self"), 0o755)
	if s := f.host.stats(); s.Limit.State != Unlimited || s.Throttling != nil || s.Err != nil {
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
