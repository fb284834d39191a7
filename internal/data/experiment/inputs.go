package experiment

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Inputs are the parts of a request that come from outside of the experiment
// file: read once, before anything is started.
type Inputs struct {
	Body          []byte // of BodyFile; nil without one
	Authorization string // the header's value; empty without Auth
	Schema        []byte // of GRPC: a FileDescriptorSet; nil until it is known
}

// InputSet is the inputs of all requests and services, by what these name. It is sent to
// where the experiment runs. It is in no record, since it has credentials.
type InputSet struct {
	Bodies         map[string][]byte `json:"bodies,omitempty"`         // by body_file
	Schemas        map[string][]byte `json:"schemas,omitempty"`        // by Request.schema
	Authorizations map[string]string `json:"authorizations,omitempty"` // by Auth.String
	Authorities    map[string]string `json:"authorities,omitempty"`    // certificates in PEM, by ca_file
	Identities     map[string]string `json:"identities,omitempty"`     // certificate and key in PEM, by Load.identity
	Variables      map[string]string `json:"variables,omitempty"`      // values, by Reference.String
	Hashes         map[string]string `json:"hashes,omitempty"`         // for the record, by NAME=value
	Given          *Given            `json:"given,omitempty"`          // the text and the settings, if they have secrets
}

// InputError is the error of an input that is missing, or cannot be used.
type InputError struct {
	Of  string // "request POST /orders", "load", or "services.go.env"
	Key string // of the file: body_file, auth, ca_file, or the name of a variable
	Err error
}

func (e *InputError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Of, e.Key, e.Err) }
func (e *InputError) Unwrap() error { return e.Err }

// largestBody is the maximum size of a body in bytes.
const largestBody = 32 << 20

// requests are those of all cells.
func (e *Experiment) requests() []*Request {
	var all []*Request
	for i := range e.Cells {
		all = append(all, e.Cells[i].Load.requests()...)
	}
	return all
}

func newInputSet() InputSet {
	return InputSet{Bodies: map[string][]byte{}, Schemas: map[string][]byte{}, Authorizations: map[string]string{}, Authorities: map[string]string{},
		Identities: map[string]string{}, Variables: map[string]string{}, Hashes: map[string]string{}}
}

// Schemas reads the schema of a gRPC service from a file, as schema.Read does. It is passed by
// those who read inputs, because the compiler of .proto files is large.
type Schemas func(ctx context.Context, name string, imports []string) ([]byte, error)

// ReadInputs reads what all cells need from outside: files, relative to dir, and
// environment variables. An error names what is missing.
func (e *Experiment) ReadInputs(dir string, getenv func(string) string, schemas Schemas) error {
	in := newInputSet()
	if err := e.readReferences(in.Variables, dir, getenv); err != nil {
		return err
	}
	for i := range e.Cells {
		if name := e.Cells[i].Load.CAFile; name != "" && in.Authorities[name] == "" {
			pem, err := Certificates(within(dir, name))
			if err != nil {
				return &InputError{"load", "ca_file", err}
			}
			in.Authorities[name] = pem
		}
		if l := &e.Cells[i].Load; l.CertFile != "" && in.Identities[l.identity()] == "" {
			pem, err := Identity(within(dir, l.CertFile), within(dir, cmp.Or(l.KeyFile, l.CertFile)))
			if err != nil {
				return &InputError{"load", "cert_file", err}
			}
			in.Identities[l.identity()] = pem
		}
	}
	for _, r := range e.requests() {
		if name := r.BodyFile; name != "" && in.Bodies[name] == nil {
			body, err := readBody(within(dir, name))
			if err != nil {
				return &InputError{fmt.Sprintf("request %s %s", r.Method, r.Path), "body_file", err}
			}
			in.Bodies[name] = body
		}
		if name := r.schema(); r.Proto != "" && in.Schemas[name] == nil {
			data, err := schemas(context.Background(), within(dir, r.Proto), withinAll(dir, r.Imports))
			if err != nil {
				return &InputError{"request " + r.GRPC, "proto", err}
			}
			in.Schemas[name] = data
		}
		if r.Auth != nil {
			header, err := r.Auth.header(getenv)
			if err != nil {
				return &InputError{fmt.Sprintf("request %s %s", r.Method, r.Path), "auth", err}
			}
			in.Authorizations[r.Auth.String()] = header
		}
	}
	return e.SetInputs(in)
}

// InputSet gives what ReadInputs read, and the hashes of Seal.
func (e *Experiment) InputSet() InputSet {
	in := newInputSet()
	in.Given = e.Given
	for _, v := range e.variables() {
		v.inputs(&in)
	}
	for i := range e.Cells {
		l := &e.Cells[i].Load
		if l.CAFile != "" {
			in.Authorities[l.CAFile] = l.CA
		}
		if l.CertFile != "" {
			in.Identities[l.identity()] = l.Identity
		}
	}
	for _, r := range e.requests() {
		if r.BodyFile != "" {
			in.Bodies[r.BodyFile] = r.Inputs.Body
		}
		if r.Proto != "" {
			in.Schemas[r.schema()] = r.Inputs.Schema
		}
		if r.Auth != nil {
			in.Authorizations[r.Auth.String()] = r.Inputs.Authorization
		}
	}
	return in
}

// SetInputs gives the requests and services their inputs, instead of ReadInputs. An error
// means that they are those of another experiment; it contains no input.
func (e *Experiment) SetInputs(in InputSet) error {
	if err := e.setReferences(in); err != nil {
		return err
	}
	for i := range e.Cells {
		l := &e.Cells[i].Load
		if l.CA = in.Authorities[l.CAFile]; l.CAFile != "" && l.CA == "" {
			return fmt.Errorf("load: there are no certificates of %s among the inputs", l.CAFile)
		}
		if l.Identity = in.Identities[l.identity()]; l.CertFile != "" && l.Identity == "" {
			return fmt.Errorf("load: there is no client certificate of %s among the inputs", l.CertFile)
		}
	}
	for _, r := range e.requests() {
		r.Inputs = Inputs{}
		if r.BodyFile != "" {
			if r.Inputs.Body = in.Bodies[r.BodyFile]; r.Inputs.Body == nil {
				return fmt.Errorf("request %s %s: there is no body for it among the inputs", r.Method, r.Path)
			}
		}
		if r.Inputs.Schema = in.Schemas[r.schema()]; r.Proto != "" && r.Inputs.Schema == nil {
			return fmt.Errorf("request %s: there is no schema for it among the inputs", r.GRPC)
		}
		if r.Auth != nil {
			if r.Inputs.Authorization = in.Authorizations[r.Auth.String()]; r.Inputs.Authorization == "" {
				return fmt.Errorf("request %s %s: there are no credentials for it among the inputs", r.Method, r.Path)
			}
		}
	}
	if own := e.InputSet(); len(own.Bodies) != len(in.Bodies) || len(own.Schemas) != len(in.Schemas) || len(own.Authorizations) != len(in.Authorizations) || len(own.Authorities) != len(in.Authorities) || len(own.Identities) != len(in.Identities) || len(own.Variables) != len(in.Variables) {
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

// schema is the key of a call's schema among the inputs; "" for a schema of the service's own.
func (r *Request) schema() string { return strings.Join(append([]string{r.Proto}, r.Imports...), "\n") }

// within is a file relative to dir.
func within(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func withinAll(dir string, names []string) (all []string) {
	for _, name := range names {
		all = append(all, within(dir, name))
	}
	return all
}

// Certificates reads the certificates of a PEM file, without what else is in it, such as
// private keys. It is an error if there is none.
func Certificates(name string) (string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			out.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
		}
	}
	if out.Len() == 0 {
		return "", fmt.Errorf("%s has no certificate in PEM format (a text that begins with -----BEGIN CERTIFICATE-----)", name)
	}
	return out.String(), nil
}

// identity is the key of a load's client certificate among the inputs.
func (l *Load) identity() string { return l.CertFile + "\n" + l.KeyFile }

// Identity reads a client's certificate, with its chain, and its private key: the PEM
// blocks of both files.
func Identity(cert, key string) (string, error) {
	text, err := os.ReadFile(cert)
	if err == nil && key != cert {
		var more []byte
		more, err = os.ReadFile(key)
		text = slices.Concat(text, []byte("\n"), more)
	}
	if err != nil {
		return "", err
	}
	if _, err := tls.X509KeyPair(text, text); err != nil {
		return "", fmt.Errorf("%s is not a certificate with the private key of %s, both in PEM format and not encrypted: %w", cert, key, err)
	}
	return string(text), nil
}

// readBody reads a file. It is not nil if there is no error.
func readBody(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file", name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > largestBody:
		return nil, fmt.Errorf("%s has %d MiB; the maximum is %d MiB", name, info.Size()>>20, largestBody>>20)
	}
	body, err := os.ReadFile(name)
	if body == nil {
		body = []byte{}
	}
	return body, err
}
