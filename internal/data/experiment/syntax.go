package experiment

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// The syntax of Path and of Link.
var (
	PathSyntax = regexp.MustCompile(`^/([!-"$-~]|\{\{[^}]*\}\})*$`)
	LinkSyntax = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://[^/]`)
)

// Path reads the path of a request, a string. What stands in {{…}} is not checked.
func Path(s string) (any, error) {
	if !strings.HasPrefix(s, "/") {
		return nil, fmt.Errorf("%q: a path begins with /", s)
	}
	if !PathSyntax.MatchString(s) {
		return nil, fmt.Errorf("%q: a path is printable ASCII without spaces and #; percent-encode other characters, as in %%20", s)
	}
	return s, nil
}

// Link reads the URL of something that already runs, a string.
func Link(s string) (any, error) {
	u, err := url.Parse(s)
	if err != nil || !LinkSyntax.MatchString(s) || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is not a URL with a host, as in postgres://127.0.0.1:5432/shop", s)
	}
	return s, nil
}
