package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/experiment"
)

// files writes the files of a group.
func files(t *testing.T, dir string, contents map[string]string) {
	t.Helper()
	for name, text := range contents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// groups are the files of a group with half a CPU and 64 MiB.
var groups = map[cgroup.Version]map[string]string{
	cgroup.V1: {"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n", "cpu.cfs_burst_us": "0\n",
		"memory.limit_in_bytes": "67108864\n", "memory.memsw.limit_in_bytes": "67108864\n", "cpuset.cpus": "0-1\n", "cpuset.effective_cpus": "0-1\n", "pids.max": "4096\n"},
	cgroup.V2: {"cpu.max": "50000 100000\n", "cpu.max.burst": "0\n", "memory.max": "67108864\n", "memory.swap.max": "0\n", "cpuset.cpus": "\n",
		"memory.high": "max\n", "cpuset.cpus.effective": "0-1\n", "pids.max": "4096\n"},
}

var limits = experiment.Limits{CPUMillis: 500, Memory: 64 << 20}

// opened are the limits of a group in a folder.
func opened(t *testing.T, v cgroup.Version) (*Limits, string) {
	t.Helper()
	g, dir := new(Limits), t.TempDir()
	t.Cleanup(g.Close)
	files(t, dir, groups[v])
	openAll(t, g, v, dir)
	if err := g.Set(limits, nil); err != nil {
		t.Fatal(err)
	}
	return g, dir
}

func openAll(t *testing.T, g *Limits, v cgroup.Version, dir string) {
	t.Helper()
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.Memory, cgroup.CPUSet, cgroup.PIDs} {
		if err := g.Open(v, c, dir); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEachFileIsVerified(t *testing.T) {
	for v, changes := range map[cgroup.Version]map[string][2]string{
		cgroup.V1: {"cpu.cfs_quota_us": {"-1\n", "to no limit"}, "cpu.cfs_period_us": {"50000\n", "to 1000m CPU"}, "cpu.cfs_burst_us": {"9\n", "its CPU burst was changed from 0 us to 9 us"},
			"memory.limit_in_bytes": {"9223372036854771712\n", "to no limit"}, "memory.memsw.limit_in_bytes": {"9\n", "its swap limit was changed"}, "cpuset.cpus": {"0\n", `from "0-1" to "0"`},
			"cpuset.effective_cpus": {"0\n", `from "0-1" to "0"`}, "pids.max": {"max\n", "its limit of processes and threads was changed: pids.max was 4096 and is max"}},
		cgroup.V2: {"cpu.max": {"max 100000\n", "to no limit"}, "cpu.max.burst": {"9\n", "its CPU burst was changed"}, "memory.max": {"max\n", "to no limit"},
			"memory.swap.max": {"max\n", "its swap limit was changed: memory.swap.max was 0 and is max"}, "cpuset.cpus": {"0\n", `from "" to "0"`},
			"memory.high":           {"33554432\n", "its memory limit was changed: memory.high was max and is 33554432"},
			"cpuset.cpus.effective": {"0\n", `from "0-1" to "0"`}, "pids.max": {"max\n", "its limit of processes and threads was changed"}},
	} {
		for name, change := range changes {
			t.Run(v.String()+" "+name, func(t *testing.T) {
				g, dir := opened(t, v)
				if why := g.Broken(); why != "" {
					t.Fatalf("before the change: %s", why)
				}
				files(t, dir, map[string]string{name: change[0]})
				if why := g.Broken(); !strings.Contains(why, change[1]) {
					t.Errorf("%q, want %q", why, change[1])
				}
				files(t, dir, map[string]string{name: groups[v][name]})
				if why := g.Broken(); why != "" {
					t.Errorf("changed back: %s", why)
				}
			})
		}
	}
}

// A group that never had the limits, such as that of a runtime which ignores them.
func TestALimitThatWasNeverThere(t *testing.T) {
	g, dir := new(Limits), t.TempDir()
	defer g.Close()
	files(t, dir, groups[cgroup.V2])
	openAll(t, g, cgroup.V2, dir)
	if err := g.Set(experiment.Limits{CPUMillis: 400, Memory: 64 << 20}, nil); err != nil {
		t.Fatal(err)
	}
	if why := g.Broken(); !strings.Contains(why, "its CPU limit was changed from 400m") {
		t.Errorf("%q", why)
	}
}

func TestOwnChangesBreakNothing(t *testing.T) {
	g, dir := opened(t, cgroup.V2)
	err := g.Set(experiment.Limits{}, func() error {
		files(t, dir, map[string]string{"cpu.max": "max 100000\n", "memory.max": "max\n", "memory.swap.max": "max\n"})
		return nil
	})
	if why := g.Broken(); why != "" || err != nil {
		t.Errorf("%q, %v", why, err)
	}
	failure := errors.New("no")
	if err := g.Set(limits, func() error { return failure }); !errors.Is(err, failure) {
		t.Errorf("%v", err)
	}
	if why := g.Broken(); why != "" {
		t.Errorf("after a change that failed: %q", why)
	}
}

// The group of a container's next life must have the same limits.
func TestTheNextGroup(t *testing.T) {
	g, _ := opened(t, cgroup.V2)
	for change, want := range map[[2]string]string{
		{"cpu.max", "50000 100000\n"}:  "",
		{"memory.max", "33554432\n"}:   "its memory limit was changed from 67108864 bytes to 33554432 bytes",
		{"memory.swap.max", "4096\n"}:  "its swap limit was changed",
		{"cpu.max", "100000 100000\n"}: "its CPU limit was changed",
	} {
		next := t.TempDir()
		files(t, next, groups[cgroup.V2])
		files(t, next, map[string]string{change[0]: change[1]})
		openAll(t, g, cgroup.V2, next)
		if why := g.Broken(); want == "" && why != "" || !strings.Contains(why, want) {
			t.Errorf("%v: %q, want %q", change, why, want)
		}
	}
}

// A group above that of the replica may have any limit, which may be raised, and not lowered.
func TestALimitAboveIsVerified(t *testing.T) {
	for v, changes := range map[cgroup.Version]map[string][3]string{ // at the beginning, raised, lowered
		cgroup.V1: {"cpu.cfs_quota_us": {"200000\n", "-1\n", "100000\n"}, "memory.limit_in_bytes": {"134217728\n", "268435456\n", "134213632\n"}},
		cgroup.V2: {"cpu.max": {"200000 100000\n", "200001 100000\n", "100000 100000\n"}, "memory.max": {"134217728\n", "max\n", "4096\n"}, "memory.high": {"max\n", "max\n", "134213632\n"}},
	} {
		for name, change := range changes {
			t.Run(v.String()+" "+name, func(t *testing.T) {
				top := t.TempDir()
				middle := filepath.Join(top, "middle")
				dir := filepath.Join(middle, "own")
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				for _, dir := range []string{dir, middle, top} {
					files(t, dir, groups[v])
				}
				for _, dir := range []string{middle, top} {
					files(t, dir, map[string]string{name: change[0]})
				}
				g := new(Limits)
				defer g.Close()
				openAll(t, g, v, dir)
				if err := g.Set(limits, nil); err != nil {
					t.Fatal(err)
				}
				for _, above := range []string{middle, top} {
					for i, want := range []string{"", "", above + ", above its control group, was lowered from "} {
						files(t, above, map[string]string{name: change[i]})
						if why := g.Broken(); want == "" && why != "" || !strings.Contains(why, want) {
							t.Errorf("%s of %s: %q, want %q", change[i], above, why, want)
						}
					}
					files(t, above, map[string]string{name: change[0]})
				}
			})
		}
	}
}
