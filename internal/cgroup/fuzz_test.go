package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The parsers must take any bytes without a panic, and hand out nothing that
// the kernel cannot have meant.

func FuzzParseNumber(f *testing.F) {
	f.Add([]byte("12\n"))
	f.Add([]byte("max\n"))
	f.Add([]byte("-1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := parseNumber(b); n < 0 || err != nil && n != 0 {
			t.Errorf("number %d, %v", n, err)
		}
		if n, unlimited, err := parseMax(b); n < 0 || unlimited && n != 0 || err != nil && unlimited {
			t.Errorf("max %d, %v, %v", n, unlimited, err)
		}
	})
}

func FuzzParseQuota(f *testing.F) {
	f.Add([]byte("max 100000\n"), []byte("100000\n"))
	f.Add([]byte("50000 100000\n"), []byte("100000\n"))
	f.Add([]byte("-1\n"), []byte("100000\n"))
	f.Add([]byte("50000\n"), []byte("0\n"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if quota, period, err := parseCPUMax(a); err == nil && (quota < 0 || period <= 0) {
			t.Errorf("v2 quota %v, period %v", quota, period)
		}
		if quota, period, err := parseV1Quota(a, b); err == nil && (quota < 0 || period <= 0) {
			t.Errorf("v1 quota %v, period %v", quota, period)
		}
	})
}

func FuzzParseCPUList(f *testing.F) {
	f.Add([]byte("0-4,6,8-10\n"))
	f.Add([]byte("\n"))
	f.Add([]byte("Name:\tx\nCpus_allowed_list:\t0-3\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := parseCPUList(b); n < 0 || n > maxCPU+1 || err != nil && n != 0 {
			t.Errorf("list %d, %v", n, err)
		}
		if n, err := parseAffinity(b); err == nil && (n < 1 || n > maxCPU+1) {
			t.Errorf("affinity %d", n)
		}
	})
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("nr_periods 1\nnr_throttled 1\nthrottled_time 5\nnr_bursts 0\nburst_time 0\n"))
	f.Add([]byte("usage_usec 1\nuser_usec 1\nsystem_usec 0\nthrottled_usec 3\nburst_usec 4\n"))
	f.Add([]byte("anon 1\nfile 2\ninactive_file 3\ntotal_rss 4\nhierarchical_memory_limit 5\noom_kill 6\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var cpu CPUStat
		parseCPUStat(b, &cpu)
		parseCPUStatLocal(b, &cpu.ThrottledLocal)
		for _, v := range []Value[int64]{cpu.Periods, cpu.ThrottledPeriods, cpu.Bursts} {
			notNegative(t, v)
		}
		notNegative(t, cpu.Usage)
		notNegative(t, cpu.Throttled)
		notNegative(t, cpu.ThrottledLocal)
		notNegative(t, cpu.Burst)
		for _, version := range []Version{V1, V2} {
			var mem MemoryStat
			parseMemoryStat(version, b, &mem)
			parseMemoryEvents(b, &mem.OOMKills, &mem.HighEvents)
			notNegative(t, mem.Anon)
			notNegative(t, mem.InactiveFile)
			notNegative(t, mem.OOMKills)
		}
		if n, err := parseHierarchicalLimit(b); n < 0 || err != nil && n != 0 {
			t.Errorf("limit %d, %v", n, err)
		}
	})
}

func notNegative[T ~int64](t *testing.T, v Value[T]) {
	t.Helper()
	if n, ok := v.Get(); n < 0 || !ok && n != 0 {
		t.Errorf("got %v", v)
	}
}

func FuzzParsePressure(f *testing.F) {
	f.Add([]byte("some avg10=0.09 avg60=0.91 avg300=1.11 total=6472344\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p PSI
		parsePressure(b, &p)
		for _, v := range []Value[Stall]{p.Some, p.Full} {
			if s, _ := v.Get(); !(s.Avg10 >= 0 && s.Avg10 <= 100) || s.Total < 0 {
				t.Errorf("got %v", v)
			}
		}
	})
}

func FuzzCandidates(f *testing.F) {
	f.Add([]byte("3:cpu,cpuacct:/a\n0::/b:c\n"), []byte("1 2 3:4 /a /c\\040d rw - cgroup x rw,cpu,cpuacct\n1 2 3:4 / /e rw s:1 - cgroup2 x rw\n"))
	f.Add([]byte("0::/../../x\n"), []byte("1 2 3:4 /../.. /e rw - cgroup2 x rw\n"))
	f.Fuzz(func(t *testing.T, cgroup, mountinfo []byte) {
		groups, err := parseMemberships(cgroup)
		if err != nil {
			return
		}
		mounts, err := parseMounts(mountinfo)
		if err != nil {
			return
		}
		for c := Controller(0); c < controllers; c++ {
			places, err := candidates(c, groups, mounts)
			if err != nil && len(places) > 0 {
				t.Errorf("places and %v", err)
			}
			for _, p := range places {
				dirs := p.dirs()
				if last := dirs[len(dirs)-1]; last != p.Top {
					t.Errorf("the way up from %q ends at %q, not at the mount %q", p.Dir, last, p.Top)
				}
			}
		}
	})
}

// FuzzProcess locates a process, and reads everything about its group, in a
// host of which every file holds arbitrary bytes.
func FuzzProcess(f *testing.F) {
	f.Add([]byte("0::/a\n"), []byte("1 2 3:4 / /c rw - cgroup2 x rw\n"), []byte("50000 100000\n"))
	f.Add([]byte("1:cpu,cpuacct,memory,cpuset:/a\n"), []byte("1 2 3:4 / /c rw - cgroup x rw,cpu,cpuacct,memory,cpuset\n"), []byte("-1\n"))
	f.Add([]byte("0::/../a\n"), []byte("1 2 3:4 / /c rw - cgroup2 x rw\n"), []byte("usage_usec 1\n"))
	// One tree is written over again and again, and all files of the group
	// are links to one: making a tree each time takes most of the time.
	root := f.TempDir()
	for _, dir := range []string{"proc/1", "proc/7", "c/a"} {
		writeFile(f, filepath.Join(root, dir), nil, true)
	}
	for _, name := range append(fuzzedFiles, "../../proc/7/status") {
		if err := os.Symlink(filepath.Join(root, "content"), filepath.Join(root, "c/a", name)); err != nil {
			f.Skip("needs symbolic links:", err)
		}
	}
	host := NewFS(root)
	f.Fuzz(func(t *testing.T, cgroup, mountinfo, content []byte) {
		writeFile(t, filepath.Join(root, "proc/7/cgroup"), cgroup, false)
		writeFile(t, filepath.Join(root, "proc/1/mountinfo"), mountinfo, false)
		writeFile(t, filepath.Join(root, "content"), content, false)
		host.Affinity(7)
		g, err := host.Process(7)
		limit := g.CPULimit()
		if err != nil && limit.State != Unknown {
			t.Errorf("not located: %v; but the limit is %+v", err, limit)
		}
		if strings.Contains(string(cgroup), ":/..") && !strings.Contains(string(mountinfo), " /..") &&
			strings.Count(string(cgroup), "\n") == 1 && limit.State == Limited {
			t.Errorf("limit of a group outside of the namespace: %+v", limit)
		}
		if (limit.State == Limited) != (limit.CPUs > 0) || limit.State == Unknown && limit.Err == nil {
			t.Errorf("got %+v", limit)
		}
		g.OwnCPULimit()
		g.MemoryLimit()
		g.CPUs()
		r, err := g.Open()
		if err != nil {
			return
		}
		defer r.Close()
		for name, read := range readings(r) {
			if err := read(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

var fuzzedFiles = []string{
	"cpu.max", "cpu.max.burst", "cpu.stat", "cpu.stat.local", "cpu.cfs_quota_us", "cpu.cfs_period_us",
	"cpuacct.usage", "cpuset.cpus.effective", "cpuset.effective_cpus", "memory.max", "memory.limit_in_bytes",
	"memory.current", "memory.stat", "memory.events", "memory.oom_control", "cpu.pressure",
}
