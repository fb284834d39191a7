// Package traffic is the front end of `millicore load`: it turns flags into an
// experiment of one cell, checks thresholds, and shows the result in the manner of hey,
// wrk and k6. It sends no requests itself (packages lab and load), and shows no running
// load (package live).
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

	"github.com/millicore/millicore/internal/secret"
)

// Target is the destination of the load.
type Target struct {
	URL      string // without secrets, to be shown
	Address  string // host:port
	Host     string // for the Host header
	TLS      bool
	Path     string // with query
	Loopback bool   // every address of its host is a loopback address
}

// schemed matches a text that begins with a scheme.
var schemed = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// withoutUser removes the credentials from the text of a URL.
func withoutUser(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + path
}

// bracketed is the URL of a text whose host is an IPv6 address without brackets; "" of any
// other. The part behind the last colon is a port if an address remains before it: ::1:80
// is [::1]:80.
func bracketed(text string) string {
	scheme, rest, _ := strings.Cut(text, "://")
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	address, port := host, ""
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		_, addressErr := netip.ParseAddr(host[:i])
		_, portErr := strconv.ParseUint(host[i+1:], 10, 16)
		if addressErr == nil && portErr == nil {
			address, port = host[:i], host[i:]
		}
	}
	if a, err := netip.ParseAddr(address); err != nil || !a.Is6() {
		return ""
	}
	return scheme + "://[" + address + "]" + port + path
}

// ParseTarget parses a URL; the default scheme is http. It looks up the host, unless
// lookup is nil: then Loopback is false.
func ParseTarget(text string, lookup func(host string) ([]string, error)) (Target, error) {
	if !schemed.MatchString(text) {
		text = "http://" + text
	}
	if at := bracketed(text); at != "" {
		return Target{}, fmt.Errorf("%s: write an IPv6 address in brackets: %s", secret.Text(text), secret.Text(at))
	}
	shown := secret.Text(text)
	u, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) { // its text has the URL, which may contain a password
			err = parse.Err
		}
		return Target{}, fmt.Errorf("%q is not a URL: %w", secret.Text(withoutUser(text)), err)
	}
	switch {
	case u.User != nil:
		return Target{}, fmt.Errorf("%s: credentials in a URL would be stored in the record; put them into an environment variable, and use --basic-env", secret.Text(withoutUser(text)))
	case u.Scheme != "http" && u.Scheme != "https":
		return Target{}, fmt.Errorf("%s: the scheme must be http or https, not %s", shown, u.Scheme)
	case u.Hostname() == "":
		return Target{}, fmt.Errorf("%s: the URL has no host; write it as http://127.0.0.1:8080/", shown)
	case u.Fragment != "":
		return Target{}, fmt.Errorf("%s: a fragment (#) is never sent; remove it", shown)
	}
	port := u.Port()
	if n, err := strconv.Atoi(port); port != "" && (err != nil || n < 1 || n > 65535) {
		return Target{}, fmt.Errorf("%s: the port %s is not a number from 1 to 65535", shown, port)
	}
	if port == "" {
		port = "80"
		if u.Scheme == "https" {
			port = "443"
		}
	}
	t := Target{URL: secret.Text(text), Address: net.JoinHostPort(u.Hostname(), port), Host: u.Host, TLS: u.Scheme == "https", Path: u.EscapedPath()}
	if t.Path == "" {
		t.Path = "/"
	}
	// The path is kept as it was written, because of placeholders such as {{seq}}.
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
			return Target{}, &Unreachable{shown, fmt.Sprintf("the name %s does not resolve", u.Hostname()), err}
		}
	}
	t.Loopback = len(addresses) > 0
	for _, a := range addresses {
		ip, err := netip.ParseAddr(a)
		t.Loopback = t.Loopback && err == nil && ip.Unmap().IsLoopback()
	}
	return t, nil
}

// Target is the destination of a URL, or the unix socket of the options.
func (o *Options) Target(url string, lookup func(host string) ([]string, error)) (Target, error) {
	if o.Socket == "" {
		return ParseTarget(url, lookup)
	}
	t, err := ParseTarget(url, nil)
	t.Address, t.Loopback = "unix:"+o.Socket, true
	return t, err
}
