package docker

import (
	"encoding/json"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	images "github.com/moby/moby/api/types/image"

	"github.com/millicore/millicore/internal/platform"
)

// The documents are the parts of docker image inspect that are read, of images as Docker Hub
// has them.
func TestWhatAnImageSaysOfItself(t *testing.T) {
	for _, c := range []struct {
		name, document string
		want           platform.ImageInfo
		port           int // of PORT
	}{
		{"nginx: one port, an entrypoint", `{"Architecture":"amd64","Os":"linux","Config":{"ExposedPorts":{"80/tcp":{}},
			"Env":["PATH=/usr/local/sbin:/usr/bin","NGINX_VERSION=1.27.3"],"Cmd":["nginx","-g","daemon off;"],
			"Entrypoint":["/docker-entrypoint.sh"],"StopSignal":"SIGQUIT"}}`,
			platform.ImageInfo{System: "linux/amd64", Entrypoint: []string{"/docker-entrypoint.sh"}, Args: []string{"nginx", "-g", "daemon off;"}, Ports: []int{80}}, 80},
		{"several ports, one of UDP", `{"Os":"linux","Architecture":"arm64","Config":{"ExposedPorts":{"8443/tcp":{},"443/udp":{},"8080":{},"99999/tcp":{}},"Cmd":["caddy","run"]}}`,
			platform.ImageInfo{System: "linux/arm64", Args: []string{"caddy", "run"}, Ports: []int{8080, 8443}}, 8080},
		{"a user, a folder and a variable PORT", `{"Os":"linux","Architecture":"amd64","Config":{"User":"node","WorkingDir":"/srv","Env":["PORT=3000","A"],"Entrypoint":["node","app.js"]}}`,
			platform.ImageInfo{System: "linux/amd64", Entrypoint: []string{"node", "app.js"}, User: "node", Dir: "/srv", Port: 3000}, 3000},
		{"a health check of a shell", `{"Os":"linux","Config":{"Cmd":["./a"],"Healthcheck":{"Test":["CMD-SHELL","curl -f http://localhost/ || exit 1"],"Timeout":3000000000}}}`,
			platform.ImageInfo{System: "linux", Args: []string{"./a"}, Health: []string{"/bin/sh", "-c", "curl -f http://localhost/ || exit 1"}, HealthTimeout: 3 * time.Second}, 8080},
		{"a health check of its own shell", `{"Os":"linux","Config":{"Cmd":["./a"],"Shell":["/bin/bash","-o","pipefail","-c"],"Healthcheck":{"Test":["CMD-SHELL","true"]}}}`,
			platform.ImageInfo{System: "linux", Args: []string{"./a"}, Health: []string{"/bin/bash", "-o", "pipefail", "-c", "true"}}, 8080},
		{"a health check without a shell", `{"Os":"linux","Config":{"Cmd":["./a"],"Healthcheck":{"Test":["CMD","/check","-q"]}}}`,
			platform.ImageInfo{System: "linux", Args: []string{"./a"}, Health: []string{"/check", "-q"}}, 8080},
		{"health checks that are off, or inherited", `{"Os":"linux","Config":{"Cmd":["./a"],"Healthcheck":{"Test":["NONE"]}}}`,
			platform.ImageInfo{System: "linux", Args: []string{"./a"}}, 8080},
		{"nothing", `{"Os":"linux","Architecture":"amd64"}`, platform.ImageInfo{System: "linux/amd64"}, 8080},
	} {
		t.Run(c.name, func(t *testing.T) {
			var i images.InspectResponse
			if err := json.Unmarshal([]byte(c.document), &i); err != nil {
				t.Fatal(err)
			}
			got := describe(&i)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if len(got.Ports) < 2 && portOf(&got) != c.port {
				t.Errorf("PORT is %d, want %d", portOf(&got), c.port)
			}
		})
	}
}

// What a container listens on, and what its image EXPOSEs, may differ.
func TestThePortOfAContainer(t *testing.T) {
	at := func(ports ...uint16) (all []netip.AddrPort) {
		for _, port := range ports {
			all = append(all, netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), port))
		}
		return all
	}
	begin := time.Now()
	for _, c := range []struct {
		name         string
		exposes      []int
		listens      []netip.AddrPort
		first, later []netip.AddrPort // nil: not yet
		only         string
	}{
		{"none EXPOSEd", nil, at(80, 90), at(80, 90), at(80, 90), ""},
		{"the EXPOSEd one of several", []int{90}, at(80, 90), at(90), at(90), "10.0.0.2:90"},
		{"two EXPOSEd ones, one is open", []int{80, 443}, at(80), at(80), at(80), "10.0.0.2:80"},
		{"two EXPOSEd ones", []int{80, 90}, at(80, 90, 99), at(80, 90), at(80, 90), ""},
		{"a wrong EXPOSE", []int{80}, at(8080), nil, at(8080), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := exposed{ports: c.exposes}
			got, err := e.among(c.listens, begin)
			if d := cmp.Diff(c.first, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" || (err == nil) != (c.first != nil) {
				t.Errorf("first %v, %v", got, err)
			}
			got, err = e.among(c.listens, begin.Add(exposeGrace))
			if d := cmp.Diff(c.later, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" || err != nil {
				t.Errorf("later %v, %v", got, err)
			}
			if e.only() != c.only {
				t.Errorf("only %q, want %q", e.only(), c.only)
			}
		})
	}
}

func TestTheDaemonIsDockersOrPodmans(t *testing.T) {
	for _, c := range []struct {
		name    string
		given   string
		sockets []string
		want    string // below the root; "": Docker's default
		err     string
	}{
		{"nothing is there", "", nil, "", ""},
		{"Docker", "", []string{"var/run/docker.sock", "run/podman/podman.sock"}, "", ""},
		{"podman", "", []string{"run/podman/podman.sock"}, "run/podman/podman.sock", ""},
		{"podman of a user", "", []string{"user/podman/podman.sock"}, "user/podman/podman.sock", ""},
		{"podman beside containerd", "", []string{"run/podman/podman.sock", "run/containerd/containerd.sock"}, "run/podman/podman.sock", ""},
		{"containerd alone", "", []string{"run/containerd/containerd.sock"}, "", "this machine has containerd, but neither Docker nor podman"},
		{"containerd by name", "unix:///run/containerd/containerd.sock", nil, "", "DOCKER_HOST=unix:///run/containerd/containerd.sock is containerd"},
		{"another daemon", "unix:///tmp/d.sock", []string{"run/podman/podman.sock"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for _, name := range c.sockets {
				path := filepath.Join(root, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := findHost(c.given, root, filepath.Join(root, "user"))
			want := c.want
			if want != "" {
				want = "unix://" + filepath.Join(root, want)
			}
			if got != want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q, %v, want %q, %q", got, err, want, c.err)
			}
		})
	}
}

func TestVolumesAsDockerHasThem(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	binds, anonymous, err := mounts([]string{"/a:/b:ro", "./data:/data", "named:/n", "/cache"})
	if d := cmp.Diff([]string{"/a:/b:ro", here + "/data:/data", "named:/n"}, binds); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if d := cmp.Diff(map[string]struct{}{"/cache": {}}, anonymous); d != "" {
		t.Error(d)
	}
}
