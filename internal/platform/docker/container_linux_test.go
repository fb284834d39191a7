package docker

import (
	"net/http"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/platform"
)

func TestAStartWaitsForWhatAComposeFileSays(t *testing.T) {
	p := open(t, Options{})
	u := server(t)
	u.Command = []string{"--contained", "--startup", "700ms"}
	u.Container = &platform.Container{Until: platform.Started, Names: []string{"shop"}, Volumes: []string{"data:/data"}, Hostname: "here", Ulimits: map[string][2]int64{"nofile": {512, 1024}}}
	r := start(t, p, u).Replicas()[0]
	if code := get(t, r, "/ok"); code != http.StatusOK {
		t.Errorf("status %d of a container that was started: it did not listen yet", code)
	}
	seen, err := p.api.ContainerInspect(t.Context(), r.(*replica).id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := &seen.Container
	if c.Config.Hostname != "here" || c.HostConfig.Ulimits[0].Hard != 1024 || len(c.Mounts) != 1 || c.Mounts[0].Name != p.owner.volume("data") {
		t.Errorf("hostname %s, host %+v, mounts %+v", c.Config.Hostname, c.HostConfig, c.Mounts)
	}

	u = server(t)
	u.Command, u.Container = []string{"--help"}, &platform.Container{Until: platform.Completed}
	if code := get(t, start(t, p, u).Replicas()[0], "/ok"); code != 0 {
		t.Errorf("status %d of a container that has completed", code)
	}
	u.Command = []string{"--fail"}
	if _, err := p.Start(t.Context(), u); err == nil || !strings.Contains(err.Error(), "ended with exit status 3") {
		t.Errorf("%v: want its exit status", err)
	}
	u.Command, u.Container = []string{"--contained"}, &platform.Container{Until: platform.Healthy, Health: []string{"/server", "--help"}}
	if code := get(t, start(t, p, u).Replicas()[0], "/ok"); code != http.StatusOK {
		t.Errorf("status %d of a healthy container", code)
	}
}
