package objects

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// demanded is a run's experiment, for Demand.
func demanded(t *testing.T) (*Maker, *experiment.Experiment) {
	t.Helper()
	e, err := file.Parse("test.yaml", []byte(`
name: q
services:
  go: {workload: go, dependencies: [postgres, {name: cache, image: "redis:7", limits: {memory: 64Mi}}, {name: far, url: "http://far.example"}]}
  shop: {image: "shop:1", port: 9000, dir: /srv, autoscale: {min: 1, max: 7, cpu: 60%}}
limits: {cpu: 500m, memory: 128Mi}
vary: {n: [1, 9]}
load: {request: {path: /}, users: 20, agents: "${n}"}
kubernetes: {requests: {cpu: 100m}}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Run: "r", Image: own, Settings: e.Kubernetes}), e
}

// What is asked for beforehand is what there will be: how many of each, and whose
// image.
func TestDemand(t *testing.T) {
	m, e := demanded(t)
	var got []string
	for i, cell := range m.Demand(e) {
		for _, p := range cell {
			c := &p.Template.Spec.Containers[0]
			got = append(got, fmt.Sprintf("%d: %d %s, %s, %s", i, p.Count, p.What, c.Image, c.Resources.Requests.Cpu()))
		}
	}
	var want []string
	for i := range 2 { // n is 1, then 9
		want = append(want,
			fmt.Sprintf("%d: 9 the pods of agents, %s, 250m", i, own), // one Job for all cells
			fmt.Sprintf("%d: 1 the pods of service go, %s, 100m", i, own),
			fmt.Sprintf("%d: 1 the pod of dependency postgres, postgres:17-alpine, 0", i),
			fmt.Sprintf("%d: 1 the pod of dependency cache, redis:7, 0", i))
	}
	for i := 2; i < 4; i++ {
		want = append(want,
			fmt.Sprintf("%d: 9 the pods of agents, %s, 250m", i, own),
			fmt.Sprintf("%d: 7 the pods of service shop, shop:1, 100m", i)) // as many as it may be scaled to
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// They are the pods that the run makes, but for the command and the variables.
func TestDemandIsWhatIsMade(t *testing.T) {
	m, e := demanded(t)
	u := goUnit()
	u.Trial, u.Limits = 0, e.Cells[0].Limits // the trial is in a label
	made, _, err := m.Deployment(u, kube.PartService)
	if err != nil {
		t.Fatal(err)
	}
	cell := m.Demand(e)[0]
	c := &made.Spec.Template.Spec.Containers[0]
	c.Command, c.Env = nil, nil
	if d := cmp.Diff(made.Spec.Template, cell[1].Template); d != "" {
		t.Errorf("the service: %s", d)
	}
	if d := cmp.Diff(m.AgentJob(9).Spec.Template, cell[0].Template); d != "" {
		t.Errorf("the agents: %s", d)
	}
	if d := cmp.Diff(m.NodeDaemon("node").Spec.Template, m.NodeAgent().Template); d != "" {
		t.Errorf("the node agents: %s", d)
	}
}

// An image is tried as whom it will run as.
func TestThePodOfAnImage(t *testing.T) {
	m, _ := demanded(t)
	pod := m.OfImage("postgres:17-alpine")
	c := &pod.Spec.Containers[0]
	if c.Image != "postgres:17-alpine" || *pod.Spec.SecurityContext.RunAsUser != 70 || len(c.Resources.Limits)+len(c.Resources.Requests) > 0 {
		t.Errorf("%+v", pod.Spec)
	}
	if c.ImagePullPolicy != corev1.PullIfNotPresent {
		t.Errorf("it is pulled %s", c.ImagePullPolicy)
	}
}
