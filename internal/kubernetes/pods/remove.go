package pods

import (
	"context"
	"fmt"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// named is an object with a name.
type named[T any] interface {
	*T
	GetName() string
}

// removeAll deletes all objects of a kind that a selector selects, after what they
// own.
func removeAll[T any, O named[T]](ctx context.Context, api *kube.Client, kind kube.Kind[T], selector string) error {
	all, err := kind.List(ctx, api, selector)
	if err != nil {
		return fmt.Errorf("list %s: %w", kind.Plural, err)
	}
	for i := range all {
		name := O(&all[i]).GetName()
		if err := kind.Delete(ctx, api, name, kube.Delete{Foreground: true}); err != nil {
			return fmt.Errorf("delete the %s %s: %w", kind.Name, name, err)
		}
	}
	return nil
}

// awaitGone waits until no pods match a selector.
func awaitGone(ctx context.Context, api *kube.Client, selector string) error {
	name, err := awaitNone(ctx, api, kube.Pods, selector)
	if name == "" {
		return err
	}
	return fmt.Errorf("the pod %s does not end (%w): see `kubectl -n %s describe pod %s`; `kubectl -n %s delete pod %s --force` removes it",
		name, err, api.Namespace, name, api.Namespace, name)
}

// awaitNone waits until no objects of a kind match a selector. With an error it
// returns the name of one that is left, if known.
func awaitNone[T any, O named[T]](ctx context.Context, api *kube.Client, kind kube.Kind[T], selector string) (name string, err error) {
	for {
		left, err := kind.List(ctx, api, selector)
		if err == nil && len(left) == 0 {
			return "", nil
		}
		if ctx.Err() == nil {
			supervise.Sleep(ctx, lookFor)
		}
		switch {
		case ctx.Err() == nil:
		case err == nil:
			return O(&left[0]).GetName(), context.Cause(ctx)
		default:
			return "", fmt.Errorf("wait until the %s are gone: %w", kind.Plural, err)
		}
	}
}
