package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
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
	return append(needs, k.ranges(ctx)...)
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

// ranges notes defaults that would change the measurement.
func (k *checker) ranges(ctx context.Context) Requirements {
	all, err := kube.LimitRanges.List(ctx, k.client, "")
	if err != nil {
		return Requirements{unknown("limit ranges of the namespace", "%v", err)}
	}
	var needs Requirements
	for i := range all {
		for _, item := range all[i].Spec.Limits {
			cpu, ok := item.Default[corev1.ResourceCPU]
			if ok && item.Type == corev1.LimitTypeContainer {
				needs = append(needs, Requirement{"limit range " + all[i].Name, Noted,
					fmt.Sprintf("it sets a CPU limit of %s on containers without one: on agents, which are then throttled and flagged, and on services without limits.cpu", &cpu)})
			}
		}
	}
	return needs
}

// admission does a dry run of one pod of each kind, which checks Pod Security, limit
// ranges and the cluster's policies.
func (k *checker) admission(ctx context.Context) Requirements {
	var needs Requirements
	tried := map[string]bool{}
	try := func(p objects.PodSet) {
		if !tried[p.What] {
			tried[p.What] = true
			admitted, err := kube.Pods.Try(ctx, k.client, k.pod(p.Template))
			needs = append(needs, admission(p, admitted, err))
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

// admission is the result of the dry run of a pod: as the server would store it, or why it
// refuses it.
func admission(p objects.PodSet, admitted *corev1.Pod, err error) Requirement {
	what := p.What
	switch {
	case err == nil:
		if why := objects.Admitted(&admitted.Spec, p.Limits); why != "" {
			return missing(what, "%s", why)
		}
		return there(what, "the server accepts them (dry run: Pod Security, policies, quotas)")
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), `cannot create resource "pods"`):
		return unknown(what, "no permission to create pods")
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "violates PodSecurity") && p.Template.Labels[kube.LabelPart] == kube.PartNode:
		return missing(what, "%v; they read the node's control groups by a hostPath volume: label the namespace pod-security.kubernetes.io/enforce=privileged, or leave --node-agent out", err)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return missing(what, "the server refuses them: %v", err)
	}
	return unknown(what, "%v", err)
}
