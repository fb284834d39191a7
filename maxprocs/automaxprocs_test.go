package maxprocs

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// What go.uber.org/automaxprocs 1.6.0 promises, in the words of its
// documentation or of its changelog, holds here too. Where this package means to
// do otherwise, docs/maxprocs.md says so and no promise is listed.

// v1 turns the host of a fixture into one with cgroup v1, whose process is in
// the given group.
func (f fixture) v1(group, quota, period string) {
	f.t.Helper()
	f.write("proc/self/cgroup", "5:memory:/\n4:cpu,cpuacct:"+group+"\n0::/\n")
	f.write("proc/1/mountinfo", "31 22 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"+
		"32 22 0:28 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n")
	f.write("sys/fs/cgroup/cpu,cpuacct/release_agent", "\n")
	f.write("sys/fs/cgroup/cpu,cpuacct"+group+"/cpu.cfs_quota_us", quota+"\n")
	f.write("sys/fs/cgroup/cpu,cpuacct"+group+"/cpu.cfs_period_us", period+"\n")
}

func TestAutomaxprocsPromises(t *testing.T) {
	up := RoundQuotaFunc(func(cpus float64) int { return int(math.Ceil(cpus)) })
	for _, tt := range []struct {
		promise string
		host    func(f fixture)
		opts    []Option
		want    int // of 7 before
		err     bool
	}{
		{"Automatically set GOMAXPROCS to match Linux container CPU quota",
			func(f fixture) { f.limit("200000") }, nil, 2, false},
		{"a no-op in Linux environments without a configured CPU quota",
			func(fixture) {}, nil, 7, false},
		{"the same on v1, where the quota is then -1",
			func(f fixture) { f.v1("/a", "-1", "100000") }, nil, 7, false},
		{"a no-op on non-Linux systems, which have no control groups",
			func(f fixture) { os.Remove(f.path("proc/self/cgroup")) }, nil, 7, false},
		{"returning any error encountered",
			func(f fixture) { f.limit("asdf") }, nil, 7, true},
		{"Min sets the minimum GOMAXPROCS value that will be used",
			func(f fixture) { f.limit("200000") }, []Option{Min(5)}, 5, false},
		{"Any value below 1 is ignored",
			func(f fixture) { f.limit("200000") }, []Option{Min(5), Min(0), Min(-1)}, 5, false},
		{"RoundQuotaFunc sets the function that will be used to convert the CPU quota",
			func(f fixture) { f.limit("240000") }, []Option{up}, 3, false},

		{"1.1.0: the default of the minimum is 1, with Floor",
			func(f fixture) { f.limit("25000") }, []Option{RoundQuotaFunc(Floor)}, 1, false},
		{"1.2.0: round down, with Floor",
			func(f fixture) { f.limit("299000") }, []Option{RoundQuotaFunc(Floor)}, 2, false},
		{"1.4.0: colons in cgroup names",
			func(f fixture) { f.v1("/a:b/c:d", "300000", "100000") }, nil, 3, false},
		{"1.5.0: cgroups v2",
			func(f fixture) { f.limit("200000") }, nil, 2, false},
		{"1.5.0: where both are mounted, v1 has the quota if it has the controller",
			func(f fixture) { f.v1("/a", "600000", "200000") }, nil, 3, false},
		{"1.5.1: the mount point of v2 is detected",
			func(f fixture) {
				f.write("proc/1/mountinfo", "30 22 0:26 / /run/groups rw - cgroup2 cgroup2 rw\n")
				f.write("run/groups/pod/box/cpu.max", "400000 100000\n")
			}, nil, 4, false},
		{"1.5.2: child control cgroups",
			func(f fixture) {
				f.write("proc/self/cgroup", "0::/pod/box/child\n")
				f.write("sys/fs/cgroup/pod/box/child/cpu.max", "300000 100000\n")
			}, nil, 3, false},
		{"1.5.3: super options with spaces",
			func(f fixture) {
				f.write("proc/1/mountinfo", "29 22 0:25 / / rw - overlay overlay rw,lowerdir=/a b:/c d\n"+mountinfoV2)
				f.limit("300000")
			}, nil, 3, false},
		{"1.5.3: no division by a period of 0",
			func(f fixture) { f.v1("/a", "600000", "0") }, nil, 7, true},
	} {
		t.Run(tt.promise, func(t *testing.T) {
			begin(t, 7)
			f := newFixture(t)
			tt.host(f)
			r, undo := f.set(tt.opts...)
			wantProcs(t, tt.want)
			if (r.Err() != nil) != tt.err {
				t.Errorf("got the error %v", r.Err())
			}
			undo() // "an undo function"
			wantProcs(t, 7)
		})
	}
}

func TestAutomaxprocsHonorsTheEnvironment(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("200000")
	t.Setenv("GOMAXPROCS", "42")
	_, undo := f.set(Min(3))
	wantProcs(t, 7)
	undo()
	wantProcs(t, 7)
}

// "By default, Set doesn't log anything." Logger "uses the supplied printf
// implementation for log output".
func TestAutomaxprocsLogs(t *testing.T) {
	begin(t, 7)
	f := newFixture(t)
	f.limit("200000")
	_, undo := f.set()
	undo()
	var log strings.Builder
	_, undo = f.set(Logger(func(format string, args ...any) { fmt.Fprintf(&log, format, args...) }))
	undo()
	if !strings.Contains(log.String(), "GOMAXPROCS 7 -> 2") {
		t.Errorf("got %q", &log)
	}
}
