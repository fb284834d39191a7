package kube

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is a kind of object; T is its Go type.
type Kind[T any] struct {
	Group  string // "apps/v1"; the core's is "v1"
	Name   string // "Deployment"
	Plural string // "deployments"
	Global bool   // it has no namespace
}

// The kinds that Millicore makes or reads.
var (
	ConfigMaps      = Kind[corev1.ConfigMap]{"v1", "ConfigMap", "configmaps", false}
	Secrets         = Kind[corev1.Secret]{"v1", "Secret", "secrets", false}
	Services        = Kind[corev1.Service]{"v1", "Service", "services", false}
	ServiceAccounts = Kind[corev1.ServiceAccount]{"v1", "ServiceAccount", "serviceaccounts", false}
	Pods            = Kind[corev1.Pod]{"v1", "Pod", "pods", false}
	Events          = Kind[corev1.Event]{"v1", "Event", "events", false}
	Quotas          = Kind[corev1.ResourceQuota]{"v1", "ResourceQuota", "resourcequotas", false}
	Claims          = Kind[corev1.PersistentVolumeClaim]{"v1", "PersistentVolumeClaim", "persistentvolumeclaims", false}
	Namespaces      = Kind[corev1.Namespace]{"v1", "Namespace", "namespaces", true}
	Nodes           = Kind[corev1.Node]{"v1", "Node", "nodes", true}
	Deployments     = Kind[appsv1.Deployment]{"apps/v1", "Deployment", "deployments", false}
	DaemonSets      = Kind[appsv1.DaemonSet]{"apps/v1", "DaemonSet", "daemonsets", false}
	Jobs            = Kind[batchv1.Job]{"batch/v1", "Job", "jobs", false}
	Autoscalers     = Kind[autoscalingv2.HorizontalPodAutoscaler]{"autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", false}
	EndpointSlices  = Kind[discoveryv1.EndpointSlice]{"discovery.k8s.io/v1", "EndpointSlice", "endpointslices", false}
	NetworkPolicies = Kind[networkingv1.NetworkPolicy]{"networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", false}
	Roles           = Kind[rbacv1.Role]{"rbac.authorization.k8s.io/v1", "Role", "roles", false}
	RoleBindings    = Kind[rbacv1.RoleBinding]{"rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", false}

	SelfAccessReviews = Kind[authorizationv1.SelfSubjectAccessReview]{"authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", true}
	AccessReviews     = Kind[authorizationv1.SubjectAccessReview]{"authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews", true}
)

// path returns an object's path on the server. Without a name it names all objects of the
// kind.
func (k Kind[T]) path(c *Client, name, subresource string) string {
	path := "/apis/" + k.Group
	if k.Group == "v1" {
		path = "/api/v1"
	}
	if !k.Global {
		path += "/namespaces/" + c.Namespace
	}
	path += "/" + k.Plural
	if name != "" {
		path += "/" + name
	}
	if subresource != "" {
		path += "/" + subresource
	}
	return path
}

func (k Kind[T]) ask(ctx context.Context, c *Client, method, path string, query url.Values, header http.Header, body any) (*T, error) {
	o := new(T)
	return o, c.patiently(ctx, method, func(ctx context.Context) error {
		answer, err := c.do(ctx, method, path, query, header, body)
		if err != nil {
			return err
		}
		return take(answer, o)
	})
}

// Get returns an object.
func (k Kind[T]) Get(ctx context.Context, c *Client, name string) (*T, error) {
	return k.ask(ctx, c, http.MethodGet, k.path(c, name, ""), nil, nil, nil)
}

// typed is an object with its kind and API version, which the Go types leave empty.
func (k Kind[T]) typed(o *T) *T {
	typed := *o
	if object, ok := any(&typed).(runtime.Object); ok {
		object.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(k.Group, k.Name))
	}
	return &typed
}

// Create creates an object and returns the server's version of it.
func (k Kind[T]) Create(ctx context.Context, c *Client, o *T) (*T, error) {
	return k.post(ctx, c, o, nil)
}

// Try does a dry run of Create: the server checks rights, validity, quotas and policies,
// creates nothing, and returns the object as it would store it. Of a Deployment it sees
// neither the pods nor their quota.
func (k Kind[T]) Try(ctx context.Context, c *Client, o *T) (*T, error) {
	return k.post(ctx, c, o, dryRun)
}

// dryRun are the parameters of a dry run.
var dryRun = url.Values{"dryRun": {metav1.DryRunAll}}

func (k Kind[T]) post(ctx context.Context, c *Client, o *T, query url.Values) (*T, error) {
	return k.ask(ctx, c, http.MethodPost, k.path(c, "", ""), query, nil, k.typed(o))
}

// Patch changes the fields of the patch (a strategic merge: lists of containers are
// merged by name).
func (k Kind[T]) Patch(ctx context.Context, c *Client, name, subresource string, patch any) (*T, error) {
	return k.ask(ctx, c, http.MethodPatch, k.path(c, name, subresource), nil,
		http.Header{"Content-Type": {"application/strategic-merge-patch+json"}}, patch)
}

// Delete holds the options of deleting an object.
type Delete struct {
	Grace      *int64 // seconds; nil: the object's own
	Foreground bool   // keep it until everything that it owns is gone
}

// Delete deletes an object. It is not an error if the object does not exist.
func (k Kind[T]) Delete(ctx context.Context, c *Client, name string, o Delete) error {
	way := metav1.DeletePropagationBackground
	if o.Foreground {
		way = metav1.DeletePropagationForeground
	}
	err := c.patiently(ctx, http.MethodDelete, func(ctx context.Context) error {
		answer, err := c.do(ctx, http.MethodDelete, k.path(c, name, ""), nil, nil, &metav1.DeleteOptions{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, GracePeriodSeconds: o.Grace, PropagationPolicy: &way})
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// list is a server's list of objects.
type list[T any] struct {
	metav1.ListMeta `json:"metadata"`
	Items           []T `json:"items"`
}

// most is the number of objects per request.
const most = 500

// List returns all objects that match a label selector; "" matches all. fields are
// additional conditions, such as "involvedObject.name=x", which the API must support for
// the kind.
func (k Kind[T]) List(ctx context.Context, c *Client, selector string, fields ...string) ([]T, error) {
	all, _, err := k.list(ctx, c, selector, fields...)
	return all, err
}

func (k Kind[T]) list(ctx context.Context, c *Client, selector string, fields ...string) (all []T, version string, err error) {
	query := url.Values{"limit": {strconv.Itoa(most)}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	if len(fields) > 0 {
		query.Set("fieldSelector", strings.Join(fields, ","))
	}
	for {
		var some list[T]
		err := c.patiently(ctx, http.MethodGet, func(ctx context.Context) error {
			answer, err := c.do(ctx, http.MethodGet, k.path(c, "", ""), query, nil, nil)
			if err != nil {
				return err
			}
			some = list[T]{}
			return take(answer, &some)
		})
		if err != nil {
			return nil, "", err
		}
		all, version = append(all, some.Items...), cmp.Or(version, some.ResourceVersion)
		if some.Continue == "" {
			return all, version, nil
		}
		query.Set("continue", some.Continue)
	}
}
