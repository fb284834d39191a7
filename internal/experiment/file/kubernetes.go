package file

import (
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/millicore/millicore/internal/experiment"
)

// kubernetes is what holds on Kubernetes alone.
type kubernetes struct {
	Namespace          fixed[namespace, string]                   `yaml:"namespace" doc:"Namespace of all that is made; default: that of the kubeconfig's context."`
	Labels             mapping[ownLabelKey, nullable[labelValue]] `yaml:"labels" doc:"Labels of all objects and pods, beside those of the run."`
	Annotations        mapping[labelKey, nullable[text]]          `yaml:"annotations" doc:"Annotations of all objects and pods."`
	Tolerations        []toleration                               `yaml:"tolerations" doc:"Tolerations of all pods."`
	NodeSelector       mapping[labelKey, nullable[labelValue]]    `yaml:"node_selector" doc:"Labels of the nodes that services and their dependencies run on."`
	PullSecrets        []nullable[objectName]                     `yaml:"pull_secrets" doc:"Names of Secrets of the namespace with which images are pulled."`
	Requests           requests                                   `yaml:"requests" doc:"What the scheduler sets aside for each replica of a service."`
	Agents             agentResources                             `yaml:"agents" doc:"Resources of each agent's pod."`
	Conductor          conductorResources                         `yaml:"conductor" doc:"Resources of the conductor's pod."`
	Image              fixed[imageName, string]                   `yaml:"image" doc:"Image of Millicore's own programs; default: the one of this version."`
	Images             workloadImages                             `yaml:"images" doc:"Images of sample services that are not in Millicore's own."`
	Keep               fixed[duration, time.Duration]             `yaml:"keep" default:"1h" doc:"How long a record is kept in the cluster that nobody has fetched."`
	NodeAgent          fixed[truth, bool]                         `yaml:"node_agent" default:"false" doc:"true: a pod on each node with services reads their control groups there, for frames as short as elsewhere, and for windows and causes. It needs a hostPath volume, read-only."`
	Security           fixed[word, string]                        `yaml:"security" default:"restricted" enum:"restricted,baseline" doc:"Level of the Pod Security Standards that pods of services satisfy: restricted, or baseline, where their image's user may be root."`
	KubeletCertificate fixed[word, string]                        `yaml:"kubelet_certificate" default:"verify" enum:"any,verify" doc:"verify: a kubelet's certificate has to be signed by the cluster's authority, else it is not asked; any: one that cannot be verified will do, and the conductor's token goes to whoever answers at the node's address."`
	RecordClaim        fixed[objectName, string]                  `yaml:"record_claim" doc:"Name of a PersistentVolumeClaim that the record is kept in, so that it outlives the conductor's pod."`
}

type toleration struct {
	section
	Key      fixed[labelKey, string]   `yaml:"key" doc:"Key of the taint; absent: every key, with the operator Exists."`
	Operator fixed[word, string]       `yaml:"operator" default:"Equal" enum:"Equal,Exists" doc:"Equal: the taint has the value; Exists: whatever its value."`
	Value    fixed[labelValue, string] `yaml:"value" doc:"Value of the taint."`
	Effect   fixed[word, string]       `yaml:"effect" enum:"NoSchedule,PreferNoSchedule,NoExecute" doc:"NoSchedule, PreferNoSchedule or NoExecute; absent: all of them."`
	Seconds  fixed[seconds, int64]     `yaml:"seconds" doc:"With NoExecute: how many seconds a pod stays on the node once it is tainted; absent: as long as it runs."`
}

type requests struct {
	CPU    fixed[cpu, int64]    `yaml:"cpu" doc:"CPUs, at most the limit; default: the limit."`
	Memory fixed[memory, int64] `yaml:"memory" doc:"Memory, at most the limit; default: the limit."`
}

type agentResources struct {
	CPU          fixed[cpu, int64]                       `yaml:"cpu" default:"250m" doc:"CPUs that are requested. There is no CPU limit: an agent that is throttled measures itself."`
	Memory       fixed[memory, int64]                    `yaml:"memory" default:"256Mi" doc:"Memory that is requested, and the limit of it."`
	NodeSelector mapping[labelKey, nullable[labelValue]] `yaml:"node_selector" doc:"Labels of the nodes that agents run on."`
}

type conductorResources struct {
	CPU          fixed[cpu, int64]                       `yaml:"cpu" default:"500m" doc:"CPUs that are requested. There is no CPU limit."`
	Memory       fixed[memory, int64]                    `yaml:"memory" default:"512Mi" doc:"Memory that is requested, and the limit of it."`
	NodeSelector mapping[labelKey, nullable[labelValue]] `yaml:"node_selector" doc:"Labels of the nodes that the conductor may run on."`
}

type workloadImages struct {
	Node fixed[imageName, string] `yaml:"node" doc:"Image of the workload node; default: millicore-node."`
	Bun  fixed[imageName, string] `yaml:"bun" doc:"Image of the workload bun; default: millicore-bun."`
}

// readKubernetes checks the section and puts it into the experiment.
func (r *reader) readKubernetes() {
	k := &r.doc.Kubernetes
	r.out.Kubernetes = experiment.Kubernetes{
		Namespace:          k.Namespace.value,
		Labels:             valuesOf(k.Labels.entries),
		Annotations:        valuesOf(k.Annotations.entries),
		NodeSelector:       valuesOf(k.NodeSelector.entries),
		Requests:           experiment.Requests{CPUMillis: givenValue(&k.Requests.CPU), MemoryBytes: givenValue(&k.Requests.Memory)},
		Agents:             experiment.Resources{CPUMillis: k.Agents.CPU.value, MemoryBytes: k.Agents.Memory.value, NodeSelector: valuesOf(k.Agents.NodeSelector.entries)},
		Conductor:          experiment.Resources{CPUMillis: k.Conductor.CPU.value, MemoryBytes: k.Conductor.Memory.value, NodeSelector: valuesOf(k.Conductor.NodeSelector.entries)},
		Image:              k.Image.value,
		Keep:               k.Keep.value,
		NodeAgent:          k.NodeAgent.value,
		Security:           k.Security.value,
		KubeletCertificate: k.KubeletCertificate.value,
		RecordClaim:        k.RecordClaim.value,
	}
	out := &r.out.Kubernetes
	for i := range k.Tolerations {
		out.Tolerations = append(out.Tolerations, r.readToleration(&k.Tolerations[i]))
	}
	for i := range k.PullSecrets {
		if k.PullSecrets[i].given {
			out.PullSecrets = append(out.PullSecrets, k.PullSecrets[i].value)
		}
	}
	for name, image := range map[string]*fixed[imageName, string]{"node": &k.Images.Node, "bun": &k.Images.Bun} {
		if image.given {
			if out.Images == nil {
				out.Images = make(map[string]string)
			}
			out.Images[name] = image.value
		}
	}
}

// readToleration checks one toleration as Kubernetes would (core/v1's
// validation), which would refuse the pods later.
func (r *reader) readToleration(t *toleration) experiment.Toleration {
	out := experiment.Toleration{Key: t.Key.value, Operator: t.Operator.value, Value: t.Value.value, Effect: t.Effect.value, Seconds: givenValue(&t.Seconds)}
	if t.Key.bad || t.Operator.bad || t.Effect.bad {
		return out
	}
	path := strings.TrimSuffix(t.Key.path, ".key")
	switch exists := out.Operator == "Exists"; {
	case exists && t.Value.given:
		r.problems.add(t.Value.at, path, "Exists tolerates every value; leave out value, or write operator: Equal")
	case !exists && !t.Key.given:
		r.problems.add(later(t.Key.at, t.Operator.at), path, "key is missing; without one the toleration is for every taint, and the operator must be Exists")
	}
	if t.Seconds.given && out.Effect != "NoExecute" {
		r.problems.add(t.Seconds.at, path, "seconds are how long a pod stays under a taint that drives it away; write effect: NoExecute, or leave them out")
	}
	return out
}

// checkRequests refuses requests above a cell's limits, which Kubernetes would.
func (c *cellReader) checkRequests(k *requests, l *limits, limits *experiment.Limits) {
	if cpu := &k.CPU; cpu.given && !cpu.bad && limits.CPUMillis > 0 && cpu.value > limits.CPUMillis {
		c.conflict(cpu.path, []*scalar{&cpu.scalar, &l.CPU.scalar}, "%s is more than the limit of %dm; request at most the limit, or leave it out", cpu.text, limits.CPUMillis)
	}
	if memory := &k.Memory; memory.given && !memory.bad && limits.Memory > 0 && memory.value > limits.Memory {
		c.conflict(memory.path, []*scalar{&memory.scalar, &l.Memory.scalar}, "%s is more than the limit of %d bytes; request at most the limit, or leave it out", memory.text, limits.Memory)
	}
}

// nullable is a text in a list or a map that may be null, which is as if it were
// not there.
type nullable[K kind[string]] struct{ fixed[K, string] }

func (n *nullable[K]) schema() *jsonschema.Schema { return orNull(n.fixed.schema()) }

// valuesOf are the entries that have a value; nil where there are none.
func valuesOf[K kind[string]](entries []named[nullable[K]]) map[string]string {
	all := make(map[string]string)
	for i := range entries {
		if e := &entries[i]; e.value.given && !e.value.bad {
			all[e.name] = e.value.value
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// givenValue is what was written; nil: nothing was.
func givenValue[K kind[T], T any](f *fixed[K, T]) *T {
	if !f.given || f.bad {
		return nil
	}
	return &f.value
}
