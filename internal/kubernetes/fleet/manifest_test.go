package fleet

import (
	"errors"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// The pods may do what a look needs and no more, and are those that Collect looks for.
func TestManifest(t *testing.T) {
	var out strings.Builder
	if err := WriteManifest(&out, "", "1.2"); err != nil {
		t.Fatal(err)
	}
	decode := yaml.NewDecoder(strings.NewReader(out.String()))
	var namespace, daemon map[string]any
	if err := errors.Join(decode.Decode(&namespace), decode.Decode(&daemon)); err != nil {
		t.Fatal(err)
	}
	at := func(keys ...string) any {
		var v any = daemon
		for _, key := range keys {
			if list, ok := v.([]any); ok && len(list) == 1 {
				v = list[0]
			}
			v = v.(map[string]any)[key]
		}
		return v
	}
	pod := []string{"spec", "template", "spec"}
	for _, tt := range []struct {
		keys []string
		want any
	}{
		{[]string{"metadata", "namespace"}, Namespace},
		{[]string{"spec", "template", "metadata", "labels"}, map[string]any{"app.kubernetes.io/name": strings.TrimPrefix(label, "app.kubernetes.io/name=")}},
		{append(pod, "hostPID"), true},
		{append(pod, "hostNetwork"), nil},
		{append(pod, "automountServiceAccountToken"), false},
		{append(pod, "containers", "name"), container},
		{append(pod, "containers", "image"), "millicore/millicore:1.2"},
		{append(pod, "containers", "command"), []any{program, "--wait"}},
		{append(pod, "containers", "securityContext"), map[string]any{"runAsUser": uint64(0), "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false,
			"seccompProfile": map[string]any{"type": "RuntimeDefault"},
			"capabilities":   map[string]any{"drop": []any{"ALL"}, "add": []any{"SYS_PTRACE", "DAC_READ_SEARCH", "SETUID", "SETGID"}}}},
		{append(pod, "containers", "volumeMounts"), []any{map[string]any{"name": "cgroup", "mountPath": "/host/cgroup", "readOnly": true},
			map[string]any{"name": "logs", "mountPath": "/var/log/containers", "readOnly": true}}},
	} {
		if diff := cmp.Diff(tt.want, at(tt.keys...)); diff != "" {
			t.Errorf("%v: %s", tt.keys, diff)
		}
	}
	if got := namespace["metadata"].(map[string]any)["name"]; got != Namespace {
		t.Errorf("got namespace %v", got)
	}
	if err := WriteManifest(&out, "", "development"); !errors.Is(err, ErrNoImage) {
		t.Errorf("got %v, want ErrNoImage", err)
	}
}
