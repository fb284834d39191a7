package captured

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/millicore/millicore/internal/data/experiment"
	"github.com/millicore/millicore/internal/data/experiment/file"
)

// entry is a request as an input has it.
type entry struct {
	method  string // "": GET
	url     string // or a path
	headers []header
	body    string
	file    string // with the body
	weight  int    // 0: 1
	name    string // under which it is counted; "": by method and path
	check   map[string]any
	think   string
	capture map[string]string
	needs   []string // as in Request
	madeUp  []string
	own     bool // of a file for Millicore: braces are placeholders
}

type header struct{ name, value string }

// leftOut are the headers that are not sent as they were recorded, in lower case: the
// generator sets them for its own connections, or they are about one connection (RFC 9110,
// section 7.6.1). So are pseudo-headers of HTTP/2, which begin with a colon.
var leftOut = []string{
	"host", "content-length", "accept-encoding",
	"connection", "keep-alive", "proxy-connection", "proxy-authorization", "transfer-encoding", "te", "trailer", "upgrade", "expect", "http2-settings",
}

func isLeftOut(name string) bool {
	return strings.HasPrefix(name, ":") || slices.Contains(leftOut, strings.ToLower(name))
}

// methods are those that an experiment can send.
var methods = experiment.Methods()

// request is the request of an entry, or why it cannot be sent.
func (e *entry) request() (r Request, why string) {
	r = Request{Method: strings.ToUpper(strings.TrimSpace(e.method)), Body: e.body, File: e.file}
	if r.Method == "" {
		r.Method = "GET"
	}
	if !slices.Contains(methods, r.Method) {
		if !utf8.ValidString(r.Method) || len(r.Method) > 20 {
			return r, "with a method that cannot be sent"
		}
		return r, fmt.Sprintf("with the method %q", r.Method)
	}
	user, why := r.locate(e.url, e.own)
	if why != "" {
		return r, why
	}
	if !utf8.ValidString(r.Body) {
		return r, "with a body that is not text"
	}
	if r.Headers, why = merged(e.headers); why != "" {
		return r, why
	}
	if _, has := named(r.Headers, "Authorization"); user != nil && !has {
		password, _ := user.Password()
		r.setHeader("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if !e.own {
		r.Path, r.Body = Escape(r.Path), Escape(r.Body)
		for name, value := range r.Headers {
			r.Headers[name] = Escape(value)
		}
	}
	if file.Valid("sentPath", r.Path) != nil {
		return r, "with a path that cannot be sent"
	}
	return r, ""
}

// Escape writes two braces so that they start no placeholder.
func Escape(text string) string { return strings.ReplaceAll(text, "{{", `{{"{{"}}`) }

// Plain is a text with the braces that Escape has written, as it is sent.
func Plain(text string) string { return strings.ReplaceAll(text, `{{"{{"}}`, "{{") }

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// locate sets the path, the host and the scheme of a URL, or of a path alone.
func (r *Request) locate(link string, own bool) (user *url.Userinfo, why string) {
	link = strings.TrimSpace(link)
	link, _, _ = strings.Cut(link, "#") // a fragment is never sent
	switch {
	case link == "":
		return nil, "without a URL"
	case !utf8.ValidString(link), strings.ContainsFunc(link, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return nil, unreadable
	case link[0] == '/' && !strings.HasPrefix(link, "//"), own && strings.HasPrefix(link, "{{"):
		r.Path = sendable(link, own)
		return nil, ""
	}
	s := strings.ToLower(scheme.FindString(link))
	switch s {
	case "":
		return nil, unreadable
	case "http:", "https:":
	default:
		return nil, fmt.Sprintf("with a %s URL", cut(s))
	}
	rest, ok := strings.CutPrefix(link[len(s):], "//")
	if !ok {
		return nil, unreadable
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority, r.Path = rest[:i], rest[i:]
	}
	if !strings.HasPrefix(r.Path, "/") {
		r.Path = "/" + r.Path
	}
	r.Path = sendable(r.Path, own)
	u, err := url.Parse(s + "//" + authority + "/")
	if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, `"'<>{}|\^ `) {
		return nil, unreadable
	}
	r.TLS, r.Host = s == "https:", Host(u.Host, s == "https:")
	return u.User, ""
}

const unreadable = "with a URL that cannot be read"

// Host is a host of a URL, without the scheme's own port and in lower case.
func Host(host string, tls bool) string {
	usual := ":80"
	if tls {
		usual = ":443"
	}
	host = strings.ToLower(host)
	if name, port, err := net.SplitHostPort(host); err == nil && (":"+port == usual || port == "") {
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		return name
	}
	return host
}

// sendable is a path with the characters that HTTP does not allow in it as %XX, as browsers
// write them.
func sendable(path string, own bool) string {
	if own {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// merged are the headers that are sent. Several of one name are one with their values joined,
// as proxies do (RFC 9110, section 5.3; cookies: RFC 9113, section 8.2.3).
func merged(all []header) (map[string]string, string) {
	spelled, values := map[string]string{}, map[string][]string{} // by names in lower case
	for _, h := range all {
		name, value := strings.TrimSpace(h.name), strings.TrimSpace(h.value)
		if isLeftOut(name) {
			continue
		}
		if !utf8.ValidString(name) || file.Valid("headerName", name) != nil {
			return nil, "with a header whose name is not valid"
		}
		if !utf8.ValidString(value) || file.Valid("headerValue", value) != nil {
			return nil, "with a header whose value is not one line of text"
		}
		lower := strings.ToLower(name)
		if spelled[lower] == "" {
			spelled[lower] = name
		}
		values[lower] = append(values[lower], value)
	}
	out := map[string]string{}
	for lower, name := range spelled {
		separator := ", "
		if lower == "cookie" {
			separator = "; "
		}
		out[name] = strings.Join(values[lower], separator)
	}
	if len(out) == 0 {
		return nil, ""
	}
	return out, ""
}

// named finds a header regardless of the case of its name.
func named(headers map[string]string, name string) (spelled string, has bool) {
	for one := range headers {
		if strings.EqualFold(one, name) {
			return one, true
		}
	}
	return "", false
}

func (r *Request) setHeader(name, value string) {
	if r.Headers == nil {
		r.Headers = map[string]string{}
	}
	r.Headers[name] = value
}
