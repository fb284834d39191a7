package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/test/testkit"
)

// left returns the objects that match a selector, of every kind that a run creates
// directly or indirectly, without some kinds.
func left(c *kube.Client, selector string, without ...string) (all []string, err error) {
	for _, look := range []func(*kube.Client, string) ([]string, error){
		names(kube.ConfigMaps), names(kube.Secrets), names(kube.ServiceAccounts), names(kube.Roles), names(kube.RoleBindings),
		names(kube.NetworkPolicies), names(kube.Jobs), names(kube.Deployments), names(kube.DaemonSets), names(kube.Autoscalers),
		names(kube.Services), names(kube.EndpointSlices), names(kube.Pods),
	} {
		some, err := look(c, selector)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(some, func(one string) bool {
			kind, _, _ := strings.Cut(one, " ")
			return slices.Contains(without, kind)
		})...)
	}
	return all, nil
}

func names[T any, O interface {
	*T
	GetName() string
}](kind kube.Kind[T]) func(*kube.Client, string) ([]string, error) {
	return func(c *kube.Client, selector string) (all []string, err error) {
		some, err := kind.List(context.Background(), c, selector)
		for i := range some {
			all = append(all, fmt.Sprintf("%s %s", kind.Name, O(&some[i]).GetName()))
		}
		return all, err
	}
}

// empty waits until no object matches a selector. Owned objects disappear after their
// owners: the cluster's garbage collector removes them.
func empty(t *testing.T, c *kube.Client, selector string, within time.Duration, without ...string) {
	t.Helper()
	testkit.ValueWithin(t, within, "nothing is left", func() (last []string, err error) {
		if last, err = left(c, selector, without...); err == nil && len(last) > 0 {
			err = fmt.Errorf("there are %v", last)
		}
		return last, err
	})
}
