package kubernetes

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/test/testkit"
)

// Clusters that refuse a run: it fails before anything starts, with the reason of the API
// server and what to do.

var (
	limitRanges    = kube.Kind[corev1.LimitRange]{Group: "v1", Name: "LimitRange", Plural: "limitranges"}
	policies       = kube.Kind[admissionv1.ValidatingAdmissionPolicy]{Group: "admissionregistration.k8s.io/v1", Name: "ValidatingAdmissionPolicy", Plural: "validatingadmissionpolicies", Global: true}
	policyBindings = kube.Kind[admissionv1.ValidatingAdmissionPolicyBinding]{Group: "admissionregistration.k8s.io/v1", Name: "ValidatingAdmissionPolicyBinding", Plural: "validatingadmissionpolicybindings", Global: true}
)

func create[T any](t *testing.T, c *kube.Client, kind kube.Kind[T], o *T) {
	t.Helper()
	if _, err := kind.Create(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
}

// userWithout makes the user of the laptop one who has the Role of docs/kubernetes.yaml
// without a verb on a resource.
func (l *laptop) userWithout(t *testing.T, verb, of string) {
	t.Helper()
	role, err := kube.Roles.Get(t.Context(), l.api, "millicore")
	if err != nil {
		t.Fatal(err)
	}
	less := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "less"}}
	for _, r := range role.Rules {
		for _, kind := range r.Resources {
			some := r
			some.Resources = []string{kind}
			some.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(v string) bool { return v == verb && kind == of })
			if len(some.Verbs) > 0 {
				less.Rules = append(less.Rules, some)
			}
		}
	}
	create(t, l.api, kube.Roles, less)
	l.become(t, "millicore-test-refused", less.Name)
}

// deny makes a policy that denies Deployments in the namespace unless an expression holds,
// and waits until the server applies it.
func (l *laptop) deny(t *testing.T, unless string) {
	t.Helper()
	name := l.api.Namespace
	create(t, l.api, policies, &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: l.api.Namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}}}}},
		},
		Validations: []admissionv1.Validation{{Expression: unless, Message: "no Deployments on Fridays"}},
	}})
	t.Cleanup(func() { _ = policies.Delete(context.Background(), l.api, name, kube.Delete{}) })
	create(t, l.api, policyBindings, &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}})
	t.Cleanup(func() { _ = policyBindings.Delete(context.Background(), l.api, name, kube.Delete{}) })
	// An account that may do everything shows when the policy applies.
	account := l.as(t, "system:serviceaccount:"+l.api.Namespace+":any", "system:masters")
	labels := map[string]string{"app": "x"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}}}
	testkit.Until(t, "the policy applies", func() bool {
		_, err := kube.Deployments.Try(t.Context(), account, deployment)
		return err != nil && strings.Contains(err.Error(), "Fridays")
	})
}

func (l *laptop) quota(t *testing.T, of corev1.ResourceName, most string) {
	t.Helper()
	create(t, l.api, kube.Quotas, &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{of: resource.MustParse(most)}}})
	testkit.Until(t, "the quota applies", func() bool {
		q, err := kube.Quotas.Get(t.Context(), l.api, "small")
		return err == nil && len(q.Status.Hard) > 0
	})
}

func TestARunThatTheClusterRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		cluster func(t *testing.T, l *laptop)
		flags   []string
		want    []string // of the error
	}{
		"a right to create": {func(t *testing.T, l *laptop) { l.userWithout(t, "create", "networkpolicies") }, nil,
			[]string{"NetworkPolicy", `cannot create resource "networkpolicies"`, "docs/kubernetes.yaml has the Role"}},
		"a right to read": {func(t *testing.T, l *laptop) { l.userWithout(t, "get", "pods/proxy") }, nil,
			[]string{"right to pods/proxy: no permission to get them", "docs/kubernetes.yaml has the Role"}},
		"a right of the conductor": {func(t *testing.T, l *laptop) { l.userWithout(t, "delete", "deployments") }, nil,
			[]string{"the run's Role: the server refuses it", "attempting to grant RBAC permissions not currently held", `Resources:["deployments"], Verbs:["delete"]`, "ask an administrator"}},
		"the conductor's account": {func(t *testing.T, l *laptop) {
			if err := kube.ServiceAccounts.Delete(t.Context(), l.api, kube.ConductorAccount, kube.Delete{}); err != nil {
				t.Fatal(err)
			}
		}, nil, []string{"the conductor's pod: the server refuses it", `serviceaccount "millicore-conductor" not found`, "apply docs/kubernetes.yaml once"}},
		"a quota of the pods behind a Deployment": {func(t *testing.T, l *laptop) { l.quota(t, "pods", "2") }, nil,
			[]string{"quota small: pods: the largest cell needs 4, and 0 of 2 are in use", "raise the quota"}},
		"a quota of objects": {func(t *testing.T, l *laptop) { l.quota(t, "count/deployments.apps", "0") }, nil,
			[]string{"the pods of service go: the server refuses it", "exceeded quota: small", "raise the quota"}},
		"Pod Security": {func(*testing.T, *laptop) {}, []string{"--node-agent"},
			[]string{"the pods of node agents: the server refuses it", "violates PodSecurity", "pod-security.kubernetes.io/enforce=privileged"}},
		"a limit range": {func(t *testing.T, l *laptop) {
			create(t, l.api, limitRanges, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.LimitRangeSpec{
				Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{"cpu": resource.MustParse("100m")}, DefaultRequest: corev1.ResourceList{"cpu": resource.MustParse("10m")}}}}})
		}, nil, []string{"the pods of service go: the server refuses it", "maximum cpu usage per Container is 100m, but limit is 300m"}},
		"a policy": {func(t *testing.T, l *laptop) { l.deny(t, "false") }, nil,
			[]string{"the pods of service go: the server refuses it", "no Deployments on Fridays", "change what forbids it"}},
		"a policy for the conductor": {func(t *testing.T, l *laptop) {
			l.deny(t, `!request.userInfo.username.startsWith("system:serviceaccount:")`)
		}, nil,
			[]string{"create the Deployment ", "of the pods of service go (dry run, as the conductor)", "no Deployments on Fridays"}},
		"an image": {func(*testing.T, *laptop) {}, []string{"--image", "registry.invalid/such:1"},
			[]string{"image registry.invalid/such:1: a node cannot pull it", "push it, load it into the nodes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLaptop(t).allowed(t)
			test.cluster(t, l)
			w := watchServices(t, l.api)
			c := l.start(t, append([]string{"run", "small.yaml", "--out", "record"}, test.flags...)...).ends(t, 2)
			words := strings.Join(strings.Fields(c.err.String()), " ")
			t.Log(words)
			for _, want := range test.want {
				if !strings.Contains(words, want) {
					t.Errorf("no %q in\n%s", want, &c.err)
				}
			}
			if w.stop(); len(w.seen) > 0 {
				t.Errorf("%d containers of the service were started", len(w.seen))
			}
			l.empty(t, 15*time.Second)
		})
	}
}
