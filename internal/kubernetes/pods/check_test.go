package pods

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/signals"
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

// The conductor checks again what the version of its cluster cannot resize.
func TestTheConductorChecksTheVersion(t *testing.T) {
	e := asked(func(e *experiment.Experiment, c *experiment.Cell) {
		e.Measure.Resize = true
		c.Limits.Memory = 64 << 20
		other := *c
		other.Limits.Memory = 128 << 20
		e.Cells = append(e.Cells, other)
	})
	api, client := serve(t)
	api.hand["GET /version"] = func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"major":"1","minor":"33+","gitVersion":"v1.33.4-gke.1"}`)
	}
	p, err := New(Options{Client: client, Run: "run", Image: own})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Check(e); err == nil || !strings.Contains(err.Error(), "measure.resize: Kubernetes 1.34") || !strings.Contains(err.Error(), "v1.33.4-gke.1") {
		t.Errorf("the conductor's check: %v", err)
	}
}

// The conductor tries what it creates, as itself, before its first trial.
func TestTheConductorTriesItsObjects(t *testing.T) {
	api, client := serve(t)
	const deployments = "/apis/apps/v1/namespaces/here/deployments"
	api.hand["POST "+deployments] = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("dryRun") != "All" {
			t.Errorf("it is created: %s", r.URL)
		}
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `{"kind":"Status","code":403,"reason":"Forbidden","message":"denied by the policy owners"}`)
	}
	p, err := New(Options{Client: client, Run: "run", Image: own})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	err = p.Check(asked(nil))
	const want = "create the Deployment run-t0-go of the pods of service go (dry run, as the conductor): denied by the policy owners; change what forbids it"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
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
