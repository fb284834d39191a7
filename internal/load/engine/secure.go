package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// Transport is how requests travel. The zero value is HTTP/1.1 without TLS.
type Transport struct {
	TLS      bool
	Insecure bool // any certificate will do
	HTTP2    bool // with TLS by ALPN, without it by prior knowledge (h2c)
}

// Unfit says why no request can ever travel as was asked: every connection would
// fail so, which is nothing that a trial has to find.
type Unfit struct{ why string }

func (u *Unfit) Error() string { return u.why }

// dialer makes a connection to a target, which is ready for HTTP/1.1 requests.
type dialer interface {
	dial(ctx context.Context, slot, target int) (net.Conn, error)
	// to is the dialer for other targets: those that it knew keep their places.
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
			return nil, &Unfit{"the service does not speak TLS: it answered with something else; ask without it"}
		}
		if errors.As(err, &wrong) {
			return nil, &Unfit{fmt.Sprintf("the service's certificate is not trusted: %v; where that is as it should be, say insecure (--insecure)", wrong.Err)}
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
