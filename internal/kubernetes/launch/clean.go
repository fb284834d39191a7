package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/base/phrase"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// removeWithin is how long the cluster may take to remove a run's objects.
const removeWithin = 2 * time.Minute

// Remove deletes a run, and returns when nothing of it is left, or after removeWithin
// with an error that names what is left.
func Remove(ctx context.Context, c *kube.Client, run string) error {
	if err := kube.ConfigMaps.Delete(ctx, c, Name(run), kube.Delete{Foreground: true}); err != nil {
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	return gone(ctx, c, run, removeWithin, 500*time.Millisecond)
}

// gone waits until nothing of a run is left.
func gone(ctx context.Context, c *kube.Client, run string, within, every time.Duration) error {
	for end := time.Now().Add(within); ; sleep(ctx, every) {
		left, err := remains(ctx, c, run)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && len(left) == 0:
			return nil
		case time.Now().Before(end):
		case err != nil:
			return fmt.Errorf("check that nothing of run %s is left: %w", run, err)
		default:
			return fmt.Errorf("remove run %s: after %v there is still %s; the cluster will remove it (kubectl get all -l %s)", run, within, phrase.List(left), Selector(run, ""))
		}
	}
}

// remains names the objects of a run. Kinds that the user may not list are left out:
// their owner is gone, and the cluster removes them.
func remains(ctx context.Context, c *kube.Client, run string) ([]string, error) {
	var left []string
	var errs []error
	for _, look := range []func() ([]string, error){
		named(ctx, c, kube.ConfigMaps, run), named(ctx, c, kube.Jobs, run), named(ctx, c, kube.Deployments, run),
		named(ctx, c, kube.DaemonSets, run), named(ctx, c, kube.Autoscalers, run), named(ctx, c, kube.Services, run),
		named(ctx, c, kube.EndpointSlices, run), named(ctx, c, kube.NetworkPolicies, run), named(ctx, c, kube.ServiceAccounts, run),
		named(ctx, c, kube.Roles, run), named(ctx, c, kube.RoleBindings, run), named(ctx, c, kube.Pods, run),
	} {
		names, err := look()
		left = append(left, names...)
		if err != nil && !apierrors.IsForbidden(err) {
			errs = append(errs, err)
		}
	}
	return left, errors.Join(errs...)
}

func named[T any](ctx context.Context, c *kube.Client, kind kube.Kind[T], run string) func() ([]string, error) {
	return func() ([]string, error) {
		all, err := kind.List(ctx, c, Selector(run, ""))
		var names []string
		for i := range all {
			if o, ok := any(&all[i]).(interface{ GetName() string }); ok {
				if owner, ok := o.(*corev1.ConfigMap); ok && !isOwner(owner) {
					continue
				}
				names = append(names, kind.Name+" "+o.GetName())
			}
		}
		return names, err
	}
}

// Cleaned is what Clean did.
type Cleaned struct {
	Removed []string // runs, and pods that checked images, for people
	Living  []string // runs that were left alone
}

// settling is how long a run may have no Job while its objects are being created.
const settling = 5 * time.Minute

// Clean removes the runs of the namespace whose conductor has ended or is gone.
// It leaves other runs alone, except the named one. A conductor that keeps a record
// for fetching has not ended.
func Clean(ctx context.Context, c *kube.Client, run string) (Cleaned, error) {
	var out Cleaned
	owners, err := kube.ConfigMaps.List(ctx, c, kube.LabelManager+"="+kube.Manager+","+kube.LabelRun)
	if err != nil {
		return out, fmt.Errorf("list runs in namespace %s: %w", c.Namespace, err)
	}
	owners = slices.DeleteFunc(owners, func(o corev1.ConfigMap) bool { return !isOwner(&o) })
	if run != "" && !slices.ContainsFunc(owners, func(o corev1.ConfigMap) bool { return o.Labels[kube.LabelRun] == run }) {
		return out, fmt.Errorf("run %s in namespace %s: %w", run, c.Namespace, ErrGone)
	}
	var errs []error
	for i := range owners {
		name := owners[i].Labels[kube.LabelRun]
		if run != "" && name != run {
			continue
		}
		why, lives, err := life(ctx, c, &owners[i])
		switch {
		case err != nil:
			errs = append(errs, err)
			continue
		case lives && run == "":
			out.Living = append(out.Living, name)
			continue
		}
		if err := Remove(ctx, c, name); err != nil {
			errs = append(errs, err)
			continue
		}
		out.Removed = append(out.Removed, fmt.Sprintf("run %s (%s)", name, why))
	}
	if run == "" {
		tried, err := cleanChecks(ctx, c)
		out.Removed, errs = append(out.Removed, tried...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

// isOwner reports whether a ConfigMap is that of the run in its labels. A copy under another
// name, such as a user's notes, has the labels too, but no Job: it says nothing about the run.
func isOwner(o *corev1.ConfigMap) bool { return o.Name == Name(o.Labels[kube.LabelRun]) }

// life reports whether a run's conductor lives, and describes its state.
func life(ctx context.Context, c *kube.Client, owner *corev1.ConfigMap) (words string, lives bool, err error) {
	job, err := kube.Jobs.Get(ctx, c, owner.Name)
	switch {
	case apierrors.IsNotFound(err) && time.Since(owner.CreationTimestamp.Time) < settling:
		return "it is being started", true, nil
	case apierrors.IsNotFound(err):
		return "its conductor is gone", false, nil
	case err != nil:
		return "", false, fmt.Errorf("check whether run %s continues: %w", owner.Labels[kube.LabelRun], err)
	}
	if why, over := jobOver(job); over {
		return "its conductor has ended: " + why, false, nil
	}
	return "it was running", true, nil
}

// cleanChecks removes pods that checked an image for a millicore that was killed.
func cleanChecks(ctx context.Context, c *kube.Client) ([]string, error) {
	pods, err := kube.Pods.List(ctx, c, kube.LabelManager+"="+kube.Manager+","+kube.LabelPart+"="+partCheck)
	if err != nil {
		return nil, fmt.Errorf("list pods that checked images: %w", err)
	}
	var removed []string
	var errs []error
	for i := range pods {
		p := &pods[i]
		if !ended(p) && time.Since(p.CreationTimestamp.Time) < settling+time.Minute {
			continue
		}
		if err := kube.Pods.Delete(ctx, c, p.Name, kube.Delete{}); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, "pod "+p.Name)
	}
	return removed, errors.Join(errs...)
}
