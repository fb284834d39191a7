package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is a host as files: /proc, /sys and the control groups of v2.
type tree struct {
	t    testing.TB
	root string
}

func newTree(t testing.TB) tree {
	h := tree{t: t, root: t.TempDir()}
	h.host()
	return h
}

// host makes what a host has without any process.
func (h tree) host() {
	h.t.Helper()
	h.write("proc/1/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n")
	h.write("sys/devices/system/cpu/online", "0-7\n")
	h.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n")
}

func (h tree) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// group makes a group with a limit in CPUs (0: none) and its counters.
func (h tree) group(name string, cpus float64, periods, throttled int) {
	h.t.Helper()
	dir := filepath.Join("sys/fs/cgroup", name)
	limit := "max 100000\n"
	if cpus > 0 {
		limit = fmt.Sprintf("%d 100000\n", int(cpus*100000))
	}
	h.write(filepath.Join(dir, "cpu.max"), limit)
	if name != "/" { // by its absence the root is known
		h.write(filepath.Join(dir, "cgroup.events"), "populated 1\nfrozen 0\n")
	}
	h.write(filepath.Join(dir, "cpu.max.burst"), "0\n")
	h.write(filepath.Join(dir, "cpu.stat"), fmt.Sprintf(
		"usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\nnr_periods %d\nnr_throttled %d\nthrottled_usec %d\nnr_bursts 0\nburst_usec 0\n",
		periods, throttled, throttled*40000))
	h.write(filepath.Join(dir, "memory.max"), "268435456\n")
	h.write(filepath.Join(dir, "memory.current"), "104857600\n")
	h.write(filepath.Join(dir, "memory.stat"), "anon 1\nfile 1\ninactive_file 4857600\n")
	h.write(filepath.Join(dir, "memory.events.local"), "oom_kill 0\n")
}

// process makes a process; exe is a link's target, "" for none.
func (h tree) process(pid, parent int, name, group, exe string, command ...string) {
	h.t.Helper()
	dir := fmt.Sprintf("proc/%d", pid)
	h.write(dir+"/stat", statLine(pid, name, 'S', parent, 0))
	h.write(dir+"/status", fmt.Sprintf("Name:\t%s\nPPid:\t%d\nUid:\t0\t1000\t0\t0\nGid:\t0\t1000\t0\t0\nThreads:\t3\nCpus_allowed_list:\t0-7\n", name, parent))
	h.write(dir+"/cgroup", "0::"+group+"\n")
	h.write(dir+"/cmdline", strings.Join(command, "\x00")+"\x00")
	h.write(dir+"/environ", "")
	h.write(dir+"/maps", "")
	h.write(dir+"/task/"+fmt.Sprint(pid)+"/comm", name+"\n")
	if exe != "" {
		if err := os.Symlink(exe, filepath.Join(h.root, dir, "exe")); err != nil {
			h.t.Fatal(err)
		}
	}
}

// kernelThread is PF_KTHREAD of the flags of stat.
const kernelThread = 0x00200000

func statLine(pid int, name string, state byte, parent, flags int) string {
	return fmt.Sprintf("%d (%s) %c %d 1 1 0 -1 %d 0 0 0 0 250 50 0 0 20 0 3 0 4242 0 0\n", pid, name, state, parent, flags)
}
