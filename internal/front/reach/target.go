// Package reach knows a service that already runs: the target of its URL, a first
// connection to it, and its process. It sends no load.
package reach

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/millicore/millicore/internal/base/secret"
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
	u, err := parse(text)
	if err != nil {
		return Target{}, err
	}
	t := Target{URL: secret.Text(text), Address: addressOf(u), Host: u.Host, TLS: u.Scheme == "https", Path: pathOf(u, text)}
	if lookup != nil {
		t.Loopback, err = onLoopback(u.Hostname(), lookup)
		if err != nil {
			return Target{}, &Unreachable{t.URL, fmt.Sprintf("the name %s does not resolve", u.Hostname()), err}
		}
	}
	return t, nil
}

// parse parses a URL with a scheme, and refuses one to which no load can be sent. No
// error has the URL's password.
func parse(text string) (*url.URL, error) {
	if at := bracketed(text); at != "" {
		return nil, fmt.Errorf("%s: write an IPv6 address in brackets: %s", secret.Text(text), secret.Text(at))
	}
	u, err := url.Parse(text)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) { // its text has the URL, which may contain a password
			err = parse.Err
		}
		return nil, fmt.Errorf("%q is not a URL: %w", secret.Text(withoutUser(text)), err)
	}
	shown := secret.Text(text)
	switch {
	case u.User != nil:
		return nil, fmt.Errorf("%s: credentials in a URL would be stored in the record; put them into an environment variable, and use --basic-env", secret.Text(withoutUser(text)))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%s: the scheme must be http or https, not %s", shown, u.Scheme)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%s: the URL has no host; write it as http://127.0.0.1:8080/", shown)
	case u.Fragment != "":
		return nil, fmt.Errorf("%s: a fragment (#) is never sent; remove it", shown)
	}
	if n, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return nil, fmt.Errorf("%s: the port %s is not a number from 1 to 65535", shown, u.Port())
	}
	return u, nil
}

// addressOf returns the host and the port of a URL.
func addressOf(u *url.URL) string {
	usual := "80"
	if u.Scheme == "https" {
		usual = "443"
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), usual))
}

// pathOf returns the path and the query of a URL as they were written, because of
// placeholders such as {{seq}}.
func pathOf(u *url.URL, text string) string {
	_, rest, _ := strings.Cut(text, "://")
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return "/" + strings.TrimPrefix(rest[i:], "/")
	}
	return cmp.Or(u.EscapedPath(), "/")
}

// onLoopback reports whether each address of a host is a loopback address.
func onLoopback(host string, lookup func(host string) ([]string, error)) (bool, error) {
	addresses := []string{host}
	if _, err := netip.ParseAddr(host); err != nil {
		if addresses, err = lookup(host); err != nil {
			return false, err
		}
	}
	return len(addresses) > 0 && !slices.ContainsFunc(addresses, func(a string) bool {
		ip, err := netip.ParseAddr(a)
		return err != nil || !ip.Unmap().IsLoopback()
	}), nil
}
