package experiment

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/millicore/millicore/internal/base/secret"
)

// Reference says where the value of a variable is read from when a run begins, or that it
// may be shown. One of the four is set.
type Reference struct {
	FromEnv  string `json:"from_env,omitempty" yaml:"from_env,one" kind:"envName" doc:"Variable of Millicore's own environment that has the value."`
	FromFile string `json:"from_file,omitempty" yaml:"from_file,one" doc:"File with the value, relative to the experiment file. One line end at its end is left out."`
	Secret   string `json:"secret,omitempty" yaml:"secret,one" kind:"secretKey" doc:"NAME/KEY: a key of a Secret in the namespace of the run; needs --on kubernetes. Millicore does not read the value."`
	// Public is in no record: the value is in Env, and the name in Public of the service.
	Public string `json:"-" yaml:"public,one" names:"late" optional:"yes" doc:"The value itself, which is shown although the name looks like that of a secret. Names are replaced in it."`
	// Value comes from outside of the file, and stays out of the record. Secret has none.
	Value string `json:"-"`
}

// String names the reference: "from_env TOKEN".
func (r Reference) String() string {
	switch {
	case r.FromEnv != "":
		return "from_env " + r.FromEnv
	case r.FromFile != "":
		return "from_file " + r.FromFile
	}
	return "secret " + r.Secret
}

// largestValue is the maximum size of a variable's value in bytes: Linux passes no longer
// one to a program (MAX_ARG_STRLEN, execve(2)).
const largestValue = 128 << 10

// read reads the value. File names are relative to dir.
func (r Reference) read(dir string, getenv func(string) string) (string, error) {
	if r.FromEnv != "" {
		value := getenv(r.FromEnv)
		if value == "" {
			return "", fmt.Errorf("from_env: the variable %s is not set, or is empty", r.FromEnv)
		}
		return value, nil
	}
	value, err := readValue(within(dir, r.FromFile))
	if err != nil {
		return "", fmt.Errorf("from_file: %w", err)
	}
	return value, nil
}

// readValue reads a file without the line end at its end.
func readValue(name string) (string, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largestValue+1))
	value := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	switch {
	case err != nil:
		return "", err
	case len(data) > largestValue:
		return "", fmt.Errorf("%s has more than %d KiB, which is the maximum of a variable", name, largestValue>>10)
	case strings.ContainsRune(value, 0):
		return "", fmt.Errorf("%s contains a zero byte, which cannot be passed to a program", name)
	case value == "":
		return "", fmt.Errorf("%s is empty", name)
	}
	return value, nil
}

// variables are the variables of a service or of a dependency.
type variables struct {
	of     string // "services.go.env", "services.go.dependencies.db.env"
	env    map[string]string
	public []string // names in env whose values are shown
	from   map[string]Reference
	hashes *map[string]string
}

// variables are those of all services and dependencies of all cells.
func (e *Experiment) variables() []variables {
	var all []variables
	for i := range e.Cells {
		s := &e.Cells[i].Service
		at := "services." + s.Name
		all = append(all, variables{at + ".env", s.Env, s.Public, s.EnvFrom, &s.EnvHashes})
		for j := range s.Dependencies {
			d := &s.Dependencies[j]
			all = append(all, variables{at + ".dependencies." + d.Name + ".env", d.Env, d.Public, d.EnvFrom, &d.EnvHashes})
		}
	}
	return all
}

// readReferences reads the values of all references into values, by their String.
func (e *Experiment) readReferences(values map[string]string, dir string, getenv func(string) string) error {
	for _, v := range e.variables() {
		for _, name := range slices.Sorted(maps.Keys(v.from)) {
			r := v.from[name]
			if _, known := values[r.String()]; known || r.Secret != "" {
				continue
			}
			value, err := r.read(dir, getenv)
			if err != nil {
				return &InputError{v.of, name, err}
			}
			values[r.String()] = value
		}
	}
	return nil
}

// setReferences gives the references their values, and the secrets their hashes.
func (e *Experiment) setReferences(in InputSet) error {
	for _, v := range e.variables() {
		for name, r := range v.from {
			if r.Secret != "" {
				continue
			}
			value, ok := in.Variables[r.String()]
			if !ok {
				return fmt.Errorf("%s.%s: there is no value of %s among the inputs", v.of, name, r)
			}
			r.Value = value
			v.from[name] = r
		}
	}
	if len(in.Hashes) > 0 {
		e.hash(func(variable, value string) string { return in.Hashes[hashed(variable, value)] })
	}
	return nil
}

// hashed is what InputSet.Hashes has a hash of.
func hashed(variable, value string) string { return variable + "=" + value }

// Seal makes a keyed hash of each value that is not shown, for the record: two records
// then show whether a value changed, and not the value.
func (e *Experiment) Seal(key secret.Key) { e.hash(key.Hash) }

func (e *Experiment) hash(of func(variable, value string) string) {
	for _, v := range e.variables() {
		hashes := map[string]string{}
		for name, value := range v.hidden() {
			if hash := of(name, value); hash != "" {
				hashes[name] = hash
			}
		}
		*v.hashes = nil
		if len(hashes) > 0 {
			*v.hashes = hashes
		}
	}
}

// hidden are the variables whose values are not shown, and whose values are known.
func (v variables) hidden() map[string]string {
	all := map[string]string{}
	shown := replacer(secret.Masked).env(v.env, v.public)
	for name, value := range v.env {
		if shown[name] != value {
			all[name] = value
		}
	}
	for name, r := range v.from {
		if r.Secret == "" {
			all[name] = r.Value
		}
	}
	return all
}

// inputs adds what setReferences needs to the inputs.
func (v variables) inputs(in *InputSet) {
	for _, r := range v.from {
		if r.Secret == "" {
			in.Variables[r.String()] = r.Value
		}
	}
	for name, value := range v.hidden() {
		if hash := (*v.hashes)[name]; hash != "" {
			in.Hashes[hashed(name, value)] = hash
		}
	}
}

// Environment is what a unit gets as its variables.
type Environment struct {
	Values  map[string]string // with the ${names} that the platform knows
	Hidden  []string          // the variables in Values whose values are not shown, sorted
	Secrets map[string]string // NAME/KEY of a Secret of the cluster, by variable
}

// Environment is the environment of a service, with the values of its references.
func (s *Service) Environment() Environment {
	return variables{env: s.Env, public: s.Public, from: s.EnvFrom}.environment()
}

// Environment is the environment of a dependency.
func (d *Dependency) Environment() Environment {
	return variables{env: d.Env, public: d.Public, from: d.EnvFrom}.environment()
}

func (v variables) environment() Environment {
	e := Environment{Values: maps.Clone(v.env), Hidden: slices.Sorted(maps.Keys(v.hidden()))}
	for name, r := range v.from {
		if r.Secret != "" {
			e.Secrets = put(e.Secrets, name, r.Secret)
			continue
		}
		e.Values = put(e.Values, name, strings.ReplaceAll(r.Value, "${", "$${")) // no names are replaced in it
	}
	return e
}

func put(all map[string]string, name, value string) map[string]string {
	if all == nil {
		all = map[string]string{}
	}
	all[name] = value
	return all
}

// HidesValues reports whether there is a variable whose value is known and not shown.
func (e *Experiment) HidesValues() bool {
	return slices.ContainsFunc(e.variables(), func(v variables) bool { return len(v.hidden()) > 0 })
}

// NeedsNoCluster is an error if a variable is a key of a Secret, which only a cluster has.
func (e *Experiment) NeedsNoCluster() error {
	var errs []error
	var seen []string
	for _, v := range e.variables() {
		for _, name := range slices.Sorted(maps.Keys(v.from)) {
			if at := v.of + "." + name; v.from[name].Secret != "" && !slices.Contains(seen, at) {
				seen = append(seen, at)
				errs = append(errs, fmt.Errorf("%s: a Secret needs --on kubernetes; use from_env or from_file", at))
			}
		}
	}
	return errors.Join(errs...)
}

// ChangedSecret names a variable whose value differs from that of another experiment with
// the same cells, by their hashes; "": none that is known.
func (e *Experiment) ChangedSecret(other *Experiment) string {
	mine, theirs := e.variables(), other.variables()
	if len(mine) != len(theirs) {
		return ""
	}
	for i, v := range mine {
		for _, name := range slices.Sorted(maps.Keys(*v.hashes)) {
			if same, known := secret.Compare((*v.hashes)[name], (*theirs[i].hashes)[name]); known && !same {
				return v.of + "." + name
			}
		}
	}
	return ""
}
