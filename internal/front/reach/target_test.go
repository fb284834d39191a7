package reach

import (
	"errors"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	lookup := func(host string) ([]string, error) {
		switch host {
		case "localhost":
			return []string{"127.0.0.1", "::1"}, nil
		case "both":
			return []string{"127.0.0.1", "192.0.2.1"}, nil
		}
		return nil, errors.New("no such host")
	}
	for _, c := range []struct {
		url, address, path string
		loopback           bool
	}{
		{"http://127.0.0.1:8080", "127.0.0.1:8080", "/", true},
		{"127.0.0.1:8080/a?b=1", "127.0.0.1:8080", "/a?b=1", true},
		{"localhost/x/{{seq}}", "localhost:80", "/x/{{seq}}", true},
		{"http://[::1]:80/%20", "[::1]:80", "/%20", true},
		{"http://[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]:80", "/", true},
		{"http://localhost?q=1", "localhost:80", "/?q=1", true},
		{"http://localhost?next=/x", "localhost:80", "/?next=/x", true},
		{"127.0.0.1:8080/r?u=http://x", "127.0.0.1:8080", "/r?u=http://x", true},
		{"http://both/", "both:80", "/", false},
		{"http://192.0.2.1/", "192.0.2.1:80", "/", false},
		{"https://localhost/a", "localhost:443", "/a", true},
		{"https://localhost:8443/a", "localhost:8443", "/a", true},
	} {
		got, err := ParseTarget(c.url, lookup)
		if err != nil || got.Address != c.address || got.Path != c.path || got.Loopback != c.loopback {
			t.Errorf("%s: %+v, %v", c.url, got, err)
		}
	}
	for url, want := range map[string]string{
		"ws://x/":                     "not ws",
		"::1:80":                      "write an IPv6 address in brackets: http://[::1]:80",
		"http://::1:18080/x":          "http://[::1]:18080/x",
		"https://fe80::1/":            "https://[fe80::1]/",
		"http:///x":                   "no host",
		"http://a:geheim@x/":          "--basic-env",
		"http://127.0.0.1/#part":      "never sent",
		"http://nowhere/":             "the name nowhere does not resolve",
		"http://127.0.0.1:99999/":     "port 99999",
		"http://127.0.0.1:0/":         "port 0",
		"http://127.0.0.1:notaport":   "is not a URL",
		"http://a:geheim@x:notaport/": "\"http://x:notaport/\" is not a URL",
		"ftp://a:geheim@x/":           "ftp://x/: credentials in a URL",
	} {
		if _, err := ParseTarget(url, lookup); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v; want in it: %s", url, err, want)
		}
	}
}
