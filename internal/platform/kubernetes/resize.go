package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kube"
)

// resizeIn is how long a kubelet may take to apply other limits, which it does
// within a second where there is room for them.
const resizeIn = time.Minute

// resize gives every replica other limits in place, and waits until its kubelet
// has applied them.
func (u *unit) resize(ctx context.Context, l experiment.Limits) error {
	l.Replicas = u.of.Limits.Replicas
	if err := resizable(u.of.Limits, l); err != nil {
		return err
	}
	want := u.k.maker.resources(l, u.k.part(u.of.Name))
	ctx, cancel := context.WithTimeout(ctx, resizeIn)
	defer cancel()
	for _, r := range u.own() {
		if err := r.resize(ctx, want); err != nil {
			return fmt.Errorf("resize replica %d: %w", r.index, err)
		}
		r.mu.Lock()
		r.memory = l.Memory
		r.mu.Unlock()
	}
	u.of.Limits = l
	return nil
}

// resizable reports what of a pod's limits cannot be changed in place.
func resizable(before, after experiment.Limits) error {
	switch {
	case (before.CPUMillis == 0) != (after.CPUMillis == 0):
		return errors.New("Kubernetes cannot give a pod a CPU limit, or take it away, while it runs: give every cell one, or leave measure.resize out")
	case (before.Memory == 0) != (after.Memory == 0):
		return errors.New("Kubernetes cannot give a pod a memory limit, or take it away, while it runs: give every cell one, or leave measure.resize out")
	}
	return nil
}

func (r *replica) resize(ctx context.Context, want corev1.ResourceRequirements) error {
	patch := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": unitContainer, "resources": want}}}}
	asked, err := kube.Pods.Patch(ctx, r.k.api, r.pod, "resize", patch)
	if err != nil {
		return err
	}
	last := ""
	for {
		pod, changed := r.k.pods.get(r.pod)
		if why := gone(pod); why != "" {
			return fmt.Errorf("the pod %s: %s", r.pod, why)
		}
		// What the watch has may be from before the request.
		if pod.Generation >= asked.Generation {
			done, waits, err := resized(pod, asked.Generation, want)
			if done || err != nil {
				return err
			}
			last = waits
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("its limits are not changed (%w): %s", context.Cause(ctx), last)
		}
	}
}

// resized reports whether a pod's container has the resources that were asked for
// with a generation of its spec, or what that waits for. The error is that it will
// not have them.
func resized(p *corev1.Pod, generation int64, want corev1.ResourceRequirements) (done bool, waits string, err error) {
	waits = "its kubelet has not looked at them yet"
	for _, c := range p.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case corev1.PodResizePending:
			if c.Reason == corev1.PodReasonInfeasible {
				return false, "", fmt.Errorf("node %s can never have room for it: %s", p.Spec.NodeName, c.Message)
			}
			return false, fmt.Sprintf("node %s has no room for it now: %s", p.Spec.NodeName, c.Message), nil
		case corev1.PodResizeInProgress:
			if c.Reason == corev1.PodReasonError {
				return false, "", fmt.Errorf("node %s cannot apply it: %s", p.Spec.NodeName, c.Message)
			}
			return false, fmt.Sprintf("node %s is about to apply them", p.Spec.NodeName), nil
		}
	}
	// Kubelets before 1.34 do not tell which generation they have seen.
	if seen := p.Status.ObservedGeneration; seen != 0 && seen < generation {
		return false, waits, nil
	}
	s := statusOf(p, unitContainer)
	if s.Resources == nil {
		return false, waits, nil
	}
	for name, q := range want.Limits {
		if now, ok := s.Resources.Limits[name]; !ok || now.Cmp(q) != 0 {
			return false, waits, nil
		}
	}
	return true, "", nil
}
