package launch

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// partCheck is the part label of pods that check an image.
const partCheck = "check"

// images checks for each image whether nodes have it or can pull it, with a pod whose
// program does not exist: it fails only at its start.
func (k *checker) images(ctx context.Context) Requirements {
	names := k.asked.images()
	needs := make(Requirements, len(names))
	onAll := k.listed(ctx)
	var trying sync.WaitGroup
	for i, name := range names {
		switch {
		case name == k.asked.Image() && k.asked.imageless():
			needs[i] = missing("image "+name, "this millicore was built without a version and has no image; set --image (kubernetes.image) to a release, %s:VERSION, or to your own (make image-push IMAGE=…)", Released)
		case onAll(name):
			needs[i] = there("image "+name, "the nodes have it")
		default:
			trying.Go(func() { needs[i] = k.image(ctx, i, name) })
		}
	}
	trying.Wait()
	return needs
}

// listed returns a function that reports whether all schedulable nodes list an image. A
// node lists its 50 largest images, and not every user may read nodes.
func (k *checker) listed(ctx context.Context) func(image string) bool {
	nodes, err := kube.Nodes.List(ctx, k.client, "")
	nodes = slices.DeleteFunc(nodes, func(n corev1.Node) bool { return n.Spec.Unschedulable })
	return func(image string) bool {
		return err == nil && len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return !lists(&n, image) })
	}
}

func lists(n *corev1.Node, image string) bool {
	full := kube.ImageName(image)
	return slices.ContainsFunc(n.Status.Images, func(i corev1.ContainerImage) bool {
		return slices.ContainsFunc(i.Names, func(name string) bool { return name == image || name == full })
	})
}

// image checks an image with a pod, and removes the pod.
func (k *checker) image(ctx context.Context, number int, image string) Requirement {
	what := "image " + image
	pod := k.imagePod(number, image)
	if _, err := kube.Pods.Create(ctx, k.client, pod); err != nil {
		return unknown(what, "it could not be checked: %v", err)
	}
	defer func() {
		now := int64(0)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		_ = kube.Pods.Delete(ctx, k.client, pod.Name, kube.Delete{Grace: &now}) // otherwise it ends by itself, and `clean` removes it
	}()
	last := unknown(what, "it could not be checked")
	for end := time.Now().Add(k.patient); time.Now().Before(end); {
		p, err := kube.Pods.Get(ctx, k.client, pod.Name)
		switch {
		case ctx.Err() != nil:
			return last
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
			return unknown(what, "it could not be checked: %v", err)
		case err == nil:
			need, final := imageState(what, p)
			if final {
				return need
			}
			last = need
		}
		select {
		case <-ctx.Done():
		case <-time.After(k.every):
		}
	}
	return last
}

// imagePod is small, and ends by itself if it is not removed.
func (k *checker) imagePod(number int, image string) *corev1.Pod {
	end := int64((k.patient + time.Minute) / time.Second)
	few := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")}
	spec := k.asked.maker().OfImage(image).Spec
	spec.Containers[0].Name = partCheck
	spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: few, Limits: few}
	spec.Containers[0].Command = []string{"/millicore-tries-whether-this-image-is-there"}
	spec.RestartPolicy, spec.ActiveDeadlineSeconds = corev1.RestartPolicyNever, &end
	if image == k.asked.Image() { // the conductor pulls it first
		spec.NodeSelector = k.asked.Experiment.Kubernetes.Conductor.NodeSelector
	}
	return &corev1.Pod{ObjectMeta: k.asked.meta(Name(k.asked.Run)+"-check-"+strconv.Itoa(number), partCheck), Spec: spec}
}

// imageState evaluates the status of a pod that checks an image. final is false if the
// result may still change.
func imageState(what string, p *corev1.Pod) (need Requirement, final bool) {
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Terminated != nil || s.State.Running != nil || s.LastTerminationState.Terminated != nil {
			return there(what, "a node has pulled it"), true
		}
		w := s.State.Waiting
		if w == nil {
			continue
		}
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable":
			return missing(what, "a node cannot pull it (%s: %s); push it, load it into the nodes, or use another%s", w.Reason, w.Message, pulledWith(p)), true
		case "CreateContainerConfigError":
			return missing(what, "it exists but may not run: %s; use an image with a numeric user that is not root, or set kubernetes: {security: baseline}", w.Message), true
		case "CreateContainerError", "RunContainerError", "CrashLoopBackOff":
			return there(what, "a node has pulled it"), true
		}
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return unknown(what, "no node accepts a pod to check it: %s", c.Message), false
		}
	}
	if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
		return unknown(what, "the pod that checked it ended: %s", fmt.Sprint(p.Status.Reason, " ", p.Status.Message)), true
	}
	return unknown(what, "it is still being pulled; the run will try to pull it"), false
}

func pulledWith(p *corev1.Pod) string {
	if len(p.Spec.ImagePullSecrets) > 0 {
		return ""
	}
	return "; if its registry needs a login, set kubernetes.pull_secrets to the name of the Secret"
}
