package objects

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit/golden"
)

// checkObject compares an object with a file of testdata.
func checkObject(t *testing.T, name string, object any) {
	t.Helper()
	got, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, name+".json", string(got)+"\n")
}

// known are the credentials of a conductor.
type known struct{}

func (known) Certificate() []byte          { return []byte("CERT") }
func (known) AgentToken(index int) string  { return fmt.Sprintf("token of agent %d", index) }
func (known) NodeToken(name string) string { return "token of node " + name }

const own = "millicore/millicore:1"

func testMaker(change func(*experiment.Kubernetes)) *Maker {
	m := &Maker{run: "quick-1123-x7", image: own, conductor: "10.0.0.9:7443",
		owner: metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "millicore-quick-1123-x7", UID: "1-2"},
		settings: experiment.Kubernetes{
			Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"}, NodeSelector: map[string]string{"disk": "ssd"},
			Tolerations: []experiment.Toleration{{Key: "only", Operator: "Equal", Value: "load", Effect: "NoSchedule"}}, PullSecrets: []string{"registry"},
			Requests: experiment.Requests{CPUMillis: new(int64(250))}, Security: experiment.SecurityRestricted,
			Agents: experiment.Resources{CPUMillis: 250, MemoryBytes: 256 << 20, NodeSelector: map[string]string{"pool": "load"}},
		}}
	if change != nil {
		change(&m.settings)
	}
	return m
}

func goUnit() *platform.UnitSpec {
	return &platform.UnitSpec{Trial: 3, Name: "go", Image: own, Command: []string{"/millicore-go", "--host", "${host}", "--port", "${port}"},
		Env:   map[string]string{"GOMAXPROCS": "${limits.cpu}", "PRICE": "5$(HOME)", "DB": "${db.address}"},
		Unset: []string{"GOGC"}, Vars: map[string]string{"db.address": "10.0.0.7:5432"},
		Limits: experiment.Limits{CPUMillis: 1500, Memory: 256 << 20, Replicas: 2}}
}

func TestObjects(t *testing.T) {
	m := testMaker(nil)
	u := goUnit()
	deployment, _, err := m.Deployment(u, kube.PartService)
	if err != nil {
		t.Fatal(err)
	}
	checkObject(t, "deployment", deployment)
	checkObject(t, "service", m.Service(u, kube.PartService))
	u.Autoscale = &experiment.Autoscale{Min: 2, Max: 6, CPUPercent: 60}
	checkObject(t, "autoscaler", m.Autoscaler(u, kube.PartService))
	checkObject(t, "agents", m.AgentJob(20))
	checkObject(t, "nodes", m.NodeDaemon("worker-1.example.com"))
	checkObject(t, "agents-secret", m.AgentSecret(2, known{}))
	checkObject(t, "nodes-secret", m.NodeSecret("worker-1.example.com", known{}))
}

// The security of pods follows from whose image it is.
func TestSecurity(t *testing.T) {
	for _, c := range []struct {
		name, image, level string
		user               *int64 // nil: the image's own
		restricted, sealed bool   // sealed: its files are read-only
	}{
		{"Millicore's own", own, experiment.SecurityRestricted, new(int64(anyUser)), true, true},
		{"Millicore's own where root may be", own, experiment.SecurityBaseline, new(int64(anyUser)), true, true},
		{"a sample service", "millicore-node", experiment.SecurityRestricted, new(int64(anyUser)), true, false},
		{"a sample service where root may be", "millicore-node", experiment.SecurityBaseline, new(int64(anyUser)), true, false},
		{"somebody's", "shop:1", experiment.SecurityRestricted, nil, true, false},
		{"somebody's where root may be", "shop:1", experiment.SecurityBaseline, nil, false, false},
		{"PostgreSQL", experiment.DatabaseImage(experiment.Postgres), experiment.SecurityRestricted, new(int64(70)), true, false},
		{"MongoDB", experiment.DatabaseImage(experiment.MongoDB), experiment.SecurityRestricted, new(int64(999)), true, false},
		{"MongoDB where root may be", experiment.DatabaseImage(experiment.MongoDB), experiment.SecurityBaseline, nil, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := testMaker(func(s *experiment.Kubernetes) { s.Security = c.level })
			pod, container := m.podSecurity(c.image), m.containerSecurity(c.image)
			if diff := cmp.Diff(c.user, pod.RunAsUser); diff != "" || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("%+v", pod)
			}
			if restricted := pod.RunAsNonRoot != nil && container != nil && !*container.AllowPrivilegeEscalation && container.Capabilities.Drop[0] == "ALL"; restricted != c.restricted {
				t.Errorf("restricted: %v", restricted)
			}
			if sealed := container != nil && container.ReadOnlyRootFilesystem != nil; sealed != c.sealed {
				t.Errorf("sealed: %v", sealed)
			}
		})
	}
}

func TestUserOfAPod(t *testing.T) {
	m := testMaker(nil)
	u := goUnit()
	u.RunAs = "1000:5"
	if s := m.unitPod(u, kube.PartService).Spec.SecurityContext; *s.RunAsUser != 1000 || *s.RunAsGroup != 5 || !*s.RunAsNonRoot {
		t.Errorf("%+v", s)
	}
}

func TestResources(t *testing.T) {
	for _, c := range []struct {
		name     string
		limits   experiment.Limits
		requests experiment.Requests
		part     string
		want     string // cpu and memory of limits, then of requests
	}{
		{"none", experiment.Limits{}, experiment.Requests{}, kube.PartService, "- - - -"},
		{"as much as the limits", experiment.Limits{CPUMillis: 500, Memory: 64 << 20}, experiment.Requests{}, kube.PartService, "500m 64Mi 500m 64Mi"},
		{"less", experiment.Limits{CPUMillis: 500, Memory: 64 << 20}, experiment.Requests{CPUMillis: new(int64(100)), MemoryBytes: new(int64(32 << 20))}, kube.PartService, "500m 64Mi 100m 32Mi"},
		{"no more than the limits", experiment.Limits{CPUMillis: 500}, experiment.Requests{CPUMillis: new(int64(1000))}, kube.PartService, "500m - 500m -"},
		{"without a limit", experiment.Limits{}, experiment.Requests{CPUMillis: new(int64(1000))}, kube.PartService, "- - 1 -"},
		{"a request of the limits", experiment.Limits{RequestMillis: 300}, experiment.Requests{CPUMillis: new(int64(1000))}, kube.PartService, "- - 300m -"},
		{"nothing", experiment.Limits{CPUMillis: 2000}, experiment.Requests{CPUMillis: new(int64(0))}, kube.PartService, "2 - 0 -"},
		{"of services alone", experiment.Limits{CPUMillis: 500}, experiment.Requests{CPUMillis: new(int64(100))}, kube.PartDependency, "500m - 500m -"},
	} {
		m := testMaker(func(s *experiment.Kubernetes) { s.Requests = c.requests })
		r := m.Resources(c.limits, c.part)
		var got []string
		for _, list := range []corev1.ResourceList{r.Limits, r.Requests} {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				q, ok := list[name]
				if !ok {
					got = append(got, "-")
					continue
				}
				got = append(got, q.String())
			}
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%s: %s, want %s", c.name, all, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 40)
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"quick-1123", "t3", "go"}, "quick-1123-t3-go"},
		{[]string{"2-cpus", "t3", "go"}, "m2-cpus-t3-go"},
		{[]string{long, "t12", strings.Repeat("b", 63)}, long + "-t12-bbbbbbbbb-80dc8d50"},
		{[]string{long, "t12", strings.Repeat("b", 62)}, long + "-t12-bbbbbbbbb-47d2cf12"},
	} {
		if got := Name(c.words...); got != c.want || len(got) > 63 {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}

func TestWhatIsUnsetIsNotSet(t *testing.T) {
	u := goUnit()
	u.Unset = []string{"GOGC", "PORT"}
	env, err := environment(u, map[string]string{"port": "8080", "db.address": "d", "limits.cpu": "2"}, Values{})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return v.Name == "GOGC" || v.Name == "PORT" }) {
		t.Errorf("%+v", env)
	}
}

func TestANameThatNobodyGave(t *testing.T) {
	u := goUnit()
	u.Command = []string{"${nobody.address}"}
	if _, _, err := testMaker(nil).Deployment(u, kube.PartService); err == nil || !strings.Contains(err.Error(), "nobody.address") {
		t.Errorf("%v", err)
	}
}

func TestTheImagesOfSampleServicesAreMillicores(t *testing.T) {
	m := testMaker(func(s *experiment.Kubernetes) { s.Images = map[string]string{"bun": "r.example/bun:2"} })
	if !m.isOwn("r.example/bun:2") || !m.isOwn("millicore-node") || m.isOwn("millicore-bun") {
		t.Error("they are not")
	}
}
