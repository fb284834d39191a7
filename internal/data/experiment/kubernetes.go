package experiment

import (
	"encoding/json"
	"reflect"
	"time"
)

// Kubernetes has the settings for --on kubernetes. Fields with a default are always
// set.
type Kubernetes struct {
	Namespace    string            `json:"namespace,omitempty" yaml:"namespace" kind:"namespace" doc:"Namespace of all objects of the run; default: that of the kubeconfig's context."`
	Labels       map[string]string `json:"labels,omitempty" yaml:"labels" keys:"ownLabelKey" kind:"labelValue" doc:"Labels of all objects and pods, in addition to those of the run."`
	Annotations  map[string]string `json:"annotations,omitempty" yaml:"annotations" keys:"labelKey" doc:"Annotations of all objects and pods."`
	Tolerations  []Toleration      `json:"tolerations,omitempty" yaml:"tolerations" doc:"Tolerations of all pods."`
	NodeSelector map[string]string `json:"node_selector,omitempty" yaml:"node_selector" keys:"labelKey" kind:"labelValue" doc:"Labels of the nodes that services and their dependencies run on."`
	PullSecrets  []string          `json:"pull_secrets,omitempty" yaml:"pull_secrets" kind:"objectName" doc:"Names of Secrets of the namespace with which images are pulled."`
	Requests     Requests          `json:"requests,omitzero" yaml:"requests" doc:"Resource requests of each replica of a service."`
	Agents       Resources         `json:"agents" yaml:"agents" defaults:"cpu=250m,memory=256Mi" doc:"Resources of each agent's pod."`
	Conductor    Resources         `json:"conductor" yaml:"conductor" defaults:"cpu=500m,memory=512Mi" doc:"Resources of the conductor's pod."`
	Image        string            `json:"image,omitempty" yaml:"image" kind:"imageName" doc:"Image of Millicore's own programs; default: the one of this version."`
	Images       map[string]string `json:"images,omitempty" yaml:"images" keys:"ownImage" kind:"imageName" doc:"Images of sample services that are not in Millicore's own image, by workload: node (default: millicore-node) and bun (default: millicore-bun)."`
	Keep         time.Duration     `json:"keep" yaml:"keep" default:"1h" doc:"How long the conductor keeps a record that was not fetched."` // 0: not at all
	NodeAgent    bool              `json:"node_agent,omitempty" yaml:"node_agent" default:"false" doc:"true: a pod on each node with services reads their control groups there, for frames as short as on other platforms, and for windows and causes. It needs a read-only hostPath volume."`
	// Security is SecurityRestricted or SecurityBaseline.
	Security string `json:"security" yaml:"security" enum:"restricted,baseline" default:"restricted" doc:"Level of the Pod Security Standards that pods of services satisfy: restricted, or baseline, where their image's user may be root."`
	// KubeletCertificate is CertificateVerify or CertificateAny.
	KubeletCertificate string `json:"kubelet_certificate" yaml:"kubelet_certificate" enum:"any,verify" default:"verify" doc:"verify: the conductor queries a kubelet only if its certificate is signed by the cluster's authority; any: skip this verification, which sends the conductor's token to whatever answers at the node's address."`
	RecordClaim        string `json:"record_claim,omitempty" yaml:"record_claim" kind:"objectName" doc:"Name of a PersistentVolumeClaim that the record is kept in, so that it outlives the conductor's pod."`
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
	// CertificateVerify queries a kubelet only if its certificate is signed by the
	// cluster's authority, or by one that the conductor's image trusts.
	CertificateVerify = "verify"
	// CertificateAny skips the verification: the conductor's token is sent to whatever
	// answers at the node's address.
	CertificateAny = "any"
)

// Toleration is a toleration of a pod (core/v1). Only Operator is never empty.
type Toleration struct {
	Key      string `json:"key,omitempty" yaml:"key" kind:"labelKey" doc:"Key of the taint; absent: every key, with the operator Exists."`
	Operator string `json:"operator" yaml:"operator" enum:"Equal,Exists" default:"Equal" doc:"Equal: the taint has the value; Exists: the taint has any value."`
	Value    string `json:"value,omitempty" yaml:"value" kind:"labelValue" doc:"Value of the taint."`
	Effect   string `json:"effect,omitempty" yaml:"effect" enum:"NoSchedule,PreferNoSchedule,NoExecute" doc:"NoSchedule, PreferNoSchedule or NoExecute; absent: all effects."`
	Seconds  *int64 `json:"seconds,omitempty" yaml:"seconds" kind:"seconds" doc:"With NoExecute: how many seconds a pod stays on the node after it was tainted; absent: no limit."`
}

// Requests are the resource requests of a replica; nil: as much as its limit, and
// nothing if it has none.
type Requests struct {
	CPUMillis   *int64 `json:"cpu_millis,omitempty" yaml:"cpu" kind:"cpu" doc:"CPUs, at most the limit; default: the limit."`
	MemoryBytes *int64 `json:"memory_bytes,omitempty" yaml:"memory" kind:"memory" doc:"Memory, at most the limit; default: the limit."`
}

// Resources are those of one of Millicore's own pods. CPUMillis is its CPU request;
// it has no CPU limit, because a throttled agent measures itself. MemoryBytes is
// both its memory request and its limit.
type Resources struct {
	CPUMillis    int64             `json:"cpu_millis" yaml:"cpu" kind:"cpu" doc:"CPU request. There is no CPU limit: an agent that is throttled measures itself."`
	MemoryBytes  int64             `json:"memory_bytes" yaml:"memory" kind:"memory" doc:"Memory request and limit."`
	NodeSelector map[string]string `json:"node_selector,omitempty" yaml:"node_selector" keys:"labelKey" kind:"labelValue" doc:"Labels of the nodes that the pod may run on."`
}

// usual are the defaults of a file.
var usual = Kubernetes{
	Agents:             Resources{CPUMillis: 250, MemoryBytes: 256 << 20},
	Conductor:          Resources{CPUMillis: 500, MemoryBytes: 512 << 20},
	Keep:               time.Hour,
	Security:           SecurityRestricted,
	KubeletCertificate: CertificateVerify,
}

// IsZero reports whether all values are the defaults; encoding/json then leaves the
// section out.
func (k Kubernetes) IsZero() bool { return reflect.DeepEqual(k, usual) }

// UnmarshalJSON gives absent fields the defaults of a file.
func (e *Experiment) UnmarshalJSON(data []byte) error {
	type plain Experiment
	out := plain{Kubernetes: usual}
	if err := json.Unmarshal(data, &out); err != nil {
		return err
	}
	*e = Experiment(out)
	return nil
}
