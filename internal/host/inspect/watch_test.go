package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/host/proc"
	"github.com/millicore/millicore/internal/host/runtimes"
)

func (h tree) remove(name string) {
	h.t.Helper()
	if err := os.RemoveAll(filepath.Join(h.root, name)); err != nil {
		h.t.Fatal(err)
	}
}

// look looks once, and gives the groups with their processes.
func look(t *testing.T, w *Watcher) map[string][]int {
	t.Helper()
	seen, err := w.Look()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]int{}
	for _, s := range seen {
		for _, p := range s.Processes {
			all[s.Dir] = append(all[s.Dir], p.PID)
		}
	}
	return all
}

func same(t *testing.T, got map[string][]int, want string) {
	t.Helper()
	if text := fmt.Sprint(got); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func TestAWatcherFollows(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.group("/a", 1, 100, 10)
	h.group("/b", 2, 50, 0)
	h.process(10, 1, "a", "/a", "", "a")
	h.process(11, 10, "a2", "/a", "", "a2")
	h.process(20, 1, "free", "/", "", "free")
	h.write("proc/2/stat", statLine(2, "kworker", 'I', 0, kernelThread))
	w := New(h.root).Watch(Only{})
	defer w.Close()
	same(t, look(t, w), "map[/sys/fs/cgroup/a:[10 11]]")

	h.process(30, 1, "b", "/b", "", "b") // one comes
	h.remove("proc/11")                  // one goes
	same(t, look(t, w), "map[/sys/fs/cgroup/a:[10] /sys/fs/cgroup/b:[30]]")

	h.group("/a", 1, 160, 40) // the counters are read at each look
	seen, err := w.Look()
	if err != nil || seen[0].Counts.Periods != 160 || seen[0].Counts.Throttled != 40 || seen[0].Processes[0].Throttling.Since.Periods != 160 {
		t.Errorf("got %+v, %v", seen, err)
	}

	h.remove("proc/10")
	h.remove("sys/fs/cgroup/a")
	same(t, look(t, w), "map[/sys/fs/cgroup/b:[30]]")
	if len(w.groups) != 1 {
		t.Errorf("%d groups are kept open", len(w.groups))
	}
}

// Within a round of looks a changed limit is seen, and a pid that is another
// process by now.
func TestAWatcherLooksAgain(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "", "a")
	w := New(h.root).Watch(Only{})
	defer w.Close()
	same(t, look(t, w), "map[/sys/fs/cgroup/a:[10]]")
	h.group("/a", 4, 100, 10)
	h.write("proc/10/cmdline", "other\x00")
	h.write("proc/10/stat", strings.Replace(statLine(10, "other", 'S', 1, 0), " 4242 ", " 5000 ", 1))
	var last Process
	for range turns {
		seen, err := w.Look()
		if err != nil || len(seen) != 1 {
			t.Fatalf("got %+v, %v", seen, err)
		}
		last = seen[0].Processes[0]
	}
	if last.Name != "other" || last.CPU.CPUs != 4 {
		t.Errorf("got %s under %v CPUs", last.Name, last.CPU.CPUs)
	}
}

// A process that executes another program keeps its pid and its start, so the change is
// detected by its name. Closely makes each look read memory and threads.
func TestAWatcherLooksClosely(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "sh", "/a", "", "sh", "entrypoint")
	clock := time.Unix(1000, 0)
	s := New(h.root)
	s.now = func() time.Time { return clock }
	w := s.Watch(Only{})
	defer w.Close()
	look := func() Seen {
		t.Helper()
		clock = clock.Add(time.Second)
		seen, err := w.Look()
		if err != nil || len(seen) != 1 {
			t.Fatalf("got %+v, %v", seen, err)
		}
		return seen[0]
	}
	look()
	h.write("proc/10/stat", statLine(10, "api", 'S', 1, 0))
	h.write("proc/10/cmdline", "/app/api\x00")
	var p Process
	for range turns {
		p = look().Processes[0]
	}
	if p.Name != "api" || p.Shown() != "/app/api" {
		t.Errorf("after a round it is still %s: %s", p.Name, p.Shown())
	}
	h.write("sys/fs/cgroup/a/memory.current", "104857600\n")
	h.write("proc/10/task/10/schedstat", "1000000000 2000000000 5\n")
	if one := look(); one.Memory != nil || one.Waited != nil {
		t.Errorf("not asked for: %+v, %v", one.Memory, one.Waited)
	}
	w.Closely([]string{"/sys/fs/cgroup/a"})
	if one := look(); one.Memory == nil || *one.Memory.WorkingSet != 100_000_000 || one.Waited != nil {
		t.Errorf("closely: memory %+v, waited %v", one.Memory, one.Waited)
	}
	h.write("proc/10/task/10/schedstat", "1100000000 2750000000 6\n")
	if one := look(); one.Waited == nil || *one.Waited != 0.75 {
		t.Errorf("its threads waited for 0.75 CPUs: got %v", one.Waited)
	}
	// A second later the last reading still counts, and the next one is over both seconds.
	h.write("proc/10/task/10/schedstat", "1200000000 3250000000 7\n")
	h.write("sys/fs/cgroup/a/memory.current", "104857700\n")
	if one := look(); one.Waited == nil || *one.Waited != 0.75 || *one.Memory.WorkingSet != 100_000_000 {
		t.Errorf("read again too soon: waited %v, memory %+v", one.Waited, one.Memory)
	}
	if one := look(); one.Waited == nil || *one.Waited != 0.25 || *one.Memory.WorkingSet != 100_000_100 {
		t.Errorf("0.5 s in 2 s are 0.25 CPUs: waited %v, memory %+v", one.Waited, one.Memory)
	}
}

// A JVM that is met before it has loaded its library is one later, and so are its
// replicas: what is not known of a young process is not kept.
func TestAWatcherMeetsAYoungProcess(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.write("proc/uptime", "43.50 10.00\n") // it was started at 42.42
	h.write("opt/java", "no executable of a known runtime")
	h.process(10, 1, "java", "/a", filepath.Join(h.root, "opt/java"), "java")
	w := New(h.root).Watch(Only{})
	defer w.Close()
	look(t, w)
	h.write("proc/10/maps", "7f00-7f10 r-xp 00000000 08:01 42 /opt/lib/server/libjvm.so\n")
	var p Process
	for range turns {
		seen, err := w.Look()
		if err != nil || len(seen) != 1 {
			t.Fatalf("got %+v, %v", seen, err)
		}
		p = seen[0].Processes[0]
	}
	if p.Info.Runtime != runtimes.JVM {
		t.Errorf("got %s", p.Info.Runtime)
	}
}

// If no more files may be opened, each look opens the groups again.
func TestAWatcherWithoutFiles(t *testing.T) {
	h := newTree(t)
	h.group("/a", 1, 100, 10)
	h.process(10, 1, "a", "/a", "", "a")
	w := New(h.root).Watch(Only{})
	w.keep = 0
	defer w.Close()
	for range 2 {
		same(t, look(t, w), "map[/sys/fs/cgroup/a:[10]]")
	}
	if w.kept != 0 {
		t.Errorf("%d groups are kept open", w.kept)
	}
}

// In v1 the CPU time used stands in another hierarchy. Who has not run for two
// looks is not read whole, and is again once it runs.
func TestAWatcherOnV1(t *testing.T) {
	h := newTree(t)
	h.write("proc/1/mountinfo", "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n31 20 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n")
	const cpu, usage = "sys/fs/cgroup/cpu/a/", "sys/fs/cgroup/cpuacct/a/cpuacct.usage"
	counters := func(used, periods, throttled int) {
		h.write(usage, fmt.Sprintln(used))
		h.write(cpu+"cpu.stat", fmt.Sprintf("nr_periods %d\nnr_throttled %d\nthrottled_time %d\n", periods, throttled, throttled*1000))
	}
	h.write(cpu+"cpu.cfs_quota_us", "50000\n")
	h.write(cpu+"cpu.cfs_period_us", "100000\n")
	h.process(10, 1, "a", "/a", "", "a")
	h.write("proc/10/cgroup", "2:cpuacct:/a\n1:cpu:/a\n")
	w := New(h.root).Watch(Only{})
	defer w.Close()
	for _, look := range []struct{ used, periods, throttled, wantPeriods int }{
		{1000, 10, 1, 10},
		{2000, 20, 2, 20},
		{2000, 21, 2, 21}, // the period in which it stopped
		{2000, 99, 2, 21}, // nobody reads that
		{3000, 30, 9, 30},
	} {
		counters(look.used, look.periods, look.throttled)
		seen, err := w.Look()
		if err != nil || len(seen) != 1 {
			t.Fatalf("got %+v, %v", seen, err)
		}
		c := seen[0].Counts
		if c.Periods != int64(look.wantPeriods) || c.Used == nil || *c.Used != time.Duration(look.used) {
			t.Errorf("%+v: got %+v", look, c)
		}
	}
}

// Who is put into a group of the one hierarchy alone uses the CPU time of all in
// the group that it has in the other: that is not its limit's.
func TestTheCPUTimeOfAnotherGroupOnV1(t *testing.T) {
	h := newTree(t)
	h.write("proc/1/mountinfo", "30 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n31 20 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n")
	h.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n")
	h.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n")
	h.write("sys/fs/cgroup/cpu/a/cpu.stat", "nr_periods 60\nnr_throttled 6\nthrottled_time 6000\n")
	h.write("sys/fs/cgroup/cpuacct/cpuacct.usage", "123456789\n")
	h.process(10, 1, "a", "/a", "", "a")
	h.write("proc/10/cgroup", "2:cpuacct:/\n1:cpu:/a\n")
	w := New(h.root).Watch(Only{})
	defer w.Close()
	seen, err := w.Look()
	if err != nil || len(seen) != 1 || seen[0].Counts.Periods != 60 || seen[0].Counts.Used != nil {
		t.Errorf("got %+v, %v", seen, err)
	}
	host, err := New(h.root).Scan(t.Context(), Only{}, 0)
	if err != nil || len(host.Processes) != 1 {
		t.Fatalf("got %+v, %v", host, err)
	}
	if all := host.Processes[0].Throttling; all == nil || all.Since.Periods != 60 || all.Since.Used != nil {
		t.Errorf("got %+v", all)
	}
}

// The runtime of a process is not read until the process has a limit.
func TestAWatcherOfAProcessThatGetsALimit(t *testing.T) {
	h := newTree(t)
	h.group("/a", 0, 0, 0)
	h.process(10, 1, "a", "/a", self(t), "a")
	w := New(h.root).Watch(Only{})
	defer w.Close()
	same(t, look(t, w), "map[]")
	h.group("/a", 2, 0, 0)
	for range turns {
		if seen, err := w.Look(); err == nil && len(seen) == 1 {
			if p := seen[0].Processes[0]; p.Info.Runtime != "go" || p.CPU.CPUs != 2 {
				t.Errorf("got %+v", p)
			}
			return
		}
	}
	t.Error("its limit is not seen within a round of looks")
}

func TestForemost(t *testing.T) {
	process := func(pid, parent int, used int, change func(*Process)) Process {
		p := Process{PID: pid, Parent: parent, Used: time.Duration(used) * proc.Tick, CPU: CPULimit{State: Limited, CPUs: 2}}
		if change != nil {
			change(&p)
		}
		return p
	}
	wide := func(p *Process) { p.Info.Parallelism.Value = 8 }
	for _, test := range []struct {
		name string
		all  []Process
		want int
	}{
		{"alone", []Process{process(1, 0, 0, nil)}, 1},
		{"the one that uses most", []Process{process(1, 0, 10, nil), process(2, 0, 20, nil)}, 2},
		{"one above the limit, of those that count", []Process{process(1, 0, 80, nil), process(2, 0, 20, wide)}, 2},
		{"one above the limit that hardly runs", []Process{process(1, 0, 95, nil), process(2, 0, 5, wide)}, 1},
		{"the one that started the workers", []Process{
			process(1, 0, 0, func(p *Process) { p.Info.Workers = 2 }), process(2, 1, 20, nil), process(3, 1, 30, nil)}, 1},
	} {
		if got := Foremost(test.all).PID; got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}
