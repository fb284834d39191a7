package serviceclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strings"

	"github.com/millicore/millicore/internal/data/experiment"
)

// AsLoad returns a client that connects as the requests of a load do: with its protocol, its
// certificates and its timeout. target is that of the load: a unix socket of unix:PATH is used
// in place of every address.
func AsLoad(l *experiment.Load, target string) (*http.Client, error) {
	client := Client(l.Protocol, l.Timeout)
	t := client.Transport.(*http.Transport)
	t.TLSClientConfig.InsecureSkipVerify, t.TLSClientConfig.ServerName = l.Insecure, l.Name
	if l.CA != "" {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		t.TLSClientConfig.RootCAs.AppendCertsFromPEM([]byte(l.CA))
	}
	if l.Identity != "" {
		own, err := tls.X509KeyPair([]byte(l.Identity), []byte(l.Identity))
		if err != nil {
			return nil, err
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{own}
	}
	if socket, ok := strings.CutPrefix(target, "unix:"); ok {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		}
	}
	return client, nil
}
