package objects

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// The objects of Millicore's own programs.

// Credentials are what agents and node agents dial the conductor with.
type Credentials interface {
	// Certificate is the conductor's, PEM, which they must know.
	Certificate() []byte
	// AgentToken and NodeToken are the tokens by which they prove who they are.
	AgentToken(index int) string
	NodeToken(name string) string
}

// Paths in their containers.
const (
	secretFolder = "/etc/millicore/secret" // with the run's Secret
	groupsFolder = "/host/cgroup"          // with the node's control groups
)

// AgentsName is the name of the Job of a run's agents.
func (m *Maker) AgentsName() string { return Name(m.run, "agents") }

// AgentJob is the Job of the agents. An agent that ends is restarted: as the same
// container if it died, as another pod if its pod is gone.
func (m *Maker) AgentJob(agents int) *batchv1.Job {
	n := int32(agents)
	name := m.AgentsName()
	pod := m.dialling(m.Own(kube.PartAgent, AgentContainer, m.settings.Agents), name, agentToken("$("+indexVariable+")"),
		"/millicore-agent", "--index", "$("+indexVariable+")")
	pod.Spec.Affinity = m.away(kube.PartService, kube.PartDependency)
	pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	return &batchv1.Job{
		ObjectMeta: m.Meta(name, kube.PartAgent, nil),
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: &n, Parallelism: &n,
			BackoffLimit: new(int32(math.MaxInt32)), Template: pod,
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

// indexVariable has the number of an Indexed Job's pod.
const indexVariable = "JOB_COMPLETION_INDEX"

// dialling sets the command of an own pod to a program that dials the conductor. Of the
// Secret it sees the certificate and the token of one key, which may name variables:
// the tokens of others are on the node, and not in the container.
func (m *Maker) dialling(pod corev1.PodTemplateSpec, secret, key, program string, more ...string) corev1.PodTemplateSpec {
	const certificate, token = secretFolder + "/" + corev1.TLSCertKey, secretFolder + "/token"
	pod.Spec.TerminationGracePeriodSeconds = new(int64(2))
	c := &pod.Spec.Containers[0]
	c.Command = []string{program}
	c.Args = append([]string{"--conductor", m.conductor, "--certificate", certificate, "--token-file", token}, more...)
	c.VolumeMounts = []corev1.VolumeMount{
		{Name: "secret", MountPath: certificate, SubPath: corev1.TLSCertKey, ReadOnly: true},
		{Name: "secret", MountPath: token, SubPathExpr: key, ReadOnly: true}}
	pod.Spec.Volumes = []corev1.Volume{{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: secret}}}}
	return pod
}

// agentToken is the key of an agent's token in the Secret of the agents.
func agentToken(index string) string { return "agent-" + index }

// nodeToken is the key of the token in a node agent's Secret.
const nodeToken = "token"

// AgentSecret has what the agents dial the conductor with.
func (m *Maker) AgentSecret(agents int, c Credentials) *corev1.Secret {
	s := m.secret(m.AgentsName(), kube.PartAgent)
	s.Data[corev1.TLSCertKey] = c.Certificate()
	for i := range agents {
		s.Data[agentToken(strconv.Itoa(i))] = []byte(c.AgentToken(i))
	}
	return s
}

// NodeSecret has what the agent of a node dials the conductor with.
func (m *Maker) NodeSecret(node string, c Credentials) *corev1.Secret {
	s := m.secret(m.NodeAgentName(node), kube.PartNode)
	s.Data[corev1.TLSCertKey], s.Data[nodeToken] = c.Certificate(), []byte(c.NodeToken(node))
	return s
}

// secret is an empty Secret.
func (m *Maker) secret(name, part string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: m.Meta(name, part, nil), Type: corev1.SecretTypeOpaque, Immutable: new(true), Data: map[string][]byte{}}
}

// NodeResources are those of a node agent's pod, which needs 3% of a CPU, 0.1% for each container
// that it watches, and a few MB (docs/performance.md).
var NodeResources = experiment.Resources{CPUMillis: 100, MemoryBytes: 64 << 20}

// NodeAgentName is the name of the DaemonSet and of the Secret of a node's agent. A
// node's own name may be too long for them.
func (m *Maker) NodeAgentName(node string) string { return Name(m.run, "node", nodeHash(node)) }

func nodeHash(node string) string {
	sum := fnv.New32a()
	sum.Write([]byte(node))
	return fmt.Sprintf("%08x", sum.Sum32())
}

// NodeDaemon makes the DaemonSet of one node's agent, which has a token of its own.
// As a DaemonSet its pod returns after an eviction, and tolerates what a node's own
// programs tolerate.
func (m *Maker) NodeDaemon(node string) *appsv1.DaemonSet {
	resources := NodeResources
	resources.NodeSelector = m.settings.NodeSelector
	name := m.NodeAgentName(node)
	pod := m.dialling(m.Own(kube.PartNode, NodeContainer, resources), name, nodeToken,
		"/millicore-nodeagent", "--name", "$(NODE_NAME)", "--cgroup", groupsFolder)
	pod.Labels[kube.LabelNode] = nodeHash(node)
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}}}
	c := &pod.Spec.Containers[0]
	c.Env = []corev1.EnvVar{{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "cgroup", MountPath: groupsFolder, ReadOnly: true})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "cgroup", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/sys/fs/cgroup", Type: new(corev1.HostPathDirectory)}}})
	selector := map[string]string{kube.LabelRun: m.run, kube.LabelPart: kube.PartNode, kube.LabelNode: nodeHash(node)}
	return &appsv1.DaemonSet{
		ObjectMeta: m.Meta(name, kube.PartNode, nil),
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: selector}, Template: pod},
	}
}
