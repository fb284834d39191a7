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

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// permission is one verb on one resource.
type permission struct {
	group, resource, subresource, name, verb string
}

// kind is the right's resource as kubectl writes it: "deployments.apps",
// "pods/log".
func (r permission) kind() string {
	s := r.resource
	if r.subresource != "" {
		s += "/" + r.subresource
	}
	if r.group != "" {
		s += "." + r.group
	}
	return s
}

// permissionsOf lists the permissions of rules one by one.
func permissionsOf(rules []rbacv1.PolicyRule) []permission {
	var all []permission
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				resource, sub, _ := strings.Cut(resource, "/")
				names := rule.ResourceNames
				if len(names) == 0 {
					names = []string{""}
				}
				for _, name := range names {
					for _, verb := range rule.Verbs {
						all = append(all, permission{group, resource, sub, name, verb})
					}
				}
			}
		}
	}
	return all
}

// atOnce is the number of concurrent requests.
const atOnce = 8

// denied returns the permissions that the server denies to the user.
func (k *checker) denied(ctx context.Context, rights []permission) ([]permission, error) {
	answers := make([]bool, len(rights))
	errs := make([]error, len(rights))
	slots := make(chan struct{}, atOnce)
	var asking sync.WaitGroup
	for i, r := range rights {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			answer, err := kube.SelfAccessReviews.Create(ctx, k.client, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: r.attributes(k.client.Namespace)}})
			if err != nil {
				errs[i] = err
				return
			}
			answers[i] = answer.Status.Allowed
		})
	}
	asking.Wait()
	var lacks []permission
	for i, r := range rights {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if !answers[i] {
			lacks = append(lacks, r)
		}
	}
	return lacks, nil
}

func (r permission) attributes(namespace string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Name: r.name}
}

// permissions checks the user's own permissions and those that the conductor gets. In
// Kubernetes users can grant only what they have, unless they may escalate and bind.
func (k *checker) permissions(ctx context.Context) Requirements {
	own, handed := permissionsOf(userRules()), permissionsOf(rules(k.asked.Run, k.asked.Experiment))
	lacks, err := k.denied(ctx, slices.Concat(own, handed))
	if err != nil {
		return Requirements{unknown("your rights", "%v", err)}
	}
	var needs Requirements
	mine := intersect(lacks, own)
	for _, r := range group(own) {
		what := "right to " + r.kind
		if verbs := verbsOf(mine, r.kind); len(verbs) > 0 {
			needs = append(needs, missing(what, "no permission to %s them in namespace %s; ask an administrator for it (docs/kubernetes.yaml has the Role)", list(verbs), k.client.Namespace))
		} else {
			needs = append(needs, there(what, "%s", strings.Join(r.verbs, ", ")))
		}
	}
	return append(needs, k.handed(ctx, intersect(lacks, handed)))
}

// handed checks whether the user can grant permissions that the user does not have.
func (k *checker) handed(ctx context.Context, lacks []permission) Requirement {
	what := "rights of the conductor"
	if len(lacks) == 0 {
		return there(what, "you have all of them")
	}
	const rbac = rbacv1.GroupName
	barred, err := k.denied(ctx, []permission{{rbac, "roles", "", "", "escalate"}, {rbac, "rolebindings", "", "", "bind"}})
	if err == nil && len(barred) == 0 {
		return there(what, "you may grant rights that you lack (verb escalate)")
	}
	var parts []string
	for _, r := range group(lacks) {
		parts = append(parts, list(r.verbs)+" "+r.kind)
	}
	return missing(what, "you cannot grant it the right to %s in namespace %s, because you do not have it; ask an administrator for it (docs/kubernetes.yaml has the Role)", strings.Join(parts, "; to "), k.client.Namespace)
}

// kubelets checks whether the conductor's account exists and may read the metrics of
// nodes, if there are no node agents.
func (k *checker) kubelets(ctx context.Context) Requirements {
	if k.asked.Experiment.Kubernetes.NodeAgent {
		return nil
	}
	return Requirements{k.account(ctx), k.metricsRight(ctx)}
}

func (k *checker) account(ctx context.Context) Requirement {
	what := "account " + kube.ConductorAccount
	_, err := kube.ServiceAccounts.Get(ctx, k.client, kube.ConductorAccount)
	switch {
	case apierrors.IsNotFound(err):
		return missing(what, "it is not in namespace %s, and the conductor runs under it; let an administrator apply docs/kubernetes.yaml once, or run with --node-agent", k.client.Namespace)
	case err != nil:
		return unknown(what, "%v", err)
	}
	return there(what, "it is in the namespace")
}

func (k *checker) metricsRight(ctx context.Context) Requirement {
	what := "right of the conductor to nodes/metrics"
	if err := k.mayReadNodes(ctx, kube.ConductorAccount); err != nil {
		return err.requirement(what)
	}
	// An administrator may have applied an older docs/kubernetes.yaml, which had bound it
	// to all accounts of the namespace.
	if k.mayReadNodes(ctx, "default") == nil {
		return Requirement{what, Noted, fmt.Sprintf("other accounts of namespace %s have it too, and so have pods that run under them; let an administrator apply docs/kubernetes.yaml again, which binds it to the account %s only", k.client.Namespace, kube.ConductorAccount)}
	}
	return there(what, "it can read CPU use and throttling from the kubelets")
}

// notAllowed is why an account may not read the metrics of nodes, or why that is not
// known.
type notAllowed struct {
	known bool
	words string
}

func (n *notAllowed) requirement(what string) Requirement {
	if n.known {
		return missing(what, "%s", n.words)
	}
	return unknown(what, "%s", n.words)
}

// mayReadNodes returns nil if an account of the namespace may read the metrics of nodes.
func (k *checker) mayReadNodes(ctx context.Context, account string) *notAllowed {
	accounts := "system:serviceaccounts"
	for _, right := range []struct {
		words string
		of    authorizationv1.ResourceAttributes
	}{
		{"get nodes/metrics", authorizationv1.ResourceAttributes{Verb: "get", Resource: "nodes", Subresource: "metrics"}},
		{"list nodes", authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes"}},
	} {
		answer, err := kube.AccessReviews.Create(ctx, k.client, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + k.client.Namespace + ":" + account,
			Groups:             []string{accounts, accounts + ":" + k.client.Namespace, "system:authenticated"},
			ResourceAttributes: &right.of,
		}})
		switch {
		case apierrors.IsForbidden(err):
			return &notAllowed{words: "it cannot be checked: no permission to check the rights of others (create subjectaccessreviews)"}
		case err != nil:
			return &notAllowed{words: err.Error()}
		case !answer.Status.Allowed:
			return &notAllowed{true, fmt.Sprintf("the account %s may not %s, which reading CPU use and throttling needs; let an administrator apply docs/kubernetes.yaml once, or run with --node-agent", account, right.words)}
		}
	}
	return nil
}

// grouped are the verbs on one resource.
type grouped struct {
	kind  string
	verbs []string
}

// group groups verbs by resource, in the order of the permissions.
func group(rights []permission) []grouped {
	var all []grouped
	for _, r := range rights {
		i := slices.IndexFunc(all, func(g grouped) bool { return g.kind == r.kind() })
		if i < 0 {
			i = len(all)
			all = append(all, grouped{kind: r.kind()})
		}
		all[i].verbs = append(all[i].verbs, r.verb)
	}
	return all
}

func verbsOf(rights []permission, kind string) []string {
	for _, g := range group(rights) {
		if g.kind == kind {
			return g.verbs
		}
	}
	return nil
}

func intersect(a, b []permission) []permission {
	return slices.DeleteFunc(slices.Clone(a), func(r permission) bool { return !slices.Contains(b, r) })
}

// list joins words as people do: "create, get and delete".
func list(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return fmt.Sprintf("%s and %s", strings.Join(words[:n-1], ", "), words[n-1])
}
