package experiment

import (
	"encoding/json"
	"reflect"
	"time"
)

// Kubernetes is what holds with --on kubernetes alone. Fields with a
// default are always set.
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
	// KubeletCertificate is CertificateVerify or CertificateAny.
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
	// CertificateVerify asks a kubelet only where its certificate is signed by the
	// cluster's authority, or one that the conductor's image trusts.
	CertificateVerify = "verify"
	// CertificateAny takes one that cannot be verified as it is: the conductor's token
	// goes to whoever answers at the node's address.
	CertificateAny = "any"
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
