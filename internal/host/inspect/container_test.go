package inspect

import (
	"context"
	"errors"
	"strings"
	"testing"
)

const (
	uid     = "7d9fc0de-1234-4abc-8def-0123456789ab"
	uidUnit = "7d9fc0de_1234_4abc_8def_0123456789ab" // as systemd's units have it
)

func TestPlaces(t *testing.T) {
	names := containers{podID: "shop/cart"}
	docker := place{id: dockerID, name: dockerID[:12]}
	inPod := place{id: dockerID, name: dockerID[:12], pod: uid}
	for _, test := range []struct {
		name, group string
		want        place
	}{
		{"docker on v1", "4:memory:/docker/" + dockerID + "\n3:cpu:/docker/" + dockerID, docker},
		{"docker on v1 with a group of its own for CPU", "4:memory:/\n3:cpu,cpuacct:/docker/" + dockerID, docker},
		{"docker by systemd", "0::/system.slice/docker-" + dockerID + ".scope", docker},
		{"docker's own service", "0::/system.slice/docker.service", place{name: "docker"}},
		{"a group inside a container", "0::/docker/" + dockerID + "/init.scope", docker},
		{"a container inside a service", "0::/system.slice/kind.service/docker/" + dockerID, docker},
		{"a container in a container", "0::/docker/" + podID + "/docker/" + dockerID, docker},
		{"a name from the engine", "0::/docker/" + podID, place{id: podID, name: "shop/cart"}},

		{"kubernetes, groups by the kubelet, v1", "4:memory:/kubepods/burstable/pod" + uid + "/" + dockerID, inPod},
		{"kubernetes, guaranteed", "0::/kubepods/pod" + uid + "/" + dockerID, inPod},
		{"kubernetes, groups by systemd, containerd",
			"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + uidUnit + ".slice/cri-containerd-" + dockerID + ".scope", inPod},
		{"kubernetes, groups by systemd, CRI-O",
			"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + uidUnit + ".slice/crio-" + dockerID + ".scope", inPod},
		{"kubernetes, containerd without the systemd driver",
			"4:cpu,cpuacct:/system.slice/containerd.service/kubepods-burstable-pod" + uidUnit + ".slice:cri-containerd:" + dockerID, inPod},
		{"kubernetes, a pod of a manifest file", "0::/kubepods/burstable/pod" + podID[:32] + "/" + dockerID,
			place{id: dockerID, name: dockerID[:12], pod: podID[:32]}},
		{"kubernetes in docker", "0::/docker/" + podID + "/kubelet/kubepods/pod" + uid + "/" + dockerID, inPod},
		{"a pod's own group", "0::/kubepods/pod" + uid, place{pod: uid}},

		{"containerd without kubernetes", "0::/default/web", place{name: "web"}},
		{"containerd by nerdctl", "0::/system.slice/nerdctl-" + dockerID + ".scope", docker},
		{"podman", "0::/machine.slice/libpod-" + dockerID + ".scope/container", docker},
		{"who watches a container of podman", "0::/machine.slice/libpod-conmon-" + dockerID + ".scope", place{}},
		{"who watches a container of CRI-O", "0::/system.slice/crio-conmon-" + dockerID + ".scope", place{}},
		{"LXC", "0::/lxc.payload.web/init.scope", place{name: "web"}},
		{"LXC of old", "4:memory:/lxc/web", place{name: "web"}},

		{"a service", "0::/system.slice/web.service", place{name: "web"}},
		{"a path with colons", "0::/a:b/web.service", place{name: "web"}},
		{"the root", "0::/", place{}},
		{"a session", "0::/user.slice/user-0.slice/session-1.scope", place{}},
		{"an id that is too long", "0::/docker/" + dockerID + "0", place{}},
		{"no groups", "", place{}},
		{"a path that is not absolute", "0::x", place{}},
	} {
		if got := names.of(test.group); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestAPlaceIsRequested(t *testing.T) {
	in := place{id: dockerID, name: "web", pod: uid}
	for asked, want := range map[string]bool{
		"web": true, "we": false, dockerID: true, dockerID[:12]: true, dockerID[:3]: false, podID: false,
		"containerd://" + dockerID: true, "docker://" + podID: false, uid: true, uid[:8]: true, "web.service": false,
	} {
		if got := in.is(asked); got != want {
			t.Errorf("%q: got %t", asked, got)
		}
	}
	if in := (place{name: "web"}); !in.is("web.service") || !in.is("web") || in.is("other") {
		t.Error("a service is asked for by its name, or by its unit's")
	}
	if (place{}).is(".service") {
		t.Error("what is nowhere is not asked for")
	}
}

// The error about an unknown container names the containers that exist and the
// engines that were queried.
func TestAContainerThatIsNotThere(t *testing.T) {
	h := newTree(t)
	h.group("/", 0, 0, 0)
	h.process(10, 1, "a", "/", "", "a")
	asks := func() string {
		t.Helper()
		_, err := New(h.root).Scan(context.Background(), Only{Container: "other"}, 0)
		if !errors.Is(err, ErrNone) {
			t.Fatalf("got %v", err)
		}
		return err.Error()
	}
	const engines = "container names: /run/docker.sock does not exist, /run/podman/podman.sock does not exist"
	text := asks()
	for _, want := range []string{"--container other: not found", "No process here runs in a container", engines, "--pid"} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %q, in %q", want, text)
		}
	}
	h.group("/system.slice/web.service", 1, 0, 0)
	h.process(11, 1, "b", "/system.slice/web.service", "", "b")
	h.group("/docker/"+dockerID, 1, 0, 0)
	h.process(12, 1, "c", "/docker/"+dockerID, "", "c")
	text = asks()
	for _, want := range []string{"there are: " + dockerID[:12] + ", web;", engines} {
		if !strings.Contains(text, want) {
			t.Errorf("not said: %q, in %q", want, text)
		}
	}
}
