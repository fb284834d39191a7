// Package serviceclient makes HTTP clients for Millicore's own requests to a service
// that it started: readiness probes, actions, metrics and profiles. They use the
// protocol of the service's load. They do not verify its certificate, because
// Millicore started the service itself. The package is not for the load.
package serviceclient

import (
	"crypto/tls"
	"net/http"
	"time"
)

// URL is the URL of a path of a service. protocol is that of its load: one of
// experiment.Protocols, "" for the first.
func URL(protocol, address, path string) string {
	if protocol == "https" || protocol == "h2" {
		return "https://" + address + path
	}
	return "http://" + address + path
}

// Client returns a client for a service whose load uses a protocol. It opens one
// connection per request, without a proxy, and follows no redirects. patience bounds
// each request; 0: only its context does.
func Client(protocol string, patience time.Duration) *http.Client {
	t := &http.Transport{DisableKeepAlives: true, Proxy: nil, Protocols: new(http.Protocols)}
	switch protocol {
	case "h2":
		t.Protocols.SetHTTP2(true)
	case "h2c":
		t.Protocols.SetUnencryptedHTTP2(true)
	default:
		t.Protocols.SetHTTP1(true)
	}
	t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	return &http.Client{Transport: t, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
