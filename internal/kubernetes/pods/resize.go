package pods

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
)

// resizeIn is how long a kubelet may take to apply new limits. It needs about a
// second if there is room for them.
const resizeIn = time.Minute

// resize changes the limits of every replica in place, and waits until its kubelet
// has applied them.
func (u *unit) resize(ctx context.Context, l experiment.Limits) error {
	l.Replicas = u.of.Limits.Replicas
	if err := objects.Resizable(u.of.Limits, l); err != nil {
		return err
	}
	want := u.k.maker.Resources(l, u.k.part(u.of.Name))
	ctx, cancel := context.WithTimeout(ctx, resizeIn)
	defer cancel()
	for _, r := range u.own() {
		r.held.resizing(l)
		if err := r.resize(ctx, want); err != nil {
			return fmt.Errorf("resize replica %d: %w", r.index, err)
		}
		r.held.resized(time.Now())
		r.mu.Lock()
		r.memory = l.Memory
		r.mu.Unlock()
	}
	u.of.Limits = l
	return nil
}

func (r *replica) resize(ctx context.Context, want corev1.ResourceRequirements) error {
	patch := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": objects.UnitContainer, "resources": want}}}}
	asked, err := kube.Pods.Patch(ctx, r.k.api, r.pod, "resize", patch)
	if err != nil {
		return err
	}
	last := ""
	for {
		pod, changed := r.k.pods.Get(r.pod)
		if why := podstatus.Gone(pod); why != "" {
			return fmt.Errorf("the pod %s: %s", r.pod, why)
		}
		// The watch may still have the pod from before the request.
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
			return fmt.Errorf("its limits were not changed (%w): %s", context.Cause(ctx), last)
		}
	}
}

// resized reports whether a pod's container has the resources of a generation of
// its spec, or what it waits for. The error means that it will never have them.
func resized(p *corev1.Pod, generation int64, want corev1.ResourceRequirements) (done bool, waits string, err error) {
	waits = "its kubelet has not processed them yet"
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
	// Kubelets before 1.34 do not report the generation that they have processed.
	if seen := p.Status.ObservedGeneration; seen != 0 && seen < generation {
		return false, waits, nil
	}
	s := podstatus.Of(p, objects.UnitContainer)
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
