package conductor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Files of the conductor's pod, below Options.Dir: the run's ConfigMap is mounted
// at run/, its Secret at secret/.
const (
	SpecFile       = "run/spec.json"
	ExperimentFile = "run/experiment.yaml"
	CertFile       = "secret/tls.crt"
	KeyFile        = "secret/tls.key"
	TokenKeyFile   = "secret/token.key"
	SuppliesFile   = "secret/supplies.json"
)

// Spec is spec.json: the run's specification from the command line, beside the
// experiment itself. It is not part of the record.
type Spec struct {
	Run       string            `json:"run"`  // the run's name, a DNS label
	Name      string            `json:"name"` // the experiment's
	Seed      uint64            `json:"seed"`
	Sets      []string          `json:"sets,omitempty"` // of --set
	Namespace string            `json:"namespace"`
	Image     string            `json:"image"`            // of Millicore's programs
	Images    map[string]string `json:"images,omitempty"` // of sample services, by name
	Version   string            `json:"version"`          // of the millicore that started the run
	KeepS     float64           `json:"keep_s"`           // seconds for which the record is kept after the run
	NodeAgent bool              `json:"node_agent,omitempty"`
	Claimed   bool              `json:"claimed,omitempty"` // the record lies in a volume that outlives the pod
	File      string            `json:"file"`              // the experiment's name in errors
}

// Keep is how long the record is kept after the run.
func (r *Spec) Keep() time.Duration { return time.Duration(r.KeepS * float64(time.Second)) }

// mostSpec bounds spec.json. A ConfigMap has at most 1 MiB.
const mostSpec = 1 << 20

// ReadSpec reads spec.json.
func ReadSpec(path string) (Spec, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Spec{}, fmt.Errorf("read the run's specification: %w", err)
	}
	r, err := ParseSpec(text)
	if err != nil {
		return Spec{}, fmt.Errorf("read the run's specification %s: %w", path, err)
	}
	return r, nil
}

// ParseSpec parses spec.json. It checks that the names are valid for folders.
func ParseSpec(text []byte) (Spec, error) {
	var r Spec
	if len(text) > mostSpec {
		return r, fmt.Errorf("it has %d bytes, more than %d", len(text), mostSpec)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	switch {
	case r.Run == "":
		return r, errors.New("it has no name of the run")
	case !folder(r.Run) || !folder(r.Name):
		return r, fmt.Errorf("run %q of the experiment %q: not valid as names of folders", r.Run, r.Name)
	case !(r.KeepS >= 0 && r.KeepS <= mostKeep.Seconds()):
		return r, fmt.Errorf("keep_s is %g: want 0 to %g", r.KeepS, mostKeep.Seconds())
	}
	return r, nil
}

// folder reports whether a name is valid for a folder.
func folder(name string) bool {
	return filepath.IsLocal(name) && filepath.Base(name) == name
}

// mostKeep is how long a record may be kept in the cluster.
const mostKeep = 30 * 24 * time.Hour
