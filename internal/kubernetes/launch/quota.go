package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// quotas compares the largest cell with what the quotas of the namespace leave.
func (k *checker) quotas(ctx context.Context) Requirements {
	all, err := kube.Quotas.List(ctx, k.client, "")
	if err != nil {
		return Requirements{unknown("quotas of the namespace", "%v", err)}
	}
	var needs Requirements
	takes := k.asked.largest()
	for i := range all {
		needs = append(needs, quota(&all[i], takes))
	}
	return needs
}

// quotaNames are other names of resources in quotas.
var quotaNames = map[corev1.ResourceName]corev1.ResourceName{
	corev1.ResourceCPU: corev1.ResourceRequestsCPU, corev1.ResourceMemory: corev1.ResourceRequestsMemory, "count/pods": corev1.ResourcePods,
}

// quota reports whether a quota has room for the largest cell.
func quota(q *corev1.ResourceQuota, takes corev1.ResourceList) Requirement {
	what := "quota " + q.Name
	if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
		return unknown(what, "not checked, because it has scopes; see kubectl describe quota")
	}
	var short []string
	for name, hard := range q.Status.Hard {
		as := name
		if other, ok := quotaNames[name]; ok {
			as = other
		}
		want, ok := takes[as]
		if !ok {
			continue
		}
		left := hard.DeepCopy()
		left.Sub(q.Status.Used[name])
		if want.Cmp(left) > 0 {
			used := q.Status.Used[name]
			short = append(short, fmt.Sprintf("%s: the largest cell needs %s, and %s of %s are in use", name, &want, &used, &hard))
		}
	}
	if len(short) == 0 {
		return there(what, "it has room for the largest cell")
	}
	slices.Sort(short)
	return missing(what, "%s; raise the quota, or reduce the experiment (limits, replicas, load.agents, kubernetes.agents)", strings.Join(short, "; "))
}
