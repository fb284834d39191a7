package launch

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// proof authenticates the parts of a run: the conductor by its certificate, which is
// pinned, and its agents by tokens, which the conductor computes from a key.
type proof struct {
	certificate, key []byte // PEM
	tokenKey         string
}

// clocks is the largest difference between the clocks of a user's machine and a node.
const clocks = 24 * time.Hour

// newProof makes the proof of one run. It is valid for as long as the run can take.
func newProof(run string, now time.Time, valid time.Duration) (proof, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return proof{}, fmt.Errorf("make the run's certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return proof{}, fmt.Errorf("make the run's certificate: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: Name(run)}, DNSNames: []string{Name(run)},
		NotBefore: now.Add(-clocks), NotAfter: now.Add(valid + clocks),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return proof{}, fmt.Errorf("make the run's certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return proof{}, fmt.Errorf("make the run's certificate: %w", err)
	}
	return proof{
		certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
		key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		tokenKey:    newToken(),
	}, nil
}
