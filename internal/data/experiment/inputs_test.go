package experiment_test

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
	"github.com/millicore/millicore/internal/data/experiment/schema"
)

const supplied = `
name: supplied
services: {a: {command: [./a], env: {N: "${n}"}}, b: {command: [./b]}}
vary: {n: [1, 2]}
load:
  mix:
    - {path: /free, weight: 3}
    - {path: /put, method: POST, body_file: body.bin, auth: {basic_env: WHO}}
    - {path: /get, auth: {bearer_env: TOKEN}}
    - {path: /empty, body_file: nothing}
  users: 4
`

// least is an experiment without anything optional.
const least = `
name: least
services: {server: {command: [./server]}}
load: {request: {path: /}, users: 1}
`

// parse reads an experiment that is right.
func parse(t testing.TB, text string) *experiment.Experiment {
	t.Helper()
	e, err := file.Parse("test.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func withInputs(t *testing.T) *experiment.Experiment {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{"body.bin": "\x00{{seq}}\xff", "nothing": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := parse(t, supplied)
	if err := e.ReadInputs(dir, func(name string) string { return map[string]string{"WHO": "me:secret", "TOKEN": "t0ken"}[name] }, schema.Read); err != nil {
		t.Fatal(err)
	}
	return e
}

// What was read where the files are is there where they are not.
func TestInputsAreSentToWhereTheExperimentRuns(t *testing.T) {
	e := withInputs(t)
	data, err := json.Marshal(e.InputSet())
	if err != nil {
		t.Fatal(err)
	}
	var in experiment.InputSet
	if err := json.Unmarshal(data, &in); err != nil {
		t.Fatal(err)
	}
	got := parse(t, supplied)
	if err := got.SetInputs(in); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("experiment (-want +got):\n%s", diff)
	}
	record, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"t0ken", "secret", "bWU6c2VjcmV0"} {
		if strings.Contains(string(record), secret) {
			t.Errorf("the record holds %q", secret)
		}
	}
}

func TestAnExperimentWithoutInputsSendsNone(t *testing.T) {
	e := parse(t, least)
	data, err := json.Marshal(e.InputSet())
	if err != nil || string(data) != "{}" {
		t.Errorf("%s, %v", data, err)
	}
	if err := e.SetInputs(experiment.InputSet{}); err != nil {
		t.Error(err)
	}
}

func TestMissingInputsAreNamedWithoutTheOthers(t *testing.T) {
	all := withInputs(t).InputSet()
	for want, in := range map[string]experiment.InputSet{
		"request POST /put: there is no body":        {Authorizations: all.Authorizations},
		"request GET /get: there are no credentials": {Bodies: all.Bodies, Authorizations: map[string]string{"basic WHO": "Basic t0ken"}},
		"the inputs are those of another experiment": {Authorizations: all.Authorizations, Bodies: map[string][]byte{"body.bin": {1}, "nothing": {}, "more": {}}},
	} {
		err := parse(t, supplied).SetInputs(in)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "t0ken") {
			t.Errorf("%v; want in it: %s", err, want)
		}
	}
}

// certificate is a PEM file with a certificate that signs itself, and its private key.
func certificate(t *testing.T) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	one := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true}
	der, err := x509.CreateCertificate(nil, one, one, public, private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})) + string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// The certificates of a file are read, and no private key beside them.
func TestAuthoritiesAreInputs(t *testing.T) {
	const text = least + "# TLS\n"
	secure := strings.Replace(text, "users: 1", "users: 1, protocol: https, ca_file: ca.pem", 1)
	dir := t.TempDir()
	read := func() (*experiment.Experiment, error) {
		e := parse(t, secure)
		return e, e.ReadInputs(dir, os.Getenv, schema.Read)
	}
	for want, content := range map[string]string{"ca_file: open": "", "ca.pem has no certificate in PEM format": "-----BEGIN CERTIFICATE-----\n"} {
		if content != "" {
			if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want in it: %s", err, want)
		}
		os.Remove(filepath.Join(dir, "ca.pem"))
	}
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), []byte(certificate(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := read()
	if err != nil {
		t.Fatal(err)
	}
	if ca := e.Cells[0].Load.CA; !strings.HasPrefix(ca, "-----BEGIN CERTIFICATE") || strings.Contains(ca, "PRIVATE") {
		t.Errorf("the certificates are %q", ca)
	}
	elsewhere := parse(t, secure)
	if err := elsewhere.SetInputs(e.InputSet()); err != nil || elsewhere.Cells[0].Load.CA != e.Cells[0].Load.CA {
		t.Errorf("%v, %q", err, elsewhere.Cells[0].Load.CA)
	}
	if err := parse(t, secure).SetInputs(experiment.InputSet{}); err == nil || !strings.Contains(err.Error(), "no certificates of ca.pem") {
		t.Errorf("%v", err)
	}
}

func TestLimitVars(t *testing.T) {
	for _, c := range []struct {
		limits experiment.Limits
		want   map[string]string
	}{
		{experiment.Limits{}, map[string]string{}},
		{experiment.Limits{CPUMillis: 250}, map[string]string{experiment.LimitCPU: "1"}},
		{experiment.Limits{CPUMillis: 2000, Memory: 1 << 30}, map[string]string{experiment.LimitCPU: "2", experiment.LimitMemory: "1073741824"}},
		{experiment.Limits{CPUMillis: 2001}, map[string]string{experiment.LimitCPU: "3"}},
	} {
		if diff := cmp.Diff(c.want, experiment.LimitVars(c.limits)); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.limits, diff)
		}
	}
}

// What is not said of Kubernetes is in no record, and means the same when it is
// read again.
func TestTheUsualOfKubernetesIsNotWritten(t *testing.T) {
	for text, written := range map[string]bool{least: false, least + "kubernetes: {keep: 1h}\n": false, least + "kubernetes: {keep: 0s}\n": true} {
		e := parse(t, text)
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"kubernetes":{`) != written {
			t.Errorf("%s", data)
		}
		var back experiment.Experiment
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, &back); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A client's certificate and its key are inputs: both are sent to where the experiment
// runs, and neither is in the record.
func TestClientCertificatesAreInputs(t *testing.T) {
	secure := strings.Replace(least+"# TLS\n", "users: 1", "users: 1, protocol: https, cert_file: own.pem, key_file: key.pem", 1)
	dir := t.TempDir()
	both := certificate(t)
	at := strings.Index(both, "-----BEGIN CERTIFICATE")
	for name, content := range map[string]string{"own.pem": both[at:], "key.pem": both[:at], "other.pem": "no key"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := parse(t, secure)
	if err := e.ReadInputs(dir, os.Getenv, schema.Read); err != nil {
		t.Fatal(err)
	}
	own := e.Cells[0].Load.Identity
	if _, err := tls.X509KeyPair([]byte(own), []byte(own)); err != nil {
		t.Errorf("%v", err)
	}
	if text, err := json.Marshal(e); err != nil || strings.Contains(string(text), "PRIVATE") || strings.Contains(string(text), "BEGIN") {
		t.Errorf("the record has the certificate or its key: %v", err)
	}
	elsewhere := parse(t, secure)
	if err := elsewhere.SetInputs(e.InputSet()); err != nil || elsewhere.Cells[0].Load.Identity != own {
		t.Errorf("elsewhere: %v", err)
	}
	if err := parse(t, secure).SetInputs(experiment.InputSet{}); err == nil || !strings.Contains(err.Error(), "no client certificate of own.pem") {
		t.Errorf("%v", err)
	}
	for file, want := range map[string]string{"other.pem": "cert_file", "missing.pem": "cert_file"} {
		wrong := parse(t, strings.Replace(secure, "key.pem", file, 1))
		if err := wrong.ReadInputs(dir, os.Getenv, schema.Read); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
