// Package conductortest has a conductor.Hub, the end of the connections of agents, with
// a certificate for tests of agents and node agents.
package conductortest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millicore/millicore/internal/kubernetes/conductor"
	"github.com/millicore/millicore/internal/kubernetes/tunnel"
)

// Token lets its owner read the state and the record from this package's hubs.
const Token = "0123456789abcdefghijklmnopqrstuv"

// Readers knows Token.
func Readers(context.Context) ([]string, error) { return []string{conductor.HashToken(Token)}, nil }

// Given makes a folder with the secret of a conductor's pod: a certificate and the key
// of the agents' tokens.
func Given(t testing.TB) string {
	t.Helper()
	certificate, key, err := newCertificate()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	Write(t, dir, conductor.CertFile, string(certificate))
	Write(t, dir, conductor.KeyFile, string(key))
	Write(t, dir, conductor.TokenKeyFile, "the key of the tokens of a test\n")
	return dir
}

// Write writes a file into a folder, with the folders that it lies in.
func Write(t testing.TB, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Hub serves on loopback with what is in a folder of Given, until the test ends.
func Hub(t testing.TB, dir string) *conductor.Hub {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := conductor.NewHub(listener, conductor.HubOptions{
		CertFile: filepath.Join(dir, conductor.CertFile), KeyFile: filepath.Join(dir, conductor.KeyFile),
		TokenKeyFile: filepath.Join(dir, conductor.TokenKeyFile), Record: filepath.Join(dir, "record"), Readers: Readers,
		State: func() conductor.State { return conductor.State{Run: "test", State: conductor.Running} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Agent returns what an agent dials a hub with, as its pod has it.
func Agent(t testing.TB, dir string, h *conductor.Hub, index int) tunnel.Options {
	t.Helper()
	return dialling(t, dir, h, fmt.Sprintf("/agent/%d", index), h.AgentToken(index))
}

// Node returns what a node agent dials a hub with.
func Node(t testing.TB, dir string, h *conductor.Hub, name string) tunnel.Options {
	t.Helper()
	return dialling(t, dir, h, "/node/"+name, h.NodeToken(name))
}

func dialling(t testing.TB, dir string, h *conductor.Hub, path, token string) tunnel.Options {
	t.Helper()
	name := "token-of" + strings.ReplaceAll(path, "/", "-")
	Write(t, dir, name, token+"\n")
	return tunnel.Options{Conductor: h.Addr().String(), Path: path, CertFile: filepath.Join(dir, conductor.CertFile), TokenFile: filepath.Join(dir, name)}
}

// newCertificate makes a certificate that has no name and nobody has signed, PEM.
func newCertificate() (certificate, key []byte, err error) {
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "millicore"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, secret.Public(), secret)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), nil
}
