package pods

import (
	"cmp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kubelet/cadvisor"
	"github.com/millicore/millicore/internal/kubernetes/nodeagent"
	"github.com/millicore/millicore/internal/kubernetes/objects"
	"github.com/millicore/millicore/internal/kubernetes/podstatus"
	"github.com/millicore/millicore/internal/platform"
)

const quota, period = int64(50 * time.Millisecond), int64(100 * time.Millisecond)

func TestLimitsOfAGroup(t *testing.T) {
	half := experiment.Limits{CPUMillis: 500, Memory: 64 << 20}
	for name, c := range map[string]struct {
		want experiment.Limits
		own  nodeagent.Own
		why  string
	}{
		"as wanted":             {half, nodeagent.Own{Quota: quota, Period: period, Memory: 64 << 20, CPUs: 2}, ""},
		"another period":        {half, nodeagent.Own{Quota: quota / 10, Period: period / 10, Memory: 64 << 20, CPUs: 2}, ""},
		"no limits":             {experiment.Limits{}, nodeagent.Own{Period: period, CPUs: 2}, ""},
		"more CPU":              {half, nodeagent.Own{Quota: 2 * quota, Period: period, Memory: 64 << 20, CPUs: 2}, "its CPU limit was changed from 500m CPU in periods of 100ms to 1000m"},
		"more memory":           {half, nodeagent.Own{Quota: quota, Period: period, Memory: 65 << 20, CPUs: 2}, "its memory limit was changed from 67108864 bytes to 68157440 bytes"},
		"no quota":              {half, nodeagent.Own{Period: period, Memory: 64 << 20, CPUs: 2}, "to no limit; a kubelet with cpuCFSQuota: false enforces none"},
		"a quota of a kubelet":  {experiment.Limits{CPUMillis: 5}, nodeagent.Own{Quota: int64(time.Millisecond), Period: period}, ""},
		"CPUs of its own":       {experiment.Limits{CPUMillis: 2000}, nodeagent.Own{Period: period, CPUs: 2}, ""},
		"more CPUs of its own":  {experiment.Limits{CPUMillis: 2000}, nodeagent.Own{Period: period, CPUs: 3}, "to no limit"},
		"a quota that is lower": {half, nodeagent.Own{Quota: quota - int64(time.Millisecond), Period: period, Memory: 64 << 20}, "to 490m CPU"},
	} {
		why := cmp.Or(groupCPU(&c.own)(c.want), groupMemory(&c.own)(c.want))
		if c.why == "" && why != "" || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
}

// status is a container's status with limits; "" is none.
func status(cpu, memory string) corev1.ContainerStatus {
	limits := corev1.ResourceList{}
	for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
		if text != "" {
			limits[name] = resource.MustParse(text)
		}
	}
	return corev1.ContainerStatus{Name: objects.UnitContainer, Resources: &corev1.ResourceRequirements{Limits: limits}}
}

func TestLimitsOfAPodsStatus(t *testing.T) {
	half := experiment.Limits{CPUMillis: 500, Memory: 64 << 20}
	for name, c := range map[string]struct {
		want experiment.Limits
		is   corev1.ContainerStatus
		why  string
	}{
		"as wanted":         {half, status("0.5", "64Mi"), ""},
		"not reported":      {half, status("", ""), ""},
		"more CPU":          {half, status("2", "64Mi"), "its CPU limit was changed from 500m to 2000m: its pod was resized"},
		"less memory":       {half, status("500m", "32Mi"), "its memory limit was changed from 67108864 bytes to 33554432 bytes: its pod was resized"},
		"a limit, not none": {experiment.Limits{}, status("1", ""), "its CPU limit was changed from no limit to 1000m"},
		"a tiny limit":      {experiment.Limits{CPUMillis: 5}, status("10m", ""), ""},
	} {
		why := cmp.Or(podCPU(c.is)(c.want), podMemory(c.is)(c.want))
		if c.why == "" && why != "" || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
}

// While a resize of Millicore's own continues, each limit is the old or the new one, and
// so in readings that come late.
func TestAResizeBreaksNoLimit(t *testing.T) {
	old, mixed, changed := status("500m", "64Mi"), status("900m", "64Mi"), status("900m", "128Mi")
	h := held{want: experiment.Limits{CPUMillis: 500, Memory: 64 << 20}}
	now := time.Unix(1000, 0)
	check := func(when string, at time.Time, s corev1.ContainerStatus, holds bool) {
		t.Helper()
		if why := h.broken(at, podCPU(s), podMemory(s)); (why == "") != holds {
			t.Errorf("%s: %q", when, why)
		}
	}
	check("before", now, old, true)
	check("before", now, mixed, false)
	h.resizing(experiment.Limits{CPUMillis: 900, Memory: 128 << 20})
	for _, s := range []corev1.ContainerStatus{old, mixed, changed} {
		check("during the resize", now, s, true)
	}
	check("during the resize", now, status("800m", "64Mi"), false)
	h.resized(now)
	check("just after it, a late reading", now.Add(staleFor/2), old, true)
	check("after it", now.Add(2*staleFor), old, false)
	check("after it", now.Add(2*staleFor), changed, true)
	h.resizing(experiment.Limits{CPUMillis: 400})
	check("one limit stays", now.Add(2*staleFor), status("400m", "128Mi"), true)
	check("one limit stays", now.Add(2*staleFor), status("400m", "64Mi"), false)
}

// What an experiment does not state may be set by the cluster.
func TestLimitsThatTheClusterSets(t *testing.T) {
	p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "proxy"}, {Name: objects.UnitContainer, Resources: *status("1", "1Gi").Resources}}}}
	if l := statedIn(p, experiment.Limits{CPUMillis: 500}); l.CPUMillis != 500 || l.Memory != 1<<30 {
		t.Errorf("%+v", l)
	}
	if l := statedIn(&corev1.Pod{}, experiment.Limits{}); l != (experiment.Limits{}) {
		t.Errorf("%+v", l)
	}
}

// A unit does not start with a pod whose limits the cluster changed.
func TestLimitsThatTheClusterChanges(t *testing.T) {
	stated := experiment.Limits{CPUMillis: 500, Memory: 64 << 20}
	for name, c := range map[string]struct {
		want        experiment.Limits
		cpu, memory string
		pod         string // the CPU limit of all containers together
		why         string
	}{
		"as stated":             {stated, "0.5", "64Mi", "", ""},
		"none is stated":        {experiment.Limits{}, "200m", "1Gi", "", ""},
		"no CPU limit":          {stated, "", "64Mi", "", "the CPU limit is no limit instead of 500m"},
		"another CPU limit":     {stated, "1", "64Mi", "", "the CPU limit is 1000m instead of 500m"},
		"no memory limit":       {stated, "500m", "", "", "the memory limit is no limit instead of 67108864 bytes"},
		"another memory limit":  {stated, "500m", "128Mi", "", "the memory limit is 134217728 bytes instead of 67108864 bytes"},
		"a limit of the pod":    {stated, "500m", "64Mi", "600m", "limits for all of its containers together"},
		"only one of the pod's": {experiment.Limits{}, "", "", "600m", "limits for all of its containers together"},
	} {
		limits := *status(c.cpu, c.memory).Resources
		p := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "sidecar"}, {Name: objects.UnitContainer, Resources: limits}}}}
		p.Name = "p"
		if c.pod != "" {
			p.Spec.Resources = status(c.pod, "").Resources
		}
		u := &unit{k: &cluster{}, of: platform.UnitSpec{Name: "go", Limits: c.want, Logs: t.TempDir()}}
		if c.why == "" {
			if why := objects.Admitted(&p.Spec, c.want); why != "" {
				t.Errorf("%s: %q", name, why)
			}
			continue
		}
		if _, err := u.begin(p, "0"); err == nil || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), "the pod p: ") {
			t.Errorf("%s: %v, want %q", name, err, c.why)
		}
	}
}

// Without node agents the kubelet's samples show whether it enforces a CPU limit.
func TestACPULimitThatTheKubeletDoesNotEnforce(t *testing.T) {
	some := 0.5
	with := cadvisor.Sample{}
	with.CPULimit = &some
	for name, c := range map[string]struct {
		millis  int64
		samples []cadvisor.Sample
		why     string
	}{
		"enforced":          {500, []cadvisor.Sample{with, with, with, with}, ""},
		"read too early":    {500, []cadvisor.Sample{{}, {}, with, {}}, ""},
		"not enforced":      {500, []cadvisor.Sample{with, {}, {}, {}}, "its CPU limit is not enforced: the kubelet of node n1"},
		"CPUs of its own":   {1000, []cadvisor.Sample{{}, {}, {}, {}}, ""},
		"there is no limit": {0, []cadvisor.Sample{{}, {}, {}, {}}, ""},
	} {
		r := &replica{k: &cluster{pods: &podstatus.Watch{}}, node: "n1"}
		for _, s := range c.samples {
			r.enforces(s, experiment.Limits{CPUMillis: c.millis})
		}
		if why := r.LimitBroken(); c.why == "" && why != "" || !strings.Contains(why, c.why) {
			t.Errorf("%s: %q, want %q", name, why, c.why)
		}
	}
}
