package launch

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/base/secret"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/schema"
	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/test/testkit/golden"
)

func TestNames(t *testing.T) {
	now := time.Date(2026, 11, 23, 2, 18, 18, 0, time.UTC)
	for name, want := range map[string]string{
		"quick":                             `^quick-1123-021818-[a-z2-7]{2}$`,
		"go-vs-bun":                         `^go-vs-bun-1123-021818-[a-z2-7]{2}$`,
		"2cpu":                              `^r2cpu-1123-021818-[a-z2-7]{2}$`,
		strings.Repeat("a", 23) + "-b-long": `^a{23}-b-1123-021818-[a-z2-7]{2}$`,
		strings.Repeat("a", 24) + "-long":   `^a{24}-1123-021818-[a-z2-7]{2}$`,
		strings.Repeat("a", 63):             `^a{25}-1123-021818-[a-z2-7]{2}$`,
	} {
		if got := NewName(name, now); !regexp.MustCompile(want).MatchString(got) || len(got) > mostName {
			t.Errorf("NewName(%q) = %q, want %s and at most %d letters", name, got, want, mostName)
		}
	}
}

func TestProof(t *testing.T) {
	now := time.Now()
	p, err := newProof("r", now, 48*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(p.certificate, p.key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	for _, at := range []time.Time{now.Add(-23 * time.Hour), now.Add(71 * time.Hour)} {
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "millicore-r", CurrentTime: at}); err != nil {
			t.Errorf("at %v: %v", at, err)
		}
	}
	other, err := newProof("r", now, 48*time.Hour)
	if err != nil || other.tokenKey == p.tokenKey || len(p.tokenKey) != 43 {
		t.Errorf("keys %q and %q, %v: want two of 32 bytes", p.tokenKey, other.tokenKey, err)
	}
}

// The right to read kubelets reaches all namespaces. Only the administrator's account has
// it, and only a conductor that needs it runs under that account.
func TestTheAccountOfTheConductor(t *testing.T) {
	for more, want := range map[string]string{"": "millicore-conductor", "kubernetes: {node_agent: true}": "millicore-quick-1123-021818-x7"} {
		o, err := asked(t, more).objects("here", proof{})
		if err != nil {
			t.Fatal(err)
		}
		if own := o.account != nil; own != (want == "millicore-quick-1123-021818-x7") {
			t.Errorf("%q: an account of the run is made: %v", more, own)
		}
		if pod := o.job.Spec.Template.Spec.ServiceAccountName; pod != want || o.binding.Subjects[0].Name != want {
			t.Errorf("%q: the pod runs under %s, the Role is bound to %s; want %s", more, pod, o.binding.Subjects[0].Name, want)
		}
	}
	var subjects []rbacv1.Subject
	for _, part := range docs(t) {
		var binding rbacv1.ClusterRoleBinding
		if err := json.Unmarshal(part, &binding); err != nil {
			t.Fatal(err)
		}
		if binding.Kind == "ClusterRoleBinding" {
			subjects = append(subjects, binding.Subjects...)
		}
	}
	if d := cmp.Diff([]rbacv1.Subject{{Kind: "ServiceAccount", Name: kube.ConductorAccount, Namespace: "NAMESPACE"}}, subjects); d != "" {
		t.Errorf("docs/kubernetes.yaml binds rights of the cluster to others: %s", d)
	}
}

// Neither the person who starts runs nor a conductor can read a Secret.
func TestNobodyReadsSecrets(t *testing.T) {
	e := &experiment.Experiment{Measure: experiment.Measure{Resize: true}, Kubernetes: experiment.Kubernetes{NodeAgent: true}}
	for whose, of := range map[string][]rbacv1.PolicyRule{"the user": userRules(), "the conductor": rules("r", e)} {
		for _, right := range spelt(of) {
			if verb, kind, _ := strings.Cut(right, " "); (kind == "secrets" || strings.HasPrefix(kind, "*")) && verb != "create" && verb != "delete" {
				t.Errorf("%s may %s", whose, right)
			}
		}
	}
}

// docs are the objects of docs/kubernetes.yaml, as JSON.
func docs(t *testing.T) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n---\n") {
		asJSON, err := yaml.YAMLToJSON([]byte(part))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, asJSON)
	}
	return all
}

// What is made of a run, whole.
func TestObjects(t *testing.T) {
	full := `
kubernetes:
  labels: {team: load}
  annotations: {why: measure}
  tolerations: [{key: dedicated, value: load, effect: NoSchedule}]
  pull_secrets: [registry]
  conductor: {cpu: 1, memory: 1Gi, node_selector: {pool: tools}}
  keep: 2h
  record_claim: records
  node_agent: true
  image: registry.example.com/millicore:1
`
	for name, more := range map[string]string{"usual": "", "full": full} {
		t.Run(name, func(t *testing.T) {
			o, err := asked(t, more).objects("here", proof{[]byte("CERT"), []byte("KEY"), "TOKEN"})
			if err != nil {
				t.Fatal(err)
			}
			owner := *o.owner
			owner.UID = "1234"
			o.own(&owner)
			var written bytes.Buffer
			all := []any{o.owner, o.secret, o.account, o.role, o.binding}
			for _, p := range o.network {
				all = append(all, p)
			}
			for _, one := range append(all, o.job) {
				if one == any((*corev1.ServiceAccount)(nil)) {
					continue
				}
				text, err := json.Marshal(one)
				if err != nil {
					t.Fatal(err)
				}
				lines, err := yaml.JSONToYAML(text)
				if err != nil {
					t.Fatal(err)
				}
				written.WriteString("---\n")
				written.Write(lines)
			}
			golden.Check(t, name+".yaml", written.String())
		})
	}
}

func TestWhatIsTooLarge(t *testing.T) {
	a := asked(t, "")
	a.Experiment.Source = strings.Repeat("#", 1<<20)
	if _, err := a.objects("here", proof{}); err == nil || !strings.Contains(err.Error(), "ConfigMap") {
		t.Errorf("error %v, want one about the ConfigMap", err)
	}
	a = asked(t, "")
	a.Experiment.Cells[0].Load.Request.BodyFile = "body"
	a.Experiment.Cells[0].Load.Request.Inputs.Body = make([]byte, 800<<10)
	if _, err := a.objects("here", proof{}); err == nil || !strings.Contains(err.Error(), "bodies") {
		t.Errorf("error %v, want one about the bodies", err)
	}
}

// A run's names of files are those that the conductor reads.
func TestTheConductorReadsIt(t *testing.T) {
	a := asked(t, "kubernetes: {keep: 90s, node_agent: true}")
	o, err := a.objects("here", proof{[]byte("CERT"), []byte("KEY"), "TOKEN"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range o.owner.Data {
		os.MkdirAll(filepath.Join(dir, "run"), 0o755)
		if err := os.WriteFile(filepath.Join(dir, "run", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := conductor.ReadSpec(filepath.Join(dir, conductor.SpecFile))
	want := conductor.Spec{Run: a.Run, Name: "quick", Seed: 7, Namespace: "here", Image: "millicore/millicore:1.2", Version: "1.2", KeepS: 90, NodeAgent: true, File: "quick.yaml"}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if names := slices.Sorted(maps.Keys(o.secret.Data)); !slices.Equal(names, []string{"supplies.json", "tls.crt", "tls.key", "token.key"}) {
		t.Errorf("the Secret has %v", names)
	}
}

// Only the Secret has the secrets of an experiment.
func TestSecretsAreInTheSecretOnly(t *testing.T) {
	const text = "name: quick\nservices: {go: {workload: go, env: {TOKEN: Mark3r-literal, PASSWORD: {from_env: PW}}}}\nload: {request: {path: /}, users: 1}\n"
	e, err := file.Parse("quick.yaml", []byte(text), []string{"services.go.env.A_KEY=Mark3r-set"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ReadInputs("", func(string) string { return "Mark3r-from-env" }, schema.Read); err != nil {
		t.Fatal(err)
	}
	e.Seal(secret.NewKey())
	a := asked(t, "")
	a.Experiment = e
	o, err := a.objects("here", proof{[]byte("CERT"), []byte("KEY"), "TOKEN"})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []any{o.owner, o.account, o.role, o.binding, o.network, o.job} {
		if text, err := json.Marshal(one); err != nil || strings.Contains(string(text), "Mark3r") {
			t.Errorf("%v: %s", err, text)
		}
	}
	var in experiment.InputSet
	if err := json.Unmarshal(o.secret.Data["supplies.json"], &in); err != nil {
		t.Fatal(err)
	}
	again, err := file.Parse("quick.yaml", []byte(in.Given.Source), in.Given.Sets)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.SetInputs(in); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e, again); d != "" {
		t.Error(d)
	}
}

func TestStart(t *testing.T) {
	c, client := newCluster(t)
	if err := Start(t.Context(), client, asked(t, "kubernetes: {node_agent: true}")); err != nil {
		t.Fatal(err)
	}
	const policies = "POST /apis/networking.k8s.io/v1/namespaces/here/networkpolicies"
	const rbac, name = "/apis/rbac.authorization.k8s.io/v1/namespaces/here/", "millicore-quick-1123-021818-x7"
	want := []string{
		"POST " + core + "configmaps", "POST " + core + "secrets", "POST " + core + "serviceaccounts", "POST " + rbac + "roles", "POST " + rbac + "rolebindings",
		policies, policies, policies, policies, policies, "POST " + batch + "jobs", "PATCH " + core + "configmaps/" + name,
	}
	if d := cmp.Diff(want, c.asked); d != "" {
		t.Error(d)
	}
	owners := c.objects[core+"configmaps/"+name]["metadata"].(map[string]any)["ownerReferences"]
	if d := cmp.Diff([]any{map[string]any{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": "uid-of-" + name}}, owners); d != "" {
		t.Errorf("the ConfigMap's owner, by whose time to live all goes: %s", d)
	}
	for at, o := range c.objects {
		refs, _ := o["metadata"].(map[string]any)["ownerReferences"].([]any)
		if len(refs) != 1 {
			t.Errorf("%s has the owners %v, want one", at, refs)
		}
	}
}

func TestAStartThatFailsLeavesNothing(t *testing.T) {
	c, client := newCluster(t)
	c.answer = func(w http.ResponseWriter, r *http.Request, _ map[string]any) bool {
		return strings.HasSuffix(r.URL.Path, "/roles") && refuse(w, 403, metav1.StatusReasonForbidden, "you may not")
	}
	err := Start(t.Context(), client, asked(t, ""))
	if err == nil || !strings.Contains(err.Error(), "start run quick-1123-021818-x7 in namespace here: create its Role: you may not") {
		t.Errorf("error %v", err)
	}
	if left := c.paths(); len(left) > 0 {
		t.Errorf("there is still %v", left)
	}
}

func TestReadAndStop(t *testing.T) {
	c, client := newCluster(t)
	a := asked(t, "")
	if _, err := Read(t.Context(), client, a.Run); !errors.Is(err, ErrGone) {
		t.Errorf("error %v, want that there is no such run", err)
	}
	if err := Start(t.Context(), client, a); err != nil {
		t.Fatal(err)
	}
	if run, err := Read(t.Context(), client, a.Run); err != nil || run.Name != "quick" {
		t.Errorf("%+v, %v", run, err)
	}
	if err := Stop(t.Context(), client, a.Run); err != nil {
		t.Fatal(err)
	}
	AwaitStop(t.Context(), client, a.Run)
	if c.objects[core+"configmaps/"+Name(a.Run)]["metadata"].(map[string]any)["annotations"] == nil {
		t.Error("there is no annotation that stops the conductor")
	}
}

// A name that another run has is left to it, with all that is its.
func TestANameThatIsTaken(t *testing.T) {
	fake, client := newCluster(t)
	if err := Start(t.Context(), client, asked(t, "")); err != nil {
		t.Fatal(err)
	}
	before := slices.Sorted(maps.Keys(fake.objects))
	if err := Start(t.Context(), client, asked(t, "")); !errors.Is(err, errTaken) {
		t.Errorf("error %v, want that the name is taken", err)
	}
	if d := cmp.Diff(before, slices.Sorted(maps.Keys(fake.objects))); d != "" {
		t.Error(d)
	}
}

// The Role that an administrator binds has what is needed, and no more than a
// check asks beside it.
func TestTheRoleOfTheDocs(t *testing.T) {
	var got []string
	for _, part := range docs(t) {
		var role rbacv1.Role
		if err := json.Unmarshal(part, &role); err != nil {
			t.Fatal(err)
		}
		if role.Kind == "Role" {
			got = spelt(role.Rules)
		}
	}
	all := &experiment.Experiment{Measure: experiment.Measure{Resize: true}, Kubernetes: experiment.Kubernetes{NodeAgent: true}}
	want := append(spelt(userRules()), spelt(rules("r", all))...)
	want = append(want, "list resourcequotas", "get persistentvolumeclaims")
	slices.Sort(want)
	if d := cmp.Diff(slices.Compact(want), got); d != "" {
		t.Error(d)
	}
}

// spelt are the rights of rules as kubectl writes them: "get pods/log".
func spelt(rules []rbacv1.PolicyRule) []string {
	var all []string
	for _, r := range rules {
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					all = append(all, strings.TrimSuffix(verb+" "+resource+"."+group, "."))
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestSelector(t *testing.T) {
	if got, want := Selector("r", kube.PartAgent), "app.kubernetes.io/managed-by=millicore,millicore/run=r,millicore/part=agent"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
