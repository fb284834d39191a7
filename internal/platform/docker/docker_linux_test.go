package docker

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

func TestAQuotaThrottles(t *testing.T) {
	p := open(t, Options{})
	u := server(t)
	u.Limits = experiment.Limits{CPUMillis: 200, Memory: 64 << 20, CPUSet: "0", Replicas: 1}
	r := start(t, p, u).Replicas()[0]
	if pids := r.PIDs(); len(pids) != 1 {
		t.Errorf("pids %v, want one", pids)
	}
	go get(t, r, "/burn?ms=3000")
	testkit.Until(t, "throttled in five periods", func() bool {
		before, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		sample, err := r.ThrottleSample()
		if err != nil {
			t.Fatal(err)
		}
		after, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if n := *sample.ThrottledPeriods; n < *before.ThrottledPeriods || n > *after.ThrottledPeriods {
			t.Errorf("%d throttled periods, the counters had %d before and %d after", n, *before.ThrottledPeriods, *after.ThrottledPeriods)
		}
		if *after.CPULimit != 0.2 || *after.MemoryLimit != 64<<20 || after.Memory == nil || after.CPU == nil || !after.Up || !sample.Up {
			t.Errorf("counters %+v", after)
		}
		return *after.ThrottledPeriods >= 5
	})
}

func TestNoLimits(t *testing.T) {
	p := open(t, Options{})
	r := start(t, p, server(t)).Replicas()[0]
	c, err := r.Counters()
	if err != nil || c.CPULimit != nil || c.MemoryLimit != nil || c.CPU == nil || *c.ThrottledPeriods != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestABurstIsWritten(t *testing.T) {
	p := open(t, Options{})
	if err := canBurst(); err != nil {
		t.Skip(err)
	}
	u := server(t)
	u.Limits = experiment.Limits{CPUMillis: 500, BurstMillis: 250, Period: 50 * time.Millisecond, Replicas: 1}
	r := start(t, p, u).Replicas()[0].(*replica)
	for _, file := range []string{"cpu.cfs_burst_us", "cpu.max.burst"} {
		text, err := os.ReadFile(filepath.Join(r.now.group, file))
		if err == nil && strings.TrimSpace(string(text)) != "12500" {
			t.Errorf("%s is %s, want 12500", file, text)
		}
		if err == nil {
			return
		}
	}
	t.Error("no burst file in " + r.now.group)
}

func TestLimitsAreChangedInPlace(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t)
	u.Limits = experiment.Limits{CPUMillis: 500, Memory: 64 << 20, Replicas: 1}
	if canBurst() == nil {
		u.Limits.BurstMillis = 500 // above the quota that comes
	}
	running := start(t, p, u)
	r, resize := running.Replicas()[0], running.(platform.Resizer).Resize
	pids := r.PIDs()
	check := func(l experiment.Limits) {
		t.Helper()
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		group, err := cgroup.Host().At(r.(*replica).now.group)
		if err != nil {
			t.Fatal(err)
		}
		limit := group.OwnCPULimit()
		if l.CPUMillis == 0 && (c.CPULimit != nil || limit.State != cgroup.Unlimited) ||
			l.CPUMillis != 0 && (c.CPULimit == nil || int64(1000**c.CPULimit) != l.CPUMillis || int64(1000*limit.CPUs) != l.CPUMillis) {
			t.Errorf("%+v: reported %v, the group has %+v", l, c.CPULimit, limit)
		}
		if *c.MemoryLimit != l.Memory {
			t.Errorf("%+v: memory limit %d", l, *c.MemoryLimit)
		}
	}
	for _, l := range []experiment.Limits{{CPUMillis: 200, Memory: 32 << 20, Replicas: 1}, {Memory: 64 << 20, Replicas: 1}, {CPUMillis: 400, Memory: 128 << 20, Replicas: 1}} {
		if err := resize(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		check(l)
	}
	if now := r.PIDs(); !slices.Equal(now, pids) {
		t.Errorf("pids %v, were %v", now, pids)
	}
	get(t, r, "/exit?code=3")
	testkit.Until(t, "up again", func() bool { c, err := r.Counters(); return err == nil && c.Restarts == 1 && c.Up })
	check(experiment.Limits{CPUMillis: 400, Memory: 128 << 20}) // the next life has them too
	if err := resize(t.Context(), experiment.Limits{Replicas: 1}); err == nil || !strings.Contains(err.Error(), "cannot remove a memory limit") {
		t.Errorf("without a memory limit: %v", err)
	}
}

func TestAContainerThatEndsIsRestarted(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t)
	r := start(t, p, u).Replicas()[0]
	address, pids := r.Address(), r.PIDs()
	get(t, r, "/burn?ms=50")
	before, err := r.Counters()
	if err != nil {
		t.Fatal(err)
	}
	get(t, r, "/exit?code=3")
	testkit.Until(t, "up again", func() bool {
		c, err := r.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if *c.CPU < *before.CPU {
			t.Fatalf("%v s of CPU after %v", *c.CPU, *before.CPU)
		}
		return c.Restarts == 1 && c.Up
	})
	if r.Address() != address || get(t, r, "/ok") != 200 {
		t.Errorf("at %s, was at %s", r.Address(), address)
	}
	if now := r.PIDs(); len(now) != 1 || slices.Equal(now, pids) {
		t.Errorf("pids %v, were %v", now, pids)
	}
	if sample, err := r.ThrottleSample(); err != nil || !sample.Up {
		t.Errorf("sample %+v, %v", sample, err)
	}
	if log := logOf(t, u); strings.Count(log, "server: pid") != 2 || !strings.Contains(log, "millicore: ") || !strings.Contains(log, "it ended with exit status 3; restarting it in 1ms") {
		t.Errorf("log:\n%s", log)
	}
}

func TestAnOOMKillIsReported(t *testing.T) {
	p := open(t, Options{RestartAfter: time.Millisecond})
	u := server(t)
	u.Limits.Memory = 32 << 20
	r := start(t, p, u).Replicas()[0]
	get(t, r, "/keep?mb=64")
	testkit.Until(t, "up again", func() bool {
		c, err := r.Counters()
		return err == nil && c.Restarts == 1 && c.Up
	})
	if c, err := r.Counters(); err != nil || c.OOMKills == nil || *c.OOMKills != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if log := logOf(t, u); !strings.Contains(log, "it reached its limit of 33554432 bytes") {
		t.Errorf("log:\n%s", log)
	}
}

func TestReplicasHaveAddressesOfTheirOwn(t *testing.T) {
	p := open(t, Options{})
	u := server(t)
	u.Limits.Replicas, u.Port = 3, 8081
	running := start(t, p, u)
	seen := map[string]bool{}
	for _, r := range running.Replicas() {
		seen[r.Address()] = true
		if !strings.HasSuffix(r.Address(), ":8081") || get(t, r, "/ok") != 200 {
			t.Errorf("%s does not answer", r.Address())
		}
	}
	if len(seen) != 3 {
		t.Errorf("addresses %v", seen)
	}
	u = server(t) // another one of the same run meets them
	u.Name = "other"
	if address := start(t, p, u).Replicas()[0].Address(); seen[address] || !strings.HasSuffix(address, ":8123") {
		t.Errorf("%s, want another address and the image's own port", address)
	}
}

func TestTheMachinesNetwork(t *testing.T) {
	p := open(t, Options{HostNetwork: true})
	u := server(t)
	u.Limits.Replicas = 2
	running := start(t, p, u)
	for _, r := range running.Replicas() {
		if !strings.HasPrefix(r.Address(), "127.0.0.1:") || get(t, r, "/ok") != 200 {
			t.Errorf("%s does not answer", r.Address())
		}
	}
	if err := running.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if p.ports.Taken() != 0 {
		t.Error("ports are still taken")
	}
	if _, err := running.Replicas()[0].Counters(); err == nil {
		t.Error("counters of a container that was removed")
	}
}

func TestTheSampleService(t *testing.T) {
	p := open(t, Options{})
	image, arguments, err := p.Workload(t.Context(), "go")
	if err != nil {
		t.Fatal(err)
	}
	u := server(t)
	u.Image, u.Command, u.Ready.Path, u.Env = image, arguments, "/healthz", map[string]string{"GOMAXPROCS": "3"}
	r := start(t, p, u).Replicas()[0]
	if get(t, r, "/healthz") != 200 {
		t.Error("it does not answer")
	}
	if log := logOf(t, u); !strings.Contains(log, "GOMAXPROCS 3") {
		t.Errorf("log:\n%s", log)
	}
	_, _, err = p.Workload(t.Context(), "bun")
	if err == nil || !strings.Contains(err.Error(), "docker build -t millicore-bun -f workloads/bun/Dockerfile workloads") {
		t.Error(err)
	}
}

func TestWhatCannotStart(t *testing.T) {
	p := open(t, Options{})
	for _, c := range []struct {
		name   string
		change func(*platform.UnitSpec)
		want   []string
	}{
		{"it ends at once", func(u *platform.UnitSpec) { u.Command = []string{"--fail"} }, []string{"it ended before it was ready: ended with exit status 3", "server: failing as requested"}},
		{"it does not listen where it should", func(u *platform.UnitSpec) {
			u.Command = []string{"--port", "8123"} // on loopback
			u.Ready.Timeout = 300 * time.Millisecond
		}, []string{"not ready within 300ms", "it listens only on 127.0.0.1:8123", "let it listen on all addresses"}},
		{"no such program", func(u *platform.UnitSpec) { u.Dir = "relative" }, []string{"create a container"}},
		{"no image", func(u *platform.UnitSpec) { u.Image = "millicore-nothing" }, []string{"millicore-nothing"}},
		{"a name that is not known", func(u *platform.UnitSpec) { u.Env = map[string]string{"A": "${db.url}"} }, []string{"env A"}},
		{"a CPU that is not there", func(u *platform.UnitSpec) { u.Limits.CPUSet = "4000" }, []string{"create a container", "4000"}},
	} {
		u := server(t)
		c.change(&u)
		_, err := p.Start(t.Context(), u)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nwant in it: %s", c.name, err, want)
			}
		}
	}
	if len(p.units) != 0 || len(p.network.taken) != 0 {
		t.Errorf("%d units and addresses %v are held", len(p.units), p.network.taken)
	}
}

func TestAnImageThatCannotBeHad(t *testing.T) {
	var notes []string
	p := open(t, Options{Note: func(line string) { notes = append(notes, line) }})
	digest, err := p.Fetch(t.Context(), image)
	if err != nil || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("%q, %v", digest, err)
	}
	// Nobody listens at this registry.
	_, err = p.Fetch(t.Context(), "127.0.0.1:1/nothing:1")
	if err == nil || !strings.Contains(err.Error(), "docker pull 127.0.0.1:1/nothing:1") || !slices.Contains(notes, "pulling the image 127.0.0.1:1/nothing:1") {
		t.Errorf("%v, notes %q", err, notes)
	}
}

func TestStopGivesAServiceItsGraceOrNone(t *testing.T) {
	p := open(t, Options{})
	u := server(t)
	u.Command = []string{"--contained", "--deaf"}
	running := start(t, p, u)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := running.Stop(gone); err != nil {
		t.Error(err)
	}
	if log := logOf(t, u); time.Since(began) >= platform.StopGrace && strings.Contains(log, "did not end within the grace period") {
		t.Errorf("it was waited for:\n%s", log)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name   string
		host   bool
		change func(*experiment.Experiment, *experiment.Cell)
		want   string // "": nothing is wrong
	}{
		{"an image", false, func(*experiment.Experiment, *experiment.Cell) {}, ""},
		{"replicas with a port each", false, func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.Port, c.Limits.Replicas = 80, 3 }, ""},
		{"replicas with one port", true, func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.Port, c.Limits.Replicas = 80, 3 }, "3 replicas cannot all listen on it"},
		{"a command", false, func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Image, c.Service.Command = "", []string{"server"}
		}, "set image: to one that contains it, or use --on local"},
		{"a number of replicas that changes", false, func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Autoscale = &experiment.Autoscale{Min: 1, Max: 2, CPUPercent: 60}
		}, "needs --on kubernetes; or set limits.replicas"},
		{"a port to be found", false, func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.FindPort = true }, ""},
		{"a benchmark", false, func(_ *experiment.Experiment, c *experiment.Cell) { c.Load.Benchmark = true }, "with --on local only"},
		{"a profile", false, func(e *experiment.Experiment, _ *experiment.Cell) { e.Profile = true }, "leave profile out"},
		{"a profile of the sample service", false, func(e *experiment.Experiment, c *experiment.Cell) {
			e.Profile, c.Service.Image, c.Service.Workload = true, "", "go"
		}, ""},
		{"too little memory", false, func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.Memory = 4 << 20 }, "at least 6Mi"},
		{"a limit that no kernel takes", false, func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.CPUMillis = 1 }, "raise the limit"},
		{"a dependency that is a command", false, func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", Command: []string{"db"}}}
		}, `dependency "db": a command`},
		{"a dependency on this machine", false, func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", URL: "postgres://u:p@127.0.0.1:5432/x"}}
		}, "docker: {network: host}"},
		{"a dependency on this machine, whose network containers have", true, func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", URL: "postgres://localhost/x"}}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, Options{HostNetwork: c.host})
			cell := experiment.Cell{Service: experiment.Service{Name: "s", Image: image}, Limits: experiment.Limits{CPUMillis: 500, Replicas: 1}}
			e := &experiment.Experiment{}
			c.change(e, &cell)
			e.Cells = []experiment.Cell{cell, cell}
			err := p.Check(e)
			if (err == nil) != (c.want == "") || err != nil && strings.Count(err.Error(), c.want) != 1 {
				t.Errorf("%v\nwant in it, once: %s", err, c.want)
			}
		})
	}
}

func TestVariablesOfTheImageMayBeTakenAway(t *testing.T) {
	p := open(t, Options{})
	for _, c := range []struct {
		change func(*platform.UnitSpec)
		want   string
	}{
		{func(*platform.UnitSpec) {}, "dependency the-images\n"},
		{func(u *platform.UnitSpec) { u.Unset = []string{"DEPENDENCY"} }, "dependency \n"},
		{func(u *platform.UnitSpec) { u.Env = map[string]string{"DEPENDENCY": "${port}"} }, "dependency 8123\n"},
	} {
		u := server(t)
		c.change(&u)
		if err := start(t, p, u).Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if log := logOf(t, u); !strings.Contains(log, c.want) {
			t.Errorf("%q, want in it %q", log, c.want)
		}
	}
}

// The state of a container that somebody has started again is not the one of its end.
func TestTheEndOfAContainerThatSomebodyStartsAgain(t *testing.T) {
	p := open(t, Options{HostNetwork: true, RestartAfter: 10 * time.Millisecond})
	u := server(t)
	u.Command = []string{"--contained", "--deaf"} // it is killed
	r := start(t, p, u).Replicas()[0].(*replica)
	at := 0
	if _, err := p.api.ContainerRestart(t.Context(), r.id, client.ContainerRestartOptions{Timeout: &at}); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "its end is in the log", func() bool { return strings.Contains(logOf(t, u), "restarting it in") })
	if text := logOf(t, u); !strings.Contains(text, "it ended with exit status 137, as by signal 9 (killed)") {
		t.Errorf("log %q", text)
	}
	testkit.Until(t, "it serves", func() bool { return get(t, r, "/ok") == 200 })
}
