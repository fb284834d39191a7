package objects

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// UnitName is the name of a unit's Deployment and Service.
func (m *Maker) UnitName(u *platform.UnitSpec) string {
	return Name(m.run, "t"+strconv.Itoa(u.Trial), u.Name)
}

// UnitLabels are the labels that select a unit's pods.
func (m *Maker) UnitLabels(u *platform.UnitSpec) map[string]string {
	return map[string]string{kube.LabelRun: m.run, kube.LabelUnit: u.Name, kube.LabelTrial: strconv.Itoa(u.Trial)}
}

// Deployment makes the Deployment of a unit. It has no readiness probe: the conductor
// probes the replicas itself, as on every platform, and stops once they serve. A
// kubelet's probe would use their CPU limit during every trial. It lacks the name of the
// Secret with the values (see Refer), unless there are none.
func (m *Maker) Deployment(u *platform.UnitSpec, part string) (*appsv1.Deployment, Values, error) {
	secrets := Values{}
	words, env, err := commandAndEnv(u, secrets)
	if err != nil {
		return nil, nil, err
	}
	pod := m.unitPod(u, part)
	c := &pod.Spec.Containers[0]
	c.Env = env
	if u.Image == m.image { // which has no entry point: it holds several programs
		c.Command = words
	} else {
		c.Args = words
	}
	return m.deploymentOf(u, part, pod), secrets, nil
}

func (m *Maker) deploymentOf(u *platform.UnitSpec, part string, pod corev1.PodTemplateSpec) *appsv1.Deployment {
	selector := m.UnitLabels(u)
	replicas := int32(max(u.Limits.Replicas, 1))
	return &appsv1.Deployment{
		ObjectMeta: m.Meta(m.UnitName(u), part, selector),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: pod,
			RevisionHistoryLimit: new(int32(0)), Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		},
	}
}

// unitPod makes a unit's pod without its command and variables.
func (m *Maker) unitPod(u *platform.UnitSpec, part string) corev1.PodTemplateSpec {
	pod := m.pod(part, m.UnitLabels(u))
	pod.Spec.Affinity = m.away(kube.PartAgent)
	pod.Spec.NodeSelector = m.settings.NodeSelector
	pod.Spec.TerminationGracePeriodSeconds = new(int64(platform.StopGrace.Seconds()))
	pod.Spec.SecurityContext = m.podSecurity(u.Image)
	runAs(pod.Spec.SecurityContext, u.RunAs)
	pod.Spec.Containers = []corev1.Container{{
		Name: UnitContainer, Image: u.Image, ImagePullPolicy: corev1.PullIfNotPresent, WorkingDir: u.Dir,
		Ports:           []corev1.ContainerPort{{Name: portName, ContainerPort: int32(cmp.Or(u.Port, usualPort))}},
		Resources:       m.Resources(u.Limits, part),
		SecurityContext: m.containerSecurity(u.Image),
		// The default, as no program here writes a termination message.
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		ResizePolicy: []corev1.ContainerResizePolicy{
			{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.NotRequired},
			{ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.NotRequired},
		},
	}}
	return pod
}

// commandAndEnv returns the words of a unit's command and its variables, and adds what
// must not be shown of them to secrets.
func commandAndEnv(u *platform.UnitSpec, secrets Values) (words []string, env []corev1.EnvVar, err error) {
	vars := experiment.LimitVars(u.Limits)
	maps.Copy(vars, u.Vars)
	vars["host"], vars["port"] = "0.0.0.0", strconv.Itoa(cmp.Or(u.Port, usualPort))
	if words, err = supervise.ExpandCommand(u.Command, vars); err != nil {
		return nil, nil, err
	}
	words, arguments := hideWords(words, secrets)
	env, err = environment(u, vars, secrets)
	return words, append(env, arguments...), err
}

// environment returns the variables of a unit's containers beside those of their
// image. Kubernetes cannot remove a variable of an image: a name in Unset is only
// not set here. A value that is exactly a limit comes from the downward API, and one that
// must not be shown from a Secret.
func environment(u *platform.UnitSpec, vars map[string]string, secrets Values) ([]corev1.EnvVar, error) {
	stated, err := supervise.ExpandEnv(u.Env, vars)
	if err != nil {
		return nil, err
	}
	all := map[string]string{"PORT": vars["port"]}
	maps.Copy(all, stated)
	for _, name := range u.Unset {
		delete(all, name)
	}
	var env []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := corev1.EnvVar{Name: name, Value: literal(all[name])}
		if hides(u, name, all[name]) {
			v.Value, v.ValueFrom = "", secrets.keep(all[name])
		}
		if limit := limitNamed(u.Env[name]); limit != "" {
			v.Value, v.ValueFrom = "", &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{
				ContainerName: UnitContainer, Resource: limit, Divisor: *resource.NewQuantity(1, resource.DecimalSI)}}
		}
		env = append(env, v)
	}
	for _, name := range slices.Sorted(maps.Keys(u.Secrets)) {
		secret, key, _ := strings.Cut(u.Secrets[name], "/")
		env = append(env, corev1.EnvVar{Name: name, ValueFrom: keyOf(secret, key)})
	}
	return env, nil
}

// limitNamed returns the limit that a value of env names and nothing else, or "".
func limitNamed(value string) string {
	for _, name := range []string{experiment.LimitCPU, experiment.LimitMemory} {
		if value == "${"+name+"}" {
			return name
		}
	}
	return ""
}

// literal escapes a text for Kubernetes, which would expand $(NAME).
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// Resources are a unit's limits and requests. Requests equal the limits unless the
// experiment sets those of services, or the limits have a CPU request of their own.
func (m *Maker) Resources(l experiment.Limits, part string) corev1.ResourceRequirements {
	var requests experiment.Requests
	if part == kube.PartService {
		requests = m.settings.Requests
	}
	if l.RequestMillis > 0 {
		requests.CPUMillis = &l.RequestMillis
	}
	var r corev1.ResourceRequirements
	put := func(name corev1.ResourceName, limit int64, request *int64, quantity func(int64) resource.Quantity) {
		asked := limit
		if request != nil {
			asked = *request
			if limit > 0 {
				asked = min(asked, limit)
			}
		}
		if limit > 0 {
			r.Limits = with(r.Limits, name, quantity(limit))
		}
		if asked > 0 || request != nil {
			r.Requests = with(r.Requests, name, quantity(asked))
		}
	}
	put(corev1.ResourceCPU, l.CPUMillis, requests.CPUMillis, millicores)
	put(corev1.ResourceMemory, l.Memory, requests.MemoryBytes, bytesOf)
	return r
}

func with(list corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	list[name] = q
	return list
}

func millicores(n int64) resource.Quantity { return *resource.NewMilliQuantity(n, resource.DecimalSI) }
func bytesOf(n int64) resource.Quantity    { return *resource.NewQuantity(n, resource.BinarySI) }

// Service makes the Service of a unit. It is headless: clients get the addresses of
// the replicas, without a proxy in between.
func (m *Maker) Service(u *platform.UnitSpec, part string) *corev1.Service {
	port := int32(cmp.Or(u.Port, usualPort))
	selector := m.UnitLabels(u)
	return &corev1.Service{
		ObjectMeta: m.Meta(m.UnitName(u), part, selector),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: selector,
			Ports: []corev1.ServicePort{{Name: portName, Port: port, TargetPort: intstr.FromInt32(port)}},
		},
	}
}

// Autoscaler makes the number of a unit's replicas follow their CPU use.
func (m *Maker) Autoscaler(u *platform.UnitSpec, part string) *autoscalingv2.HorizontalPodAutoscaler {
	name, a := m.UnitName(u), u.Autoscale
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: m.Meta(name, part, m.UnitLabels(u)),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			MinReplicas:    new(int32(a.Min)), MaxReplicas: int32(a.Max),
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(a.CPUPercent))},
			}}},
		},
	}
}
