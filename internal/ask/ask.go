// Package ask is how Millicore's own requests reach a service that it started:
// those that look whether it serves, its actions, and the fetching of its metrics
// and profiles. They speak what the service's load speaks. Its certificate is not
// looked at: who answers is known, as it was started here; what the load makes of
// the certificate is the load's matter.
package ask

import (
	"crypto/tls"
	"net/http"
	"time"
)

// URL is where a path of a service is, whose load speaks a protocol: one of
// experiment.Protocols, "" for the first.
func URL(protocol, address, path string) string {
	if protocol == "https" || protocol == "h2" {
		return "https://" + address + path
	}
	return "http://" + address + path
}

// Client asks a service whose load speaks a protocol, one connection a request,
// straight, and follows no redirection away from it. Each request takes patience
// at most; 0: as long as its context allows.
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
