package conductor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of what the conductor's pod is given, below Options.Dir: the run's
// ConfigMap is mounted at run/, its Secret at secret/.
const (
	RunFile        = "run/run.json"
	ExperimentFile = "run/experiment.yaml"
	CertFile       = "secret/tls.crt"
	KeyFile        = "secret/tls.key"
	TokenFile      = "secret/token"
	SuppliesFile   = "secret/supplies.json"
)

// Run is run.json: what the command line asks of the conductor, beside the
// experiment itself.
type Run struct {
	Run       string            `json:"run"`  // the run's name, a DNS label
	Name      string            `json:"name"` // the experiment's
	Seed      uint64            `json:"seed"`
	Sets      []string          `json:"sets,omitempty"` // of --set
	Namespace string            `json:"namespace"`
	Image     string            `json:"image"`            // of Millicore's programs
	Images    map[string]string `json:"images,omitempty"` // of sample services, by name
	Version   string            `json:"version"`          // of the millicore that made the run
	KeepS     float64           `json:"keep_s"`           // seconds that the record is kept after the run
	NodeAgent bool              `json:"node_agent,omitempty"`
	Claimed   bool              `json:"claimed,omitempty"` // the record lies in a volume that outlives the pod
	File      string            `json:"file"`              // the experiment's name in errors
}

// Keep is how long the record is kept after the run.
func (r *Run) Keep() time.Duration { return time.Duration(r.KeepS * float64(time.Second)) }

// mostRun bounds run.json, which a ConfigMap holds: 1 MiB is what that may have.
const mostRun = 1 << 20

// ReadRun reads run.json.
func ReadRun(path string) (Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Run{}, fmt.Errorf("read what is to be run: %w", err)
	}
	r, err := ParseRun(text)
	if err != nil {
		return Run{}, fmt.Errorf("read what is to be run: %s: %w", path, err)
	}
	return r, nil
}

// ParseRun reads what run.json holds. Its names are fit to be those of folders.
func ParseRun(text []byte) (Run, error) {
	var r Run
	if len(text) > mostRun {
		return r, fmt.Errorf("it has %d bytes, more than %d", len(text), mostRun)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	switch {
	case r.Run == "":
		return r, fmt.Errorf("it names no run")
	case !folder(r.Run) || !folder(r.Name):
		return r, fmt.Errorf("run %q of the experiment %q: these are no names", r.Run, r.Name)
	case !(r.KeepS >= 0 && r.KeepS <= mostKeep.Seconds()):
		return r, fmt.Errorf("keep_s is %g: want 0 to %g", r.KeepS, mostKeep.Seconds())
	}
	return r, nil
}

// folder tells whether a name can be that of a folder.
func folder(name string) bool {
	return filepath.IsLocal(name) && filepath.Base(name) == name
}

// mostKeep is how long a record may be kept in the cluster.
const mostKeep = 30 * 24 * time.Hour

// readToken reads the token that whoever dials must show.
func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the run's token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken {
		return "", fmt.Errorf("read the run's token: %s has %d characters, which can be guessed: want %d at least", filepath.Base(path), len(token), leastToken)
	}
	return token, nil
}

// leastToken is what a token has at least: 128 bits in base64.
const leastToken = 22
