package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/data/experiment"
)

// Admitted describes which limit of a unit's pod is not the one that an experiment states;
// "" if all are. The API server runs the cluster's admission policies and webhooks before
// it stores a pod: they may change its limits, or give it limits for all of its containers.
func Admitted(p *corev1.PodSpec, l experiment.Limits) string {
	const why = "; an admission policy, a webhook or a vertical autoscaler of the cluster changed it: exempt the namespace from it"
	var is corev1.ResourceList
	for i := range p.Containers {
		if p.Containers[i].Name == UnitContainer {
			is = p.Containers[i].Resources.Limits
		}
	}
	if cpu := is.Cpu().MilliValue(); l.CPUMillis != 0 && cpu != l.CPUMillis {
		return fmt.Sprintf("the CPU limit is %s instead of %dm%s", OrNone("%dm", cpu), l.CPUMillis, why)
	}
	if memory := is.Memory().Value(); l.Memory != 0 && memory != l.Memory {
		return fmt.Sprintf("the memory limit is %s instead of %d bytes%s", OrNone("%d bytes", memory), l.Memory, why)
	}
	if p.Resources != nil && len(p.Resources.Limits) > 0 { // its group is throttled, which the container's counters do not show
		return "the pod has limits for all of its containers together (spec.resources)" + why
	}
	return ""
}

// OrNone formats a limit; 0 is "no limit".
func OrNone(format string, limit int64) string {
	if limit == 0 {
		return "no limit"
	}
	return fmt.Sprintf(format, limit)
}
