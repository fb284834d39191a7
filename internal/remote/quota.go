package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kube"
	"github.com/millicore/millicore/internal/platform/kubernetes"
)

// quotas holds the largest cell against what the namespace may still have.
func (k *checker) quotas(ctx context.Context) Needs {
	all, err := kube.Quotas.List(ctx, k.client, "")
	if err != nil {
		return Needs{unknown("quotas of the namespace", "%v", err)}
	}
	var needs Needs
	takes := k.asked.largest()
	for i := range all {
		needs = append(needs, quota(&all[i], takes))
	}
	return append(needs, k.ranges(ctx)...)
}

// other names of what a quota bounds.
var quotaNames = map[corev1.ResourceName]corev1.ResourceName{
	corev1.ResourceCPU: corev1.ResourceRequestsCPU, corev1.ResourceMemory: corev1.ResourceRequestsMemory, "count/pods": corev1.ResourcePods,
}

// quota tells whether one has room for what the largest cell takes.
func quota(q *corev1.ResourceQuota, takes corev1.ResourceList) Need {
	what := "quota " + q.Name
	if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
		return unknown(what, "it counts only some pods (scopes), and is not looked at")
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
			short = append(short, fmt.Sprintf("%s: the largest cell takes %s, and of %s %s are used", name, &want, &hard, &used))
		}
	}
	if len(short) == 0 {
		return there(what, "it has room for the largest cell")
	}
	slices.Sort(short)
	return missing(what, "%s; ask for more, or measure less (limits, replicas, load.agents, kubernetes.agents)", strings.Join(short, "; "))
}

// ranges tells of defaults that would change what is measured.
func (k *checker) ranges(ctx context.Context) Needs {
	all, err := kube.LimitRanges.List(ctx, k.client, "")
	if err != nil {
		return Needs{unknown("limit ranges of the namespace", "%v", err)}
	}
	var needs Needs
	for i := range all {
		for _, item := range all[i].Spec.Limits {
			cpu, ok := item.Default[corev1.ResourceCPU]
			if ok && item.Type == corev1.LimitTypeContainer {
				needs = append(needs, Need{"limit range " + all[i].Name, Noted,
					fmt.Sprintf("it gives containers without a CPU limit one of %s: agents too, which are then throttled and flagged, and services without limits.cpu", &cpu)})
			}
		}
	}
	return needs
}

// admission asks the server whether it would take one pod of each kind: Pod
// Security, limit ranges and the cluster's own policies have their say.
func (k *checker) admission(ctx context.Context) Needs {
	var needs Needs
	tried := map[string]bool{}
	try := func(p kubernetes.PodSet) {
		if !tried[p.What] {
			tried[p.What] = true
			needs = append(needs, refusedPod(p, kube.Pods.Try(ctx, k.client, k.pod(p.Template))))
		}
	}
	for _, cell := range k.asked.demand() {
		for _, p := range cell {
			try(p)
		}
	}
	if k.asked.Experiment.Kubernetes.NodeAgent {
		try(k.asked.maker().NodeAgent())
	}
	return needs
}

// refusedPod is what a try of a pod tells.
func refusedPod(p kubernetes.PodSet, err error) Need {
	what := p.What
	switch {
	case err == nil:
		return there(what, "the server would take them (a try: Pod Security, policies, quotas)")
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), `cannot create resource "pods"`):
		return unknown(what, "you may not make pods")
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "violates PodSecurity") && p.Template.Labels[kube.LabelPart] == kube.PartNode:
		return missing(what, "%v; they read the node's control groups by a hostPath volume: label the namespace pod-security.kubernetes.io/enforce=privileged, or leave --node-agent out", err)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return missing(what, "the server refuses them: %v", err)
	}
	return unknown(what, "%v", err)
}
