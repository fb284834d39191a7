package pods

import (
	"cmp"
	"fmt"
	"hash/fnv"
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

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
	"github.com/millicore/millicore/internal/platform"
	"github.com/millicore/millicore/internal/platform/supervise"
)

// Maker makes the objects of a run. It sends no requests: the objects can be
// checked before any of them is created.
type Maker struct {
	run, image string
	owner      metav1.OwnerReference
	settings   experiment.Kubernetes
	conductor  string
}

// NewMaker uses Run, Owner, Settings, Image and Conductor of the options.
// Without an Owner the objects have no owner.
func NewMaker(o Options) *Maker {
	return &Maker{run: o.Run, image: o.Image, owner: o.Owner, settings: o.Settings, conductor: o.Conductor}
}

// isOwn reports whether an image is one of Millicore's. Those run as any user.
func (m *Maker) isOwn(image string) bool {
	if image == m.image {
		return true
	}
	for name := range built {
		if image == m.workload(name) {
			return true
		}
	}
	return false
}

// Names within objects.
const (
	unitContainer  = "service" // of every unit's pod
	agentContainer = "agent"
	nodeContainer  = "node"
	portName       = "service"

	// usualPort is the port of units without a port of their own.
	usualPort = 8080
	// anyUser is the user of Millicore's own images, which run as any user.
	anyUser  = 65532
	nodeName = "kubernetes.io/hostname"
)

// users are the users of the images of built-in databases where root is not
// allowed: those that their entry points change to.
var users = map[string]int64{
	experiment.DatabaseImage(experiment.Postgres): 70,
	experiment.DatabaseImage(experiment.MongoDB):  999,
}

// nameLength is that of the longest DNS label.
const nameLength = 63

// objectName joins words to a DNS label that begins with a letter, as the names of
// Services must. A name that is too long is cut and gets a hash.
func objectName(words ...string) string {
	name := strings.Join(words, "-")
	if name != "" && (name[0] < 'a' || name[0] > 'z') {
		name = "m" + name
	}
	if len(name) <= nameLength {
		return name
	}
	sum := fnv.New32a()
	sum.Write([]byte(name))
	return fmt.Sprintf("%s-%08x", strings.TrimRight(name[:nameLength-9], "-"), sum.Sum32())
}

// unitName is the name of a unit's Deployment and Service.
func (m *Maker) unitName(u *platform.UnitSpec) string {
	return objectName(m.run, "t"+strconv.Itoa(u.Trial), u.Name)
}

// labels are the labels of an object, with more.
func (m *Maker) labels(part string, more map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, m.settings.Labels)
	maps.Copy(all, more)
	all[kube.LabelManager], all[kube.LabelRun], all[kube.LabelPart] = kube.Manager, m.run, part
	return all
}

// Meta is the metadata of an object. part is the part of the run to which the
// object belongs.
func (m *Maker) Meta(name, part string, labels map[string]string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: name, Labels: m.labels(part, labels), Annotations: maps.Clone(m.settings.Annotations)}
	if m.owner.Name != "" {
		meta.OwnerReferences = []metav1.OwnerReference{m.owner}
	}
	return meta
}

// unitLabels are the labels that select a unit's pods.
func (m *Maker) unitLabels(u *platform.UnitSpec) map[string]string {
	return map[string]string{kube.LabelRun: m.run, kube.LabelUnit: u.Name, kube.LabelTrial: strconv.Itoa(u.Trial)}
}

// selectorOf is the API's selector for labels.
func selectorOf(labels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name+"="+labels[name])
	}
	return strings.Join(all, ",")
}

// deployment is the Deployment of a unit. It has no readiness probe: the conductor
// probes the replicas itself, as on every platform, and stops once they serve. A
// kubelet's probe would use their CPU limit during every trial. It lacks the name of the
// Secret with the values (see refer), unless there are none.
func (m *Maker) deployment(u *platform.UnitSpec, part string) (*appsv1.Deployment, values, error) {
	secrets := values{}
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
	selector := m.unitLabels(u)
	replicas := int32(max(u.Limits.Replicas, 1))
	return &appsv1.Deployment{
		ObjectMeta: m.Meta(m.unitName(u), part, selector),
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: pod,
			RevisionHistoryLimit: of(int32(0)), Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		},
	}, secrets, nil
}

// pod is the template that all pods have in common.
func (m *Maker) pod(part string, labels map[string]string) corev1.PodTemplateSpec {
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: m.labels(part, labels), Annotations: maps.Clone(m.settings.Annotations)},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: of(false),
			EnableServiceLinks:           of(false),
		},
	}
	for _, name := range m.settings.PullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	for _, t := range m.settings.Tolerations {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect), TolerationSeconds: t.Seconds})
	}
	return pod
}

// away makes a pod avoid the nodes of some parts if there are enough nodes.
func (m *Maker) away(parts ...string) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 100, PodAffinityTerm: corev1.PodAffinityTerm{
			TopologyKey: nodeName,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{kube.LabelRun: m.run},
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: kube.LabelPart, Operator: metav1.LabelSelectorOpIn, Values: parts}}},
		}}},
	}}
}

// podSecurity satisfies the Pod Security Standard "restricted", or "baseline" for
// foreign images if the experiment allows it.
func (m *Maker) podSecurity(image string) *corev1.PodSecurityContext {
	s := &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	if !m.restricted(image) {
		return s
	}
	s.RunAsNonRoot = of(true)
	if m.isOwn(image) {
		s.RunAsUser, s.RunAsGroup = of(int64(anyUser)), of(int64(anyUser))
	} else if user, ok := users[image]; ok {
		s.RunAsUser, s.RunAsGroup = &user, &user
	}
	return s
}

// containerSecurity is the same of a container.
func (m *Maker) containerSecurity(image string) *corev1.SecurityContext {
	if !m.restricted(image) {
		return nil
	}
	s := &corev1.SecurityContext{AllowPrivilegeEscalation: of(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	if image == m.image {
		s.ReadOnlyRootFilesystem = of(true)
	}
	return s
}

func (m *Maker) restricted(image string) bool {
	return m.isOwn(image) || m.settings.Security != experiment.SecurityBaseline
}

// unitPod is a unit's pod without its command and variables.
func (m *Maker) unitPod(u *platform.UnitSpec, part string) corev1.PodTemplateSpec {
	pod := m.pod(part, m.unitLabels(u))
	pod.Spec.Affinity = m.away(kube.PartAgent)
	pod.Spec.NodeSelector = m.settings.NodeSelector
	pod.Spec.TerminationGracePeriodSeconds = of(int64(platform.StopGrace.Seconds()))
	pod.Spec.SecurityContext = m.podSecurity(u.Image)
	runAs(pod.Spec.SecurityContext, u.RunAs)
	pod.Spec.Containers = []corev1.Container{{
		Name: unitContainer, Image: u.Image, ImagePullPolicy: corev1.PullIfNotPresent, WorkingDir: u.Dir,
		Ports:           []corev1.ContainerPort{{Name: portName, ContainerPort: int32(cmp.Or(u.Port, usualPort))}},
		Resources:       m.resources(u.Limits, part),
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
func commandAndEnv(u *platform.UnitSpec, secrets values) (words []string, env []corev1.EnvVar, err error) {
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
func environment(u *platform.UnitSpec, vars map[string]string, secrets values) ([]corev1.EnvVar, error) {
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
				ContainerName: unitContainer, Resource: limit, Divisor: *resource.NewQuantity(1, resource.DecimalSI)}}
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

// resources are a unit's limits and requests. Requests equal the limits unless the
// experiment sets those of services.
func (m *Maker) resources(l experiment.Limits, part string) corev1.ResourceRequirements {
	var requests experiment.Requests
	if part == kube.PartService {
		requests = m.settings.Requests
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

// service is the Service of a unit. It is headless: clients get the addresses of
// the replicas, without a proxy in between.
func (m *Maker) service(u *platform.UnitSpec, part string) *corev1.Service {
	port := int32(cmp.Or(u.Port, usualPort))
	selector := m.unitLabels(u)
	return &corev1.Service{
		ObjectMeta: m.Meta(m.unitName(u), part, selector),
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: selector,
			Ports: []corev1.ServicePort{{Name: portName, Port: port, TargetPort: intstr.FromInt32(port)}},
		},
	}
}

// autoscaler makes the number of a unit's replicas follow their CPU use.
func (m *Maker) autoscaler(u *platform.UnitSpec, part string) *autoscalingv2.HorizontalPodAutoscaler {
	name, a := m.unitName(u), u.Autoscale
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: m.Meta(name, part, m.unitLabels(u)),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name},
			MinReplicas:    of(int32(a.Min)), MaxReplicas: int32(a.Max),
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name:   corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: of(int32(a.CPUPercent))},
			}}},
		},
	}
}

func of[T any](v T) *T { return &v }
