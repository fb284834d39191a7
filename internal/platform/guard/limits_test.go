package guard

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
)

// host is the root of a host with control groups: top/middle/own below the highest group,
// all with the same files.
type host struct {
	t    *testing.T
	root string
	v    cgroup.Version
}

// mounts are the mounts of a host's hierarchies. Those of v1 are as in most distributions.
var mounts = map[cgroup.Version]string{
	cgroup.V1: `31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
33 23 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
34 23 0:30 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
`,
	cgroup.V2: "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
}

// contents are the files of a group with half a CPU and 64 MiB.
var contents = map[cgroup.Version]map[string]string{
	cgroup.V1: {"cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n", "cpu.cfs_burst_us": "0\n",
		"memory.limit_in_bytes": "67108864\n", "memory.memsw.limit_in_bytes": "67108864\n", "cpuset.cpus": "0-1\n", "cpuset.effective_cpus": "0-1\n", "pids.max": "4096\n"},
	cgroup.V2: {"cpu.max": "50000 100000\n", "cpu.max.burst": "0\n", "memory.max": "67108864\n", "memory.swap.max": "0\n", "cpuset.cpus": "\n",
		"memory.high": "max\n", "cpuset.cpus.effective": "0-1\n", "pids.max": "4096\n"},
}

func newHost(t *testing.T, v cgroup.Version) *host {
	t.Helper()
	h := &host{t, t.TempDir(), v}
	h.put("proc/1/mountinfo", mounts[v])
	for _, group := range []string{"top", "top/middle", "top/middle/own"} {
		h.make(group)
	}
	return h
}

func (h *host) put(name, text string) {
	h.t.Helper()
	name = filepath.Join(h.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		h.t.Fatal(err)
	}
}

// dir is the directory of a group for the controller of a file.
func (h *host) dir(group, file string) string {
	controller, _, _ := strings.Cut(file, ".")
	switch {
	case h.v == cgroup.V2:
		controller = ""
	case controller == "cpu":
		controller = "cpu,cpuacct"
	}
	return filepath.Join("/sys/fs/cgroup", controller, group)
}

// make makes a group.
func (h *host) make(group string) { h.write(group, contents[h.v]) }

// write writes files of a group.
func (h *host) write(group string, files map[string]string) {
	h.t.Helper()
	for name, text := range files {
		h.put(filepath.Join(h.dir(group, name), name), text)
	}
}

// group locates a group.
func (h *host) group(name string) cgroup.Group {
	h.t.Helper()
	dirs := map[string]bool{}
	for file := range contents[h.v] {
		dirs[h.dir(name, file)] = true
	}
	var all []string
	for dir := range dirs {
		all = append(all, dir)
	}
	g, err := cgroup.NewFS(h.root).At(all...)
	if err != nil {
		h.t.Fatal(err)
	}
	return g
}

var limits = experiment.Limits{CPUMillis: 500, Memory: 64 << 20}

// opened verifies the limits of the group top/middle/own.
func (h *host) opened(l experiment.Limits) *Limits {
	h.t.Helper()
	g := new(Limits)
	g.Open(h.group("top/middle/own"))
	if err := g.Set(l, nil); err != nil {
		h.t.Fatal(err)
	}
	return g
}

func eachVersion(t *testing.T, test func(t *testing.T, v cgroup.Version)) {
	for _, v := range []cgroup.Version{cgroup.V1, cgroup.V2} {
		t.Run(v.String(), func(t *testing.T) { test(t, v) })
	}
}

func TestEachFileIsVerified(t *testing.T) {
	for v, changes := range map[cgroup.Version]map[string][2]string{
		cgroup.V1: {"cpu.cfs_quota_us": {"-1\n", "to no limit"}, "cpu.cfs_period_us": {"50000\n", "to 1000m CPU"}, "cpu.cfs_burst_us": {"9\n", `its CPU burst in microseconds was changed from "0" to "9"`},
			"memory.limit_in_bytes": {"9223372036854771712\n", "to no limit"}, "memory.memsw.limit_in_bytes": {"9\n", "its swap limit was changed"}, "cpuset.cpus": {"0\n", `from "0-1" to "0"`},
			"cpuset.effective_cpus": {"0\n", `from "0-1" to "0"`}, "pids.max": {"max\n", `its limit of processes and threads was changed from "4096" to "max"`}},
		cgroup.V2: {"cpu.max": {"max 100000\n", "to no limit"}, "cpu.max.burst": {"9\n", "its CPU burst in microseconds was changed"}, "memory.max": {"max\n", "to no limit"},
			"memory.swap.max": {"max\n", `its swap limit was changed from "0" to "max"`}, "cpuset.cpus": {"0\n", `from "" to "0"`},
			"memory.high":           {"33554432\n", `its memory.high was changed from "max" to "33554432"`},
			"cpuset.cpus.effective": {"0\n", `from "0-1" to "0"`}, "pids.max": {"max\n", "its limit of processes and threads was changed"}},
	} {
		for name, change := range changes {
			t.Run(v.String()+" "+name, func(t *testing.T) {
				h := newHost(t, v)
				g := h.opened(limits)
				if why := g.Broken(); why != "" {
					t.Fatalf("before the change: %s", why)
				}
				h.write("top/middle/own", map[string]string{name: change[0]})
				if why := g.Broken(); !strings.Contains(why, change[1]) {
					t.Errorf("%q, want %q", why, change[1])
				}
				h.make("top/middle/own")
				if why := g.Broken(); why != "" {
					t.Errorf("changed back: %s", why)
				}
			})
		}
	}
}

// A group that never had the limits, such as that of a runtime which ignores them.
func TestALimitThatWasNeverThere(t *testing.T) {
	eachVersion(t, func(t *testing.T, v cgroup.Version) {
		g := newHost(t, v).opened(experiment.Limits{CPUMillis: 400, Memory: 64 << 20})
		if why := g.Broken(); !strings.Contains(why, "its CPU limit was changed from 400m") {
			t.Errorf("%q", why)
		}
	})
}

// On v2 the files of a controller, and its limits with them, vanish when somebody withdraws
// it in the group above (Linux Documentation/admin-guide/cgroup-v2.rst,
// "cgroup.subtree_control").
func TestAControllerThatWasWithdrawn(t *testing.T) {
	for file, want := range map[string]string{"cpu.max": "its CPU limit was changed from 500m CPU in periods of 100ms to no limit", "memory.max": "to no limit",
		"cpuset.cpus.effective": "its set of effective CPUs, ", "pids.max": "its limit of processes and threads, ", "memory.swap.max": "its swap limit, "} {
		h := newHost(t, cgroup.V2)
		g := h.opened(limits)
		if err := os.Remove(filepath.Join(h.root, h.dir("top/middle/own", file), file)); err != nil {
			t.Fatal(err)
		}
		if why := g.Broken(); !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
}

func TestAGroupThatIsGoneShowsNothing(t *testing.T) {
	eachVersion(t, func(t *testing.T, v cgroup.Version) {
		h := newHost(t, v)
		g := h.opened(limits)
		if err := os.RemoveAll(filepath.Join(h.root, "sys")); err != nil {
			t.Fatal(err)
		}
		if why := g.Broken(); why != "" {
			t.Error(why)
		}
	})
}

func TestOwnChangesBreakNothing(t *testing.T) {
	h := newHost(t, cgroup.V2)
	g := h.opened(limits)
	for above := range strings.FieldsSeq("top top/middle") {
		h.write(above, map[string]string{"cpu.max": "max 100000\n", "memory.max": "max\n"})
	}
	err := g.Set(experiment.Limits{}, func() error {
		h.write("top/middle/own", map[string]string{"cpu.max": "max 100000\n", "memory.max": "max\n", "memory.swap.max": "max\n"})
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
	h := newHost(t, cgroup.V2)
	g := h.opened(limits)
	for change, want := range map[[2]string]string{
		{"cpu.max", "50000 100000\n"}:  "",
		{"memory.max", "33554432\n"}:   "its memory limit was changed from 67108864 bytes to 33554432 bytes",
		{"memory.swap.max", "4096\n"}:  "its swap limit was changed",
		{"cpu.max", "100000 100000\n"}: "its CPU limit was changed",
	} {
		h.make("top/middle/next")
		h.write("top/middle/next", map[string]string{change[0]: change[1]})
		g.Open(h.group("top/middle/next"))
		if why := g.Broken(); want == "" && why != "" || !strings.Contains(why, want) {
			t.Errorf("%v: %q, want %q", change, why, want)
		}
	}
}

// The limit of a group above that of the replica is in effect too: it must not be below the
// replica's own limit, neither before a trial nor during one.
func TestALimitAboveThatIsBelowTheOwn(t *testing.T) {
	for v, changes := range map[cgroup.Version]map[string][3]string{ // enough, too little, why
		cgroup.V1: {"cpu.cfs_quota_us": {"200000\n", "49000\n", "is 490m CPU in periods of 100ms, lower than its 500m CPU in periods of 100ms"},
			"memory.limit_in_bytes": {"67108864\n", "33554432\n", "is 33554432 bytes, lower than its 67108864 bytes"}},
		cgroup.V2: {"cpu.max": {"max 100000\n", "20000 100000\n", "is 200m CPU in periods of 100ms, lower than its 500m CPU in periods of 100ms"},
			"memory.max": {"max\n", "4096\n", "is 4096 bytes, lower than its 67108864 bytes"}},
	} {
		for name, change := range changes {
			for _, above := range []string{"top", "top/middle"} {
				t.Run(v.String()+" "+name+" of "+above, func(t *testing.T) {
					h := newHost(t, v)
					want := h.dir(above, name) + ", above its control group, " + change[2]
					set := func(text string) { h.write(above, map[string]string{name: text}) }
					set(change[1])
					g := h.opened(limits)
					if why := g.Broken(); !strings.Contains(why, want) {
						t.Errorf("before: %q, want %q", why, want)
					}
					set(change[0])
					if why := g.Broken(); why != "" {
						t.Errorf("raised: %q", why)
					}
					set(change[1])
					if why := g.Broken(); !strings.Contains(why, want) {
						t.Errorf("during: %q, want %q", why, want)
					}
				})
			}
		}
	}
}

// A replica without a limit of its own has those above it, which may be raised and not
// lowered.
func TestALimitAboveAReplicaWithoutOne(t *testing.T) {
	h := newHost(t, cgroup.V2)
	none := map[string]string{"cpu.max": "max 100000\n", "memory.max": "max\n"}
	h.write("top/middle", none)
	h.write("top/middle/own", none)
	g := h.opened(experiment.Limits{})
	for _, c := range []struct{ file, text, want string }{
		{"cpu.max", "60000 100000\n", ""},
		{"cpu.max", "40000 100000\n", "/sys/fs/cgroup/top, above its control group, is 400m CPU in periods of 100ms, lower than its 500m CPU"},
		{"memory.max", "max\n", ""},
		{"memory.max", "67104768\n", "/sys/fs/cgroup/top, above its control group, is 67104768 bytes, lower than its 67108864 bytes"},
	} {
		h.write("top", map[string]string{c.file: c.text})
		if why := g.Broken(); c.want == "" && why != "" || !strings.Contains(why, c.want) {
			t.Errorf("%s: %q, want %q", c.text, why, c.want)
		}
		h.make("top")
	}
}
