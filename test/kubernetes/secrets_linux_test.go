package kubernetes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform"
)

// The server prints its variable DEPENDENCY. The value reaches it through a Secret, the
// run's own or one of the namespace, and is in no Deployment and in no pod.
func TestValuesReachContainersThroughSecrets(t *testing.T) {
	t.Parallel()
	need(t)
	for name, change := range map[string]func(*platform.UnitSpec){
		"a value that is hidden": func(u *platform.UnitSpec) {
			u.Env, u.Hidden = map[string]string{"DEPENDENCY": "Mark3r-$(PORT)-value"}, []string{"DEPENDENCY"}
		},
		"a URL with a password": func(u *platform.UnitSpec) {
			u.Env, u.Vars = map[string]string{"DEPENDENCY": "${db.url}"}, map[string]string{"db.url": "postgres://app:Mark3r-$(PORT)-value@127.0.0.1/x"}
		},
		"a key of a Secret": func(u *platform.UnitSpec) { u.Secrets = map[string]string{"DEPENDENCY": "shop/token"} },
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, nil)
			if _, err := kube.Secrets.Create(t.Context(), p.api, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "shop"},
				StringData: map[string]string{"token": "Mark3r-$(PORT)-value"}}); err != nil {
				t.Fatal(err)
			}
			u := server(t, experiment.Limits{Replicas: 1})
			change(&u)
			start(t, p, u)
			logs, err := filepath.Glob(filepath.Join(u.Logs, "*.log"))
			if err != nil || len(logs) != 1 {
				t.Fatalf("%v, %v", logs, err)
			}
			if text, err := os.ReadFile(logs[0]); err != nil || !strings.Contains(string(text), "Mark3r-$(PORT)-value") {
				t.Errorf("the container did not get the value: %s, %v", text, err)
			}
			deployments, err := kube.Deployments.List(t.Context(), p.api, "")
			if err != nil {
				t.Fatal(err)
			}
			pods, err := kube.Pods.List(t.Context(), p.api, "")
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal([]any{deployments, pods})
			if err != nil || len(deployments) != 1 || len(pods) != 1 || strings.Contains(string(text), marker) {
				t.Errorf("%d Deployments, %d pods, %v: %s", len(deployments), len(pods), err, text)
			}
		})
	}
}

// A Secret that does not exist is named, instead of a timeout.
func TestASecretThatIsMissing(t *testing.T) {
	t.Parallel()
	need(t)
	p := open(t, nil)
	u := server(t, experiment.Limits{Replicas: 1})
	u.Secrets = map[string]string{"TOKEN": "nowhere/token"}
	running, err := p.Start(t.Context(), u)
	if err == nil {
		t.Fatalf("it started: %v", running)
	}
	if !strings.Contains(err.Error(), `secret "nowhere" not found`) {
		t.Errorf("%v", err)
	}
}
