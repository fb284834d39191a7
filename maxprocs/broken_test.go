package maxprocs

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// files are all that a look reads on the host of a fixture.
var files = []string{
	"proc/self/cgroup",
	"proc/1/mountinfo",
	"sys/fs/cgroup/pod/cgroup.events",
	"sys/fs/cgroup/pod/cpu.max",
	"sys/fs/cgroup/pod/box/cpu.max",
	"sys/fs/cgroup/pod/box/cpu.max.burst",
	"sys/fs/cgroup/pod/box/cpu.stat",
}

// sane checks what must hold whatever is in the files: there is a result, it is
// sane, and nothing that could not be read has been taken for a value.
func sane(t *testing.T, f fixture) {
	t.Helper()
	const before = 7
	runtime.GOMAXPROCS(before)
	f.host.interval = time.Hour // one look is enough
	r, undo := f.set(Follow(context.Background()))
	defer undo()
	switch {
	case r.Before != before || r.After < 1 || r.After > 8:
		t.Errorf("not within 1 and 8: %+v", r)
	case r.Limit.State != Limited && r.After != before:
		t.Errorf("changed without a limit: %+v", r)
	case (r.Limit.State == Unknown) != (r.Err() != nil):
		t.Errorf("error %v of %+v", r.Err(), r)
	case r.Limit.State == Limited && !(r.Limit.CPUs > 0):
		t.Errorf("not a limit: %+v", r)
	}
	_ = r.String()
	s := f.host.stats(new(counters))
	if s.Throttling != nil && s.Throttling.Periods < 0 || s.Limit.State == Limited && !(s.Limit.CPUs > 0) {
		t.Errorf("not statistics: %+v", s)
	}
	f.host.limit()
}

func TestBrokenFiles(t *testing.T) {
	begin(t, 7)
	breaks := map[string]func(t *testing.T, name string){
		"missing":           func(*testing.T, string) {},
		"a directory":       func(t *testing.T, name string) { must(t, os.MkdirAll(name, 0o755)) },
		"a link to itself":  func(t *testing.T, name string) { must(t, os.Symlink(name, name)) },
		"a link to nothing": func(t *testing.T, name string) { must(t, os.Symlink(name+".gone", name)) },
		"empty":             func(t *testing.T, name string) { must(t, os.WriteFile(name, nil, 0o644)) },
		"zero bytes":        func(t *testing.T, name string) { must(t, os.WriteFile(name, make([]byte, 100), 0o644)) },
		"a line without end": func(t *testing.T, name string) {
			must(t, os.WriteFile(name, []byte(strings.Repeat("1", 1<<20)), 0o644))
		},
		"numbers beyond all": func(t *testing.T, name string) {
			must(t, os.WriteFile(name, []byte("99999999999999999999 1\n"), 0o644))
		},
		"negative":      func(t *testing.T, name string) { must(t, os.WriteFile(name, []byte("-1 -1\n"), 0o644)) },
		"a period of 0": func(t *testing.T, name string) { must(t, os.WriteFile(name, []byte("100000 0\n"), 0o644)) },
		"many lines": func(t *testing.T, name string) {
			must(t, os.WriteFile(name, []byte(strings.Repeat("0::/\n", 100_000)), 0o644))
		},
		"text of another age": func(t *testing.T, name string) { must(t, os.WriteFile(name, []byte("limit = \"2\"\r\n"), 0o644)) },
	}
	for kind, spoil := range systemBreaks {
		breaks[kind] = spoil
	}
	for kind, spoil := range breaks {
		for _, name := range files {
			t.Run(kind+" "+filepath.Base(name), func(t *testing.T) {
				f := newFixture(t)
				f.limit("200000")
				f.limitPod("300000")
				name := f.path(name)
				if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				spoil(t, name)
				sane(t, f)
			})
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzHost puts any bytes into the files of a host.
func FuzzHost(f *testing.F) {
	const stat = "usage_usec 1\nnr_periods 5\nnr_throttled 2\nthrottled_usec 77\n"
	f.Add("0::/pod/box\n", mountinfoV2, "300000 100000\n", "200000 100000\n", stat)
	f.Add("4:cpu,cpuacct:/pod\n0::/pod/box\n", "31 22 0:27 / /sys/fs/cgroup rw - cgroup cgroup rw,cpu,cpuacct\n", "300000\n", "-1\n", stat)
	f.Add("0::/pod/box (deleted)\n", "30 22 0:26 /pod /sys/fs/cgroup/pod rw - cgroup2 cgroup2 rw\n", "max\n", "max 0\n", "")
	f.Add("0::/../x\n", "30 22 0:26 /.. /sys\\040/fs rw - cgroup2 cgroup2 rw\n", "", "1 99999999999999999999\n", "nr_periods -1\n")
	f.Fuzz(func(t *testing.T, membership, mountinfo, above, own, stat string) {
		begin(t, 7)
		host := newFixture(t)
		host.write("proc/self/cgroup", membership)
		host.write("proc/1/mountinfo", mountinfo)
		for _, name := range []string{"cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us"} {
			host.write("sys/fs/cgroup/pod/"+name, above)
			host.write("sys/fs/cgroup/pod/box/"+name, own)
		}
		host.write("sys/fs/cgroup/pod/cpu.stat", stat)
		host.write("sys/fs/cgroup/pod/box/cpu.stat", stat)
		sane(t, host)
	})
}
