// Package traffic is what `millicore load` needs beside the lab: where the traffic
// goes, which thresholds it has to keep, and how its outcome is shown to people who
// know hey, wrk and k6.
package traffic

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Target is where traffic goes.
type Target struct {
	URL      string
	Address  string // host:port
	Host     string // as the request names it
	TLS      bool
	Path     string // with query
	Loopback bool   // every address of its host is this machine's own
}

// schemed is a text that names its scheme.
var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// withoutUser is a URL's text without the credentials before its host.
func withoutUser(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + path
}

// ParseTarget reads a URL; without a scheme it is http. A host that is a name is
// looked up, unless lookup is nil: then nothing is said of whose it is.
func ParseTarget(text string, lookup func(host string) ([]string, error)) (Target, error) {
	if !schemed.MatchString(text) {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) { // its text repeats the URL, with the password that it may hold
			err = parse.Err
		}
		return Target{}, fmt.Errorf("%q is no URL: %w", withoutUser(text), err)
	}
	switch {
	case u.User != nil:
		return Target{}, fmt.Errorf("%s: credentials in a URL end up in records; put them into a variable and name it with --basic-env", withoutUser(text))
	case u.Scheme != "http" && u.Scheme != "https":
		return Target{}, fmt.Errorf("%s: want an address of http:// or https://, not %s://", text, u.Scheme)
	case u.Hostname() == "":
		return Target{}, fmt.Errorf("%s: there is no host in it, as in http://127.0.0.1:8080/", text)
	case u.Fragment != "":
		return Target{}, fmt.Errorf("%s: what follows # is never sent; leave it out", text)
	}
	port := u.Port()
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		return Target{}, fmt.Errorf("%s: %s is no port: they go from 1 to 65535", text, port)
	}
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	t := Target{URL: text, Address: net.JoinHostPort(u.Hostname(), port), Host: u.Host, TLS: u.Scheme == "https", Path: u.EscapedPath()}
	if t.Path == "" {
		t.Path = "/"
	}
	// The path as it was written: {{seq}} stays what it is.
	if _, rest, ok := strings.Cut(text, "://"); ok {
		if i := strings.IndexAny(rest, "/?"); i >= 0 {
			t.Path = "/" + strings.TrimPrefix(rest[i:], "/")
		}
	}
	if lookup == nil {
		return t, nil
	}
	addresses := []string{u.Hostname()}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		if addresses, err = lookup(u.Hostname()); err != nil {
			return Target{}, fmt.Errorf("%s: %w", text, err)
		}
	}
	t.Loopback = len(addresses) > 0
	for _, a := range addresses {
		ip, err := netip.ParseAddr(a)
		t.Loopback = t.Loopback && err == nil && ip.Unmap().IsLoopback()
	}
	return t, nil
}
