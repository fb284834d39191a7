package transport

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Unfit is the error of a service that does not support the requested protocol. Every
// connection would fail with it, so it is not a result of a trial.
type Unfit struct{ why string }

func (u *Unfit) Error() string { return u.why }

// Alerts of a service (RFC 8446, 6.2); crypto/tls has no types for them. A service whose
// rejection of the client's certificate is in none of them only closes the connection.
const (
	noProtocol   = "remote error: tls: no application protocol"
	certRequired = "remote error: tls: certificate required"
	notTLS       = "first record does not look like a TLS handshake" // others break TLS in the middle
	noHandshake  = "remote error: tls: handshake failure"            // of TLS 1.2, also where a certificate is missing
)

var certRejected = []string{
	"remote error: tls: bad certificate", "remote error: tls: unsupported certificate",
	"remote error: tls: revoked certificate", "remote error: tls: expired certificate",
	"remote error: tls: unknown certificate", "remote error: tls: unknown certificate authority",
}

// OrUnfit returns an Unfit for an error that every connection would have, or else the error.
func (t Transport) OrUnfit(err error) error {
	var wrong *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var text string
	if err != nil {
		text = err.Error()
	}
	switch {
	case errors.As(err, &header) && header.Msg == notTLS:
		return &Unfit{"the service does not speak TLS: its answer is not TLS; use http instead"}
	case errors.As(err, &wrong):
		return &Unfit{"the service's certificate is not trusted: " + whyUntrusted(wrong)}
	case text == noProtocol && t.HTTP2:
		return ErrNoHTTP2
	case text == certRequired, t.Identity == "" && slices.Contains(certRejected, text):
		return &Unfit{"the service requires a client certificate: name one and its key in load.cert_file and load.key_file (load: --cert, --key)"}
	case text == noHandshake && t.Identity == "":
		return &Unfit{"the service ended the TLS handshake: it requires a client certificate (load: --cert, --key), or supports none of the offered ciphers"}
	case slices.Contains(certRejected, text):
		return &Unfit{"the service rejects the client certificate: " + strings.TrimPrefix(text, "remote error: tls: ")}
	}
	return err
}

// whyUntrusted is the reason of a failed verification, the chain that the service sent,
// and what to do.
func whyUntrusted(wrong *tls.CertificateVerificationError) string {
	const unchecked = "to accept any certificate, set load.insecure (load: --insecure)"
	sent := "; it sent " + chain(wrong.UnverifiedCertificates) + "; "
	if errors.As(wrong.Err, new(x509.UnknownAuthorityError)) {
		return "its authority is unknown" + sent + "name a file with the authority's certificate in load.ca_file (load and try: --cacert); " + unchecked
	}
	return strings.TrimPrefix(wrong.Err.Error(), "x509: ") + sent + unchecked
}

// chain names certificates, each with its issuer.
func chain(certs []*x509.Certificate) string {
	all := make([]string, 0, len(certs))
	for _, c := range certs[:min(len(certs), longestChain)] {
		issuer := "by " + strconv.Quote(nameOf(c.Issuer))
		if bytes.Equal(c.RawIssuer, c.RawSubject) {
			issuer = "by itself"
		}
		name := nameOf(c.Subject)
		if len(c.DNSNames) > 0 && len(all) == 0 {
			name = c.DNSNames[0]
		}
		all = append(all, strconv.Quote(name)+" issued "+issuer)
	}
	return strings.Join(all, ", ")
}

// longestChain is the maximum number of certificates in an error.
const longestChain = 4

// nameOf is the common name, or else the whole name.
func nameOf(n pkix.Name) string { return cmp.Or(n.CommonName, n.String()) }
