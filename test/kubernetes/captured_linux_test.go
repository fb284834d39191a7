package kubernetes

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/launch"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
)

// Subjects that try what they must not: an account, the person who starts runs, and a
// captured agent or node agent.

// config is the administrator's, as a subject if it is not "".
func config(t *testing.T, subject string, groups ...string) *rest.Config {
	t.Helper()
	c, err := clientcmd.BuildConfigFromFlags("", bench.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if subject != "" {
		c.Impersonate = rest.ImpersonationConfig{UserName: subject, Groups: append(groups, "system:authenticated")}
	}
	return c
}

// as is a client of the API server as a subject.
func (l *laptop) as(t *testing.T, subject string, groups ...string) *kube.Client {
	t.Helper()
	c, err := kube.New(config(t, subject, groups...), l.api.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// account is a client as an account of the namespace.
func (l *laptop) account(t *testing.T, name string) *kube.Client {
	t.Helper()
	return l.as(t, "system:serviceaccount:"+l.api.Namespace+":"+name, "system:serviceaccounts", "system:serviceaccounts:"+l.api.Namespace)
}

// token is a token of an account, as a pod gets it.
func (l *laptop) token(t *testing.T, account string) string {
	t.Helper()
	c := config(t, "")
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		t.Fatal(err)
	}
	url := fmt.Sprintf("%s/api/v1/namespaces/%s/serviceaccounts/%s/token", c.Host, l.api.Namespace, account)
	answer, err := client.Post(url, "application/json", strings.NewReader(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var made struct{ Status struct{ Token string } }
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.Status.Token == "" {
		t.Fatalf("a token of %s: %s, %v", account, answer.Status, err)
	}
	return made.Status.Token
}

// asks is the status of a request to a pod or a node. Its certificate is of no interest.
func asks(t *testing.T, address, path string, header http.Header) int {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// Only conductors read the metrics of kubelets.
func TestWhoReadsKubelets(t *testing.T) {
	t.Parallel()
	l := newLaptop(t).allowed(t)
	nodes, err := kube.Nodes.List(t.Context(), l.api, "")
	if err != nil || len(nodes) == 0 {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	kubelet := ""
	for _, a := range nodes[0].Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			kubelet = net.JoinHostPort(a.Address, "10250")
		}
	}
	for account, want := range map[string]int{kube.ConductorAccount: http.StatusOK, "default": http.StatusForbidden} {
		if got := asks(t, kubelet, "/metrics/cadvisor", http.Header{"Authorization": {"Bearer " + l.token(t, account)}}); got != want {
			t.Errorf("the account %s gets the status %d of the kubelet, want %d", account, got, want)
		}
	}
	if _, err := kube.Nodes.List(t.Context(), l.account(t, "default"), ""); !apierrors.IsForbidden(err) {
		t.Errorf("the account default lists nodes: %v", err)
	}
	// With an older docs/kubernetes.yaml all accounts had the right; a dry run reports that.
	meta := metav1.ObjectMeta{Name: l.api.Namespace}
	_, err = clusterRoleBindings.Create(t.Context(), l.api, &rbacv1.ClusterRoleBinding{ObjectMeta: meta,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: l.metricsRole()},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + l.api.Namespace}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clusterRoleBindings.Delete(context.Background(), l.api, meta.Name, kube.Delete{}) })
	if words := l.start(t, "run", "small.yaml", "--dry-run").ends(t, 0).out.String(); !strings.Contains(strings.Join(strings.Fields(words), " "), "other accounts of namespace "+l.api.Namespace+" have it too") {
		t.Errorf("the dry run does not report it:\n%s", words)
	}
}

// become makes the user of the laptop another one, who has a Role of the namespace.
func (l *laptop) become(t *testing.T, user, role string) {
	t.Helper()
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}}
	if _, err := kube.RoleBindings.Create(t.Context(), l.api, binding); err != nil {
		t.Fatal(err)
	}
	loaded, err := clientcmd.LoadFromFile(bench.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range loaded.AuthInfos {
		info.Impersonate = user
	}
	l.kubeconfig = filepath.Join(l.dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*loaded, l.kubeconfig); err != nil {
		t.Fatal(err)
	}
}

// readsNoSecret checks that a subject can neither get, list nor watch Secrets.
func readsNoSecret(t *testing.T, who string, c *kube.Client, name string) {
	t.Helper()
	if _, err := kube.Secrets.Get(t.Context(), c, name); !apierrors.IsForbidden(err) {
		t.Errorf("%s reads the Secret %s: %v", who, name, err)
	}
	if all, err := kube.Secrets.List(t.Context(), c, ""); !apierrors.IsForbidden(err) {
		t.Errorf("%s lists %d Secrets: %v", who, len(all), err)
	}
	answer, err := c.Raw(t.Context(), "/api/v1/namespaces/"+c.Namespace+"/secrets?watch=1", nil)
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		t.Errorf("%s watches Secrets: %v", who, err)
		answer.Body.Close()
	}
}

// The Role of docs/kubernetes.yaml suffices for a whole run, and reads no Secret.
func TestARunOfWhoReadsNoSecrets(t *testing.T) {
	l := newLaptop(t).allowed(t)
	const user = "millicore-test-user"
	l.become(t, user, "millicore")
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, Data: map[string][]byte{"password": []byte("of another")}}
	if _, err := kube.Secrets.Create(t.Context(), l.api, foreign); err != nil {
		t.Fatal(err)
	}
	c := l.start(t, "run", "small.yaml", "--out", "record", "--set", "vary.procs=[1]")
	run := l.run(t)
	l.measures(t, run)
	for who, client := range map[string]*kube.Client{"the user": l.as(t, user), "the conductor": l.account(t, kube.ConductorAccount)} {
		for _, name := range []string{"foreign", launch.Name(run), run + "-agents"} {
			readsNoSecret(t, who, client, name)
		}
	}
	c.ends(t, 0)
	if n := l.trials(t, "record"); n < 1 {
		t.Errorf("%d trials are in the record\n%s", n, &c.err)
	}
	l.empty(t, 10*time.Second)
}

// captured is what an attacker finds in a pod of the run that dials the conductor.
func captured(t *testing.T, p *corev1.Pod) (token string) {
	t.Helper()
	root := fmt.Sprintf("/proc/%d/root", processOf(t, p).Pid)
	var found []string
	all, err := os.ReadDir(filepath.Join(root, "etc/millicore/secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		found = append(found, f.Name())
	}
	if got := strings.Join(found, " "); got != "tls.crt token" {
		t.Errorf("in %s there is %q, want its own token and the certificate", p.Name, got)
	}
	if _, err := os.Stat(filepath.Join(root, "var/run/secrets/kubernetes.io")); err == nil {
		t.Errorf("%s has an account at the API server", p.Name)
	}
	text, err := os.ReadFile(filepath.Join(root, "etc/millicore/secret/token"))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(text))
}

// A captured agent, or node agent, opens its own stream and nothing else. A token that
// nobody has left at the run opens nothing.
func TestACapturedAgent(t *testing.T) {
	l := newLaptopAt(t, "privileged")
	c := l.start(t, "run", "small.yaml", "--out", "record", "--node-agent", "--set", "vary.procs=[1]", "--set", "measure.duration=1m")
	w := watchServices(t, l.api)
	w.loaded(t, 1)
	run := l.run(t)
	conductor := net.JoinHostPort(l.podOf(t, run, kube.PartConductor, "").Status.PodIP, fmt.Sprint(kube.ConductorPort))
	node := l.podOf(t, run, kube.PartNode, "")
	first, second, ofNode := captured(t, l.podOf(t, run, kube.PartAgent, "0")), captured(t, l.podOf(t, run, kube.PartAgent, "1")), captured(t, node)
	if first == second || first == ofNode {
		t.Error("agents share a token")
	}
	const opens, closed = http.StatusUpgradeRequired, http.StatusUnauthorized // the former without the header Upgrade
	own, other := "/node/"+node.Spec.NodeName, "/node/another"
	for token, want := range map[string]map[string]int{
		first:  {"/agent/0": opens, "/agent/1": closed, own: closed, "/state": closed, "/record": closed},
		second: {"/agent/0": closed, "/agent/1": opens, own: closed, "/state": closed, "/record": closed},
		ofNode: {"/agent/0": closed, own: opens, other: closed, "/state": closed, "/record": closed},
		"a token that nobody has left at the run": {"/agent/0": closed, own: closed, "/state": closed, "/record": closed},
	} {
		for path, status := range want {
			if got := asks(t, conductor, path, http.Header{tunnel.TokenHeader: {token}}); got != status {
				t.Errorf("%s: status %d, want %d", path, got, status)
			}
		}
	}
	// The API server's proxy adds no right: its user needs a token too.
	if answer, err := l.api.Raw(t.Context(), launch.Path(l.api.Namespace, l.podOf(t, run, kube.PartConductor, "").Name, "/record"), nil); err == nil {
		n, _ := io.Copy(io.Discard, answer.Body)
		t.Errorf("without a token the proxy gave %d bytes", n)
	}
	policies, err := kube.NetworkPolicies.List(t.Context(), l.api, kube.LabelRun+"="+run)
	if err != nil || len(policies) != 5 {
		t.Errorf("%d network policies, %v; want 5", len(policies), err)
	}
	c.Process.Signal(os.Interrupt)
	c.ends(t, 130)
	l.empty(t, 10*time.Second)
}
