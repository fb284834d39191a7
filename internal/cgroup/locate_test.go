package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestParseMemberships(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       []membership
		bad        bool
	}{
		{"v2", "0::/a\n", []membership{{true, "", "/a"}}, false},
		{"v1 and named", "2:cpu,cpuacct:/a\n1:name=systemd:/b\n", []membership{{false, "cpu,cpuacct", "/a"}, {false, "name=systemd", "/b"}}, false},
		{"colons in the path", "0::/a:b:c\n", []membership{{true, "", "/a:b:c"}}, false},
		{"no process is in a group", "", []membership{}, false},
		{"no path", "0::\n", nil, true},
		{"relative path", "0::a\n", nil, true},
		{"two fields", "0:/a\n", nil, true},
		{"empty line", "0::/a\n\n", nil, true},
		{"cut short", "0::/a", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseMemberships([]byte(tt.file))
			if errors.Is(err, ErrMalformed) != tt.bad || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestParseMounts(t *testing.T) {
	// Layers of an overlay file system can make a line longer than the 64 KiB
	// at which a bufio.Scanner gives up.
	overlay := "22 1 0:54 / / rw - overlay overlay rw,lowerdir=" + strings.Repeat("/var/lib/layer:", 10000) + "\n"
	for _, tt := range []struct {
		name, file string
		want       []mount
		bad        bool
	}{
		{"v2 after a line of 150 kB", overlay + "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n", []mount{{V2, "rw", "/", "/sys/fs/cgroup"}}, false},
		{"v1 with optional fields", "30 22 0:26 /a /b rw master:1 shared:2 - cgroup none rw,cpu\n", []mount{{V1, "rw,cpu", "/a", "/b"}}, false},
		{"escapes", "30 22 0:26 /a\\040b /c\\134d\\011 rw - cgroup2 none rw\n", []mount{{V2, "rw", "/a b", "/c\\d\t"}}, false},
		{"other file systems are not looked at", "1 - \n2 \\9 x y z - cgroup3 a b\n", []mount{}, false},
		{"no separator", "30 22 0:26 / /a rw cgroup2 none rw\n", nil, true},
		{"too few fields", "30 22 / /a - cgroup2 none rw\n", nil, true},
		{"no super options", "30 22 0:26 / /a rw - cgroup2 none\n", nil, true},
		{"root not absolute", "30 22 0:26 x /a rw - cgroup2 none rw\n", nil, true},
		{"escape cut short", "30 22 0:26 / /a\\04 rw - cgroup2 none rw\n", nil, true},
		{"escape not octal", "30 22 0:26 / /a\\048 rw - cgroup2 none rw\n", nil, true},
		{"escape above a byte", "30 22 0:26 / /a\\777 rw - cgroup2 none rw\n", nil, true},
		{"cut short", "30 22 0:26 / /a rw - cgroup2 none rw", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseMounts([]byte(tt.file))
			if errors.Is(err, ErrMalformed) != tt.bad || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestCandidates(t *testing.T) {
	v1 := func(root, point string) mount { return mount{V1, "rw,cpu,cpuacct", root, point} }
	v2 := func(root, point string) mount { return mount{V2, "rw", root, point} }
	in := func(path string) []membership { return []membership{{true, "", path}} }
	for _, tt := range []struct {
		name   string
		groups []membership
		mounts []mount
		want   []Place
		hidden bool // it must be ErrOutside
	}{
		{"v2 root", in("/"), []mount{v2("/", "/c")}, []Place{{V2, "/c", "/c"}}, false},
		{"v2 below", in("/a/b"), []mount{v2("/", "/c")}, []Place{{V2, "/c/a/b", "/c"}}, false},
		{"group is the mount's root", in("/a"), []mount{v2("/a", "/c")}, []Place{{V2, "/c", "/c"}}, false},
		{"below the mount's root", in("/a/b"), []mount{v2("/a", "/c")}, []Place{{V2, "/c/b", "/c"}}, false},
		{"name begins like the mount's root", in("/ab"), []mount{v2("/a", "/c")}, nil, true},
		{"widest mount first", in("/a/b"), []mount{v2("/a/b", "/x"), v2("/", "/y"), v2("/a", "/z")}, []Place{{V2, "/y/a/b", "/y"}, {V2, "/z/b", "/z"}, {V2, "/x", "/x"}}, false},
		{"outside of the namespace", in("/.."), []mount{v2("/", "/c")}, nil, true},
		{"sibling outside of the namespace", in("/../b"), []mount{v2("/", "/c")}, nil, true},
		{"outside, and the mount reaches there", in("/../../init"), []mount{v2("/../..", "/c")}, []Place{{V2, "/c/init", "/c"}}, false},
		{"outside, and the mount reaches it exactly", in("/../../init"), []mount{v2("/../../init", "/c")}, []Place{{V2, "/c", "/c"}}, false},
		{"outside, and the mount begins above", in("/../init"), []mount{v2("/../..", "/c")}, nil, true},
		{"outside, and further than the mount", in("/../../../init"), []mount{v2("/../..", "/c")}, nil, true},
		{"name that begins with two dots", in("/..a"), []mount{v2("/", "/c")}, []Place{{V2, "/c/..a", "/c"}}, false},
		{"v1 line wins on a hybrid host", []membership{{true, "", "/u"}, {false, "cpu,cpuacct", "/a"}}, []mount{v2("/", "/c2"), v1("/", "/c1")}, []Place{{V1, "/c1/a", "/c1"}}, false},
		{"v1 line wins also if it is not mounted", []membership{{true, "", "/u"}, {false, "cpu", "/a"}}, []mount{v2("/", "/c2")}, nil, true},
		{"controller with a longer name", []membership{{false, "cpuset,name=cpu", "/a"}}, []mount{v1("/", "/c1")}, nil, false},
		{"v1 mount of other controllers", []membership{{false, "cpu", "/a"}}, []mount{{V1, "rw,cpuset", "/", "/s"}}, nil, true},
		{"no hierarchy", nil, []mount{v2("/", "/c")}, nil, false},
		{"nothing mounted", in("/"), nil, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := candidates(CPU, tt.groups, tt.mounts)
			if errors.Is(err, ErrOutside) != tt.hidden || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

// host makes a root with a process 1 that has the given mounts.
func host(t *testing.T, mountinfo string, dirs ...string) (FS, string) {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "proc/1/mountinfo"), []byte(mountinfo), false)
	for _, dir := range dirs {
		writeFile(t, filepath.Join(root, dir), nil, true)
	}
	return NewFS(root), root
}

func TestAtTellsVersionsByMount(t *testing.T) {
	const mountinfo = "30 1 0:1 / /c/cpu,cpuacct rw - cgroup none rw,cpu,cpuacct\n" +
		"31 1 0:2 / /c/memory rw - cgroup none rw,memory\n" +
		"32 1 0:3 / /c/unified rw - cgroup2 none rw\n"
	host, root := host(t, mountinfo, "c/cpu,cpuacct/a/b", "c/memory/a", "c/unified/a", "other")
	if err := os.Symlink("cpu,cpuacct", filepath.Join(root, "c/cpu")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, tt := range []struct {
		name string
		dirs []string
		want [controllers]string // the directories, "" for none
	}{
		{"v1", []string{"/c/cpu,cpuacct/a/b", "/c/memory/a"}, [controllers]string{CPU: "/c/cpu,cpuacct/a/b", CPUAcct: "/c/cpu,cpuacct/a/b", Memory: "/c/memory/a"}},
		{"v1 by a symbolic link", []string{"/c/cpu/a"}, [controllers]string{CPU: "/c/cpu,cpuacct/a", CPUAcct: "/c/cpu,cpuacct/a"}},
		{"v1 given twice, as a joined mount suggests", []string{"/c/cpu/a", "/c/cpu,cpuacct/a"}, [controllers]string{CPU: "/c/cpu,cpuacct/a", CPUAcct: "/c/cpu,cpuacct/a"}},
		{"v1 at a mount point", []string{"/c/memory/"}, [controllers]string{Memory: "/c/memory"}},
		{"v2, which here has the cpuset alone", []string{"/c/unified/a"}, [controllers]string{CPUSet: "/c/unified/a", PIDs: "/c/unified/a", Freezer: "/c/unified/a", Unified: "/c/unified/a"}},
		{"hybrid", []string{"/c/unified/a", "/c/memory/a"}, [controllers]string{CPUSet: "/c/unified/a", Memory: "/c/memory/a", PIDs: "/c/unified/a", Freezer: "/c/unified/a", Unified: "/c/unified/a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := host.At(tt.dirs...)
			if err != nil {
				t.Fatal(err)
			}
			for c := Controller(0); c < controllers; c++ {
				p, _ := g.Place(c).Get()
				if p.Dir != tt.want[c] {
					t.Errorf("%s: got %q, want %q", c, p.Dir, tt.want[c])
				}
			}
			if limit := g.CPULimit(); tt.want[CPU] == "" && limit.State != Unknown {
				t.Errorf("got %+v without the CPU controller's directory, want unknown", limit)
			}
		})
	}
	for _, dirs := range [][]string{nil, {"/other"}, {"/c/memory/none"}, {"/c/memory/../../other"}, {"/c/cpu/a", "/c/cpu/a/b"}} {
		t.Run(fmt.Sprint("not ", dirs), func(t *testing.T) {
			if g, err := host.At(dirs...); err == nil || g.CPULimit().State != Unknown {
				t.Errorf("got %v, %v; want an error and an unknown limit", g, err)
			}
		})
	}
}

func TestAtOnV2Alone(t *testing.T) {
	host, _ := host(t, "30 1 0:1 / /c rw - cgroup2 none rw\n", "c/a")
	g, err := host.At("/c/a")
	if err != nil {
		t.Fatal(err)
	}
	for c := Controller(0); c < controllers; c++ {
		if got := g.Place(c); got != ValueOf(Place{V2, "/c/a", "/c"}) {
			t.Errorf("%s: got %v", c, got)
		}
	}
}

func TestMountThatIsHiddenByALaterOne(t *testing.T) {
	const mountinfo = "30 1 0:1 / /c/old rw - cgroup2 none rw\n" +
		"31 1 0:2 / /c/old rw - tmpfs none rw\n" +
		"32 1 0:1 /a /c/new rw - cgroup2 none rw\n"
	host, root := host(t, mountinfo, "c/old", "c/new/b")
	writeFile(t, filepath.Join(root, "proc/7/cgroup"), []byte("0::/a/b\n"), false)
	g, err := host.Process(7)
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := g.Place(CPU).Get(); p.Dir != "/c/new/b" {
		t.Errorf("got %v, want the directory that is there", g.Place(CPU))
	}
}

func TestProcessThatDoesNotExist(t *testing.T) {
	host, _ := host(t, "")
	g, err := host.Process(7)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
	if got := g.CPULimit(); got.State != Unknown || got.Err == nil {
		t.Errorf("got %v, want an unknown limit that says why", got)
	}
	if _, err := g.Open(); err == nil {
		t.Error("a group that was not located was opened")
	}
	if got := host.Affinity(7); got.State() != Unreadable {
		t.Errorf("got affinity %v, want unreadable", got)
	}
}

func TestOtherSystemsAnswerAbsent(t *testing.T) {
	if Host().hasCgroups() {
		t.Skipf("%s has control groups", runtime.GOOS)
	}
	g, err := Host().Self()
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Place(CPU); got.State() != Absent {
		t.Errorf("got %v, want absent", got)
	}
	if got := g.CPULimit(); got.State != Unlimited {
		t.Errorf("got %v, want unlimited", got)
	}
}

func TestLimitOfAGroupThatIsGone(t *testing.T) {
	const mountinfo = "30 1 0:1 / /c rw - cgroup2 none rw\n"
	host, root := host(t, mountinfo, "c/a/b")
	writeFile(t, filepath.Join(root, "c/a/cpu.max"), []byte("50000 100000\n"), false)
	g, err := host.At("/c/a/b")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.CPULimit(); got.State != Limited {
		t.Fatalf("got %v, want limited", got)
	}
	if err := os.Remove(filepath.Join(root, "c/a/b")); err != nil {
		t.Fatal(err)
	}
	if got := g.CPULimit(); got.State != Unknown || !errors.Is(got.Err, ErrGone) {
		t.Errorf("CPU: got %v, want unknown: gone", got)
	}
	if got := g.MemoryLimit(); got.State != Unknown || !errors.Is(got.Err, ErrGone) {
		t.Errorf("memory: got %v, want unknown: gone", got)
	}
	if got := g.CPUs(); !errors.Is(got.Err(), ErrGone) {
		t.Errorf("CPUs: got %v, want gone", got)
	}
	if _, err := g.Open(); !errors.Is(err, ErrGone) {
		t.Errorf("open: got %v, want gone", err)
	}
}
