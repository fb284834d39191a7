package launch

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// cluster is an API server that keeps what it is given, and forgets all with a
// ConfigMap. Answers that a test gives come first.
type cluster struct {
	mu      sync.Mutex
	objects map[string]map[string]any // by path
	asked   []string                  // method and path, in order; reviews are left out
	answer  func(w http.ResponseWriter, r *http.Request, body map[string]any) bool
}

func newCluster(t *testing.T) (*cluster, *kube.Client) {
	t.Helper()
	c := &cluster{objects: map[string]map[string]any{}}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	client, err := kube.New(&rest.Config{Host: server.URL}, "here")
	if err != nil {
		t.Fatal(err)
	}
	return c, client
}

// refuse answers as an API server does that will not.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, words string) bool {
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status"}, Code: int32(code), Reason: reason, Message: words})
	return true
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	text, _ := io.ReadAll(r.Body)
	json.Unmarshal(text, &body)
	if c.answer != nil && c.answer(w, r, body) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.URL.Path == "/version":
		io.WriteString(w, `{"major":"1","minor":"36","gitVersion":"v1.36.3"}`)
		return
	case strings.HasSuffix(r.URL.Path, "accessreviews"):
		io.WriteString(w, `{"status":{"allowed":true}}`)
		return
	}
	c.asked = append(c.asked, r.Method+" "+r.URL.Path)
	collection := !strings.Contains("configmaps secrets serviceaccounts pods jobs deployments daemonsets services roles rolebindings networkpolicies persistentvolumeclaims nodes",
		path.Base(path.Dir(r.URL.Path)))
	switch {
	case r.Method == http.MethodPost:
		meta := body["metadata"].(map[string]any)
		if meta["name"] == nil {
			meta["name"] = fmt.Sprint(meta["generateName"], "x")
		}
		if r.URL.Query().Get("dryRun") == "" {
			at := path.Join(r.URL.Path, meta["name"].(string))
			if c.objects[at] != nil {
				refuse(w, 409, metav1.StatusReasonAlreadyExists, "it is there already")
				return
			}
			meta["uid"] = "uid-of-" + meta["name"].(string)
			c.objects[at] = body
		}
		json.NewEncoder(w).Encode(body)
	case r.Method == http.MethodDelete:
		if path.Base(path.Dir(r.URL.Path)) == "configmaps" {
			clear(c.objects)
		}
		delete(c.objects, r.URL.Path)
		io.WriteString(w, "{}")
	case collection:
		selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
		if err != nil {
			refuse(w, 400, metav1.StatusReasonBadRequest, err.Error())
			return
		}
		items := []any{}
		for at, o := range c.objects {
			if path.Dir(at) == r.URL.Path && selector.Matches(labelsOf(o)) {
				items = append(items, o)
			}
		}
		json.NewEncoder(w).Encode(map[string]any{"items": items})
	case c.objects[r.URL.Path] == nil:
		refuse(w, 404, metav1.StatusReasonNotFound, path.Base(r.URL.Path)+" not found")
	case r.Method == http.MethodPatch:
		meta := c.objects[r.URL.Path]["metadata"].(map[string]any)
		for key, value := range body["metadata"].(map[string]any) {
			if before, ok := meta[key].(map[string]any); ok {
				maps.Copy(before, value.(map[string]any))
				continue
			}
			meta[key] = value
		}
		fallthrough
	default:
		json.NewEncoder(w).Encode(c.objects[r.URL.Path])
	}
}

func labelsOf(o map[string]any) labels.Set {
	set := labels.Set{}
	all, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
	for name, value := range all {
		set[name] = value.(string)
	}
	return set
}

// put puts an object there, below namespace here's path.
func (c *cluster) put(t *testing.T, at string, o any) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[at] = object
}

func (c *cluster) take(at string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.objects, at)
}

// paths are those of what is there.
func (c *cluster) paths() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []string{}
	for at := range c.objects {
		all = append(all, at)
	}
	slices.Sort(all)
	return all
}

const (
	core  = "/api/v1/namespaces/here/"
	batch = "/apis/batch/v1/namespaces/here/"
)

// asked is a run of an experiment's text, as in "limits: {…}".
func asked(t *testing.T, more string) *Request {
	t.Helper()
	text := "name: quick\nservices: {go: {workload: go}}\nload: {request: {path: /}, users: 10, agents: 2}\nmeasure: {warmup: 5s, duration: 40s, repeats: 6}\n" + more
	e, err := file.Parse("quick.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Request{Run: "quick-1123-021818-x7", Experiment: e, File: "quick.yaml", Seed: 7, Version: "1.2"}
}

// conductorPod is one of the run of asked, whose container runs.
func conductorPod(name string, made metav1.Time, change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: made, Labels: map[string]string{
		kube.LabelManager: kube.Manager, kube.LabelRun: "quick-1123-021818-x7", kube.LabelPart: kube.PartConductor}}}
	p.Status.Phase = corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: conductorContainer, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	if change != nil {
		change(p)
	}
	return p
}

func parse(text string) (*experiment.Experiment, error) {
	return file.Parse("test.yaml", []byte(text), nil)
}
