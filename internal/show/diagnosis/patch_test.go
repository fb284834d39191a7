package diagnosis_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

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
	p.Info.Env = map[string]string{"WEB_CONCURRENCY": "1"}
	change(&p)
	return p
}

// inPod puts a process into a pod of the namespace shop.
func inPod(pod, container string) func(*inspect.Process) {
	return func(p *inspect.Process) {
		p.Namespace, p.Container, p.PodContainer, p.Pod, p.ContainerID = "shop", pod, container, "uid", strings.Repeat("c", 64)+pod+container
		p.CPU.Group = "/kubepods/burstable/poduid/" + p.ContainerID
		p.CPU.SetBy, p.CPU.Dir = p.CPU.Group, "/sys/fs/cgroup"+p.CPU.Group
	}
}

// patched are the patches for the findings about processes.
func patched(all ...inspect.Process) (script string, files map[string]string) {
	return diagnosis.Patches(doctor.Examine(inspect.Host{Online: 8, Processes: all}), "out")
}

// script is a script without its comments.
func commands(script string) (all []string) {
	for line := range strings.Lines(script) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// The pods of a Deployment have one patch with one command, and another object another.
func TestAPatchForEachObject(t *testing.T) {
	first, second := gunicorn(inPod("cart-7d9f8b6c4-x2k9p", "api")), gunicorn(inPod("cart-7d9f8b6c4-zzl4q", "api"))
	second.PID, second.Info.PID = 43, 43
	side := goService(1, 2, 1, 400)
	inPod("cart-7d9f8b6c4-x2k9p", "proxy")(&side)
	side.PID, side.Requests = 44, []float64{0.25}
	stock := gunicorn(inPod("stock-0", "db"))
	stock.PID, stock.Info.PID = 45, 45
	script, files := patched(first, second, side, stock)
	want := []string{
		"kubectl --namespace shop patch deployment cart --patch-file out/shop-deployment-cart.yaml",
		"kubectl --namespace shop patch statefulset stock --patch-file out/shop-statefulset-stock.yaml",
	}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(commands(script)))); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, script)
	}
	if diff := cmp.Diff([]string{"out/shop-deployment-cart.yaml", "out/shop-statefulset-stock.yaml"}, slices.Sorted(maps.Keys(files))); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	text := files["out/shop-deployment-cart.yaml"]
	var got any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	containers := []any{
		map[string]any{"name": "proxy", "resources": map[string]any{"limits": map[string]any{"cpu": "2500m"}}},
		map[string]any{"name": "api", "env": []any{map[string]any{"name": "WEB_CONCURRENCY", "value": "2", "valueFrom": nil}}},
	}
	order := func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	}
	list := got.(map[string]any)["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)
	slices.SortFunc(list, order)
	slices.SortFunc(containers, order)
	if diff := cmp.Diff(containers, list); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, text)
	}
	if !strings.Contains(text, "# The CPU request is 250m (from the weight of its group), the limit 2; the patch keeps the request.\n") {
		t.Errorf("no request in\n%s", text)
	}
}

// A variable that the workload has from elsewhere keeps no second source, which would make it
// invalid, and others stay.
func TestAPatchOfAVariable(t *testing.T) {
	_, files := patched(gunicorn(inPod("cart-7d9f8b6c4-x2k9p", "api")))
	patch, err := yaml.YAMLToJSON([]byte(files["out/shop-deployment-cart.yaml"]))
	if err != nil {
		t.Fatal(err)
	}
	from := &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{Key: "workers"}}
	other := corev1.EnvVar{Name: "OTHER", Value: "1"}
	for name, had := range map[string][]corev1.EnvVar{
		"from elsewhere": {other, {Name: "WEB_CONCURRENCY", ValueFrom: from}}, "a value": {other, {Name: "WEB_CONCURRENCY", Value: "1"}}, "not there": {other},
	} {
		var d appsv1.Deployment
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "side"}, {Name: "api", Image: "api:1", Env: had}}
		before, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		after, err := strategicpatch.StrategicMergePatch(before, patch, d)
		if err != nil {
			t.Fatal(err)
		}
		var got appsv1.Deployment
		if err := json.Unmarshal(after, &got); err != nil {
			t.Fatal(err)
		}
		env := map[string]corev1.EnvVar{}
		for _, c := range got.Spec.Template.Spec.Containers {
			for _, e := range c.Env {
				env[c.Name+" "+e.Name] = e
			}
		}
		want := map[string]corev1.EnvVar{"api OTHER": other, "api WEB_CONCURRENCY": {Name: "WEB_CONCURRENCY", Value: "2"}}
		if diff := cmp.Diff(want, env); diff != "" || len(got.Spec.Template.Spec.Containers) != 2 {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// A limit alone needs no restart: not of a pod, a container, a unit or a group.
func TestThePatchOfALimit(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*inspect.Process)
		want   string
	}{
		{"a pod", inPod("cart-7d9f8b6c4-x2k9p", "api"), "# kubectl --namespace shop patch pod cart-7d9f8b6c4-x2k9p --subresource resize " +
			`--patch '{"spec":{"containers":[{"name":"api","resources":{"limits":{"cpu":"1100m"}}}]}}'` + "\n"},
		{"a guaranteed pod", func(p *inspect.Process) {
			inPod("cart-7d9f8b6c4-x2k9p", "api")(p)
			p.CPU.Group = strings.Replace(p.CPU.Group, "/burstable", "", 1)
			p.CPU.SetBy = p.CPU.Group
		}, `"resources":{"limits":{"cpu":"1100m"},"requests":{"cpu":"1100m"}}`},
		{"a container", func(p *inspect.Process) { p.Container, p.ContainerID = "web", strings.Repeat("c", 64) }, "\ndocker update --cpus 1.1 web\n"},
		{"a container without a name", func(p *inspect.Process) {
			p.Container, p.ContainerID = strings.Repeat("c", 12), strings.Repeat("c", 64)
		},
			"\ndocker update --cpus 1.1 cccccccccccc\n"},
		{"a unit", func(p *inspect.Process) {
			p.Container, p.CPU.Group, p.CPU.SetBy = "web", "/system.slice/web.service", "/system.slice/web.service"
		},
			"\nsystemctl set-property web.service CPUQuota=110%\n"},
		{"a group", func(*inspect.Process) {}, "\necho 110000 100000 > /sys/fs/cgroup/pods/42/cpu.max\n"},
		{"a group of v1", func(p *inspect.Process) { p.CPU.Version = 1 }, "\necho 110000 > /sys/fs/cgroup/pods/42/cpu.cfs_quota_us\n"},
	} {
		p := goService(1, 0.75, 0.9, 300)
		p.Throttling.Watch.Stopped = 300 * 30 * time.Millisecond
		test.change(&p)
		if script, _ := patched(p); !strings.Contains(script, test.want) {
			t.Errorf("%s: no %q in\n%s", test.name, test.want, script)
		}
	}
}

// A command replaces the arguments of the workload too, which would follow it.
func TestThePatchOfACommand(t *testing.T) {
	flags := func(p *inspect.Process) { p.Info.Flags, p.Command = []string{"-w", "1"}, append(p.Command, "-w", "1") }
	pod := gunicorn(flags)
	inPod("cart-7d9f8b6c4-x2k9p", "api")(&pod)
	if _, files := patched(pod); !strings.Contains(files["out/shop-deployment-cart.yaml"], "            - \"2\"\n          args: []\n") {
		t.Errorf("got %q", files)
	}
	unit := gunicorn(flags)
	unit.Container, unit.CPU.Group, unit.Folder, unit.Command[0] = "web", "/system.slice/web.service", "/srv", "bin/python"
	unit.CPU.SetBy = unit.CPU.Group
	script, files := patched(unit)
	if want := `ExecStart=
ExecStart="/srv/bin/python" "/venv/bin/gunicorn" "app:app" "-w" "2"
`; !strings.HasSuffix(files["out/web.service.conf"], "[Service]\n"+want) {
		t.Errorf("systemd takes no relative path: got %q", files)
	}
	want := []string{"install -D -m 644 out/web.service.conf /etc/systemd/system/web.service.d/millicore.conf && systemctl daemon-reload && systemctl restart web.service"}
	if diff := cmp.Diff(want, commands(script)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
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
		p.ContainerID, p.Container, p.Info.Go.Automemlimit = test.id, "web", "v0.7.0"
		p.Memory = inspect.Memory{State: inspect.Limited, Limit: 400 << 20, Group: "/pods/c1/init", SetBy: test.setBy, Unreclaimable: &used}
		q := goService(2, 2, 0.98, 380)
		q.PID, q.ContainerID, q.Container = 43, test.id, "web"
		q.CPU.Group, q.CPU.SetBy, q.CPU.Dir = "/pods/c1/init", test.setBy, "/sys/fs/cgroup/b"
		script, _ := patched(p, q)
		want := []string(nil)
		if test.raised {
			want = []string{"docker update --cpus 2.5 --memory 524288000 web"}
		}
		if diff := cmp.Diff(want, commands(script)); diff != "" {
			t.Errorf("%s: -want +got\n%s\n%s", test.name, diff, script)
		}
		for _, comment := range []string{"#   Raise the memory limit of the group /pods to 500Mi:", "#   Raise the CPU limit of the group /pods to "} {
			if got := strings.Contains(script, comment); got == test.raised {
				t.Errorf("%s: %q: %v in\n%s", test.name, comment, got, script)
			}
		}
	}
}

// What cannot be a command is a comment: a call in the code, a file, a burst, names that could
// not be read. What a process calls itself cannot become a command or leave the folder.
func TestWhatIsAComment(t *testing.T) {
	inCode := goService(8, 2, 0.95, 157)
	inCode.Ruled, inCode.Why = 2, ""
	bursts := goService(2, 2, 0.12, 52)
	hostile := gunicorn(inPod("../../x; reboot\n#-7d9f8b6c4-x2k9p", "api"))
	for _, test := range []struct {
		name     string
		of       inspect.Process
		commands []string
		comment  string
	}{
		{"a call", inCode, nil, "#   change the program's call of runtime.GOMAXPROCS to 2\n"},
		{"a file", gunicorn(func(p *inspect.Process) { p.Config = "/srv/gunicorn.conf.py" }), nil, "#   set workers to 2 in /srv/gunicorn.conf.py\n"},
		{"a variable of a process without a manager", gunicorn(func(*inspect.Process) {}), nil, "#   set WEB_CONCURRENCY=2\n"},
		{"a burst", bursts, []string{"echo 250000 100000 > /sys/fs/cgroup/pods/42/cpu.max"}, "#   or: allow bursts: echo 41000 > /sys/fs/cgroup/pods/42/cpu.max.burst\n"},
		{"no namespace and container", gunicorn(func(p *inspect.Process) { inPod("cart-7d9f8b6c4-x2k9p", "")(p); p.Namespace = "" }), nil,
			"\n# kubectl --namespace NAMESPACE patch deployment cart --patch-file out/NAMESPACE-deployment-cart.yaml\n"},
		{"a hostile name", hostile, []string{"kubectl --namespace shop patch deployment '../../x; reboot #' --patch-file out/shop-deployment-..-..-x--reboot--.yaml"}, ""},
	} {
		script, files := patched(test.of)
		if diff := cmp.Diff(test.commands, commands(script)); diff != "" || !strings.Contains(script, test.comment) {
			t.Errorf("%s: -want +got\n%s\n%s", test.name, diff, script)
		}
		for path := range files {
			if strings.Count(path, "/") != 1 {
				t.Errorf("%s: a file %s", test.name, path)
			}
		}
	}
	if script, files := patched(); script != "# no finding recommends a change\n" || len(files) > 0 {
		t.Errorf("of nothing: %q, %q", script, files)
	}
}
