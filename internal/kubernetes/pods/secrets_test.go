package pods

import (
	"encoding/json"
	"io"
	"net/http"
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
	d, secrets, err := testMaker(nil).deployment(secretUnit(), kube.PartService)
	if err != nil {
		t.Fatal(err)
	}
	refer(d, "the-secret")
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

// The Secret is made before the Deployment that refers to it, belongs to the run, and is
// made once for the same values.
func TestSecretOfAUnit(t *testing.T) {
	s, client := serve(t)
	var made []corev1.Secret
	s.hand["POST /api/v1/namespaces/here/secrets"] = func(w http.ResponseWriter, r *http.Request) {
		var one corev1.Secret
		if err := json.NewDecoder(r.Body).Decode(&one); err != nil {
			t.Error(err)
		}
		made = append(made, one)
		io.WriteString(w, "{}")
	}
	k := &cluster{options: Options{Run: "quick-1123-x7"}, api: client, maker: testMaker(nil)}
	var names []string
	for _, v := range []values{{"value-1": "Mark3r-a"}, {"value-1": "Mark3r-b"}, {"value-1": "Mark3r-a"}} {
		name, err := k.secretOf(t.Context(), v)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if len(made) != 2 || names[0] != names[2] || names[0] == names[1] || made[0].Name != names[0] {
		t.Fatalf("%v of %d", names, len(made))
	}
	one := made[0]
	if one.StringData["value-1"] != "Mark3r-a" || !*one.Immutable || one.OwnerReferences[0].Name != "millicore-quick-1123-x7" || one.Labels[kube.LabelRun] != "quick-1123-x7" {
		t.Errorf("%+v", one)
	}
}
