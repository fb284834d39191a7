package kube

import (
	"context"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Object is an object of any kind that is to be created.
type Object struct {
	metav1.Object
	Kind string // "Deployment"
	post func(ctx context.Context, c *Client, query url.Values) error
}

// Object makes o an element of a list of objects of several kinds.
func (k Kind[T]) Object(o *T) Object {
	return Object{Object: any(o).(metav1.Object), Kind: k.Name, post: func(ctx context.Context, c *Client, query url.Values) error {
		_, err := k.post(ctx, c, o, query)
		return err
	}}
}

// Create creates the object.
func (o Object) Create(ctx context.Context, c *Client) error { return o.post(ctx, c, nil) }

// Try does a dry run of Create: see Kind.Try.
func (o Object) Try(ctx context.Context, c *Client) error { return o.post(ctx, c, dryRun) }
