package experiment

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Inputs are the parts of a request that come from outside of the experiment
// file: read once, before anything is started.
type Inputs struct {
	Body          []byte // of BodyFile; nil without one
	Authorization string // the header's value; empty without Auth
}

// InputSet is the inputs of all requests, by what the requests name. It is sent
// to where the experiment runs. It is in no record, since it has credentials.
type InputSet struct {
	Bodies         map[string][]byte `json:"bodies,omitempty"`         // by body_file
	Authorizations map[string]string `json:"authorizations,omitempty"` // by Auth.String
}

// largestBody is the maximum size of a body in bytes.
const largestBody = 32 << 20

// requests are those of all cells.
func (e *Experiment) requests() []*Request {
	var all []*Request
	for i := range e.Cells {
		l := &e.Cells[i].Load
		for j := range l.Mix {
			all = append(all, &l.Mix[j])
		}
		if !l.Benchmark {
			all = append(all, &l.Request)
		}
	}
	return all
}

// ReadInputs reads what the requests of all cells need from outside: files,
// relative to dir, and environment variables. An error names what is missing.
func (e *Experiment) ReadInputs(dir string, getenv func(string) string) error {
	in := InputSet{Bodies: map[string][]byte{}, Authorizations: map[string]string{}}
	for _, r := range e.requests() {
		if name := r.BodyFile; name != "" && in.Bodies[name] == nil {
			body, err := readBody(dir, name)
			if err != nil {
				return fmt.Errorf("request %s %s: read body_file: %w", r.Method, r.Path, err)
			}
			in.Bodies[name] = body
		}
		if r.Auth != nil {
			header, err := r.Auth.header(getenv)
			if err != nil {
				return fmt.Errorf("request %s %s: auth: %w", r.Method, r.Path, err)
			}
			in.Authorizations[r.Auth.String()] = header
		}
	}
	return e.SetInputs(in)
}

// InputSet gives what ReadInputs read.
func (e *Experiment) InputSet() InputSet {
	in := InputSet{Bodies: map[string][]byte{}, Authorizations: map[string]string{}}
	for _, r := range e.requests() {
		if r.BodyFile != "" {
			in.Bodies[r.BodyFile] = r.Inputs.Body
		}
		if r.Auth != nil {
			in.Authorizations[r.Auth.String()] = r.Inputs.Authorization
		}
	}
	return in
}

// SetInputs gives the requests their inputs, instead of ReadInputs. An error means
// that they are those of another experiment; it contains no input.
func (e *Experiment) SetInputs(in InputSet) error {
	for _, r := range e.requests() {
		r.Inputs = Inputs{}
		if r.BodyFile != "" {
			if r.Inputs.Body = in.Bodies[r.BodyFile]; r.Inputs.Body == nil {
				return fmt.Errorf("request %s %s: there is no body for it among the inputs", r.Method, r.Path)
			}
		}
		if r.Auth != nil {
			if r.Inputs.Authorization = in.Authorizations[r.Auth.String()]; r.Inputs.Authorization == "" {
				return fmt.Errorf("request %s %s: there are no credentials for it among the inputs", r.Method, r.Path)
			}
		}
	}
	if own := e.InputSet(); len(own.Bodies) != len(in.Bodies) || len(own.Authorizations) != len(in.Authorizations) {
		return errors.New("the inputs are those of another experiment")
	}
	return nil
}

// String names the variable and its use: "bearer TOKEN".
func (a *Auth) String() string {
	if a.Bearer != "" {
		return "bearer " + a.Bearer
	}
	return "basic " + a.Basic
}

// header is the value of the header Authorization.
func (a *Auth) header(getenv func(string) string) (string, error) {
	name := a.Basic + a.Bearer
	secret := getenv(name)
	switch {
	case secret == "":
		return "", fmt.Errorf("the variable %s is not set", name)
	case strings.ContainsFunc(secret, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "", fmt.Errorf("%s contains a control character, such as the end of a line", name)
	case a.Bearer != "":
		return "Bearer " + secret, nil
	case !strings.Contains(secret, ":"):
		return "", fmt.Errorf("%s is not user:password", name)
	}
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(secret)), nil
}

// readBody reads a file, relative to dir. It is not nil if there is no error.
func readBody(dir, name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largestBody {
		return nil, fmt.Errorf("%s: expected a file of at most %d MiB", name, largestBody>>20)
	}
	body, err := os.ReadFile(name)
	if body == nil {
		body = []byte{}
	}
	return body, err
}
