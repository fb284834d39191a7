package group

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
)

func TestSettings(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits experiment.Limits
		v1, v2 []string
	}{
		{name: "no limits"},
		{
			name:   "half a CPU",
			limits: experiment.Limits{CPUMillis: 500},
			v1:     []string{"cpu.cfs_period_us=100000", "cpu.cfs_quota_us=50000"},
			v2:     []string{"cpu.max=50000 100000"},
		},
		{
			name:   "a request of 2 CPUs",
			limits: experiment.Limits{RequestMillis: 2000},
			v1:     []string{"cpu.shares=2048"},
			v2:     []string{"cpu.weight=174"},
		},
		{
			name:   "short period, burst of the whole quota",
			limits: experiment.Limits{CPUMillis: 1500, BurstMillis: 1500, Period: 20 * time.Millisecond},
			v1:     []string{"cpu.cfs_period_us=20000", "cpu.cfs_quota_us=30000", "cpu.cfs_burst_us=30000"},
			v2:     []string{"cpu.max=30000 20000", "cpu.max.burst=30000"},
		},
		{
			name:   "memory",
			limits: experiment.Limits{Memory: 64 << 20},
			v1:     []string{"memory.limit_in_bytes=67108864", "memory.memsw.limit_in_bytes=67108864?"},
			v2:     []string{"memory.max=67108864", "memory.swap.max=0?", "memory.oom.group=1?"},
		},
		{
			name:   "cpuset",
			limits: experiment.Limits{CPUSet: "0-1,3"},
			v1:     []string{"cpuset.cpus=0-1,3"},
			v2:     []string{"cpuset.cpus=0-1,3"},
		},
		{
			name:   "processes and threads",
			limits: experiment.Limits{PIDs: 64},
			v1:     []string{"pids.max=64"},
			v2:     []string{"pids.max=64"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for version, want := range map[cgroup.Version][]string{cgroup.V1: test.v1, cgroup.V2: test.v2} {
				if diff := cmp.Diff(want, lines(version, test.limits, settings)); diff != "" {
					t.Errorf("%v: %s", version, diff)
				}
			}
		})
	}
}

func TestResettings(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits experiment.Limits
		v1, v2 []string
	}{
		{
			name: "no limits",
			v1:   []string{"cpu.cfs_burst_us=0?", "cpu.cfs_quota_us=-1", "cpu.shares=1024?", "memory.memsw.limit_in_bytes=-1?", "memory.limit_in_bytes=-1"},
			v2:   []string{"cpu.max.burst=0?", "cpu.max=max", "cpu.weight=100?", "memory.max=max"},
		},
		{
			name:   "all limits",
			limits: experiment.Limits{CPUMillis: 500, BurstMillis: 100, Memory: 1 << 20, CPUSet: "0", PIDs: 64},
			v1: []string{"cpu.cfs_burst_us=0?", "cpu.cfs_period_us=100000", "cpu.cfs_quota_us=50000", "cpu.cfs_burst_us=10000", "cpu.shares=1024?",
				"memory.memsw.limit_in_bytes=-1?", "memory.limit_in_bytes=1048576", "memory.memsw.limit_in_bytes=1048576?", "pids.max=64"},
			v2: []string{"cpu.max.burst=0?", "cpu.max=50000 100000", "cpu.max.burst=10000", "cpu.weight=100?", "memory.max=1048576", "memory.swap.max=0?", "memory.oom.group=1?", "pids.max=64"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for version, want := range map[cgroup.Version][]string{cgroup.V1: test.v1, cgroup.V2: test.v2} {
				if diff := cmp.Diff(want, lines(version, test.limits, resettings)); diff != "" {
					t.Errorf("%v: %s", version, diff)
				}
			}
		})
	}
}

// lines are the writes of all controllers; a ? ends those that are optional.
func lines(version cgroup.Version, l experiment.Limits, of func(cgroup.Version, cgroup.Controller, experiment.Limits) []setting) (all []string) {
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.CPUSet, cgroup.PIDs} {
		for _, s := range of(version, c, l) {
			line := s.file + "=" + s.value
			if s.optional {
				line += "?"
			}
			all = append(all, line)
		}
	}
	return all
}

func TestCheckLimits(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits experiment.Limits
		want   string // a part of the error; empty: none
	}{
		{"none", experiment.Limits{}, ""},
		{"the smallest quota", experiment.Limits{CPUMillis: 10}, ""},
		{"below the smallest quota", experiment.Limits{CPUMillis: 9}, "raise the limit to 10m"},
		{"below it because of a short period", experiment.Limits{CPUMillis: 300, Period: 3 * time.Millisecond}, "raise the limit to 334m"},
		{"period too short", experiment.Limits{CPUMillis: 1000, Period: time.Microsecond}, "1ms to 1s"},
		{"period too long", experiment.Limits{CPUMillis: 1000, Period: 2 * time.Second}, "1ms to 1s"},
		{"burst of the whole quota", experiment.Limits{CPUMillis: 500, BurstMillis: 500}, ""},
		{"burst above the quota", experiment.Limits{CPUMillis: 500, BurstMillis: 501}, "above the CPU limit"},
		{"burst without a limit", experiment.Limits{BurstMillis: 100}, "without a CPU limit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := CheckLimits(test.limits)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestWeigh(t *testing.T) {
	for _, test := range []struct {
		times  int
		v1, v2 string
	}{
		{1, "1024", "100"},
		{64, "65536", "6400"},
		{1000, "262144", "10000"}, // the kernel's highest
	} {
		got := fmt.Sprint(weigh(cgroup.V1, test.times).value, " ", weigh(cgroup.V2, test.times).value)
		if got != test.v1+" "+test.v2 {
			t.Errorf("weight of %d: %s, want %s %s", test.times, got, test.v1, test.v2)
		}
	}
}
