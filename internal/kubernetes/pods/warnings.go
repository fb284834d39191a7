package pods

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
)

// warningOf is the cluster's last warning about some pods, for people, if the obstacle
// is vague: a network or a volume that could not be set up is not in a pod's status.
func (k *cluster) warningOf(ctx context.Context, in *podstatus.Obstacle, some []*corev1.Pod) string {
	if !in.Vague {
		return ""
	}
	for _, p := range some {
		if text := k.lastWarning(ctx, "Pod", p.Name); text != "" {
			return text
		}
	}
	return ""
}

// lastWarning is the last warning about an object; "" if there is none.
func (k *cluster) lastWarning(ctx context.Context, kind, name string) string {
	ctx, cancel := context.WithTimeout(ctx, brief)
	defer cancel()
	text, err := kube.LastWarning(ctx, k.api, kind, name)
	if err != nil || text == "" { // not every user may read them
		return ""
	}
	return "; the cluster's last warning: " + text
}
