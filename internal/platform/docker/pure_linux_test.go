package docker

import (
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/platform"
)

func TestResources(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits experiment.Limits
		want   container.Resources
	}{
		{"none", experiment.Limits{}, container.Resources{}},
		{"all", experiment.Limits{CPUMillis: 1500, Period: 50 * time.Millisecond, Memory: 64 << 20, CPUSet: "0-1"},
			container.Resources{CPUQuota: 75_000, CPUPeriod: 50_000, Memory: 64 << 20, MemorySwap: 64 << 20, CpusetCpus: "0-1"}},
		{"a request", experiment.Limits{RequestMillis: 500}, container.Resources{CPUShares: 512}},
		{"the usual period", experiment.Limits{CPUMillis: 250}, container.Resources{CPUQuota: 25_000, CPUPeriod: 100_000}},
	} {
		if diff := cmp.Diff(c.want, engine{}.resources(c.limits), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A daemon that cannot limit processes warns of each container with a limit, so that it
// gets none but that of the experiment.
func TestTheLimitOfProcesses(t *testing.T) {
	for _, c := range []struct {
		can  bool
		pids int
		want *int64
	}{
		{true, 0, new(int64(experiment.DefaultPIDs))},
		{true, 100, new(int64(100))},
		{false, 0, nil},
		{false, 100, new(int64(100))},
	} {
		if diff := cmp.Diff(c.want, engine{pidsLimit: c.can}.resources(experiment.Limits{PIDs: c.pids}).PidsLimit); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c, diff)
		}
	}
}

func TestUsersOfContainers(t *testing.T) {
	for user, suits := range map[string]bool{"": true, "1000:1000": true, "nginx": true, experiment.Caller: false} {
		c := experiment.Cell{Service: experiment.Service{Image: "i", User: user}}
		d := &docker{options: Options{HostNetwork: true}}
		if err := d.checkService(&c); (err == nil) != suits {
			t.Errorf("user %q of a service: %v", user, err)
		}
		if err := d.checkDependency(&experiment.Dependency{Image: "i", User: user}); (err == nil) != suits {
			t.Errorf("user %q of a dependency: %v", user, err)
		}
	}
}

func TestWhatRunsInAContainer(t *testing.T) {
	d := &docker{owner: owner{run: "1-x", pid: 1, started: "2", boot: "b", pids: "p"}}
	u := platform.UnitSpec{Image: "i", Dir: "/srv", RunAs: "1000:5", Command: []string{"--port", "${port}", "--db", "${db.address}"}, Env: map[string]string{"URL": "${db.url}"}, StopSignal: syscall.SIGQUIT}
	got, err := d.config(u, map[string]string{"port": "80", "db.address": "a:1", "db.url": "u"})
	want := &container.Config{
		Image: "i", WorkingDir: "/srv", User: "1000:5", Cmd: []string{"--port", "80", "--db", "a:1"}, Env: []string{"PORT=80", "URL=u"}, StopSignal: "SIGQUIT",
		AttachStdout: true, AttachStderr: true, Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels: map[string]string{"millicore.run": "1-x", "millicore.pid": "1", "millicore.started": "2", "millicore.boot": "b", "millicore.pid-namespace": "p"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestTheEnvironmentOfAContainer(t *testing.T) {
	got := environment("8080", map[string]string{"A": "", "B": "b=c"}, []string{"GOMAXPROCS", "PORT"})
	if want := []string{"A=", "B=b=c", "GOMAXPROCS", "PORT"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAddressesOfANetwork(t *testing.T) {
	n := &network{subnet: netip.MustParsePrefix("10.1.2.0/29"), gateway: netip.MustParseAddr("10.1.2.1"), taken: map[netip.Addr]bool{}}
	var all []string
	for {
		a, err := n.free()
		if err != nil {
			break
		}
		n.taken[a] = true
		all = append(all, a.String())
	}
	if want := []string{"10.1.2.2", "10.1.2.3", "10.1.2.4", "10.1.2.5", "10.1.2.6"}; !slices.Equal(all, want) {
		t.Errorf("%v, want %v", all, want)
	}
}

func TestWhoseAThingIs(t *testing.T) {
	own := newOwner()
	for _, c := range []struct {
		name   string
		change map[string]string
		ours   bool
		alive  bool
	}{
		{"this process's", nil, true, true},
		{"one that had this pid before", map[string]string{labelStarted: "1"}, true, false},
		{"of another boot", map[string]string{labelBoot: "other"}, true, false},
		{"of another pid namespace", map[string]string{labelPIDs: "pid:[1]", labelPID: "1"}, true, true},
		{"of a process that is gone", map[string]string{labelPID: strconv.Itoa(1 << 30)}, true, false},
		{"nobody's", map[string]string{labelPID: ""}, false, false},
		{"somebody else's", map[string]string{labelRun: ""}, false, false},
	} {
		labels := own.labels()
		for name, value := range c.change {
			labels[name] = value
		}
		o, ok := ownerOf(labels)
		if ok != c.ours || ok && o.alive() != c.alive {
			t.Errorf("%s: ours %v, alive %v", c.name, ok, ok && o.alive())
		}
	}
	if own.pid != os.Getpid() || own.started == "" {
		t.Errorf("%+v", own)
	}
}

func TestDaemonsThatCannotBeMeasured(t *testing.T) {
	right := system.Info{OSType: "linux", OperatingSystem: "Debian", KernelVersion: kernel(t), CgroupDriver: "systemd"}
	if err := measurable(right); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*system.Info){
		"of windows":        func(i *system.Info) { i.OSType = "windows" },
		"virtual machine":   func(i *system.Info) { i.OperatingSystem = "Docker Desktop" },
		"another machine":   func(i *system.Info) { i.KernelVersion = "6.10.14-linuxkit" },
		"rootless":          func(i *system.Info) { i.SecurityOptions = []string{"name=seccomp", "name=rootless"} },
		"no control groups": func(i *system.Info) { i.CgroupDriver = "none" },
	} {
		info := right
		change(&info)
		if err := measurable(info); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func kernel(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}
