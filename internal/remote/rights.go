package remote

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kube"
)

// right is one verb on one resource.
type right struct {
	group, resource, subresource, name, verb string
}

// kind is the right's resource as kubectl writes it: "deployments.apps",
// "pods/log".
func (r right) kind() string {
	s := r.resource
	if r.subresource != "" {
		s += "/" + r.subresource
	}
	if r.group != "" {
		s += "." + r.group
	}
	return s
}

// rightsOf lists those of rules one by one.
func rightsOf(rules []rbacv1.PolicyRule) []right {
	var all []right
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
						all = append(all, right{group, resource, sub, name, verb})
					}
				}
			}
		}
	}
	return all
}

// atOnce is how many rights are asked for at a time.
const atOnce = 8

// lacking asks the server which rights the user does not have.
func (k *checker) lacking(ctx context.Context, rights []right) ([]right, error) {
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
	var lacks []right
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

func (r right) attributes(namespace string) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource, Name: r.name}
}

// rights are the user's own, and those that the conductor is given: Kubernetes
// lets nobody hand on what he does not have, but one who may escalate and bind.
func (k *checker) rights(ctx context.Context) Needs {
	own, handed := rightsOf(userRules()), rightsOf(rules(k.asked.Run, k.asked.Experiment))
	lacks, err := k.lacking(ctx, slices.Concat(own, handed))
	if err != nil {
		return Needs{unknown("your rights", "%v", err)}
	}
	var needs Needs
	mine := intersect(lacks, own)
	for _, r := range group(own) {
		what := "right to " + r.kind
		if verbs := verbsOf(mine, r.kind); len(verbs) > 0 {
			needs = append(needs, missing(what, "you may not %s them in namespace %s; ask an administrator for it (docs/kubernetes.yaml has the Role)", list(verbs), k.client.Namespace))
		} else {
			needs = append(needs, there(what, "%s", strings.Join(r.verbs, ", ")))
		}
	}
	return append(needs, k.handed(ctx, intersect(lacks, handed)))
}

// handed is about the rights of the conductor that the user does not have.
func (k *checker) handed(ctx context.Context, lacks []right) Need {
	what := "rights of the conductor"
	if len(lacks) == 0 {
		return there(what, "you have all that it is given")
	}
	const rbac = rbacv1.GroupName
	barred, err := k.lacking(ctx, []right{{rbac, "roles", "", "", "escalate"}, {rbac, "rolebindings", "", "", "bind"}})
	if err == nil && len(barred) == 0 {
		return there(what, "you may hand on what you do not have")
	}
	var parts []string
	for _, r := range group(lacks) {
		parts = append(parts, list(r.verbs)+" "+r.kind)
	}
	return missing(what, "you cannot give it the right to %s in namespace %s, as you do not have it; ask an administrator for it (docs/kubernetes.yaml has the Role)", strings.Join(parts, "; to "), k.client.Namespace)
}

// kubelets asks whether the run's account may read the metrics of nodes, where
// no node agent reads the control groups.
func (k *checker) kubelets(ctx context.Context) Needs {
	if k.asked.Experiment.Kubernetes.NodeAgent {
		return nil
	}
	what := "right of the conductor to nodes/metrics"
	accounts := "system:serviceaccounts"
	for _, right := range []struct {
		words string
		of    authorizationv1.ResourceAttributes
	}{
		{"get nodes/metrics", authorizationv1.ResourceAttributes{Verb: "get", Resource: "nodes", Subresource: "metrics"}},
		{"list nodes", authorizationv1.ResourceAttributes{Verb: "list", Resource: "nodes"}},
	} {
		answer, err := kube.AccessReviews.Create(ctx, k.client, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + k.client.Namespace + ":" + Name(k.asked.Run),
			Groups:             []string{accounts, accounts + ":" + k.client.Namespace, "system:authenticated"},
			ResourceAttributes: &right.of,
		}})
		switch {
		case apierrors.IsForbidden(err):
			return Needs{unknown(what, "it cannot be told from here: you may not ask for others (create subjectaccessreviews)")}
		case err != nil:
			return Needs{unknown(what, "%v", err)}
		case !answer.Status.Allowed:
			return Needs{missing(what, "the group %s:%s may not %s, where throttling and CPU are read; an administrator applies docs/kubernetes.yaml once, or run with --node-agent", accounts, k.client.Namespace, right.words)}
		}
	}
	return Needs{there(what, "the kubelets tell it CPU and throttling")}
}

// grouped are the verbs on one resource.
type grouped struct {
	kind  string
	verbs []string
}

// group puts the verbs of each resource together, in the order of the rights.
func group(rights []right) []grouped {
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

func verbsOf(rights []right, kind string) []string {
	for _, g := range group(rights) {
		if g.kind == kind {
			return g.verbs
		}
	}
	return nil
}

func intersect(a, b []right) []right {
	return slices.DeleteFunc(slices.Clone(a), func(r right) bool { return !slices.Contains(b, r) })
}

// list joins words as people do: "create, get and delete".
func list(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return fmt.Sprintf("%s and %s", strings.Join(words[:n-1], ", "), words[n-1])
}
