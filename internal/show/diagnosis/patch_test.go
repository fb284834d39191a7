package diagnosis_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/host/doctor"
	"github.com/millicore/millicore/internal/host/inspect"
	"github.com/millicore/millicore/internal/host/runtimes"
	"github.com/millicore/millicore/internal/show/diagnosis"
)

// goService is a Go service under a limit on a host of 8 CPUs, watched for 50 s: used is the
// share of the limit, and throttled counts periods of 412.
func goService(parallelism int, limit, used float64, throttled int64) inspect.Process {
	p := api(42, parallelism, 0, 0)
	spent := time.Duration(used * limit * float64(50*second))
	counts := inspect.Counts{Length: 50 * second, Periods: 412, Throttled: throttled, Stopped: time.Duration(throttled) * 41 * time.Millisecond, Used: &spent}
	p.CPU.CPUs, p.CPU.Own, p.Used, p.Throttling = limit, limit, spent, &inspect.Throttling{Since: counts, Watch: &counts}
	p.Ruled, p.Why = runtimes.Default(p.Info, runtimes.Limit{CPUs: limit, Leaf: limit}, runtimes.Machine{Online: 8, Affinity: 8})
	return p
}

// gunicorn is a server that uses all of its only worker under a limit of 2 CPUs.
func gunicorn(change func(*inspect.Process)) inspect.Process {
	p := goService(1, 2, 0.5, 0)
	p.Info = runtimes.Info{PID: 42, Runtime: runtimes.Python, Server: "gunicorn", Affinity: 8, Parallelism: runtimes.Parallelism{Value: 1, Source: runtimes.Read}}
	p.Command = []string{"/venv/bin/python", "/venv/bin/gunicorn", "app:app"}
	change(&p)
	return p
}

// patched is the patch for the findings about processes.
func patched(t *testing.T, all ...inspect.Process) string {
	t.Helper()
	var b bytes.Buffer
	if err := diagnosis.Patch(&b, doctor.Examine(inspect.Host{Online: 8, Processes: all})); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each document of a patch is YAML, and has the change.
func TestPatch(t *testing.T) {
	p := gunicorn(func(p *inspect.Process) {
		p.Container, p.PodContainer, p.Pod, p.ContainerID, p.Requests = "cart-7d9f", "api: \"x\"\n", "uid", "c1", []float64{0.25}
		p.Info.Env = map[string]string{"WEB_CONCURRENCY": "1"}
	})
	bursts := goService(2, 2, 0.12, 52)
	bursts.PID, bursts.CPU.Dir = 43, "/sys/fs/cgroup/b"
	text := patched(t, p, bursts)
	var documents []any
	for d := yaml.NewDecoder(strings.NewReader(text)); ; {
		var document any
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if document != nil {
			documents = append(documents, document)
		}
	}
	container := func(rest map[string]any) any {
		rest["name"] = "api: \"x\" "
		if rest["resources"] != nil {
			rest["name"] = "CONTAINER"
		}
		return map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{rest}}}}}
	}
	want := []any{
		container(map[string]any{"env": []any{map[string]any{"name": "WEB_CONCURRENCY", "value": "2"}}}),
		container(map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "2500m"}}}),
	}
	if diff := cmp.Diff(want, documents); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, text)
	}
	for _, want := range []string{
		"#   Environment=\"WEB_CONCURRENCY=2\"\n", "# docker: docker run --env WEB_CONCURRENCY=2 …\n", "#   CPUQuota=250%\n", "# docker: docker run --cpus 2.5 …\n",
		"write 41000 to /sys/fs/cgroup/b/cpu.max.burst.\n", "# The CPU request is 250m (from the weight of its group), the limit 2; the patch keeps the request.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if text := patched(t); !strings.HasPrefix(text, "# no finding") {
		t.Errorf("of nothing: %q", text)
	}
}

// The values of a patch are ones that systemd and docker accept: no fraction of a
// percent, and no more CPUs than the host has.
func TestThePatchOfALimit(t *testing.T) {
	for _, test := range []struct {
		limit   float64
		stopped time.Duration
		want    string
	}{
		{0.75, 30 * time.Millisecond, "CPUQuota=110%\n"},
		{1.8, 45 * time.Millisecond, "CPUQuota=230%\n"},
		{7.9, 45 * time.Millisecond, "--cpus 8 "},
	} {
		p := goService(int(test.limit)+1, test.limit, 0.12, 40)
		p.Throttling.Watch.Stopped = 40 * test.stopped
		if got := patched(t, p); !strings.Contains(got, test.want) {
			t.Errorf("%v: no %q in\n%s", test.limit, test.want, got)
		}
	}
}

// A command replaces the arguments of the deployment too, which would follow it.
func TestThePatchOfACommand(t *testing.T) {
	p := gunicorn(func(p *inspect.Process) { p.Info.Flags, p.Command = []string{"-w", "1"}, append(p.Command, "-w", "1") })
	if got := patched(t, p); !strings.Contains(got, "            - \"2\"\n          args: []\n") {
		t.Errorf("got\n%s", got)
	}
	p.Folder, p.Command[0] = "/srv", "bin/python"
	if got := patched(t, p); !strings.Contains(got, `#   ExecStart="/srv/bin/python" "/venv/bin/gunicorn"`) {
		t.Errorf("systemd does not take a relative path: got\n%s", got)
	}
}

// A limit of a group above, such as the pod's, is not one of the container.
func TestThePatchOfALimitFromAbove(t *testing.T) {
	for _, test := range []struct {
		name, id, setBy string
		raised          bool
	}{
		{"its own", "c1", "/pods/c1/init", true},
		{"the container's, above its own group", "c1", "/pods/c1", true},
		{"the pod's", "c1", "/pods", false},
		{"of no container", "", "/pods", false},
	} {
		p, used := goService(2, 2, 0, 0), int64(380<<20)
		p.ContainerID, p.Info.Go.Automemlimit = test.id, "v0.7.0"
		p.Memory = inspect.Memory{State: inspect.Limited, Limit: 400 << 20, Group: "/pods/c1/init", SetBy: test.setBy, WorkingSet: &used}
		q := goService(2, 2, 0.98, 380)
		q.PID, q.ContainerID = 43, test.id
		q.CPU.Group, q.CPU.SetBy, q.CPU.Dir = "/pods/c1/init", test.setBy, "/sys/fs/cgroup/b"
		text := patched(t, p, q)
		for _, form := range []string{"memory: \"", "MemoryMax=", "--memory ", "cpu: \"", "CPUQuota=", "--cpus "} {
			if got := strings.Contains(text, form); got != test.raised {
				t.Errorf("%s: %q: %v in\n%s", test.name, form, got, text)
			}
		}
		for _, comment := range []string{"# Raise the memory limit of the group /pods to 500Mi:", "# Raise the CPU limit of the group /pods to "} {
			if got := strings.Contains(text, comment); got == test.raised {
				t.Errorf("%s: %q: %v in\n%s", test.name, comment, got, text)
			}
		}
	}
}

// The names in a patch: not that of a pod, which would add a container to it, and a unit
// with its suffix, without which systemd does not read the folder.
func TestTheNamesOfAPatch(t *testing.T) {
	patch := func(change func(*inspect.Process)) string { return patched(t, gunicorn(change)) }
	pod := patch(func(p *inspect.Process) { p.Container, p.Pod, p.ContainerID = "shop-7d9f", "uid", "c1" })
	if !strings.Contains(pod, "- name: \"CONTAINER\"\n") || !strings.Contains(pod, "/UNIT.service.d/") {
		t.Errorf("a pod without the container's name:\n%s", pod)
	}
	if unit := patch(func(p *inspect.Process) { p.Container, p.CPU.Group = "web", "/system.slice/web.service" }); !strings.Contains(unit, "/etc/systemd/system/web.service.d/") {
		t.Errorf("a unit:\n%s", unit)
	}
}
