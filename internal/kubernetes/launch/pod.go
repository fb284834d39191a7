package launch

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// The state of the conductor's Job and its pods.

// newest is the pod that was created last. Pods that have not ended come first.
func newest(pods []corev1.Pod) *corev1.Pod {
	var best *corev1.Pod
	for i := range pods {
		p := &pods[i]
		if best == nil || ended(best) && !ended(p) ||
			ended(best) == ended(p) && best.CreationTimestamp.Before(&p.CreationTimestamp) {
			best = p
		}
	}
	return best
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

func restarts(p *corev1.Pod) int32 {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == conductorContainer {
			return s.RestartCount
		}
	}
	return 0
}

// started reports whether the container was started: then it has a log.
func started(p *corev1.Pod) bool {
	for _, s := range p.Status.ContainerStatuses {
		if s.Name == conductorContainer {
			return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
		}
	}
	return false
}

// endReason describes why a pod ended.
func endReason(p *corev1.Pod) string {
	words := p.Status.Reason
	if p.Status.Message != "" {
		words += ": " + p.Status.Message
	}
	for _, s := range p.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && words == "" {
			words = fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
		}
	}
	if words == "" {
		return string(p.Status.Phase)
	}
	return words
}

// job checks the Job when no pod of it runs.
func (f *Follower) job(ctx context.Context, last *corev1.Pod) error {
	job, err := kube.Jobs.Get(ctx, f.Client, Name(f.Run))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("run %s in namespace %s: %w", f.Run, f.Client.Namespace, ErrGone)
	case refused(err):
		return fmt.Errorf("follow run %s, which continues: %w", f.Run, err)
	case err != nil:
		f.unanswered(err)
		return nil
	}
	if why, over := jobOver(job); over {
		if last != nil {
			why += "; its last pod: " + endReason(last)
		}
		return fmt.Errorf("run %s: %w: the conductor has failed and is not restarted (%s)", f.Run, ErrLost, why)
	}
	if last != nil {
		return nil
	}
	return f.wait("the conductor's pod does not exist yet" + f.events(ctx))
}

// jobOver reports whether a Job creates no more pods, and why.
func jobOver(job *batchv1.Job) (string, bool) {
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobFailed || c.Type == batchv1.JobComplete) {
			if c.Type == batchv1.JobComplete {
				return "it is complete", true
			}
			return c.Reason + ": " + c.Message, true
		}
	}
	return "", false
}

// events is the cluster's last warning about the Job: why it could not create a pod.
func (f *Follower) events(ctx context.Context) string {
	text, err := kube.LastWarning(ctx, f.Client, kube.Jobs.Name, Name(f.Run))
	if err != nil || text == "" { // few users may read them
		return ""
	}
	return ": " + text
}

// waits notes why a pod's container is not started.
func (f *Follower) waits(p *corev1.Pod) error {
	words := ""
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			words = "no node accepts the conductor's pod: " + c.Message
		}
	}
	for _, s := range p.Status.ContainerStatuses {
		if w := s.State.Waiting; w != nil && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			words = fmt.Sprintf("the conductor's container waits: %s: %s", w.Reason, w.Message)
		}
	}
	if words == "" && p.Status.Phase == corev1.PodPending {
		words = "the conductor's pod is being started"
	}
	return f.wait(words)
}

// wait notes words once. It returns an error if they do not change for a long time; the
// cluster may still start the conductor later.
func (f *Follower) wait(words string) error {
	switch {
	case words == "":
		f.said = ""
	case words != f.said:
		f.said, f.since = words, time.Now()
		f.Note(words)
	case time.Since(f.since) > f.patient:
		return fmt.Errorf("run %s: %w: for %v %s", f.Run, ErrWaits, f.patient, words)
	}
	return nil
}
