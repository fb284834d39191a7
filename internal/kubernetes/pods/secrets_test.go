package pods

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
)

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
	k := &cluster{options: Options{Run: "quick-1123-x7"}, api: client, maker: objects.New(objects.Options{Run: "quick-1123-x7",
		Owner: metav1.OwnerReference{Name: "millicore-quick-1123-x7"}})}
	var names []string
	for _, v := range []objects.Values{{"value-1": "Mark3r-a"}, {"value-1": "Mark3r-b"}, {"value-1": "Mark3r-a"}} {
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
