package launch

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
)

// Dry runs of all objects of a run, as the user, who creates the ConfigMap, the Job and what
// is between them. The conductor creates the others. It tries them once more, as itself,
// before its first trial (internal/kubernetes/pods). Controllers create the pods, of which
// a dry run of a Deployment or a Job sees nothing, so that pods are tried too.

// tries lets the server try all objects. Those of one kind, or of one unit, are one
// requirement.
func (k *checker) tries(ctx context.Context) Requirements {
	p, err := newProof(k.asked.Run, time.Now(), k.asked.longest())
	if err != nil {
		return Requirements{unknown("the objects of the run", "%v", err)}
	}
	own, err := k.asked.objects(k.client.Namespace, p)
	if err != nil {
		return Requirements{missing("the objects of the run", "%v", err)}
	}
	var all []func() Requirement
	for _, some := range grouped(own.all(), func(o kube.Object) string { return o.Kind }) {
		all = append(all, func() Requirement { return k.tryOwn(ctx, some) })
	}
	for _, sets := range grouped(k.podSets(), func(p objects.PodSet) string { return p.What }) {
		all = append(all, func() Requirement { return k.tryPods(ctx, sets) })
	}
	needs := make(Requirements, len(all))
	var trying sync.WaitGroup
	for i, try := range all {
		trying.Go(func() { needs[i] = try() })
	}
	trying.Wait()
	return needs
}

// grouped divides elements by a key, in the order of their first ones.
func grouped[T any](all []T, key func(T) string) [][]T {
	var groups [][]T
	for _, one := range all {
		i := slices.IndexFunc(groups, func(g []T) bool { return key(g[0]) == key(one) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// podSets are the pods of all cells, without those that differ in their number only.
func (k *checker) podSets() []objects.PodSet {
	all := slices.Concat(k.asked.demand()...)
	if k.asked.Experiment.Kubernetes.NodeAgent {
		all = append(all, k.asked.maker().NodeAgent())
	}
	var sets []objects.PodSet
	for _, p := range all {
		same := func(other objects.PodSet) bool {
			return other.What == p.What && other.Limits == p.Limits && imageOf(other.Template) == imageOf(p.Template)
		}
		if !slices.ContainsFunc(sets, same) {
			sets = append(sets, p)
		}
	}
	return sets
}

// tryOwn tries objects of one kind that the user creates.
func (k *checker) tryOwn(ctx context.Context, some []kube.Object) Requirement {
	what := "the run's " + some[0].Kind
	for _, o := range some {
		err := o.Try(ctx, k.client)
		if o.Kind == kube.RoleBindings.Name && apierrors.IsNotFound(err) {
			if need := k.bindable(ctx, what); need != nil {
				return *need
			}
			continue // the server looks for the run's Role, which is tried too, and not created
		}
		if err != nil {
			return notAdmitted(what, kube.PartConductor, err)
		}
	}
	return there(what, "the server accepts it (dry run)")
}

// bindable reports what the dry run of a RoleBinding leaves open; nil: nothing. The server
// has compared the user's rights with those of the Role, unless the user may escalate:
// then only the right to bind shows that the Role can be bound.
func (k *checker) bindable(ctx context.Context, what string) *Requirement {
	for _, verb := range []string{"escalate", "bind"} {
		may, err := k.may(ctx, verb, rbacv1.GroupName, "roles", "")
		switch {
		case err != nil:
			return new(unknown(what, "%v", err))
		case verb == "escalate" && !may, verb == "bind" && may:
			return nil
		}
	}
	return new(unknown(what, "you may escalate roles and not bind them, so the server decides when the Role exists"))
}

// tryPods tries pods of one kind, and the objects by which the conductor makes them.
func (k *checker) tryPods(ctx context.Context, sets []objects.PodSet) Requirement {
	what, part := sets[0].What, sets[0].Template.Labels[kube.LabelPart]
	need := there(what, "the server accepts them (dry run: Pod Security, policies, quotas)")
	for _, o := range sets[0].Objects {
		err := o.Try(ctx, k.client)
		switch {
		case err != nil && lacksRight(err): // who may escalate can grant rights to the conductor without having them
			need = unknown(what, "their %s was not tried: %v", o.Kind, err)
		case err != nil:
			return notAdmitted(what, part, err)
		}
	}
	for _, p := range sets {
		admitted, err := kube.Pods.Try(ctx, k.client, k.pod(p.Template))
		if err != nil {
			return notAdmitted(what, part, err)
		}
		if why := objects.Admitted(&admitted.Spec, p.Limits); why != "" {
			return missing(what, "%s", why)
		}
		if cpu := addedLimit(&p.Template.Spec, &admitted.Spec); cpu != "" && need.State != Unknown {
			need = Requirement{what, Noted, "a LimitRange or a policy of the namespace sets a CPU limit of " + cpu +
				" on them: agents are then throttled and flagged, and services without limits.cpu are measured under it"}
		}
	}
	return need
}

// pod is a pod for a dry run. An account that is created with the run does not exist yet,
// and the server refuses pods of accounts that do not exist.
func (k *checker) pod(t corev1.PodTemplateSpec) *corev1.Pod {
	if t.Spec.ServiceAccountName == Name(k.asked.Run) {
		t.Spec.ServiceAccountName, t.Spec.AutomountServiceAccountToken = "", new(false)
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: Name(k.asked.Run) + "-", Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
}

// addedLimit is the CPU limit of the first container that states none and was admitted
// with one; "" if there is no such container.
func addedLimit(stated, admitted *corev1.PodSpec) string {
	for _, c := range stated.Containers {
		i := slices.IndexFunc(admitted.Containers, func(a corev1.Container) bool { return a.Name == c.Name })
		if i < 0 || !c.Resources.Limits.Cpu().IsZero() {
			continue
		}
		if cpu := admitted.Containers[i].Resources.Limits.Cpu(); !cpu.IsZero() {
			return cpu.String()
		}
	}
	return ""
}

// notAdmitted is the requirement for a dry run that failed: the server's reason, and what to
// do. part is the part of the run to which the object belongs.
func notAdmitted(what, part string, err error) Requirement {
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return unknown(what, "%v", err) // the server, or one of its webhooks, did not answer
	}
	do := "change what forbids it, or use another namespace (--namespace)"
	switch reason := err.Error(); {
	case lacksRight(err):
		do = askForRights
	case strings.Contains(reason, "exceeded quota"):
		do = "raise the quota, remove earlier runs (millicore clean --on kubernetes), or reduce the experiment"
	case strings.Contains(reason, "violates PodSecurity") && part == kube.PartNode:
		do = "they read the node's control groups by a hostPath volume: label the namespace pod-security.kubernetes.io/enforce=privileged, or leave --node-agent out"
	case strings.Contains(reason, "looking up service account"):
		do = "let an administrator apply docs/kubernetes.yaml once, or run with --node-agent"
	}
	return missing(what, "the server refuses it: %v; %s", err, do)
}

// lacksRight reports whether the server refused a request because the user lacks a right
// to create an object, or one that a Role grants.
func lacksRight(err error) bool {
	return apierrors.IsForbidden(err) && (strings.Contains(err.Error(), "cannot create resource") || strings.Contains(err.Error(), "not currently held"))
}
