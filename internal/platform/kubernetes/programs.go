package kubernetes

import (
	"math"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// The objects of Millicore's own programs.

// Paths in their containers.
const (
	secretFolder = "/etc/millicore/secret" // with the run's Secret
	groupsFolder = "/host/cgroup"          // with the node's control groups
)

// agentsName is the name of the Job of a run's agents.
func (m *Maker) agentsName() string { return objectName(m.run, "agents") }

// job is the Job of the agents. An agent that ends is restarted: as the same
// container if it died, as another pod if its pod is gone.
func (m *Maker) job(agents int) *batchv1.Job {
	n := int32(agents)
	name := m.agentsName()
	pod := m.dialling(m.Own(kube.PartAgent, agentContainer, m.settings.Agents), "/millicore-agent", "--index", "$(JOB_COMPLETION_INDEX)")
	pod.Spec.Affinity = m.away(kube.PartService, kube.PartDependency)
	pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	return &batchv1.Job{
		ObjectMeta: m.Meta(name, kube.PartAgent, nil),
		Spec: batchv1.JobSpec{
			CompletionMode: of(batchv1.IndexedCompletion), Completions: &n, Parallelism: &n,
			BackoffLimit: of(int32(math.MaxInt32)), Template: pod,
		},
	}
}

// Own is the pod of one of Millicore's own programs: restricted, with one container
// that has a memory limit and no CPU limit. The caller sets the command.
func (m *Maker) Own(part, container string, r experiment.Resources) corev1.PodTemplateSpec {
	pod := m.pod(part, nil)
	pod.Spec.NodeSelector = r.NodeSelector
	pod.Spec.SecurityContext = m.podSecurity(m.image)
	pod.Spec.Containers = []corev1.Container{{
		Name: container, Image: m.image, ImagePullPolicy: corev1.PullIfNotPresent,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: millicores(r.CPUMillis), corev1.ResourceMemory: bytesOf(r.MemoryBytes)},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: bytesOf(r.MemoryBytes)}},
		SecurityContext: m.containerSecurity(m.image),
	}}
	return pod
}

// dialling sets the command of an own pod to a program that dials the conductor.
func (m *Maker) dialling(pod corev1.PodTemplateSpec, program string, more ...string) corev1.PodTemplateSpec {
	pod.Spec.TerminationGracePeriodSeconds = of(int64(2))
	c := &pod.Spec.Containers[0]
	c.Command = []string{program}
	c.Args = append([]string{
		"--conductor", m.conductor, "--certificate", secretFolder + "/" + corev1.TLSCertKey, "--token-file", secretFolder + "/token"}, more...)
	c.VolumeMounts = []corev1.VolumeMount{{Name: "secret", MountPath: secretFolder, ReadOnly: true}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: m.secret, Items: []corev1.KeyToPath{{Key: corev1.TLSCertKey, Path: corev1.TLSCertKey}, {Key: "token", Path: "token"}}}}}}
	return pod
}

// Resources of a node agent's pod, which needs 3% of a CPU, 0.1% for each container
// that it watches, and a few MB (docs/performance.md).
var nodeResources = experiment.Resources{CPUMillis: 100, MemoryBytes: 64 << 20}

// daemons is the DaemonSet of the node agents, one on each node for services.
func (m *Maker) daemons() *appsv1.DaemonSet {
	resources := nodeResources
	resources.NodeSelector = m.settings.NodeSelector
	pod := m.dialling(m.Own(kube.PartNode, nodeContainer, resources), "/millicore-nodeagent", "--name", "$(NODE_NAME)", "--cgroup", groupsFolder)
	c := &pod.Spec.Containers[0]
	c.Env = []corev1.EnvVar{{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "cgroup", MountPath: groupsFolder, ReadOnly: true})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "cgroup", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/sys/fs/cgroup", Type: of(corev1.HostPathDirectory)}}})
	selector := map[string]string{kube.LabelRun: m.run, kube.LabelPart: kube.PartNode}
	return &appsv1.DaemonSet{
		ObjectMeta: m.Meta(objectName(m.run, "node"), kube.PartNode, nil),
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: pod},
	}
}
