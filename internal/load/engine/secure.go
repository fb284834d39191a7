package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// Transport is the protocol of the requests. The zero value is HTTP/1.1 without TLS.
type Transport struct {
	TLS      bool
	Insecure bool // accept any certificate
	HTTP2    bool // with TLS by ALPN, without it by prior knowledge (h2c)
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

// fit opens and closes a connection to each target, to check that the targets support
// the requested protocol.
func fit(p *Plan) error {
	var d dialer
	switch t := p.Transport; {
	case t.HTTP2:
		d = newHTTP2Dialer(p.Targets, t)
	case t.TLS:
		d = newTLSDialer(p.Targets, t)
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), fitWithin)
	defer cancel()
	for _, t := range present(p.Targets) {
		conn, err := d.dial(ctx, 0, int(t))
		if unfit := (*Unfit)(nil); errors.As(err, &unfit) {
			return unfit
		}
		if err == nil {
			conn.Close()
		}
	}
	return nil
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
			return nil, &Unfit{fmt.Sprintf("the service's certificate is not trusted: %v; to accept it, set insecure (--insecure)", wrong.Err)}
		}
		return nil, err
	}
	return secure, nil
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
	return &tls.Config{ServerName: to.Name, InsecureSkipVerify: t.Insecure}
}
