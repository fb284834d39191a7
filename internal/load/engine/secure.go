package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
)

// Transport is the protocol of the requests. The zero value is HTTP/1.1 without TLS.
type Transport struct {
	TLS      bool
	Insecure bool // accept any certificate
	HTTP2    bool // with TLS by ALPN, without it by prior knowledge (h2c)
	// CA has the certificates (PEM) of the only authorities that are trusted; "": the system's.
	CA string
}

// Unfit is the error of a service that does not support the requested protocol. Every
// connection would fail with it, so it is not a result of a trial.
type Unfit struct{ why string }

func (u *Unfit) Error() string { return u.why }

// dialer makes connections to targets. They accept HTTP/1.1 requests.
type dialer interface {
	dial(ctx context.Context, slot, target int) (net.Conn, error)
	// to returns the dialer for other targets; known targets keep their indices.
	to(targets []Target) dialer
}

// tlsDialer makes connections of HTTP/1.1 over TLS.
type tlsDialer struct {
	targets   []Target
	configs   []*tls.Config // by target
	transport Transport
}

func (d *tlsDialer) to(targets []Target) dialer { return newTLSDialer(targets, d.transport) }

func (d *tlsDialer) dial(ctx context.Context, _, target int) (net.Conn, error) {
	return dialTLS(ctx, &d.targets[target], d.configs[target])
}

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
	dial := func(ctx context.Context, _, target int) (net.Conn, error) { return dialTarget(ctx, &p.Targets[target]) }
	switch t := p.Transport; {
	case t.HTTP2:
		dial = newHTTP2Dialer(p.Targets, t).dial
	case t.TLS:
		dial = newTLSDialer(p.Targets, t).dial
	}
	ctx, cancel := context.WithTimeout(context.Background(), fitWithin)
	defer cancel()
	for _, t := range present(p.Targets) {
		conn, err := dial(ctx, 0, int(t))
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

func dialTLS(ctx context.Context, t *Target, config *tls.Config) (*tls.Conn, error) {
	conn, err := dialTarget(ctx, t)
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		conn.Close()
		var wrong *tls.CertificateVerificationError
		var plain tls.RecordHeaderError
		if errors.As(err, &plain) {
			return nil, &Unfit{"the service does not speak TLS: its answer is not TLS; use http instead"}
		}
		if errors.As(err, &wrong) {
			return nil, &Unfit{"the service's certificate is not trusted: " + whyUntrusted(wrong.Err)}
		}
		return nil, err
	}
	return secure, nil
}

// whyUntrusted is the reason of a failed verification, without the details of an unknown
// authority, and what to do.
func whyUntrusted(err error) string {
	const unchecked = "to accept any certificate, set load.insecure (load: --insecure)"
	if errors.As(err, new(x509.UnknownAuthorityError)) {
		return "its authority is unknown; name a file with the authority's certificate in load.ca_file (load and try: --cacert); " + unchecked
	}
	return strings.TrimPrefix(err.Error(), "x509: ") + "; " + unchecked
}

func newTLSDialer(targets []Target, t Transport) *tlsDialer {
	d := &tlsDialer{targets: targets, transport: t}
	for i := range targets {
		c := t.config(&targets[i])
		c.NextProtos = []string{"http/1.1"}
		d.configs = append(d.configs, c)
	}
	return d
}

func (t Transport) config(to *Target) *tls.Config {
	c := &tls.Config{ServerName: to.Name, InsecureSkipVerify: t.Insecure}
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(t.CA))
	}
	return c
}
