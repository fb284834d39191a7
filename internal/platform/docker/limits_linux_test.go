package docker

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// limitedServer is a server under limits, and its replica.
func limitedServer(t *testing.T, p *docker, l experiment.Limits) (platform.Unit, *replica, platform.LimitVerifier) {
	t.Helper()
	u := server(t)
	u.Limits = l
	running := start(t, p, u)
	r := running.Replicas()[0]
	v, ok := platform.As[platform.LimitVerifier](r)
	if !ok {
		t.Fatal("its limits cannot be verified")
	}
	if why := v.LimitBroken(); why != "" {
		t.Fatalf("at the start: %s", why)
	}
	return running, r.(*replica), v
}

// update changes limits of a container, as docker update does.
func update(t *testing.T, r *replica, to container.Resources) {
	t.Helper()
	if _, err := r.docker.api.ContainerUpdate(t.Context(), r.id, client.ContainerUpdateOptions{Resources: &to}); err != nil {
		t.Fatal(err)
	}
}

// moveOut moves a process into the highest group of some controllers.
func moveOut(t *testing.T, pid int, controllers ...cgroup.Controller) {
	t.Helper()
	at, err := cgroup.Host().Process(pid)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range controllers {
		if p, ok := at.Place(c).Get(); ok {
			if err := os.WriteFile(filepath.Join(p.Top, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// another starts a process in a container, as docker exec does, and returns its pid.
func another(t *testing.T, r *replica) int {
	t.Helper()
	api, before := r.docker.api, len(r.PIDs())
	made, err := api.ExecCreate(t.Context(), r.id, client.ExecCreateOptions{Cmd: []string{"/server", "--startup", "1h"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.ExecStart(t.Context(), made.ID, client.ExecStartOptions{Detach: true}); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "there is another process", func() bool { return len(r.PIDs()) > before })
	all := r.PIDs()
	return all[len(all)-1]
}

func TestALimitThatNoLongerHoldsIsSeen(t *testing.T) {
	p := open(t, Options{})
	for name, c := range map[string]struct {
		do   func(*testing.T, *replica)
		want string
	}{
		"nothing happens": {func(*testing.T, *replica) {}, ""},
		"a higher quota": {func(t *testing.T, r *replica) {
			update(t, r, container.Resources{CPUPeriod: 100_000, CPUQuota: 200_000})
		}, "its CPU limit was changed from 500m CPU in periods of 100ms to 2000m CPU in periods of 100ms"},
		"no quota": {func(t *testing.T, r *replica) { update(t, r, container.Resources{CPUQuota: -1}) },
			"its CPU limit was changed from 500m CPU in periods of 100ms to no limit"},
		"the same limit in another period": {func(t *testing.T, r *replica) {
			update(t, r, container.Resources{CPUPeriod: 33_333, CPUQuota: 16_666})
		}, ""},
		"more memory": {func(t *testing.T, r *replica) {
			update(t, r, container.Resources{Memory: 128 << 20, MemorySwap: 128 << 20})
		}, "its memory limit was changed from 67108864 bytes to 134217728 bytes"},
		"more swap": {func(t *testing.T, r *replica) {
			update(t, r, container.Resources{Memory: 64 << 20, MemorySwap: 128 << 20})
		}, "its swap limit was changed"},
		"other CPUs": {func(t *testing.T, r *replica) { update(t, r, container.Resources{CpusetCpus: "0"}) }, "its set of CPUs was changed from"},
		"it leaves": {func(t *testing.T, r *replica) {
			moveOut(t, r.PIDs()[0], cgroup.CPU, cgroup.CPUAcct, cgroup.Memory)
		}, "(server) left its control group: it is in /"},
		"it leaves one hierarchy": {func(t *testing.T, r *replica) { moveOut(t, r.PIDs()[0], cgroup.CPU) },
			"(server) left its control group: it is in /"},
		"a process of docker exec leaves": {func(t *testing.T, r *replica) {
			pid := another(t, r)
			if why := r.LimitBroken(); why != "" {
				t.Errorf("before it leaves: %s", why)
			}
			moveOut(t, pid, cgroup.CPU, cgroup.CPUAcct, cgroup.Memory)
		}, "(server) left its control group: it is in /"},
	} {
		t.Run(name, func(t *testing.T) {
			running, r, v := limitedServer(t, p, experiment.Limits{Replicas: 1, CPUMillis: 500, Memory: 64 << 20})
			c.do(t, r)
			if why := v.LimitBroken(); c.want == "" && why != "" || !strings.Contains(why, c.want) {
				t.Errorf("%q, want %q", why, c.want)
			}
			pids := r.PIDs()
			if err := running.Stop(t.Context()); err != nil {
				t.Error(err)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
					t.Errorf("process %d still runs: %v", pid, err)
				}
			}
		})
	}
}

// A period that the experiment states is a part of the limit.
func TestAStatedPeriodIsVerified(t *testing.T) {
	_, r, v := limitedServer(t, open(t, Options{}), experiment.Limits{Replicas: 1, CPUMillis: 500, Period: 50 * time.Millisecond})
	update(t, r, container.Resources{CPUPeriod: 100_000, CPUQuota: 50_000})
	if why := v.LimitBroken(); !strings.Contains(why, "in periods of 50ms to 500m CPU in periods of 100ms") {
		t.Errorf("%q", why)
	}
}

// The daemon keeps a changed limit for the next life of the container.
func TestALimitThatWasChangedStaysSoAfterARestart(t *testing.T) {
	_, r, v := limitedServer(t, open(t, Options{RestartAfter: time.Millisecond}), experiment.Limits{Replicas: 1, CPUMillis: 500, Memory: 64 << 20})
	restart := func(n int64) {
		t.Helper()
		get(t, r, "/exit")
		testkit.Until(t, "up again", func() bool {
			v.LimitBroken() // also while there is no container
			c, err := r.Counters()
			return err == nil && c.Up && c.Restarts == n
		})
	}
	restart(1)
	if why := v.LimitBroken(); why != "" {
		t.Errorf("after a restart: %s", why)
	}
	update(t, r, container.Resources{Memory: 32 << 20, MemorySwap: 32 << 20})
	restart(2)
	if why := v.LimitBroken(); !strings.Contains(why, "its memory limit was changed from 67108864 bytes to 33554432 bytes") {
		t.Errorf("after a change and a restart: %q", why)
	}
}

func TestAResizeBreaksNoLimit(t *testing.T) {
	running, _, v := limitedServer(t, open(t, Options{}), experiment.Limits{Replicas: 1, CPUMillis: 500, Memory: 64 << 20})
	for _, l := range []experiment.Limits{{CPUMillis: 900, Memory: 128 << 20}, {Memory: 64 << 20}, {CPUMillis: 333, Memory: 100 << 20}} {
		if err := running.(platform.Resizer).Resize(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if why := v.LimitBroken(); why != "" {
			t.Errorf("after a resize to %+v: %s", l, why)
		}
	}
}

// A container that somebody pauses differs from one that is idle or busy.
func TestAPausedContainerIsStopped(t *testing.T) {
	p := open(t, Options{})
	r := start(t, p, server(t)).Replicas()[0].(*replica)
	stopped := func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		return c.Stopped
	}
	for range 2 {
		if stopped() {
			t.Error("a container that runs is stopped")
		}
	}
	get(t, r, "/burn?ms=100") // what it used before does not matter
	if _, err := r.docker.api.ContainerPause(t.Context(), r.id, client.ContainerPauseOptions{}); err != nil {
		t.Fatal(err)
	}
	if !stopped() {
		t.Error("a paused container is not stopped")
	}
	if _, err := r.docker.api.ContainerUnpause(t.Context(), r.id, client.ContainerUnpauseOptions{}); err != nil {
		t.Fatal(err)
	}
	if stopped() {
		t.Error("a container that goes on is stopped")
	}
}
