package nodeagent

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/cgroup"
)

const (
	id    = "3f2a9c61d0b84e57a1c6f0e9d8b7a6954433221100ffeeddccbbaa9988776655"
	other = "aa2a9c61d0b84e57a1c6f0e9d8b7a6954433221100ffeeddccbbaa9988776655"
	uid   = "7d9f1c34-0a1b-4c2d-8e3f-123456789abc"
	slice = "7d9f1c34_0a1b_4c2d_8e3f_123456789abc" // the same in systemd's names
)

// mounted is a machine's line of a cgroup mount: v2, or v1 with its controllers.
func mounted(at, controllers string) string {
	if controllers == "" {
		return "40 30 0:40 /../../../.. " + at + " ro,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	}
	return "40 30 0:40 / " + at + " ro,nosuid - cgroup cgroup rw," + controllers + "\n"
}

// The mounts that a container of the node agent has: its own, and the node's.
var (
	onV2 = mounted("/sys/fs/cgroup", "") + mounted("/host/cgroup", "")
	onV1 = mounted("/sys/fs/cgroup/cpu,cpuacct", "cpu,cpuacct") + mounted("/sys/fs/cgroup/memory", "memory") +
		mounted("/host/cgroup/systemd", "name=systemd") + mounted("/host/cgroup/cpu,cpuacct", "cpu,cpuacct") +
		mounted("/host/cgroup/memory", "memory") + mounted("/host/cgroup/pids", "pids")
	onV1Apart = mounted("/host/cgroup/cpu", "cpu") + mounted("/host/cgroup/cpuacct", "cpuacct") + mounted("/host/cgroup/memory", "memory")
	onHybrid  = onV1 + mounted("/host/cgroup/unified", "")
)

// machine makes a machine's root with mounts and folders; one with -> is a link.
func machine(t testing.TB, mounts string, folders ...string) string {
	t.Helper()
	root := t.TempDir()
	put(t, filepath.Join(root, "proc/1/mountinfo"), "30 1 0:30 / / rw - overlay overlay rw\n"+mounts)
	for _, folder := range append(folders, "/host/cgroup") {
		name, to, link := strings.Cut(folder, "->")
		name = filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil && link {
			err = os.Symlink(to, name)
		} else if err == nil {
			err = os.MkdirAll(name, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// put writes a file, in place where there is one, as the kernel's files are.
func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestContainersAreFoundInEveryLayout(t *testing.T) {
	const (
		itself  = "/kubepods/burstable/pod" + uid + "/"
		systemd = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + slice + ".slice/"
		kind    = "/docker/" + other + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" + slice + ".slice/"
	)
	for _, c := range []struct {
		name    string
		mounts  string
		folders []string
		want    map[cgroup.Controller]string // below /host/cgroup
	}{
		{"v2, the kubelet itself", onV2, []string{itself + id, itself + other},
			map[cgroup.Controller]string{cgroup.CPU: itself + id, cgroup.Memory: itself + id, cgroup.Unified: itself + id}},
		{"v2, a pod with guaranteed resources", onV2, []string{"/kubepods/pod" + uid + "/" + id},
			map[cgroup.Controller]string{cgroup.CPU: "/kubepods/pod" + uid + "/" + id}},
		{"v2, systemd and containerd", onV2, []string{systemd + "cri-containerd-" + id + ".scope", systemd + "cri-containerd-" + other + ".scope"},
			map[cgroup.Controller]string{cgroup.CPU: systemd + "cri-containerd-" + id + ".scope"}},
		{"v2, CRI-O, whose watcher has a group beside it, and crun one below it", onV2,
			[]string{systemd + "crio-conmon-" + id + ".scope", systemd + "crio-" + id + ".scope/container"},
			map[cgroup.Controller]string{cgroup.CPU: systemd + "crio-" + id + ".scope"}},
		{"v2, Docker", onV2, []string{systemd + "docker-" + id + ".scope"},
			map[cgroup.Controller]string{cgroup.CPU: systemd + "docker-" + id + ".scope"}},
		{"v2, containerd without the systemd driver", onV2, []string{"/system.slice/kubepods-burstable-pod" + slice + ".slice:cri-containerd:" + id},
			map[cgroup.Controller]string{cgroup.CPU: "/system.slice/kubepods-burstable-pod" + slice + ".slice:cri-containerd:" + id}},
		{"v2, kind: a node in a container", onV2, []string{kind + "cri-containerd-" + id + ".scope"},
			map[cgroup.Controller]string{cgroup.CPU: kind + "cri-containerd-" + id + ".scope"}},
		{"v2, a group of the id elsewhere, and higher up", onV2, []string{"/another/" + id, "/a/b/c/d/e" + itself + id},
			map[cgroup.Controller]string{cgroup.CPU: "/a/b/c/d/e" + itself + id}},
		{"v2, a pod of a manifest file, whose uid the API does not have", onV2, []string{"/kubepods/pod0123456789abcdef0123456789abcdef/" + id},
			map[cgroup.Controller]string{cgroup.CPU: "/kubepods/pod0123456789abcdef0123456789abcdef/" + id}},
		{"v1, the kubelet itself", onV1,
			[]string{"/cpu,cpuacct" + itself + id, "/cpu->cpu,cpuacct", "/cpuacct->cpu,cpuacct", "/memory" + itself + id, "/pids" + itself + id, "/systemd" + itself + id},
			map[cgroup.Controller]string{cgroup.CPU: "/cpu,cpuacct" + itself + id, cgroup.CPUAcct: "/cpu,cpuacct" + itself + id, cgroup.Memory: "/memory" + itself + id}},
		{"v1, each controller apart, below a test cluster's own groups", onV1Apart,
			[]string{"/cpu/test" + itself + id, "/cpuacct/test" + itself + id, "/memory/test" + itself + id},
			map[cgroup.Controller]string{cgroup.CPU: "/cpu/test" + itself + id, cgroup.CPUAcct: "/cpuacct/test" + itself + id, cgroup.Memory: "/memory/test" + itself + id}},
		{"v1, systemd", onV1, []string{"/cpu,cpuacct" + systemd + "cri-containerd-" + id + ".scope", "/memory" + systemd + "cri-containerd-" + id + ".scope"},
			map[cgroup.Controller]string{cgroup.CPU: "/cpu,cpuacct" + systemd + "cri-containerd-" + id + ".scope", cgroup.Memory: "/memory" + systemd + "cri-containerd-" + id + ".scope"}},
		{"hybrid: the pressure is in v2", onHybrid, []string{"/cpu,cpuacct" + itself + id, "/memory" + itself + id, "/unified" + itself + id},
			map[cgroup.Controller]string{cgroup.CPU: "/cpu,cpuacct" + itself + id, cgroup.Memory: "/memory" + itself + id, cgroup.Unified: "/unified" + itself + id}},
		{"hybrid, with v1 alone", onHybrid, []string{"/cpu,cpuacct" + itself + id, "/memory" + itself + id, "/unified/init"},
			map[cgroup.Controller]string{cgroup.CPU: "/cpu,cpuacct" + itself + id, cgroup.Memory: "/memory" + itself + id, cgroup.Unified: ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var folders []string
			for _, folder := range c.folders {
				folders = append(folders, "/host/cgroup"+folder)
			}
			g, err := finderIn(machine(t, c.mounts, folders...), "/host/cgroup").Find(id, uid)
			if err != nil {
				t.Fatal(err)
			}
			for controller, want := range c.want {
				place, _ := g.Place(controller).Get()
				if got := strings.TrimPrefix(place.Dir, "/host/cgroup"); got != want {
					t.Errorf("%s in %q, want %q", controller, got, want)
				}
			}
		})
	}
}

func TestContainersThatAreNotFound(t *testing.T) {
	const dir = "/host/cgroup/kubepods/pod" + uid + "/"
	deep := "/host/cgroup" + strings.Repeat("/x", deepest) + "/" + id
	for _, c := range []struct {
		name, mounts, folder, container string
		missing                         bool
		want                            string
	}{
		{"none of the id", onV2, dir + other, id, true, "has its id in its name"},
		{"the watcher alone", onV2, dir + "crio-conmon-" + id + ".scope", id, true, "has its id in its name"},
		{"the id within a longer one", onV2, dir + id + "00", id, true, "has its id in its name"},
		{"too deep", onV2, deep, id, true, "has its id in its name"},
		{"memory and no CPU", onV1, "/host/cgroup/memory/kubepods/" + id, id, true, "no group of the cpu controller"},
		{"nothing mounted", "", dir + id, id, false, "mount the node's /sys/fs/cgroup there"},
		{"a word that is in many names", onV2, dir + id, "slice", false, "hexadecimal"},
		{"no id", onV2, dir + id, "", false, "hexadecimal"},
		{"a path", onV2, dir + id, "../../" + id, false, "hexadecimal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := finderIn(machine(t, c.mounts, c.folder), "/host/cgroup").Find(c.container, uid)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrNotFound) != c.missing {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	_, err := finderIn(machine(t, onV2), "/elsewhere").Find(id, uid)
	if err == nil || !strings.Contains(err.Error(), "mount the node's /sys/fs/cgroup there") {
		t.Errorf("where nothing is mounted: %v", err)
	}
}

func TestTheNearestContainerGoesFirstWhereThePodIsNotKnown(t *testing.T) {
	root := machine(t, onV2, "/host/cgroup/a/b/"+id, "/host/cgroup/z/"+id)
	g, err := finderIn(root, "/host/cgroup").Find(id, "")
	if err != nil {
		t.Fatal(err)
	}
	place, _ := g.Place(cgroup.CPU).Get()
	if d := cmp.Diff(cgroup.Place{Version: cgroup.V2, Dir: "/host/cgroup/z/" + id, Top: "/host/cgroup"}, place); d != "" {
		t.Error(d)
	}
}

// A folder's name never makes two containers the same.
func FuzzNames(f *testing.F) {
	f.Add("cri-containerd-" + id + ".scope")
	f.Add("kubepods.slice:cri-containerd:" + id)
	f.Add("crio-conmon-" + id + ".scope")
	f.Add(id + id)
	f.Fuzz(func(t *testing.T, name string) {
		if names(name, id) && names(name, other) {
			t.Errorf("%q is of two containers", name)
		}
		if names(name, id) && !strings.Contains(name, id) {
			t.Errorf("%q has no id", name)
		}
	})
}
