package kubernetes

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// marker is in every secret of a run, and in nothing but Secrets.
const marker = "Mark3r"

var replicaSets = kube.Kind[appsv1.ReplicaSet]{Group: "apps/v1", Name: "ReplicaSet", Plural: "replicasets"}

// objects are all objects of the namespace as JSON, by kind, but for Secrets.
func (l *laptop) objects(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	listed(t, l.api, all, kube.ConfigMaps)
	listed(t, l.api, all, kube.Services)
	listed(t, l.api, all, kube.ServiceAccounts)
	listed(t, l.api, all, kube.Pods)
	listed(t, l.api, all, kube.Events)
	listed(t, l.api, all, kube.Claims)
	listed(t, l.api, all, kube.Deployments)
	listed(t, l.api, all, replicaSets)
	listed(t, l.api, all, kube.DaemonSets)
	listed(t, l.api, all, kube.Jobs)
	listed(t, l.api, all, kube.EndpointSlices)
	listed(t, l.api, all, kube.NetworkPolicies)
	listed(t, l.api, all, kube.Roles)
	listed(t, l.api, all, kube.RoleBindings)
	return all
}

func listed[T any](t *testing.T, api *kube.Client, into map[string]string, kind kube.Kind[T]) {
	t.Helper()
	all, err := kind.List(t.Context(), api, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	into[kind.Name] = string(text)
}

// podLogs are the logs of the pods that have one, by pod.
func (l *laptop) podLogs(t *testing.T) map[string]string {
	t.Helper()
	pods, err := kube.Pods.List(t.Context(), l.api, "")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for i := range pods {
		log, err := l.api.Logs(t.Context(), pods[i].Name, kube.LogOptions{})
		if err != nil {
			continue // it has not started
		}
		text, err := io.ReadAll(log)
		log.Close()
		if err != nil {
			t.Fatal(err)
		}
		all["log of "+pods[i].Name] = string(text)
	}
	return all
}

// unmarked reports texts that have the marker.
func unmarked(t *testing.T, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		if i := strings.Index(text, marker); i >= 0 {
			t.Errorf("%s has a secret: …%s…", name, text[max(0, i-80):min(len(text), i+40)])
		}
	}
}

const secretive = `
name: secretive
services:
  go:
    workload: go
    env:
      GOMAXPROCS: "${procs}"
      TOKEN: Mark3r-literal-1
      REF_SECRET: {from_env: CI_TOKEN}
      FILE_KEY: {from_file: value.txt}
      CLUSTER_KEY: {secret: shop/token}
      DATABASE_URL: postgres://app:Mark3r-password@127.0.0.1:5432/shop
vary: {procs: [1, 2]}
limits: {cpu: 300m, memory: 128Mi}
load:
  request: {path: "/isPrime/66667?access_token=Mark3r-query", headers: {Authorization: Bearer Mark3r-bearer, Cookie: s=Mark3r-cookie}}
  users: 8
measure: {warmup: 1s, duration: 6s, repeats: 1}
kubernetes:
  image: ` + ownImage + `
  requests: {cpu: 20m}
  agents: {cpu: 20m, memory: 64Mi}
  conductor: {cpu: 20m, memory: 256Mi}
`

// The secrets of a run are in its Secrets, and in no other object, in no log of a pod, in
// nothing that the program prints, and in no file of the record.
func TestSecretsOfARunAreInSecretsOnly(t *testing.T) {
	l := newLaptop(t).allowed(t)
	t.Setenv("CI_TOKEN", "Mark3r-from-env-1")
	for name, text := range map[string]string{"secretive.yaml": secretive, "value.txt": "Mark3r-from-file-1\n"} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := kube.Secrets.Create(t.Context(), l.api, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		StringData: map[string]string{"token": "Mark3r-cluster-1"}}); err != nil {
		t.Fatal(err)
	}
	c := l.start(t, "run", "secretive.yaml", "--out", "record", "--set", "services.go.env.SET_PASSWORD=Mark3r-set-1")
	l.measures(t, l.run(t))
	during, logs := l.objects(t), l.podLogs(t)
	secrets, err := kube.Secrets.List(t.Context(), l.api, "")
	if err != nil {
		t.Fatal(err)
	}
	c.ends(t, 0)
	unmarked(t, during)
	unmarked(t, logs)
	unmarked(t, l.objects(t)) // with the events of the end
	unmarked(t, map[string]string{"the output": c.out.String() + c.err.String()})
	if len(logs) == 0 || !strings.Contains(during["Deployment"], "REF_SECRET") {
		t.Errorf("nothing was seen: logs of %d pods, Deployments %s", len(logs), during["Deployment"])
	}
	data := ""
	for _, s := range secrets {
		for _, value := range s.Data {
			data += string(value) + "\n"
		}
	}
	for _, value := range []string{"literal-1", "from-env-1", "from-file-1", "password", "query", "bearer", "cookie", "set-1"} {
		if !strings.Contains(data, marker+"-"+value) {
			t.Errorf("no Secret has %s", value)
		}
	}
	l.reports(t)
}

// reports derives all outputs of the record, and looks for the marker in them and in its
// files.
func (l *laptop) reports(t *testing.T) {
	t.Helper()
	if n := l.trials(t, "record"); n < 2 {
		t.Errorf("%d trials are in the record, want 2", n)
	}
	for _, how := range []string{"--json", "--csv", "--markdown"} {
		c := exec.Command(l.program, "report", "record", how)
		c.Dir = l.dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("report %s: %v", how, err)
		}
		unmarked(t, map[string]string{"report " + how: string(out)})
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(l.dir, "record"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		unmarked(t, map[string]string{path: string(text)})
		return err
	})
	if err != nil || files < len([]string{record.RunFile, record.FramesFile, record.TrialsFile}) {
		t.Errorf("%d files of the record, %v", files, err)
	}
}
