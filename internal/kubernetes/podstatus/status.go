// Package podstatus has the current pods of a run, and what their status says, as text for
// people: how a container ended, why a pod is gone, and what keeps it from running.
package podstatus

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/platform/meter"
)

// Of is the status of a container; empty if the pod has none yet.
func Of(p *corev1.Pod, container string) corev1.ContainerStatus {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == container {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// Ended is the last termination of the container; nil if it never ended.
func Ended(s corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if s.State.Terminated != nil {
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

// OOMKilled is a kubelet's reason for a container that ran out of memory.
const OOMKilled = "OOMKilled"

// EndText describes how a container ended.
func EndText(t *corev1.ContainerStateTerminated, memory int64) string {
	const signalled = 128 // and the signal
	switch {
	case t == nil:
		return "it ended; Kubernetes does not report how"
	case t.Reason == OOMKilled:
		return meter.OutOfMemory(memory)
	case t.Reason == "StartError" || t.Reason == "ContainerCannotRun":
		return "it could not be started: " + t.Message
	case t.ExitCode > signalled && t.ExitCode <= signalled+64:
		signal := syscall.Signal(t.ExitCode - signalled)
		return fmt.Sprintf("it ended with exit status %d, as by signal %d (%v)", t.ExitCode, signal, signal)
	}
	return fmt.Sprintf("it ended with exit status %d", t.ExitCode)
}

// Gone describes why a pod was removed, or is being removed; "" if it exists.
func Gone(p *corev1.Pod) string {
	switch {
	case p == nil:
		return "it was deleted"
	case p.Status.Phase == corev1.PodFailed && p.Status.Reason != "": // "Evicted", "NodeLost", …
		return strings.TrimSuffix(fmt.Sprintf("%s: %s", p.Status.Reason, p.Status.Message), ": ")
	case p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded:
		return "it " + strings.ToLower(string(p.Status.Phase))
	case p.DeletionTimestamp == nil:
		return ""
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return strings.TrimSuffix(fmt.Sprintf("%s: %s", c.Reason, c.Message), ": ")
		}
	}
	return "it was deleted"
}

// How long an obstacle may last. Some pass by themselves.
const (
	unscheduledFor = 3 * time.Minute // a cluster may be about to get another node
	unpulledFor    = time.Minute     // a registry may be busy
	pullingFor     = 10 * time.Minute
	RefusedFor     = 15 * time.Second // a quota is free shortly after its pods are gone
	UnmadeFor      = 2 * time.Minute  // a node sets up a network and volumes
)

// Obstacle is a reason why a pod does not run.
type Obstacle struct {
	What     string        // description; the same obstacle keeps it
	Patience time.Duration // how long it may last; 0: it never passes
	How      string        // what the user can do
	Vague    bool          // an event may have details
}

// ObstacleOf is what keeps a pod's container from running; nil if it runs or has
// run.
func ObstacleOf(p *corev1.Pod, container string) *Obstacle {
	s := Of(p, container)
	if s.State.Running != nil || Ended(s) != nil {
		return nil
	}
	if p.Spec.NodeName == "" {
		return unscheduled(p)
	}
	wait := s.State.Waiting
	if wait == nil || wait.Reason == "" {
		return &Obstacle{What: fmt.Sprintf("its pod waits for the kubelet of node %s", p.Spec.NodeName), Patience: UnmadeFor, Vague: true}
	}
	image := imageOf(p, container)
	switch wait.Reason {
	case "ContainerCreating", "PodInitializing":
		return &Obstacle{What: fmt.Sprintf("its container is being created on node %s, which may have to pull the image %s first", p.Spec.NodeName, image), Patience: pullingFor, Vague: true}
	case "ErrImagePull", "ImagePullBackOff":
		return &Obstacle{What: fmt.Sprintf("the node %s cannot pull the image %s", p.Spec.NodeName, image) + because(wait.Message), Patience: unpulledFor,
			How: "check the image's name, set kubernetes.pull_secrets if the registry needs a login, or load the image into the node (on kind: `kind load docker-image`)"}
	case "ErrImageNeverPull", "InvalidImageName", "ImageInspectError":
		return &Obstacle{What: fmt.Sprintf("the node %s cannot use the image %s", p.Spec.NodeName, image) + because(wait.Message)}
	case "CreateContainerConfigError":
		o := &Obstacle{What: fmt.Sprintf("the node %s cannot create its container", p.Spec.NodeName) + because(wait.Message)}
		if strings.Contains(wait.Message, "non-root") || strings.Contains(wait.Message, "runAsNonRoot") {
			o.How = "give the image a numeric user that is not root (USER 65532), or allow root with kubernetes.security: baseline"
		}
		return o
	}
	return &Obstacle{What: fmt.Sprintf("the node %s cannot start its container: %s", p.Spec.NodeName, wait.Reason) + because(wait.Message), Patience: RefusedFor}
}

// unscheduled is why a pod has no node yet.
func unscheduled(p *corev1.Pod) *Obstacle {
	for _, c := range p.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse {
			continue
		}
		return &Obstacle{What: "no node accepts its pod: " + c.Message, Patience: unscheduledFor,
			How: "lower its requests (limits, or kubernetes.requests), or change kubernetes.node_selector and kubernetes.tolerations"}
	}
	return &Obstacle{What: "its pod waits for the scheduler", Patience: UnmadeFor}
}

// Refusal is why a Deployment has no pod: a quota or a policy.
func Refusal(d *appsv1.Deployment) *Obstacle {
	for _, c := range d.Status.Conditions {
		if c.Type != appsv1.DeploymentReplicaFailure || c.Status != corev1.ConditionTrue {
			continue
		}
		o := &Obstacle{What: "the cluster refuses its pod: " + c.Message, Patience: RefusedFor}
		switch {
		case strings.Contains(c.Message, "exceeded quota"):
			o.How = "lower the requests and limits, or raise the namespace's ResourceQuota"
		case strings.Contains(c.Message, "PodSecurity"):
			o.How = "change what the namespace's Pod Security level forbids (kubernetes.security, kubernetes.node_agent), or use another namespace"
		}
		return o
	}
	return &Obstacle{What: "its pod does not exist yet", Patience: UnmadeFor, Vague: true}
}

func because(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

func imageOf(p *corev1.Pod, container string) string {
	for i := range p.Spec.Containers {
		if p.Spec.Containers[i].Name == container {
			return p.Spec.Containers[i].Image
		}
	}
	return "?"
}
