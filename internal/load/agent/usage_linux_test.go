package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/signals"
)

func TestAnAgentReportsItsOwnThrottling(t *testing.T) {
	for _, c := range []struct {
		name           string
		groups, mounts string
		dir            string
		before, after  string
		want           *float64
	}{
		{"cgroup v2, in a container", "0::/\n",
			"30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "sys/fs/cgroup",
			"usage_usec 10\nnr_periods 5\nnr_throttled 1\nthrottled_usec 250000\n", "usage_usec 10\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1000000\n", new(0.75)},
		{"cgroup v1", "4:cpu,cpuacct:/\n",
			"30 20 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n", "sys/fs/cgroup/cpu,cpuacct",
			"nr_periods 5\nnr_throttled 1\nthrottled_time 250000000\n", "nr_periods 9\nnr_throttled 4\nthrottled_time 350000000\n", new(0.1)},
		{"a group without the controller", "0::/\n",
			"30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", "sys/fs/cgroup", "usage_usec 10\n", "usage_usec 20\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			write := func(name, text string) {
				name = filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("proc/self/cgroup", c.groups)
			write("proc/1/mountinfo", c.mounts)
			stat := filepath.Join(c.dir, "cpu.stat")
			write(stat, c.before)
			u := newUsage(cgroup.NewFS(root))
			defer u.close()
			write(stat, c.after)
			var seen signals.Client
			u.since(&seen)
			switch got, want := seen.Throttled, c.want; {
			case (got == nil) != (want == nil):
				t.Errorf("throttled for %v s, want %v", got, want)
			case got != nil && *got != *want:
				t.Errorf("throttled for %v s, want %v", *got, want)
			}
		})
	}
}
