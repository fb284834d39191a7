package objects

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform"
)

// marker is in every value that must not be in a pod.
const marker = "Mark3r"

func secretUnit() *platform.UnitSpec {
	u := goUnit()
	u.Command = []string{"/server", "--db", "${db.url}", "--port", "${port}"}
	u.Vars = map[string]string{"db.address": "10.0.0.7:5432", "db.url": "postgres://app:Mark3r-url$(HOME)@10.0.0.7/shop"}
	u.Env = map[string]string{"TOKEN": "Mark3r-token$(HOME)", "DATABASE_URL": "${db.url}", "LEVEL": "info"}
	u.Hidden = []string{"TOKEN"}
	u.Secrets = map[string]string{"CLUSTER": "shop-db/password"}
	return u
}

func TestValuesAreNotInPods(t *testing.T) {
	d, secrets, err := testMaker(nil).Deployment(secretUnit(), kube.PartService)
	if err != nil {
		t.Fatal(err)
	}
	Refer(d, "the-secret")
	text, err := json.Marshal(d)
	if err != nil || strings.Contains(string(text), marker) {
		t.Errorf("%v: %s", err, text)
	}
	c := d.Spec.Template.Spec.Containers[0]
	value := func(name string) string { // as the kubelet reads it
		i := slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name })
		if i < 0 || c.Env[i].ValueFrom == nil {
			t.Fatalf("%s is not from a Secret: %+v", name, c.Env)
		}
		ref := c.Env[i].ValueFrom.SecretKeyRef
		if ref.Name != "the-secret" {
			return ref.Name + "/" + ref.Key
		}
		return secrets[ref.Key]
	}
	for name, want := range map[string]string{"TOKEN": "Mark3r-token$(HOME)", "DATABASE_URL": "postgres://app:Mark3r-url$(HOME)@10.0.0.7/shop",
		"CLUSTER": "shop-db/password", "MILLICORE_ARGUMENT_2": "postgres://app:Mark3r-url$(HOME)@10.0.0.7/shop"} {
		if got := value(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if want := []string{"/server", "--db", "$(MILLICORE_ARGUMENT_2)", "--port", "8080"}; !slices.Equal(c.Command, want) {
		t.Errorf("%q", c.Command)
	}
}
