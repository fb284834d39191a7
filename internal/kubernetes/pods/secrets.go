package pods

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
)

// secretOf returns the name of the Secret with these values, which it creates unless an
// earlier unit had the same ones. Its name is random: one that is made of the values would
// be a hash of them. It is removed with the run: a conductor that could delete it could
// delete every Secret of the namespace.
func (k *cluster) secretOf(ctx context.Context, secrets objects.Values) (string, error) {
	same, err := json.Marshal(secrets)
	if err != nil {
		return "", err
	}
	k.mu.Lock()
	name := k.secrets[string(same)]
	k.mu.Unlock()
	if name != "" {
		return name, nil
	}
	yes := true
	s := &corev1.Secret{ObjectMeta: k.maker.Meta(objects.Name(k.options.Run, "env", strings.ToLower(rand.Text()[:10])), kube.PartService, nil),
		Type: corev1.SecretTypeOpaque, Immutable: &yes, StringData: secrets}
	if _, err := kube.Secrets.Create(ctx, k.api, s); err != nil {
		return "", fmt.Errorf("create the Secret %s: %w", s.Name, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.secrets == nil {
		k.secrets = map[string]string{}
	}
	k.secrets[string(same)] = s.Name
	return s.Name, nil
}
