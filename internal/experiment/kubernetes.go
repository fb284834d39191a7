package experiment

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// Kubernetes is what holds with --on kubernetes alone. Every value is there that
// has a default.
type Kubernetes struct {
	// Namespace is where all objects of the run are; empty: that of the context of
	// the kubeconfig.
	Namespace string `json:"namespace,omitempty"`
	// Labels and Annotations are put on every object and pod, beside the run's own.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Tolerations are those of every pod.
	Tolerations []Toleration `json:"tolerations,omitempty"`
	// NodeSelector is that of services and their dependencies.
	NodeSelector map[string]string `json:"node_selector,omitempty"`
	// PullSecrets names Secrets of the namespace with which every image is pulled.
	PullSecrets []string  `json:"pull_secrets,omitempty"`
	Requests    Requests  `json:"requests,omitzero"` // of services
	Agents      Resources `json:"agents"`
	Conductor   Resources `json:"conductor"`
	// Image is that of Millicore's own programs; empty: the one of this version.
	Image string `json:"image,omitempty"`
	// Images are those of the sample services "node" and "bun"; a key that is not
	// there has its usual image.
	Images map[string]string `json:"images,omitempty"`
	// Keep is how long the conductor keeps a record that nobody has fetched; 0: not
	// at all.
	Keep time.Duration `json:"keep"` // nanoseconds
	// NodeAgent puts a pod onto each node with services that reads their control
	// groups.
	NodeAgent bool `json:"node_agent,omitempty"`
	// Security is SecurityRestricted or SecurityBaseline.
	Security string `json:"security"`
	// KubeletCertificate is CertificateAny or CertificateVerify.
	KubeletCertificate string `json:"kubelet_certificate"`
	// RecordClaim names a PersistentVolumeClaim that the record is kept in; empty: a
	// volume that is gone with the conductor's pod.
	RecordClaim string `json:"record_claim,omitempty"`
}

// The words of Kubernetes.Security: the levels of Kubernetes' Pod Security
// Standards that pods satisfy.
const (
	SecurityRestricted = "restricted" // of all pods but those of node agents
	// SecurityBaseline lets services and their dependencies run as the user that
	// their image names, root too; Millicore's own pods stay restricted.
	SecurityBaseline = "baseline"
)

// The words of Kubernetes.KubeletCertificate.
const (
	// CertificateAny verifies a kubelet's certificate with the cluster's authority
	// and, where that did not sign it, takes it as it is.
	CertificateAny    = "any"
	CertificateVerify = "verify" // a kubelet whose certificate the cluster's authority did not sign is not asked
)

// Toleration is one of a pod's (core/v1). All of it may be empty but Operator.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator"` // "Equal" or "Exists"
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`  // empty: every effect
	Seconds  *int64 `json:"seconds,omitempty"` // with the effect NoExecute
}

// Requests are what the scheduler sets aside for a replica; nil: as much as its
// limit, and nothing where it has none.
type Requests struct {
	CPUMillis   *int64 `json:"cpu_millis,omitempty"`
	MemoryBytes *int64 `json:"memory_bytes,omitempty"`
}

// Resources are those of a pod of Millicore's own. CPUMillis is what it requests:
// it has no CPU limit, since an agent that is throttled measures itself.
// MemoryBytes is both its request and its limit.
type Resources struct {
	CPUMillis    int64             `json:"cpu_millis"`
	MemoryBytes  int64             `json:"memory_bytes"`
	NodeSelector map[string]string `json:"node_selector,omitempty"`
}

// usual is what a file without the section means.
var usual = Kubernetes{
	Agents:             Resources{CPUMillis: 250, MemoryBytes: 256 << 20},
	Conductor:          Resources{CPUMillis: 500, MemoryBytes: 512 << 20},
	Keep:               time.Hour,
	Security:           SecurityRestricted,
	KubeletCertificate: CertificateAny,
}

// IsZero reports whether nothing differs from what a file without the section
// means; encoding/json then leaves it out.
func (k Kubernetes) IsZero() bool { return reflect.DeepEqual(k, usual) }

// UnmarshalJSON has what is not there mean what it means in a file.
func (e *Experiment) UnmarshalJSON(data []byte) error {
	type plain Experiment
	out := plain{Kubernetes: usual}
	if err := json.Unmarshal(data, &out); err != nil {
		return err
	}
	*e = Experiment(out)
	return nil
}

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
	Security           fixed[security, string]                    `yaml:"security" default:"restricted" doc:"Level of the Pod Security Standards that pods of services satisfy: restricted, or baseline, where their image's user may be root."`
	KubeletCertificate fixed[certificate, string]                 `yaml:"kubelet_certificate" default:"any" doc:"any: a kubelet's certificate that the cluster's authority did not sign will do; verify: it will not."`
	RecordClaim        fixed[objectName, string]                  `yaml:"record_claim" doc:"Name of a PersistentVolumeClaim that the record is kept in, so that it outlives the conductor's pod."`
}

type toleration struct {
	section
	Key      fixed[labelKey, string]   `yaml:"key" doc:"Key of the taint; absent: every key, with the operator Exists."`
	Operator fixed[operator, string]   `yaml:"operator" default:"Equal" doc:"Equal: the taint has the value; Exists: whatever its value."`
	Value    fixed[labelValue, string] `yaml:"value" doc:"Value of the taint."`
	Effect   fixed[effect, string]     `yaml:"effect" doc:"NoSchedule, PreferNoSchedule or NoExecute; absent: all of them."`
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
	k := &r.file.Kubernetes
	r.out.Kubernetes = Kubernetes{
		Namespace:          k.Namespace.value,
		Labels:             valuesOf(k.Labels.entries),
		Annotations:        valuesOf(k.Annotations.entries),
		NodeSelector:       valuesOf(k.NodeSelector.entries),
		Requests:           Requests{CPUMillis: givenValue(&k.Requests.CPU), MemoryBytes: givenValue(&k.Requests.Memory)},
		Agents:             Resources{k.Agents.CPU.value, k.Agents.Memory.value, valuesOf(k.Agents.NodeSelector.entries)},
		Conductor:          Resources{k.Conductor.CPU.value, k.Conductor.Memory.value, valuesOf(k.Conductor.NodeSelector.entries)},
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
func (r *reader) readToleration(t *toleration) Toleration {
	out := Toleration{Key: t.Key.value, Operator: t.Operator.value, Value: t.Value.value, Effect: t.Effect.value, Seconds: givenValue(&t.Seconds)}
	if t.Key.bad || t.Operator.bad || t.Effect.bad {
		return out
	}
	path := strings.TrimSuffix(t.Key.path, ".key")
	switch exists := out.Operator == "Exists"; {
	case exists && t.Value.given:
		r.problems.add(t.Value.at, "%s: Exists tolerates every value; leave out value, or write operator: Equal", path)
	case !exists && !t.Key.given:
		r.problems.add(later(t.Key.at, t.Operator.at), "%s: key is missing; without one the toleration is for every taint, and the operator must be Exists", path)
	}
	if t.Seconds.given && out.Effect != "NoExecute" {
		r.problems.add(t.Seconds.at, "%s: seconds are how long a pod stays under a taint that drives it away; write effect: NoExecute, or leave them out", path)
	}
	return out
}

// checkRequests refuses requests above a cell's limits, which Kubernetes would.
func (c *cellReader) checkRequests(k *requests, l *limits, limits *Limits) {
	if cpu := &k.CPU; cpu.given && !cpu.bad && limits.CPUMillis > 0 && cpu.value > limits.CPUMillis {
		c.conflict([]*scalar{&cpu.scalar, &l.CPU.scalar}, "%s: %s is more than the limit of %dm; request at most the limit, or leave it out", cpu.path, cpu.text, limits.CPUMillis)
	}
	if memory := &k.Memory; memory.given && !memory.bad && limits.Memory > 0 && memory.value > limits.Memory {
		c.conflict([]*scalar{&memory.scalar, &l.Memory.scalar}, "%s: %s is more than the limit of %d bytes; request at most the limit, or leave it out", memory.path, memory.text, limits.Memory)
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
