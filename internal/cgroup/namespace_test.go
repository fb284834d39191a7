package cgroup

import (
	"errors"
	"path/filepath"
	"testing"
)

// A container with its own cgroup namespace in which the host's control groups are mounted, as
// containerd and CRI-O start the pods of Kubernetes under cgroup v2.
func TestGroupsOutsideOfTheNamespace(t *testing.T) {
	const mountinfo = "30 1 0:1 / /sys/fs/cgroup ro - cgroup2 none rw\n" +
		"31 1 0:1 /../../../.. /host/cgroup ro - cgroup2 none rw\n"
	const own, other = "kube.slice/burst.slice/pod1.slice/c1.scope", "kube.slice/burst.slice/pod2.slice/c2.scope"
	host, root := host(t, mountinfo, "sys/fs/cgroup", "host/cgroup/"+own, "host/cgroup/"+other,
		"host/cgroup/kube.slice/best.slice/pod3.slice/c3.scope", "host/cgroup/system.slice/sshd.service")
	file := func(name, text string) {
		t.Helper()
		writeFile(t, filepath.Join(root, name), []byte(text), false)
	}
	file("host/cgroup/"+other+"/cgroup.procs", "7\n11\n")
	file("host/cgroup/"+own+"/cgroup.procs", "5\n1\n")
	file("host/cgroup/"+other+"/cpu.max", "50000 100000\n")
	file("host/cgroup/kube.slice/burst.slice/cpu.max", "200000 100000\n")
	file("proc/1/cgroup", "0::/\n")
	for _, tt := range []struct{ group, want string }{
		{"/", "/sys/fs/cgroup"},
		{"/../../pod2.slice/c2.scope", "/host/cgroup/" + other},
		{"/../../../best.slice/pod3.slice/c3.scope", "/host/cgroup/kube.slice/best.slice/pod3.slice/c3.scope"},
		{"/../../../../system.slice/sshd.service", "/host/cgroup/system.slice/sshd.service"},
		{"/../../../..", "/host/cgroup"},
		{"/../..", "/host/cgroup/kube.slice/burst.slice"},
		{"/../../pod9.slice/c2.scope", ""},
		{"/../../../../../above", ""},
	} {
		file("proc/7/cgroup", "0::"+tt.group+"\n")
		g, err := host.Process(7)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := g.Place(CPU).Get()
		if ok != (tt.want != "") || p.Dir != tt.want {
			t.Errorf("%s: got %v, want %q", tt.group, g.Place(CPU), tt.want)
		}
		if !ok && !errors.Is(g.Place(CPU).Err(), ErrOutside) {
			t.Errorf("%s: got %v, want that it is outside", tt.group, g.Place(CPU).Err())
		}
	}
	file("proc/7/cgroup", "0::/../../pod2.slice/c2.scope\n")
	g, err := host.Process(7)
	if err != nil {
		t.Fatal(err)
	}
	if limit := g.CPULimit(); limit.CPUs != 0.5 || limit.Hidden {
		t.Errorf("got %+v, want 0.5 CPUs, and no ancestor hidden", limit)
	}
}

// A process below the root of its namespace, and a namespace whose root nobody finds.
func TestOwnGroupBelowTheNamespace(t *testing.T) {
	const mountinfo = "31 1 0:1 /../.. /c ro - cgroup2 none rw\n"
	host, root := host(t, mountinfo, "c/a/b/leaf", "c/a/x/leaf", "c/z")
	file := func(name, text string) {
		t.Helper()
		writeFile(t, filepath.Join(root, name), []byte(text), false)
	}
	file("proc/1/cgroup", "0::/leaf\n")
	file("proc/7/cgroup", "0::/../x/leaf\n")
	file("c/a/x/leaf/cgroup.procs", "11\n")
	place := func(fs FS) string {
		t.Helper()
		g, err := fs.Process(7)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := g.Place(CPU).Get()
		return p.Dir
	}
	if got := place(NewFS(root)); got != "" {
		t.Errorf("got %q, and nothing shows where the own group is", got)
	}
	file("c/a/b/leaf/cgroup.procs", "1\n")
	if got := place(host); got != "/c/a/x/leaf" {
		t.Errorf("got %q, want /c/a/x/leaf", got)
	}
}
