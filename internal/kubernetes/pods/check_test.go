package pods

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/signals"
)

// asked is an experiment of one cell that suits, but for what a test changes.
func asked(change func(*experiment.Experiment, *experiment.Cell)) *experiment.Experiment {
	e := &experiment.Experiment{Measure: experiment.Measure{Duration: time.Minute}, Cells: []experiment.Cell{{
		Service: experiment.Service{Name: "go", Workload: "go"}, Limits: experiment.Limits{CPUMillis: 500, Period: signals.DefaultPeriod, Replicas: 2},
		Load: experiment.Load{Users: &experiment.Target{Value: 1}, Agents: 2}}}}
	if change != nil {
		change(e, &e.Cells[0])
	}
	return e
}

// A memory limit that becomes smaller is refused before anything starts, where the API
// server would refuse it in the middle of the run.
func TestWhatAVersionCanResize(t *testing.T) {
	cells := func(resize bool, memory ...int64) *experiment.Experiment {
		return asked(func(e *experiment.Experiment, c *experiment.Cell) {
			e.Measure.Resize = resize
			for i, m := range memory {
				if i > 0 {
					e.Cells = append(e.Cells, e.Cells[0])
				}
				e.Cells[i].Limits.Memory, e.Cells[i].Limits.CPUMillis = m<<20, 500*int64(i+1)
			}
		})
	}
	another := cells(true, 64, 128)
	another.Cells[1].Service.Name = "another" // which is not resized but started
	for _, c := range []struct {
		name  string
		e     *experiment.Experiment
		minor int
		want  string
	}{
		{"no resize", cells(false, 64, 128), 32, ""},
		{"CPU", cells(true, 64, 64), 33, ""},
		{"CPU, too old", cells(true, 64, 64), 32, "1.33 and newer have it, this is v1.32.1"},
		{"memory", cells(true, 64, 128), 33, "1.34 and newer can reduce the memory limit of a running pod, this is v1.33.1; give all cells the same limits.memory"},
		{"memory of different services", another, 33, ""},
		{"memory, new enough", cells(true, 64, 128), 34, ""},
		{"a version that is not known", cells(true, 64, 128), 0, ""},
	} {
		err := SuitsVersion(c.e, kube.Version{Name: fmt.Sprintf("v1.%d.1", c.minor), Minor: c.minor})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	api, client := serve(t)
	api.hand["GET /version"] = func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"major":"1","minor":"33+","gitVersion":"v1.33.4-gke.1"}`)
	}
	p, err := New(Options{Client: client, Run: "run", Image: own})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Check(cells(true, 64, 128)); err == nil || !strings.Contains(err.Error(), "measure.resize: Kubernetes 1.34") || !strings.Contains(err.Error(), "v1.33.4-gke.1") {
		t.Errorf("the conductor's check: %v", err)
	}
}

func TestWhatDoesNotSuit(t *testing.T) {
	resized := func(change func(*experiment.Cell)) func(*experiment.Experiment, *experiment.Cell) {
		return func(e *experiment.Experiment, c *experiment.Cell) {
			other := *c
			other.Limits.CPUMillis = 1000
			change(&other)
			e.Cells, e.Measure.Resize = append(e.Cells, other), true
		}
	}
	for _, c := range []struct {
		name   string
		change func(*experiment.Experiment, *experiment.Cell)
		want   string // "" where it suits
	}{
		{"all of it", nil, ""},
		{"a benchmark", func(_ *experiment.Experiment, c *experiment.Cell) { c.Load = experiment.Load{Benchmark: true} }, "--on local only"},
		{"a command", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.Command = []string{"x"} }, `service "go": a command cannot run in a pod`},
		{"a sample service without an image", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.Workload = "semaphore" }, `"semaphore" has no image`},
		{"a port that is to be found", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.FindPort = true }, "port: 8080"},
		{"a burst", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.BurstMillis = 100 }, "no field for a CPU burst"},
		{"CPUs", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.CPUSet = "0" }, "leave cpuset out"},
		{"a period", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.Period = 10 * time.Millisecond }, "usually to 100ms and not to 10ms"},
		{"processes", func(_ *experiment.Experiment, c *experiment.Cell) { c.Limits.PIDs = 100 }, "leave pids out"},
		{"a user", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.User = "1000:5" }, ""},
		{"a user's name", func(_ *experiment.Experiment, c *experiment.Cell) { c.Service.User = "shop" }, `"shop" is no number`},
		{"a dependency's user", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", Image: "db", User: "me"}}
		}, `dependency "db": user`},
		{"a period without a limit", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Limits = experiment.Limits{Period: 10 * time.Millisecond, Replicas: 1}
		}, ""},
		{"profiles", func(e *experiment.Experiment, _ *experiment.Cell) { e.Profile = true }, "profiles need a process on this machine"},
		{"a dependency's command", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", Command: []string{"x"}}}
		}, `dependency "db": a command`},
		{"a dependency here", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", URL: "postgres://me@localhost:5432/db"}}
		}, "localhost means the pod itself"},
		{"a dependency elsewhere", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", URL: "postgres://me@10.0.0.1:5432/db"}}
		}, ""},
		{"a dependency's limits", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Service.Dependencies = []experiment.Dependency{{Name: "db", Builtin: "postgres", Limits: experiment.Limits{CPUSet: "1"}}}
		}, `dependency "db": Kubernetes has no field for the CPUs`},
		{"other limits in place", resized(func(*experiment.Cell) {}), ""},
		{"a limit taken away in place", resized(func(c *experiment.Cell) { c.Limits.CPUMillis = 0 }), "cannot add or remove the CPU limit"},
		{"memory limited in place", resized(func(c *experiment.Cell) { c.Limits.Memory = 1 << 20 }), "cannot add or remove the memory limit"},
		{"replicas that come and go", func(e *experiment.Experiment, c *experiment.Cell) {
			c.Service.Autoscale = &experiment.Autoscale{Min: 2, Max: 3, CPUPercent: 50}
			resized(func(*experiment.Cell) {})(e, c)
		}, "an autoscaled service cannot be resized"},
	} {
		err := Suits(asked(c.change))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWhatIsTooShort(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*experiment.Experiment, *experiment.Cell)
		want   string
	}{
		{"a minute", nil, ""},
		{"ten seconds", func(e *experiment.Experiment, _ *experiment.Cell) { e.Measure.Duration = 10 * time.Second }, "measure.duration is 10s"},
		{"a search", func(_ *experiment.Experiment, c *experiment.Cell) { c.Load.Find = true }, "load.find"},
		{"steps", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Load.Users.Stages = []experiment.Stage{{Target: 1}, {Duration: 20 * time.Second, Target: 1}, {Duration: time.Minute, Target: 2}}
		}, "a step of the load lasts 20s"},
		{"a slope", func(_ *experiment.Experiment, c *experiment.Cell) {
			c.Load.Users.Stages = []experiment.Stage{{Duration: 20 * time.Second, Target: 1}, {Duration: time.Minute, Target: 1}}
		}, ""},
		{"so many requests", func(e *experiment.Experiment, c *experiment.Cell) {
			e.Measure.Duration, c.Load.Requests = 0, 100
		}, ""},
	} {
		if got := tooShort(asked(c.change)); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWhetherAKubeletLooksOften(t *testing.T) {
	before := map[string]int64{"a": 1, "b": 2, "c": 3, "gone": 4}
	for _, c := range []struct {
		name  string
		after map[string]int64
		want  bool
	}{
		{"all again", map[string]int64{"a": 2, "b": 3, "c": 4, "new": 9}, true},
		{"most", map[string]int64{"a": 2, "b": 3, "c": 3}, true},
		{"some", map[string]int64{"a": 2, "b": 2, "c": 3}, false},
		{"none", before, false},
		{"nothing", nil, false},
	} {
		if got := renewed(before, c.after); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestNodesOfServices(t *testing.T) {
	node := func(name string, change func(*corev1.Node)) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"disk": "ssd"}},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
		if change != nil {
			change(&n)
		}
		return n
	}
	tainted := func(effect corev1.TaintEffect) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: "only", Value: "load", Effect: effect}} }
	}
	nodes := []corev1.Node{
		node("good", nil),
		node("cordoned", func(n *corev1.Node) { n.Spec.Unschedulable = true }),
		node("down", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionUnknown }),
		node("slow", func(n *corev1.Node) { n.Labels["disk"] = "hdd" }),
		node("taken", tainted(corev1.TaintEffectNoSchedule)),
		node("shunned", tainted(corev1.TaintEffectPreferNoSchedule)),
	}
	for _, c := range []struct {
		name     string
		settings experiment.Kubernetes
		want     []string
	}{
		{"of any kind", experiment.Kubernetes{}, []string{"good", "slow", "shunned"}},
		{"chosen", experiment.Kubernetes{NodeSelector: map[string]string{"disk": "ssd"}}, []string{"good", "shunned"}},
		{"tolerated", experiment.Kubernetes{NodeSelector: map[string]string{"disk": "ssd"},
			Tolerations: []experiment.Toleration{{Key: "only", Operator: "Equal", Value: "load", Effect: "NoSchedule"}}}, []string{"good", "taken", "shunned"}},
		{"another value", experiment.Kubernetes{NodeSelector: map[string]string{"disk": "ssd"},
			Tolerations: []experiment.Toleration{{Key: "only", Operator: "Equal", Value: "other"}}}, []string{"good", "shunned"}},
		{"all tolerated", experiment.Kubernetes{Tolerations: []experiment.Toleration{{Operator: "Exists"}}}, []string{"good", "slow", "taken", "shunned"}},
	} {
		var got []string
		for _, n := range usableNodes(nodes, c.settings) {
			got = append(got, n.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// What the cluster lacks is said before anything is started.
func TestWhatTheClusterLacks(t *testing.T) {
	refuse := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
	}
	scaled := asked(func(_ *experiment.Experiment, c *experiment.Cell) {
		c.Service.Autoscale = &experiment.Autoscale{Min: 1, Max: 2, CPUPercent: 50}
	})
	const metricsAPI = "GET /apis/metrics.k8s.io/v1beta1"
	for _, c := range []struct {
		name string
		path string
		do   http.HandlerFunc
		e    *experiment.Experiment
		want string
	}{
		{"metrics", metricsAPI, refuse(404), scaled, "has no metrics-server"},
		{"metrics now", metricsAPI, refuse(503), scaled, "has no metrics-server"},
		{"nodes' right", "GET /api/v1/nodes", refuse(403), asked(nil), "ClusterRole millicore-metrics"},
		{"nodes", "GET /api/v1/nodes", nil, asked(nil), "no node can run services"},
	} {
		api, client := serve(t)
		api.hand[c.path] = c.do
		p, err := New(Options{Client: client, Run: "run", Image: own})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(c.e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAddresses(t *testing.T) {
	slice := func(kind discoveryv1.AddressType, port int32, of ...string) discoveryv1.EndpointSlice {
		s := discoveryv1.EndpointSlice{AddressType: kind, Ports: []discoveryv1.EndpointPort{{Port: &port}}}
		for i := 0; i < len(of); i += 2 {
			s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{of[i+1]}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: of[i]}})
		}
		return s
	}
	got := addresses([]discoveryv1.EndpointSlice{
		slice(discoveryv1.AddressTypeIPv6, 80, "a", "fd00::1", "c", "fd00::3"),
		slice(discoveryv1.AddressTypeIPv4, 80, "a", "10.0.0.1", "b", "10.0.0.2"),
		slice(discoveryv1.AddressTypeFQDN, 80, "d", "d.example"),
		{AddressType: discoveryv1.AddressTypeIPv4, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.9"}}}},
	})
	if diff := cmp.Diff(map[string]string{"a": "10.0.0.1:80", "b": "10.0.0.2:80", "c": "[fd00::3]:80"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
