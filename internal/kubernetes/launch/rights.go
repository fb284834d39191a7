package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// rights checks the user's rights that no dry run shows: all but those to create. The
// server itself compares the user's rights with those of the conductor, when it tries the
// run's Role.
func (k *checker) rights(ctx context.Context) Requirements {
	var rules []rbacv1.PolicyRule
	for _, r := range userRules() {
		r.Verbs = slices.DeleteFunc(r.Verbs, func(verb string) bool { return verb == "create" })
		if len(r.Verbs) > 0 {
			rules = append(rules, r)
		}
	}
	needs := make(Requirements, len(rules))
	var asking sync.WaitGroup
	for i := range rules {
		asking.Go(func() { needs[i] = k.right(ctx, &rules[i]) })
	}
	asking.Wait()
	return needs
}

// right checks the verbs of a rule, which has one group and one resource.
func (k *checker) right(ctx context.Context, rule *rbacv1.PolicyRule) Requirement {
	group := rule.APIGroups[0]
	what := "right to " + strings.TrimSuffix(rule.Resources[0]+"."+group, ".")
	resource, sub, _ := strings.Cut(rule.Resources[0], "/")
	var lacks []string
	for _, verb := range rule.Verbs {
		may, err := k.may(ctx, verb, group, resource, sub)
		if err != nil {
			return unknown(what, "%v", err)
		}
		if !may {
			lacks = append(lacks, verb)
		}
	}
	if len(lacks) > 0 {
		return missing(what, "no permission to %s them in namespace %s; %s", phrase.List(lacks), k.client.Namespace, askForRights)
	}
	return there(what, "%s", strings.Join(rule.Verbs, ", "))
}

// may reports whether the user has a right in the namespace.
func (k *checker) may(ctx context.Context, verb, group, resource, sub string) (bool, error) {
	answer, err := kube.SelfAccessReviews.Create(ctx, k.client, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: k.client.Namespace, Verb: verb, Group: group, Resource: resource, Subresource: sub}}})
	if err != nil {
		return false, err
	}
	return answer.Status.Allowed, nil
}

// askForRights is what to do without a right.
const askForRights = "ask an administrator for it (docs/kubernetes.yaml has the Role)"

// metricsRight checks whether the conductor's account may read the metrics of nodes, if
// there are no node agents.
func (k *checker) metricsRight(ctx context.Context) Requirements {
	if k.asked.Experiment.Kubernetes.NodeAgent {
		return nil
	}
	what := "right of the conductor to nodes/metrics"
	lacks, err := k.lacksNodes(ctx, kube.ConductorAccount)
	switch {
	case apierrors.IsForbidden(err):
		return Requirements{unknown(what, "it cannot be checked: no permission to check the rights of others (create subjectaccessreviews)")}
	case err != nil:
		return Requirements{unknown(what, "%v", err)}
	case lacks != "":
		return Requirements{missing(what, "the account %s may not %s, which reading CPU use and throttling needs; let an administrator apply docs/kubernetes.yaml once, or run with --node-agent", kube.ConductorAccount, lacks)}
	}
	// An administrator may have applied an older docs/kubernetes.yaml, which had bound it
	// to all accounts of the namespace.
	if lacks, err := k.lacksNodes(ctx, "default"); err == nil && lacks == "" {
		return Requirements{{what, Noted, fmt.Sprintf("other accounts of namespace %s have it too, and so have pods that run under them; let an administrator apply docs/kubernetes.yaml again, which binds it to the account %s only", k.client.Namespace, kube.ConductorAccount)}}
	}
	return Requirements{there(what, "it can read CPU use and throttling from the kubelets")}
}

// lacksNodes names the first right that an account of the namespace lacks to read the
// metrics of nodes; "" if it has all.
func (k *checker) lacksNodes(ctx context.Context, account string) (right string, err error) {
	const accounts = "system:serviceaccounts"
	for _, right := range []authorizationv1.ResourceAttributes{{Verb: "get", Resource: "nodes", Subresource: "metrics"}, {Verb: "list", Resource: "nodes"}} {
		answer, err := kube.AccessReviews.Create(ctx, k.client, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + k.client.Namespace + ":" + account,
			Groups:             []string{accounts, accounts + ":" + k.client.Namespace, "system:authenticated"},
			ResourceAttributes: &right,
		}})
		if err != nil {
			return "", err
		}
		if !answer.Status.Allowed {
			return strings.TrimSuffix(right.Verb+" "+right.Resource+"/"+right.Subresource, "/"), nil
		}
	}
	return "", nil
}
