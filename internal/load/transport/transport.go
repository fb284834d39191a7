// Package transport is what requests travel over: TLS, HTTP/2, and whether a service speaks
// them. It makes single connections, to learn that; package engine makes the traffic.
package transport

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"github.com/millicore/millicore/internal/load/port"
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

// Config is the configuration of connections to a target.
func (t Transport) Config(to *port.Target) *tls.Config {
	c := &tls.Config{ServerName: cmp.Or(t.Name, to.Name), InsecureSkipVerify: t.Insecure,
		NextProtos: []string{"http/1.1"}, DynamicRecordSizingDisabled: true}
	if t.HTTP2 {
		c.NextProtos = []string{"h2"}
	}
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(t.CA))
	}
	if cert, err := tls.X509KeyPair([]byte(t.Identity), []byte(t.Identity)); err == nil { // else there is none: Check checks it
		c.Certificates = []tls.Certificate{cert}
	}
	if t.Tickets {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	return c
}

// Check checks the client's certificate.
func (t Transport) Check() error {
	if t.Identity == "" {
		return nil
	}
	if _, err := tls.X509KeyPair([]byte(t.Identity), []byte(t.Identity)); err != nil {
		return fmt.Errorf("the client certificate: %w", err)
	}
	return nil
}

// Agreed checks that the service has agreed to HTTP/2, if that is asked for.
func (t Transport) Agreed(conn *tls.Conn) error {
	if t.HTTP2 && conn.ConnectionState().NegotiatedProtocol != "h2" {
		return ErrNoHTTP2
	}
	return nil
}

// ErrNoHTTP2 is the error of a service that does not agree to HTTP/2 over TLS.
var ErrNoHTTP2 = &Unfit{"the service does not speak HTTP/2: it did not agree to h2 (ALPN); ask for HTTP/1.1"}
