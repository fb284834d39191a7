package launch

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Check reports everything that is missing, by name.
func TestAllThatIsMissing(t *testing.T) {
	c, client := newCluster(t)
	a := asked(t, `
kubernetes: {pull_secrets: [registry, opaque], record_claim: records, node_agent: true}
limits: {cpu: 1, memory: 256Mi}
`)
	a.Experiment.Measure.Resize = true
	c.put(t, core+"secrets/opaque", corev1.Secret{Type: corev1.SecretTypeOpaque})
	c.put(t, core+"resourcequotas/small", corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Status: corev1.ResourceQuotaStatus{
		Hard: corev1.ResourceList{"requests.cpu": resource.MustParse("2"), "pods": resource.MustParse("10")},
		Used: corev1.ResourceList{"requests.cpu": resource.MustParse("500m")}}})
	c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		switch {
		case r.URL.Path == "/version":
			io.WriteString(w, `{"major":"1","minor":"32+","gitVersion":"v1.32.1"}`)
			return true
		case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
			of := body["spec"].(map[string]any)["resourceAttributes"].(map[string]any)
			fmt.Fprintf(w, `{"status":{"allowed":%v}}`, fmt.Sprint(of["verb"], of["resource"], of["subresource"]) != "getpodsproxy")
			return true
		case strings.HasSuffix(r.URL.Path, "/networkpolicies"):
			return refuse(w, 403, metav1.StatusReasonForbidden, `User "me" cannot create resource "networkpolicies"`)
		case strings.HasSuffix(r.URL.Path, "/roles"):
			return refuse(w, 403, metav1.StatusReasonForbidden, `user "me" is attempting to grant RBAC permissions not currently held: deployments`)
		case strings.HasSuffix(r.URL.Path, "/rolebindings"):
			return refuse(w, 404, metav1.StatusReasonNotFound, "roles not found")
		case strings.HasSuffix(r.URL.Path, "/services"):
			return refuse(w, 403, metav1.StatusReasonForbidden, `admission webhook "owners" denied the request: no owner`)
		case strings.HasSuffix(r.URL.Path, "/pods") && r.Method == http.MethodPost && strings.Contains(fmt.Sprint(body), "hostPath"):
			return refuse(w, 403, metav1.StatusReasonForbidden, `violates PodSecurity "restricted:latest": hostPath`)
		case strings.Contains(r.URL.Path, "-check-") && r.Method == http.MethodGet:
			io.WriteString(w, `{"status":{"containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull","message":"not found"}}}]}}`)
			return true
		}
		return false
	}
	needs, err := Check(t.Context(), client, a)
	if err != nil {
		t.Fatal(err)
	}
	want := `this cluster cannot run the experiment; nothing was started. What is missing:
  right to pods/proxy: no permission to get them in namespace here; ask an administrator for it (docs/kubernetes.yaml has the Role)
  in-place resize: Kubernetes 1.33 and newer have it, this is v1.32.1; leave measure.resize out
  pull secret registry: it is not in namespace here; create it (kubectl create secret docker-registry registry …)
  pull secret opaque: it is of the type Opaque, not kubernetes.io/dockerconfigjson; create one of that type (kubectl create secret docker-registry)
  record_claim records: there is no such PersistentVolumeClaim in namespace here; create it, or leave record_claim out
  quota small: requests.cpu: the largest cell needs 2, and 500m of 2 are in use; raise the quota, or reduce the experiment (limits, replicas, load.agents, kubernetes.agents)
  the run's Role: the server refuses it: user "me" is attempting to grant RBAC permissions not currently held: deployments; ask an administrator for it (docs/kubernetes.yaml has the Role)
  the run's NetworkPolicy: the server refuses it: User "me" cannot create resource "networkpolicies"; ask an administrator for it (docs/kubernetes.yaml has the Role)
  the pods of service go: the server refuses it: admission webhook "owners" denied the request: no owner; change what forbids it, or use another namespace (--namespace)
  the pods of node agents: the server refuses it: violates PodSecurity "restricted:latest": hostPath; they read the node's control groups by a hostPath volume: label the namespace pod-security.kubernetes.io/enforce=privileged, or leave --node-agent out
  image millicore/millicore:1.2: a node cannot pull it (ErrImagePull: not found); push it, load it into the nodes, or use another; if its registry needs a login, set kubernetes.pull_secrets to the name of the Secret`
	if d := cmp.Diff(want, fmt.Sprint(needs.Err())); d != "" {
		t.Error(d)
	}
	for _, at := range c.paths() {
		if path.Base(path.Dir(at)) == "pods" {
			t.Errorf("%s was left behind", at)
		}
	}
}

func TestNothingIsMissing(t *testing.T) {
	c, client := newCluster(t)
	a := asked(t, "")
	c.put(t, "/api/v1/nodes/one", corev1.Node{Status: corev1.NodeStatus{Images: []corev1.ContainerImage{{Names: []string{"docker.io/millicore/millicore:1.2"}}}}})
	c.put(t, "/api/v1/nodes/off", corev1.Node{Spec: corev1.NodeSpec{Unschedulable: true}})
	c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		if !strings.HasSuffix(r.URL.Path, "/subjectaccessreviews") {
			return false
		}
		fmt.Fprintf(w, `{"status":{"allowed":%v}}`, body["spec"].(map[string]any)["user"] == "system:serviceaccount:here:millicore-conductor")
		return true
	}
	needs, err := Check(t.Context(), client, a)
	if err != nil || needs.Err() != nil {
		t.Fatal(err, needs.Err())
	}
	for _, n := range needs {
		if n.State != There {
			t.Errorf("%+v, want that it is there", n)
		}
	}
	if left := c.paths(); len(left) != 2 {
		t.Errorf("there is %v, want nothing but the nodes", left)
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	c, client := newCluster(t)
	c.answer = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) bool { return refuse(w, 503, "", "") }
	if _, err := Check(t.Context(), client, asked(t, "")); err == nil || !strings.Contains(err.Error(), "the cluster does not answer") {
		t.Errorf("error %v", err)
	}
}

func TestNamespace(t *testing.T) {
	for words, want := range map[string]State{
		`404 NotFound namespaces "here" not found`:                                              Missing,
		`403 Forbidden unable to create new content in namespace here because it is terminated`: Missing,
		`403 Forbidden exceeded quota: q, requested: configmaps=1`:                              There,
		`403 Forbidden User "u" cannot create resource "configmaps"`:                            Unknown,
		`401 Unauthorized who are you`:                                                          Unknown,
	} {
		c, client := newCluster(t)
		c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
			var code int
			var reason, text string
			fmt.Sscan(words, &code, &reason)
			text = strings.SplitN(words, " ", 3)[2]
			return r.Method == http.MethodPost && refuse(w, code, metav1.StatusReason(reason), text)
		}
		k := &checker{client: client, asked: asked(t, "")}
		if got, _ := k.namespace(t.Context()); got.State != want {
			t.Errorf("%s: %+v, want %s", words, got, want)
		}
	}
}

func TestKubelets(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer string // for the conductor's account
		others string // for other accounts of the namespace
		code   int
		want   State
	}{
		{"bound", `{"status":{"allowed":true}}`, `{"status":{}}`, 200, There},
		{"bound to the whole namespace", `{"status":{"allowed":true}}`, `{"status":{"allowed":true}}`, 200, Noted},
		{"bound to others", `{"status":{}}`, `{"status":{"allowed":true}}`, 200, Missing},
		{"not bound", `{"status":{}}`, `{"status":{}}`, 200, Missing},
		{"may not ask", `{"kind":"Status","reason":"Forbidden","message":"no"}`, "", 403, Unknown},
	} {
		c, client := newCluster(t)
		c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
			if !strings.HasSuffix(r.URL.Path, "/subjectaccessreviews") {
				return false
			}
			answer := test.answer
			if body["spec"].(map[string]any)["user"] != "system:serviceaccount:here:millicore-conductor" {
				answer = test.others
			}
			groups := fmt.Sprint(body["spec"].(map[string]any)["groups"])
			if groups != "[system:serviceaccounts system:serviceaccounts:here system:authenticated]" {
				t.Errorf("asked for the groups %s", groups)
			}
			w.WriteHeader(test.code)
			io.WriteString(w, answer)
			return true
		}
		k := &checker{client: client, asked: asked(t, "")}
		if got := k.metricsRight(t.Context()); len(got) != 1 || got[0].State != test.want {
			t.Errorf("%s: %v, want %s", test.name, got, test.want)
		}
	}
	if got := (&checker{asked: asked(t, "kubernetes: {node_agent: true}")}).metricsRight(t.Context()); got != nil {
		t.Errorf("with node agents: %v, want that nothing is asked", got)
	}
}

func TestMetricsServer(t *testing.T) {
	c, client := newCluster(t)
	k := &checker{client: client, asked: asked(t, "")}
	if got := k.metrics(t.Context()); got != nil {
		t.Errorf("%v, want that nothing is asked where nothing is scaled", got)
	}
	e, err := parse("name: s\nservices: {go: {workload: go, autoscale: {min: 1, max: 4, cpu: 60%}}}\nlimits: {cpu: 500m}\nload: {request: {path: /}, users: 10}\n")
	if err != nil {
		t.Fatal(err)
	}
	k.asked.Experiment = e
	c.answer = func(w http.ResponseWriter, _ *http.Request, _ map[string]any) bool {
		return refuse(w, 404, metav1.StatusReasonNotFound, "not found")
	}
	if got := k.metrics(t.Context()); len(got) != 1 || got[0].State != Missing {
		t.Errorf("%v, want that it is missing", got)
	}
	c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		io.WriteString(w, "{}")
		return true
	}
	if got := k.metrics(t.Context()); len(got) != 1 || got[0].State != There {
		t.Errorf("%v, want that it is there", got)
	}
}

func TestQuota(t *testing.T) {
	takes := corev1.ResourceList{"requests.cpu": resource.MustParse("2500m"), "limits.memory": resource.MustParse("1Gi"), "pods": resource.MustParse("4")}
	list := func(words ...string) corev1.ResourceList {
		l := corev1.ResourceList{}
		for i := 0; i < len(words); i += 2 {
			l[corev1.ResourceName(words[i])] = resource.MustParse(words[i+1])
		}
		return l
	}
	for _, test := range []struct {
		name       string
		hard, used corev1.ResourceList
		want       string
	}{
		{"room", list("requests.cpu", "4", "pods", "10"), list("requests.cpu", "1"), "there it has room for the largest cell"},
		{"just", list("requests.cpu", "4"), list("requests.cpu", "1500m"), "there it has room for the largest cell"},
		{"cpu is requests.cpu", list("cpu", "2"), nil, "missing cpu: the largest cell needs 2500m, and 0 of 2 are in use"},
		{"several", list("limits.memory", "1Gi", "count/pods", "3"), list("limits.memory", "1Mi"),
			"missing count/pods: the largest cell needs 4, and 0 of 3 are in use; limits.memory: the largest cell needs 1Gi, and 1Mi of 1Gi are in use"},
		{"of other things", list("services.loadbalancers", "0"), nil, "there it has room for the largest cell"},
	} {
		q := &corev1.ResourceQuota{Status: corev1.ResourceQuotaStatus{Hard: test.hard, Used: test.used}}
		got := quota(q, takes)
		words, _, _ := strings.Cut(got.Words, "; raise the")
		if words = got.State.String() + " " + words; words != test.want {
			t.Errorf("%s: %s, want %s", test.name, words, test.want)
		}
	}
	scoped := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Scopes: []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}}}
	if got := quota(scoped, takes); got.State != Unknown {
		t.Errorf("with scopes: %+v, want that it is not known", got)
	}
}

// The largest cell is summed resource by resource: conductor, agents, replicas and
// what they depend on.
func TestTheLargestCell(t *testing.T) {
	e, err := parse(`
name: q
services:
  go: {workload: go, dependencies: [{name: redis, image: redis:7, limits: {cpu: 100m, memory: 64Mi}}]}
vary: {cpu: [500m, 1500m], n: [1, 3]}
limits: {cpu: "${cpu}", memory: 128Mi, replicas: "${n}"}
load: {request: {path: /}, users: 10, agents: 4}
`)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, q := range (&Request{Run: "r", Experiment: e, Version: "1"}).largest() {
		got[string(name)] = q.String()
	}
	want := map[string]string{ // 500m + 4 x 250m + 3 x 1500m + 100m; 512Mi + 4 x 256Mi + 3 x 128Mi + 64Mi
		"requests.cpu": "6100m", "limits.cpu": "4600m", "requests.memory": "1984Mi", "limits.memory": "1984Mi", "pods": "9"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestImageState(t *testing.T) {
	waiting := func(reason string) *corev1.Pod {
		p := &corev1.Pod{}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "words"}}}}
		return p
	}
	ended := waiting("")
	ended.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "StartError"}}
	unscheduled := &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1"}}}}
	for _, test := range []struct {
		name  string
		pod   *corev1.Pod
		want  State
		final bool
	}{
		{"new", &corev1.Pod{}, Unknown, false},
		{"pulling", waiting("ContainerCreating"), Unknown, false},
		{"no such image", waiting("ErrImagePull"), Missing, true},
		{"again", waiting("ImagePullBackOff"), Missing, true},
		{"no name", waiting("InvalidImageName"), Missing, true},
		{"root", waiting("CreateContainerConfigError"), Missing, true},
		{"there", waiting("RunContainerError"), There, true},
		{"there too", ended, There, true},
		{"no node", unscheduled, Unknown, false},
		{"deadline", &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "DeadlineExceeded"}}, Unknown, true},
	} {
		if got, final := imageState("image x", test.pod); got.State != test.want || final != test.final {
			t.Errorf("%s: %+v, final %v; want %s, %v", test.name, got, final, test.want, test.final)
		}
	}
}

func TestLasts(t *testing.T) {
	if got, want := Lasts(asked(t, "").Experiment), 6*50*time.Second; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	search := asked(t, "").Experiment
	search.Cells[0].Load.Find = true
	if got, want := Lasts(search), 6*(50*time.Second+35*time.Second/4); got != want {
		t.Errorf("a search: %v, want %v", got, want)
	}
}

// An image is tried as whom it will run as: one may say that it is root's.
func TestThePodThatTriesAnImage(t *testing.T) {
	for _, test := range []struct {
		image, more string
		restricted  bool
		user        int64 // 0: the image's own
	}{
		{"millicore/millicore:1.2", "", true, 65532},
		{"millicore-node", "kubernetes: {security: baseline}", true, 65532},
		{"postgres:17-alpine", "", true, 70},
		{"nginx", "", true, 0},
		{"nginx", "kubernetes: {security: baseline}", false, 0},
	} {
		k := &checker{asked: asked(t, test.more), patient: time.Minute}
		p := k.imagePod(3, test.image)
		s := p.Spec.SecurityContext
		if restricted := s.RunAsNonRoot != nil && *s.RunAsNonRoot; restricted != test.restricted {
			t.Errorf("%s %s: restricted %v, want %v", test.image, test.more, restricted, test.restricted)
		}
		if (s.RunAsUser == nil) != (test.user == 0) || test.user != 0 && *s.RunAsUser != test.user {
			t.Errorf("%s: user %v, want %d", test.image, s.RunAsUser, test.user)
		}
		if p.Name != "millicore-quick-1123-021818-x7-check-3" || p.Labels[kube.LabelPart] != partCheck || *p.Spec.ActiveDeadlineSeconds != 120 {
			t.Errorf("%+v", p)
		}
	}
}

// A millicore without a version has no image. Check reports that before a node tries to
// pull one.
func TestAMillicoreWithoutAVersion(t *testing.T) {
	for more, want := range map[string]State{"": Missing, "kubernetes: {image: mine}": There} {
		c, client := newCluster(t)
		a := asked(t, more)
		a.Version = Unreleased
		// Some node may have an image that was built of another state of the source.
		c.put(t, "/api/v1/nodes/one", corev1.Node{Status: corev1.NodeStatus{Images: []corev1.ContainerImage{
			{Names: []string{"docker.io/millicore/millicore:development"}}, {Names: []string{"docker.io/library/mine:latest"}}}}})
		needs := (&checker{client: client, asked: a}).images(t.Context())
		if len(needs) != 1 || needs[0].State != want || needs[0].What != "image "+a.Image() {
			t.Errorf("%q: %+v, want %s", more, needs, want)
		}
		if err := needs.Err(); (err != nil) != (want == Missing) || err != nil && !(strings.Contains(err.Error(), "--image") && strings.Contains(err.Error(), "millicore/millicore:VERSION")) {
			t.Errorf("%q: %v", more, err)
		}
		for _, what := range c.asked {
			if strings.HasPrefix(what, "POST") {
				t.Errorf("%q: %s: the image is tried", more, what)
			}
		}
	}
}

// Every object of a run is tried, and none is created: those of the user, those of the
// conductor, and the pods.
func TestAllObjectsAreTried(t *testing.T) {
	c, client := newCluster(t)
	var mu sync.Mutex
	tried := map[string]int{}
	c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		mu.Lock()
		defer mu.Unlock()
		what := path.Base(r.URL.Path)
		if part := labelsOf(body)[kube.LabelPart]; part != kube.PartConductor || what == "pods" {
			what = part + " " + what
		}
		if r.Method != http.MethodPost || r.URL.Query().Get("dryRun") != "All" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if spec, _ := body["spec"].(map[string]any); what == "conductor pods" && (spec["serviceAccountName"] != nil || spec["automountServiceAccountToken"] != false) {
			t.Errorf("the conductor's pod has an account that does not exist yet: %v", spec)
		}
		tried[what]++
		return false
	}
	k := &checker{client: client, asked: asked(t, "vary: {n: [1, 2], cpu: [1, 2]}\nlimits: {cpu: \"${cpu}\", replicas: \"${n}\"}\nkubernetes: {node_agent: true}")}
	needs := k.tries(t.Context())
	for _, n := range needs {
		if n.State != There {
			t.Errorf("%+v", n)
		}
	}
	want := map[string]int{
		"configmaps": 1, "secrets": 1, "serviceaccounts": 1, "roles": 1, "rolebindings": 1, "networkpolicies": 5, "jobs": 1, "conductor pods": 1,
		"agent secrets": 1, "agent jobs": 1, "agent pods": 1, "node secrets": 1, "node daemonsets": 1, "node pods": 1,
		"service services": 1, "service deployments": 1, "service pods": 4,
	}
	if d := cmp.Diff(want, tried); d != "" {
		t.Error(d)
	}
	if left := c.paths(); len(left) > 0 {
		t.Errorf("there is %v", left)
	}
}

// What the server answers to a dry run decides, in its own words.
func TestWhatTheServerRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		path   string // of the refused objects
		part   string
		code   int
		reason metav1.StatusReason
		words  string
		state  State
		want   string
	}{
		"no right": {"/jobs", kube.PartConductor, 403, metav1.StatusReasonForbidden, `User "me" cannot create resource "jobs"`, Missing,
			`the run's Job: the server refuses it: User "me" cannot create resource "jobs"; ask an administrator`},
		"rights of the conductor that the user lacks": {"/roles", kube.PartConductor, 403, metav1.StatusReasonForbidden, `attempting to grant RBAC permissions not currently held: {["pods/resize"]}`, Missing,
			`the run's Role: the server refuses it: attempting to grant RBAC permissions not currently held: {["pods/resize"]}; ask an administrator`},
		"rights of the conductor that the user may escalate to": {"/deployments", kube.PartService, 403, metav1.StatusReasonForbidden, `User "me" cannot create resource "deployments"`, Unknown,
			`the pods of service go: their Deployment was not tried: User "me" cannot create`},
		"a quota of objects": {"/secrets", kube.PartConductor, 403, metav1.StatusReasonForbidden, "exceeded quota: small, requested: secrets=1", Missing,
			"the run's Secret: the server refuses it: exceeded quota: small, requested: secrets=1; raise the quota"},
		"a webhook": {"/deployments", kube.PartService, 403, metav1.StatusReasonForbidden, `admission webhook "w" denied the request: no`, Missing,
			`the pods of service go: the server refuses it: admission webhook "w" denied the request: no; change what forbids it`},
		"a webhook that does not answer": {"/pods", kube.PartAgent, 500, metav1.StatusReasonInternalError, `failed calling webhook "w"`, Unknown,
			`the pods of agents: failed calling webhook "w"`},
		"no account": {"/pods", kube.PartConductor, 403, metav1.StatusReasonForbidden, `error looking up service account here/millicore-conductor: serviceaccount "millicore-conductor" not found`, Missing,
			`the conductor's pod: the server refuses it: error looking up service account here/millicore-conductor: serviceaccount "millicore-conductor" not found; let an administrator apply docs/kubernetes.yaml once, or run with --node-agent`},
	} {
		c, client := newCluster(t)
		c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
			return strings.HasSuffix(r.URL.Path, test.path) && labelsOf(body)[kube.LabelPart] == test.part && refuse(w, test.code, test.reason, test.words)
		}
		client.Patience = time.Millisecond
		var got []string
		for _, n := range (&checker{client: client, asked: asked(t, "")}).tries(t.Context()) {
			if n.State != There {
				got = append(got, n.What+": "+n.Words)
				if n.State != test.state {
					t.Errorf("%s: %s, want %s", name, n.State, test.state)
				}
			}
		}
		if len(got) != 1 || !strings.HasPrefix(got[0], test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// A policy that changes a limit of the service, instead of refusing its pod, is reported,
// and so is one that limits agents.
func TestAPolicyThatChangesALimit(t *testing.T) {
	for _, test := range []struct {
		part, more string
		change     func(limits map[string]any)
		state      State
		want       string
	}{
		{kube.PartService, "limits: {cpu: 300m, memory: 64Mi}", func(limits map[string]any) { delete(limits, "cpu") }, Missing,
			"the CPU limit is no limit instead of 300m; an admission policy"},
		{kube.PartAgent, "limits: {cpu: 300m, memory: 64Mi}", func(limits map[string]any) { limits["cpu"] = "500m" }, Noted, "sets a CPU limit of 500m on them: agents are then throttled"},
		{kube.PartService, "limits: {memory: 64Mi}", func(limits map[string]any) { limits["cpu"] = "500m" }, Noted, "services without limits.cpu are measured under it"},
	} {
		c, client := newCluster(t)
		c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
			if !strings.HasSuffix(r.URL.Path, "/pods") || labelsOf(body)[kube.LabelPart] != test.part {
				return false
			}
			one := body["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
			test.change(one["resources"].(map[string]any)["limits"].(map[string]any))
			_ = json.NewEncoder(w).Encode(body)
			return true
		}
		var got Requirements
		for _, n := range (&checker{client: client, asked: asked(t, test.more)}).tries(t.Context()) {
			if n.State != There {
				got = append(got, n)
			}
		}
		if len(got) != 1 || got[0].State != test.state || !strings.Contains(got[0].Words, test.want) {
			t.Errorf("%s: %+v, want %q", test.part, got, test.want)
		}
	}
}

// The dry run of a RoleBinding ends before the server looks at the right to bind, because
// the Role does not exist. Only who may escalate has not shown the rights of the Role.
func TestABindingIsJudgedByTheRights(t *testing.T) {
	for _, test := range []struct {
		allowed string
		state   State
	}{{"", There}, {"escalate bind", There}, {"escalate", Unknown}, {"bind", There}} {
		c, client := newCluster(t)
		c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
			if strings.HasSuffix(r.URL.Path, "/rolebindings") {
				return refuse(w, 404, metav1.StatusReasonNotFound, "roles not found")
			}
			if !strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews") {
				return false
			}
			of := body["spec"].(map[string]any)["resourceAttributes"].(map[string]any)
			fmt.Fprintf(w, `{"status":{"allowed":%v}}`, strings.Contains(test.allowed, of["verb"].(string)))
			return true
		}
		needs := (&checker{client: client, asked: asked(t, "")}).tries(t.Context())
		i := slices.IndexFunc(needs, func(n Requirement) bool { return strings.HasSuffix(n.What, "RoleBinding") })
		if i < 0 || needs[i].State != test.state {
			t.Errorf("%q: %+v", test.allowed, needs)
		}
	}
}

// That a Deployment was not tried is said, also where something limits its pods.
func TestANoteHidesNoDoubt(t *testing.T) {
	c, client := newCluster(t)
	c.answer = func(w http.ResponseWriter, r *http.Request, body map[string]any) bool {
		switch {
		case labelsOf(body)[kube.LabelPart] != kube.PartService:
			return false
		case strings.HasSuffix(r.URL.Path, "/deployments"):
			return refuse(w, 403, metav1.StatusReasonForbidden, `User "me" cannot create resource "deployments"`)
		case !strings.HasSuffix(r.URL.Path, "/pods"):
			return false
		}
		one := body["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
		one["resources"].(map[string]any)["limits"].(map[string]any)["cpu"] = "500m"
		_ = json.NewEncoder(w).Encode(body)
		return true
	}
	needs := (&checker{client: client, asked: asked(t, "limits: {memory: 64Mi}")}).tries(t.Context())
	if i := slices.IndexFunc(needs, func(n Requirement) bool { return n.State != There }); i < 0 || needs[i].State != Unknown {
		t.Errorf("%+v", needs)
	}
}
