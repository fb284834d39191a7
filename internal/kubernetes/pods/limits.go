package pods

import (
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kubelet/cadvisor"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/guard"
	"github.com/millicore/millicore/internal/platform/meter"
)

// A vertical autoscaler or a person can resize a pod in place while a trial runs, which its
// status shows, and somebody on the node can change its control groups, which only the
// node agent sees.

// held are the limits that a replica must have.
type held struct {
	mu     sync.Mutex
	want   experiment.Limits
	before *experiment.Limits // the earlier ones, which a reading may still show; nil: none
	until  time.Time          // the last such reading; zero: the resize continues
}

// statedIn returns the limits of a pod's container: those that an experiment states, and
// otherwise those that the cluster gave it, such as a LimitRange's defaults. The period is
// the kubelet's.
func statedIn(p *corev1.Pod, l experiment.Limits) experiment.Limits {
	l.Period = 0
	for _, c := range p.Spec.Containers {
		if c.Name != objects.UnitContainer {
			continue
		}
		if l.CPUMillis == 0 {
			l.CPUMillis = c.Resources.Limits.Cpu().MilliValue()
		}
		if l.Memory == 0 {
			l.Memory = c.Resources.Limits.Memory().Value()
		}
	}
	return l
}

// resizing begins a change to other limits, of which those that are 0 stay.
func (h *held) resizing(l experiment.Limits) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.want
	h.before, h.until = &before, time.Time{}
	if l.CPUMillis != 0 {
		h.want.CPUMillis = l.CPUMillis
	}
	if l.Memory != 0 {
		h.want.Memory = l.Memory
	}
}

// staleFor is how old a reading may be when it comes, with the error of the clocks.
const staleFor = time.Second

// resized ends the change.
func (h *held) resized(at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = at.Add(staleFor)
}

// broken describes the first limit of a reading that is not the wanted one; "" if all are.
// Each check describes that of one limit.
func (h *held) broken(at time.Time, checks ...func(experiment.Limits) string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	mayBeOld := h.before != nil && (h.until.IsZero() || at.Before(h.until))
	for _, check := range checks {
		if why := check(h.want); why != "" && !(mayBeOld && check(*h.before) == "") {
			return why
		}
	}
	return ""
}

// leastMillis is the smallest CPU limit that a kubelet sets (MinQuotaPeriod in Kubernetes
// pkg/kubelet/cm/helpers_linux.go).
const leastMillis = 10

// groupCPU describes a CPU limit of a control group that is not the wanted one. A container
// with CPUs of its own (the CPU manager's policy static) needs no quota.
func groupCPU(own *nodeagent.Own) func(experiment.Limits) string {
	return func(l experiment.Limits) string {
		if l.CPUMillis != 0 {
			l.CPUMillis = max(l.CPUMillis, leastMillis)
			if own.Quota == 0 && own.CPUs > 0 && 1000*int64(own.CPUs) <= l.CPUMillis {
				return ""
			}
		}
		why := guard.WantedOf(l).BrokenCPU(meter.Bandwidth{Quota: time.Duration(own.Quota), Period: time.Duration(own.Period)})
		if why != "" && own.Quota == 0 {
			why += "; a kubelet with cpuCFSQuota: false enforces none"
		}
		return why
	}
}

func groupMemory(own *nodeagent.Own) func(experiment.Limits) string {
	return func(l experiment.Limits) string { return guard.WantedOf(l).BrokenMemory(own.Memory) }
}

// podCPU describes a CPU limit in a container's status that is not the wanted one. A
// kubelet reports none where it does not know.
func podCPU(s corev1.ContainerStatus) func(experiment.Limits) string {
	return func(l experiment.Limits) string {
		if is := s.Resources.Limits.Cpu().MilliValue(); is != 0 && is != l.CPUMillis && max(is, l.CPUMillis) > leastMillis {
			return fmt.Sprintf("its CPU limit was changed from %s to %dm: its pod was resized", objects.OrNone("%dm", l.CPUMillis), is)
		}
		return ""
	}
}

func podMemory(s corev1.ContainerStatus) func(experiment.Limits) string {
	return func(l experiment.Limits) string {
		if is := s.Resources.Limits.Memory().Value(); is != 0 && is != l.Memory {
			return fmt.Sprintf("its memory limit was changed from %s to %d bytes: its pod was resized", objects.OrNone("%d bytes", l.Memory), is)
		}
		return ""
	}
}

// emptyFor is how long the control group of a container that runs may be without a
// process: a container that has ended keeps its group for a moment.
const emptyFor = 5 * time.Second

// unenforcedFor is how many samples in a row must show no quota: a kubelet may read a
// container before its limits are set.
const unenforcedFor = 3

// enforces records whether a kubelet's sample shows the quota of a CPU limit. Of a limit of
// whole CPUs that is not known: the CPU manager may have given the container CPUs of its own.
func (r *replica) enforces(s cadvisor.Sample, l experiment.Limits) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unenforced++
	if l.CPUMillis%1000 == 0 || s.Periods != nil || s.CPULimit != nil {
		r.unenforced = 0
	}
}

// LimitBroken describes which limit of the replica's container is not the one that was set,
// or that its processes left its control group; "" if all hold, or that cannot be seen. See
// platform.LimitVerifier.
func (r *replica) LimitBroken() string {
	if pod, _ := r.k.pods.Get(r.pod); pod != nil {
		if s := podstatus.Of(pod, objects.UnitContainer); s.Resources != nil {
			if why := r.held.broken(time.Now(), podCPU(s), podMemory(s)); why != "" {
				return why
			}
		}
	}
	if r.watching == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.unenforced >= unenforcedFor {
			return "its CPU limit is not enforced: the kubelet of node " + r.node + " reports no quota of its container (cpuCFSQuota: false)"
		}
		return ""
	}
	own, at, empty := r.watching.own()
	if own == nil {
		return ""
	}
	r.mu.Lock()
	up := r.up
	r.mu.Unlock()
	if up && empty >= emptyFor {
		return "no process is in its control group any more, though its container runs: they were moved out of it"
	}
	return r.held.broken(at, groupCPU(own), groupMemory(own))
}

var _ platform.LimitVerifier = (*replica)(nil)
