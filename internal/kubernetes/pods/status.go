package pods

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/platform/meter"
)

// The status of pods, as text for people. Everything here is pure.

// statusOf is the status of a container; empty if the pod has none yet.
func statusOf(p *corev1.Pod, container string) corev1.ContainerStatus {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == container {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

// ended is the last termination of the container; nil if it never ended.
func ended(s corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	if s.State.Terminated != nil {
		return s.State.Terminated
	}
	return s.LastTerminationState.Terminated
}

// oomKilled is a kubelet's reason for a container that ran out of memory.
const oomKilled = "OOMKilled"

// endText describes how a container ended.
func endText(t *corev1.ContainerStateTerminated, memory int64) string {
	const signalled = 128 // and the signal
	switch {
	case t == nil:
		return "it ended; Kubernetes does not report how"
	case t.Reason == oomKilled:
		return meter.OutOfMemory(memory)
	case t.Reason == "StartError" || t.Reason == "ContainerCannotRun":
		return "it could not be started: " + t.Message
	case t.ExitCode > signalled && t.ExitCode <= signalled+64:
		signal := syscall.Signal(t.ExitCode - signalled)
		return fmt.Sprintf("it ended with exit status %d, as by signal %d (%v)", t.ExitCode, signal, signal)
	}
	return fmt.Sprintf("it ended with exit status %d", t.ExitCode)
}

// gone describes why a pod was removed, or is being removed; "" if it exists.
func gone(p *corev1.Pod) string {
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
	refusedFor     = 15 * time.Second // a quota is free shortly after its pods are gone
	unmadeFor      = 2 * time.Minute  // a node sets up a network and volumes
)

// obstacle is a reason why a pod does not run.
type obstacle struct {
	what     string        // description; the same obstacle keeps it
	patience time.Duration // how long it may last; 0: it never passes
	how      string        // what the user can do
	vague    bool          // an event may have details
}

// obstacleOf is what keeps a pod's container from running; nil if it runs or has
// run.
func obstacleOf(p *corev1.Pod, container string) *obstacle {
	s := statusOf(p, container)
	if s.State.Running != nil || ended(s) != nil {
		return nil
	}
	if p.Spec.NodeName == "" {
		return unscheduled(p)
	}
	wait := s.State.Waiting
	if wait == nil || wait.Reason == "" {
		return &obstacle{what: fmt.Sprintf("its pod waits for the kubelet of node %s", p.Spec.NodeName), patience: unmadeFor, vague: true}
	}
	image := imageOf(p, container)
	switch wait.Reason {
	case "ContainerCreating", "PodInitializing":
		return &obstacle{what: fmt.Sprintf("its container is being created on node %s, which may have to pull the image %s first", p.Spec.NodeName, image), patience: pullingFor, vague: true}
	case "ErrImagePull", "ImagePullBackOff":
		return &obstacle{what: fmt.Sprintf("the node %s cannot pull the image %s", p.Spec.NodeName, image) + because(wait.Message), patience: unpulledFor,
			how: "check the image's name, set kubernetes.pull_secrets if the registry needs a login, or load the image into the node (on kind: `kind load docker-image`)"}
	case "ErrImageNeverPull", "InvalidImageName", "ImageInspectError":
		return &obstacle{what: fmt.Sprintf("the node %s cannot use the image %s", p.Spec.NodeName, image) + because(wait.Message)}
	case "CreateContainerConfigError":
		o := &obstacle{what: fmt.Sprintf("the node %s cannot create its container", p.Spec.NodeName) + because(wait.Message)}
		if strings.Contains(wait.Message, "non-root") || strings.Contains(wait.Message, "runAsNonRoot") {
			o.how = "give the image a numeric user that is not root (USER 65532), or allow root with kubernetes.security: baseline"
		}
		return o
	}
	return &obstacle{what: fmt.Sprintf("the node %s cannot start its container: %s", p.Spec.NodeName, wait.Reason) + because(wait.Message), patience: refusedFor}
}

// unscheduled is why a pod has no node yet.
func unscheduled(p *corev1.Pod) *obstacle {
	for _, c := range p.Status.Conditions {
		if c.Type != corev1.PodScheduled || c.Status != corev1.ConditionFalse {
			continue
		}
		return &obstacle{what: "no node accepts its pod: " + c.Message, patience: unscheduledFor,
			how: "lower its requests (limits, or kubernetes.requests), or change kubernetes.node_selector and kubernetes.tolerations"}
	}
	return &obstacle{what: "its pod waits for the scheduler", patience: unmadeFor}
}

// refusal is why a Deployment has no pod: a quota or a policy.
func refusal(d *appsv1.Deployment) *obstacle {
	for _, c := range d.Status.Conditions {
		if c.Type != appsv1.DeploymentReplicaFailure || c.Status != corev1.ConditionTrue {
			continue
		}
		o := &obstacle{what: "the cluster refuses its pod: " + c.Message, patience: refusedFor}
		switch {
		case strings.Contains(c.Message, "exceeded quota"):
			o.how = "lower the requests and limits, or raise the namespace's ResourceQuota"
		case strings.Contains(c.Message, "PodSecurity"):
			o.how = "change what the namespace's Pod Security level forbids (kubernetes.security, kubernetes.node_agent), or use another namespace"
		}
		return o
	}
	return &obstacle{what: "its pod does not exist yet", patience: unmadeFor, vague: true}
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
