package pods

import (
	"context"
	"errors"
	"fmt"

	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// Stop removes the unit and waits until its pods are gone. When ctx ends, the
// remaining pods are killed.
func (u *unit) Stop(ctx context.Context) error {
	u.once.Do(func() {
		u.mu.Lock()
		made := u.made
		u.mu.Unlock()
		u.scaling.end()
		all := u.own()
		for _, r := range all {
			r.stop()
		}
		var errs []error
		if made {
			errs = append(errs, u.remove(ctx))
		}
		errs = append(errs, supervise.Each(len(all), func(i int) error { return all[i].end() })...)
		u.err = errors.Join(errs...)
		u.k.drop(u)
	})
	return u.err
}

// remove deletes the unit's objects and waits until its pods are gone.
func (u *unit) remove(ctx context.Context) error {
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), platform.StopGrace+goneIn)
	defer cancel()
	api := u.k.api
	errs := []error{kube.Services.Delete(patient, api, u.name, kube.Delete{})}
	if u.of.Autoscale != nil {
		errs = append(errs, kube.Autoscalers.Delete(patient, api, u.name, kube.Delete{}))
	}
	errs = append(errs, kube.Deployments.Delete(patient, api, u.name, kube.Delete{Foreground: true}))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove %s: %w", u.name, err)
	}
	gone := make(chan error, 1)
	go func() {
		selector := objects.Selector(u.chosen)
		err := awaitGone(patient, api, selector)
		if err == nil { // it exists until its pods are gone, and the name may be used again
			_, err = awaitNone(patient, api, kube.Deployments, selector)
		}
		gone <- err
	}()
	select {
	case err := <-gone:
		return err
	case <-ctx.Done():
	}
	if err := u.kill(patient); err != nil {
		return err
	}
	return <-gone
}

// kill ends the unit's pods immediately. (A grace of 0 would remove the objects
// while the containers still run.)
func (u *unit) kill(ctx context.Context) error {
	left, err := kube.Pods.List(ctx, u.k.api, objects.Selector(u.chosen))
	for i := range left {
		err = errors.Join(err, kube.Pods.Delete(ctx, u.k.api, left[i].Name, kube.Delete{Grace: new(int64(1))}))
	}
	return err
}
