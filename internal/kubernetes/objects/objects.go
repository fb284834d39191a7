// Package objects makes the Kubernetes objects of an experiment: for each unit a
// Deployment and a headless Service, for agents an Indexed Job, for node agents
// DaemonSets. It also reports what of an experiment no cluster can run. It sends no
// requests, so that objects can be checked before any of them is created. The objects of
// the conductor itself are in internal/kubernetes/launch.
package objects

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/kubernetes/kube"
)

// Options are the choices of New.
type Options struct {
	Run       string                // the run's name, a DNS label of at most 40 characters
	Owner     metav1.OwnerReference // of every object; without a name they have no owner
	Settings  experiment.Kubernetes
	Image     string // of Millicore's own programs
	Conductor string // host:port that agents dial
}

// Maker makes the objects of a run.
type Maker struct {
	run, image string
	owner      metav1.OwnerReference
	settings   experiment.Kubernetes
	conductor  string
}

// New returns the Maker of a run.
func New(o Options) *Maker {
	return &Maker{run: o.Run, image: o.Image, owner: o.Owner, settings: o.Settings, conductor: o.Conductor}
}

// Names within objects.
const (
	UnitContainer  = "service" // of every unit's pod
	AgentContainer = "agent"
	NodeContainer  = "node"
	portName       = "service"

	// usualPort is the port of units without a port of their own.
	usualPort = 8080
	// anyUser is the user of Millicore's own images, which run as any user.
	anyUser  = 65532
	nodeName = "kubernetes.io/hostname"
)

// users has the UIDs to which the entry points of databases' images change. Pods run as
// these where root is not allowed.
var users = map[string]int64{
	experiment.DatabaseImage(experiment.Postgres): 70,
	experiment.DatabaseImage(experiment.MongoDB):  999,
}

// nameLength bounds a DNS label.
const nameLength = 63

// Name joins words to a DNS label that begins with a letter, as the names of
// Services must. A name that is too long is cut and gets a hash.
func Name(words ...string) string {
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

// labels returns the labels that every object has, and more.
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

// Selector writes labels as a selector of the API.
func Selector(labels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, name+"="+labels[name])
	}
	return strings.Join(all, ",")
}

// pod is the template that all pods have in common.
func (m *Maker) pod(part string, labels map[string]string) corev1.PodTemplateSpec {
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: m.labels(part, labels), Annotations: maps.Clone(m.settings.Annotations)},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: new(false),
			EnableServiceLinks:           new(false),
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
	s.RunAsNonRoot = new(true)
	if m.isOwn(image) {
		s.RunAsUser, s.RunAsGroup = new(int64(anyUser)), new(int64(anyUser))
	} else if user, ok := users[image]; ok {
		s.RunAsUser, s.RunAsGroup = &user, &user
	}
	return s
}

// containerSecurity satisfies the same level in a container.
func (m *Maker) containerSecurity(image string) *corev1.SecurityContext {
	if !m.restricted(image) {
		return nil
	}
	s := &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	if image == m.image {
		s.ReadOnlyRootFilesystem = new(true)
	}
	return s
}

func (m *Maker) restricted(image string) bool {
	return m.isOwn(image) || m.settings.Security != experiment.SecurityBaseline
}
