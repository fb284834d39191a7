package kubernetes

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/millicore/millicore/internal/cgroup"
	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/record"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/kubernetes/pods"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/test/testkit"
)

// resizePod changes the CPU limit of a running pod in place, as a vertical autoscaler does.
// A pod whose request is its limit must stay so.
func resizePod(t *testing.T, c *kube.Client, pod *corev1.Pod, cpu string) {
	t.Helper()
	of := pod.Spec.Containers[0]
	resources := map[string]any{"limits": map[string]string{"cpu": cpu}}
	if of.Resources.Requests.Cpu().Equal(*of.Resources.Limits.Cpu()) {
		resources["requests"] = resources["limits"]
	}
	patch := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": of.Name, "resources": resources}}}}
	if _, err := kube.Pods.Patch(t.Context(), c, pod.Name, "resize", patch); err != nil {
		t.Fatal(err)
	}
}

// groupOf is the control group of a pod's process on this machine.
func groupOf(t *testing.T, pod *corev1.Pod) cgroup.Group {
	t.Helper()
	at, err := cgroup.Host().Process(processOf(t, pod).Pid)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// rewrite writes a file of a pod's control group, which has a name for each version.
func rewrite(t *testing.T, pod *corev1.Pod, c cgroup.Controller, v1, v2, value string) {
	t.Helper()
	at := groupOf(t, pod)
	p, ok := at.Place(c).Get()
	if !ok {
		t.Fatal(at.Place(c))
	}
	name := v1
	if p.Version == cgroup.V2 {
		name = v2
	}
	if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(value), 0); err != nil {
		t.Fatal(err)
	}
}

// moveOut moves a pod's process into the highest groups.
func moveOut(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	process, at := processOf(t, pod), groupOf(t, pod)
	for _, c := range []cgroup.Controller{cgroup.CPU, cgroup.CPUAcct, cgroup.Memory, cgroup.PIDs} {
		if p, ok := at.Place(c).Get(); ok {
			if err := os.WriteFile(filepath.Join(p.Top, "cgroup.procs"), []byte(strconv.Itoa(process.Pid)), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Others change limits in the cluster and on the node; a process is moved out of its
// group. Node agents see all of it.
func TestALimitThatNoLongerHoldsIsSeen(t *testing.T) {
	t.Parallel()
	dialled := hub(t)
	p := openAt(t, "privileged", func(o *pods.Options) {
		dialled(o)
		o.Settings.NodeAgent = true
	})
	trial := 0
	for name, c := range map[string]struct {
		do   func(t *testing.T, running platform.Unit, pod *corev1.Pod)
		want string
	}{
		"nothing happens": {func(*testing.T, platform.Unit, *corev1.Pod) {}, ""},
		"its pod is resized": {func(t *testing.T, _ platform.Unit, pod *corev1.Pod) {
			resizePod(t, p.api, pod, "600m")
		}, "its CPU limit was changed from 300m"},
		"somebody lifts the quota": {func(t *testing.T, _ platform.Unit, pod *corev1.Pod) {
			rewrite(t, pod, cgroup.CPU, "cpu.cfs_quota_us", "cpu.max", "-1")
		}, "its CPU limit was changed from 300m CPU in periods of 100ms to no limit"},
		"somebody lowers the memory limit": {func(t *testing.T, _ platform.Unit, pod *corev1.Pod) {
			rewrite(t, pod, cgroup.Memory, "memory.limit_in_bytes", "memory.max", "67108864")
		}, "its memory limit was changed from 134217728 bytes to 67108864 bytes"},
		"it is moved out": {func(t *testing.T, _ platform.Unit, pod *corev1.Pod) { moveOut(t, pod) }, "no process is in its control group any more"},
		"Millicore resizes it": {func(t *testing.T, running platform.Unit, _ *corev1.Pod) {
			if err := running.(platform.Resizer).Resize(t.Context(), experiment.Limits{CPUMillis: 200, Memory: 160 << 20, Replicas: 1}); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"it dies": {func(t *testing.T, running platform.Unit, pod *corev1.Pod) {
			if err := processOf(t, pod).Kill(); err != nil {
				t.Fatal(err)
			}
			testkit.Until(t, "it is up again", func() bool {
				c, err := running.Replicas()[0].Counters()
				return err == nil && c.Restarts == 1 && c.Up
			})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			trial++
			u := server(t, experiment.Limits{CPUMillis: 300, Memory: 128 << 20, Replicas: 1})
			u.Trial = trial
			running := start(t, p, u)
			defer func() {
				if err := running.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			}()
			r := running.Replicas()[0]
			v, ok := platform.As[platform.LimitVerifier](r)
			if !ok {
				t.Fatal("its limits cannot be verified")
			}
			pods, err := kube.Pods.List(t.Context(), p.api, kube.LabelUnit+"=server,"+kube.LabelTrial+"="+strconv.Itoa(trial))
			if err != nil || len(pods) != 1 {
				t.Fatalf("%d pods, %v", len(pods), err)
			}
			fresh := func() {
				t.Helper()
				for range 3 {
					testkit.Until(t, "a newer reading", func() bool { _, err := r.Counters(); return err == nil })
					if why := v.LimitBroken(); why != "" {
						t.Fatalf("though nothing has happened: %s", why)
					}
				}
			}
			fresh()
			c.do(t, running, &pods[0])
			if c.want == "" {
				fresh()
				return
			}
			testkit.Until(t, "it is seen", func() bool { return v.LimitBroken() != "" })
			if why := v.LimitBroken(); !strings.Contains(why, c.want) {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}

// A vertical autoscaler resizes the pod of a service during its trial: the trial is invalid,
// and the run ends with code 1, with node agents and without.
func TestATrialWhosePodIsResizedIsInvalid(t *testing.T) {
	for name, c := range map[string]struct {
		level string
		more  []string
	}{
		"with node agents":    {"privileged", []string{"--node-agent"}},
		"without node agents": {"restricted", nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLaptopAt(t, c.level).allowed(t)
			w := watchServices(t, l.api)
			run := l.start(t, append([]string{"run", "small.yaml", "--out", "record", "--set", "vary.procs=[1]", "--set", "measure.duration=60s"}, c.more...)...)
			began := time.Now()
			resizePod(t, l.api, l.servedBy(t, w), "600m")
			run.ends(t, 1)
			t.Logf("after %v", time.Since(began))
			trials := l.record(t, "record").Trials
			if outcomes := l.outcomes(t, "record"); !slices.Equal(outcomes, []record.Outcome{record.Invalid}) {
				t.Fatalf("outcomes %v\n%s", outcomes, &run.err)
			}
			const want = "a limit of go did not hold: its CPU limit was changed from 300m"
			if why := trials[0].Why; !strings.Contains(why, want) || !strings.Contains(run.err.String()+run.out.String(), want) {
				t.Errorf("%q, want %q; the output:\n%s%s", why, want, &run.out, &run.err)
			}
			l.empty(t, 10*time.Second)
		})
	}
}

// servedBy waits until the service of the first trial is under load, and returns its pod.
func (l *laptop) servedBy(t *testing.T, w *witness) *corev1.Pod {
	t.Helper()
	run := l.run(t)
	w.loaded(t, 1)
	return l.podOf(t, run, kube.PartService, "")
}
