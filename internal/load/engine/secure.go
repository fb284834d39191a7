package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Transport is the protocol of the requests. The zero value is HTTP/1.1 without TLS.
type Transport struct {
	TLS      bool
	Insecure bool // accept any certificate
	HTTP2    bool // with TLS by ALPN, without it by prior knowledge (h2c)
	Streams  int  // maximum number of requests at a time on a connection of HTTP/2; 0: see newMux
	// CA has the certificates (PEM) of the only authorities that are trusted; "": the system's.
	CA string
	// Identity is the client's certificate, its chain and its private key (PEM); "": none.
	Identity string
	// Name is the service's in TLS (SNI, certificate); "": that of the target.
	Name string
	// Tickets: new connections to a target resume its last session (RFC 8446, 2.2).
	Tickets bool
	// Sources are addresses of this machine that connections come from, in turn.
	Sources []string
}

// Unfit is the error of a service that does not support the requested protocol. Every
// connection would fail with it, so it is not a result of a trial.
type Unfit struct{ why string }

func (u *Unfit) Error() string { return u.why }

// fit checks that the targets support the requested protocol, if it is TLS or HTTP/2.
func fit(p *Plan) error {
	if !p.Transport.TLS && !p.Transport.HTTP2 {
		return nil
	}
	for _, err := range greet(p) {
		if unfit := (*Unfit)(nil); errors.As(err, &unfit) {
			return unfit
		}
	}
	return nil
}

// Reach makes and closes a connection to each target, as the requests would. An error is
// an Unfit, or that of the first target to which no connection is possible now. A service
// that does not accept or answer in time is no error: a trial measures that.
func Reach(p *Plan) error {
	for _, err := range greet(p) {
		unfit := (*Unfit)(nil)
		if errors.As(err, &unfit) || slices.ContainsFunc(unreachable, func(errno error) bool { return errors.Is(err, errno) }) {
			return err
		}
	}
	return nil
}

var unreachable = []error{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EADDRNOTAVAIL,
	syscall.ENOENT, syscall.EACCES, syscall.ENOTSOCK}

// greet opens and closes a connection to each target, and returns an error for each to
// which that was not possible.
func greet(p *Plan) (errs []error) {
	ctx, cancel := context.WithTimeout(context.Background(), fitWithin)
	defer cancel()
	for _, t := range present(p.Targets) {
		conn, err := dial(ctx, &p.Targets[t], p.Transport)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		conn.Close()
	}
	return errs
}

// dialTarget makes a connection to a target.
func dialTarget(ctx context.Context, t *Target) (net.Conn, error) {
	var d net.Dialer
	if t.Socket != "" {
		return d.DialContext(ctx, "unix", t.Socket)
	}
	return d.DialContext(ctx, "tcp", t.Addr.String())
}

// dial makes a connection on which the service speaks what the requests need.
func dial(ctx context.Context, to *Target, t Transport) (net.Conn, error) {
	switch {
	case t.TLS:
		return dialTLS(ctx, to, t)
	case !t.HTTP2:
		return dialTarget(ctx, to)
	}
	conn, err := dialTarget(ctx, to)
	if err != nil {
		return nil, err
	}
	if err := greetHTTP2(ctx, conn); err != nil {
		conn.Close()
		if ctx.Err() == nil && speaksTLS(ctx, to) {
			err = errTLS
		}
		return nil, err
	}
	return conn, nil
}

var errTLS = &Unfit{"the service speaks TLS; write its address as https://host:port"}

// speaksTLS reports whether a target that did not answer HTTP/2 makes a TLS handshake.
func speaksTLS(ctx context.Context, to *Target) bool {
	conn, err := dialTLS(ctx, to, Transport{TLS: true, Insecure: true})
	if err == nil {
		conn.Close()
	}
	return err == nil || strings.HasPrefix(err.Error(), "remote error: tls: ")
}

// dialTLS makes a connection on which the service has agreed to the transport.
func dialTLS(ctx context.Context, to *Target, t Transport) (net.Conn, error) {
	conn, err := dialTarget(ctx, to)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, t.config(to))
	if err = secure.HandshakeContext(ctx); err == nil {
		err = agreed(secure, t)
	}
	if err != nil {
		conn.Close()
		return nil, orUnfit(err, t)
	}
	return secure, nil
}

// config is the configuration of connections to a target.
func (t Transport) config(to *Target) *tls.Config {
	c := &tls.Config{ServerName: cmp.Or(t.Name, to.Name), InsecureSkipVerify: t.Insecure,
		NextProtos: []string{"http/1.1"}, DynamicRecordSizingDisabled: true}
	if t.HTTP2 {
		c.NextProtos = []string{"h2"}
	}
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(t.CA))
	}
	if cert, err := tls.X509KeyPair([]byte(t.Identity), []byte(t.Identity)); err == nil { // else there is none: settle checks it
		c.Certificates = []tls.Certificate{cert}
	}
	if t.Tickets {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	return c
}

// settle checks the client's certificate.
func (t Transport) settle() error {
	if t.Identity == "" {
		return nil
	}
	if _, err := tls.X509KeyPair([]byte(t.Identity), []byte(t.Identity)); err != nil {
		return fmt.Errorf("the client certificate: %w", err)
	}
	return nil
}

// agreed checks that the service has agreed to HTTP/2, if that is asked for.
func agreed(conn *tls.Conn, t Transport) error {
	if t.HTTP2 && conn.ConnectionState().NegotiatedProtocol != "h2" {
		return errNoHTTP2
	}
	return nil
}

var errNoHTTP2 = &Unfit{"the service does not speak HTTP/2: it did not agree to h2 (ALPN); ask for HTTP/1.1"}

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

// orUnfit returns an Unfit for an error that every connection would have, or else the error.
func orUnfit(err error, t Transport) error {
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
		return errNoHTTP2
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
