package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestWhetherLimitsAreApplied(t *testing.T) {
	limits := func(cpu, memory string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	has := func(seen int64, r corev1.ResourceRequirements, conditions ...corev1.PodCondition) *corev1.Pod {
		p := pod(corev1.ContainerStatus{Resources: &r})
		p.Status.ObservedGeneration, p.Status.Conditions = seen, conditions
		return p
	}
	condition := func(kind corev1.PodConditionType, reason, message string) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message}
	}
	for _, c := range []struct {
		name         string
		pod          *corev1.Pod
		done         bool
		waits, wrong string
	}{
		{"as asked for, in other words", has(2, limits("1000m", "64Mi")), true, "", ""},
		{"of a kubelet that does not report its generation", has(0, limits("1", "64Mi")), true, "", ""},
		{"of the generation before", has(1, limits("1", "64Mi")), false, "its kubelet has not processed them yet", ""},
		{"not yet", has(2, limits("500m", "64Mi")), false, "its kubelet has not processed them yet", ""},
		{"in progress", has(2, limits("1", "64Mi"), condition(corev1.PodResizeInProgress, "", "")), false, "node n1 is about to apply them", ""},
		{"failing", has(2, limits("1", "64Mi"), condition(corev1.PodResizeInProgress, corev1.PodReasonError, "memory is in use")), false, "", "node n1 cannot apply it: memory is in use"},
		{"deferred", has(2, limits("500m", "64Mi"), condition(corev1.PodResizePending, corev1.PodReasonDeferred, "full")), false, "node n1 has no room for it now: full", ""},
		{"never", has(2, limits("500m", "64Mi"), condition(corev1.PodResizePending, corev1.PodReasonInfeasible, "2 CPUs")), false, "", "node n1 can never have room for it: 2 CPUs"},
	} {
		done, waits, err := resized(c.pod, 2, limits("1", "64Mi"))
		if done != c.done || waits != c.waits || (err == nil) != (c.wrong == "") || err != nil && err.Error() != c.wrong {
			t.Errorf("%s: %v, %q, %v", c.name, done, waits, err)
		}
	}
}
