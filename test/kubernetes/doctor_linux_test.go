package kubernetes

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/base/exit"
	"github.com/millicore/millicore/internal/kubernetes/fleet"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/test/testkit"
)

// The manifest's pods see what root sees: a throttled service of another user with its runtime
// and parallelism, its namespace, pod and container, and everything of every other process.
func TestDoctorOfTheCluster(t *testing.T) {
	l := newLaptopAt(t, "privileged")
	var manifest strings.Builder
	if err := fleet.WriteManifest(&manifest, ownImage, ""); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(manifest.String(), "---\n") // after the namespace
	var daemon appsv1.DaemonSet
	text = strings.Replace(text, "namespace: "+fleet.Namespace, "namespace: "+l.api.Namespace, 1)
	form, err := yaml.YAMLToJSON([]byte(text))
	if err = errors.Join(err, json.Unmarshal(form, &daemon)); err != nil {
		t.Fatal(err)
	}
	if _, err := kube.DaemonSets.Create(t.Context(), l.api, &daemon); err != nil {
		t.Fatal(err)
	}
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")}
	cart := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "cart-0"}, Spec: corev1.PodSpec{TerminationGracePeriodSeconds: of(int64(1)), Containers: []corev1.Container{{
		Name: "api", Image: ownImage, ImagePullPolicy: corev1.PullIfNotPresent, Command: []string{"/millicore-go"}, Env: []corev1.EnvVar{{Name: "GOMAXPROCS", Value: "8"}},
		SecurityContext: &corev1.SecurityContext{RunAsUser: of(int64(1000))},
		Resources:       corev1.ResourceRequirements{Limits: limits, Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m")}}}}}}
	if _, err := kube.Pods.Create(t.Context(), l.api, cart); err != nil {
		t.Fatal(err)
	}
	var address string
	testkit.Within(t, time.Minute, "both pods run", func() bool {
		all, err := kube.Pods.List(t.Context(), l.api, "")
		running := 0
		for _, p := range all {
			if p.Status.Phase == corev1.PodRunning {
				running++
			}
			if p.Name == "cart-0" {
				address = p.Status.PodIP
			}
		}
		return err == nil && running == 2 && address != ""
	})
	burn(t, address+":8080", "/loop?n=200000", 4)
	c := l.start(t, "doctor", "--for", "6s", "--json").ends(t, exit.Missed)
	var got struct {
		Nodes []struct {
			Name  string
			Error *string
		}
		Processes []struct {
			Name      string
			Container *string
			Unseen    []string
		}
		Findings []struct {
			Service, Node, Rule string
			Figures             struct {
				Parallelism *int
				Share       *float64 `json:"throttled_share"`
			}
		}
	}
	if err := json.Unmarshal(c.out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Nodes) != 1 || got.Nodes[0].Error != nil {
		t.Fatalf("nodes: %+v", got.Nodes)
	}
	for _, p := range got.Processes {
		if len(p.Unseen) > 0 {
			t.Errorf("not everything was read of %s: %v", p.Name, p.Unseen)
		}
	}
	found := false
	for _, f := range got.Findings {
		if f.Service == l.api.Namespace+"/cart/api/millicore-go" && f.Rule == "parallelism-above-limit" {
			found = f.Node == got.Nodes[0].Name && f.Figures.Parallelism != nil && *f.Figures.Parallelism == 8 && f.Figures.Share != nil && *f.Figures.Share > 0.5
		}
		if strings.Contains(f.Service, "pause") {
			t.Errorf("a finding about %s", f.Service)
		}
	}
	if !found {
		t.Errorf("want parallelism 8 of cart, throttled in most periods; got %+v", got.Findings)
	}
}
