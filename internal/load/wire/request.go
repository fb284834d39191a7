// Package wire is the HTTP/1.1 of an agent: requests whose bytes are built once, and an
// incremental parser of answers that stores no body and does not allocate. It is pure:
// it opens no connections and follows no redirects. HTTP/2 and TLS are in package engine. Of a body it can only check whether
// it contains a text.
package wire

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Request is a request to send.
type Request struct {
	Method  string // GET if empty
	Path    string // with query; / if empty
	Host    string
	Headers map[string]string
	// Recorded: Values has the path of each request, in place of Path.
	Recorded bool
	Body     string
	Raw      bool // the body is sent unchanged, without placeholders
	// Encode, if it is set, makes the bytes to send of the body, as of a gRPC message: it appends
	// them to b. The head then has no length, so it needs HTTP/2.
	Encode func(b, body []byte) ([]byte, error)
	Turns  [][]byte // with Encode: bodies, of which each request has the next, instead of Body
	Call   Call     // what the answer may have, if the request is a gRPC call
	// Names are the names of the session's values, by their index; nil: the load has no sessions.
	Names   []string
	Cookies bool // the session's cookies are sent with it
}

// Bytes returns the bytes of the request. A Host header overrides the field. It is an
// error if the bytes would not be one valid HTTP/1.1 request, for example if framing
// headers do not match the body, or a value contains a line break.
func (r Request) Bytes() ([]byte, error) {
	method, path, host := cmp.Or(r.Method, "GET"), cmp.Or(r.Path, "/"), r.Host
	if !isToken(method) {
		return nil, fmt.Errorf("request: %q is not a valid method", method)
	}
	if method == "CONNECT" {
		return nil, fmt.Errorf("request: CONNECT opens a tunnel and has no answer; use another method")
	}
	if !strings.HasPrefix(path, "/") && path != "*" {
		return nil, fmt.Errorf("request: the path %q does not begin with /", path)
	}
	if i := strings.IndexFunc(path, func(c rune) bool { return c <= ' ' || c == 0x7f }); i >= 0 {
		return nil, fmt.Errorf("request: the path %q has a space or a control character; write it as %%%02X", path, path[i])
	}

	for name, value := range r.Headers {
		switch {
		case !isToken(name):
			return nil, fmt.Errorf("request: %q is not a valid header name", name)
		case !isFieldValue(value):
			return nil, fmt.Errorf("request: the header %s has a control character in its value", name)
		case strings.EqualFold(name, "Host"):
			host = value
		case strings.EqualFold(name, "Transfer-Encoding"):
			return nil, fmt.Errorf("request: the header %s is not supported; the body is sent with its length", name)
		case strings.EqualFold(name, "Content-Length"):
			if strings.TrimSpace(value) != strconv.Itoa(len(r.Body)) {
				return nil, fmt.Errorf("request: the header %s is %s and the body has %d bytes; leave the header out", name, value, len(r.Body))
			}
		}
	}
	if host == "" || !isFieldValue(host) || strings.ContainsAny(host, " /") {
		return nil, fmt.Errorf("request: %q is not a valid host", host)
	}
	return append([]byte(r.lines(len(r.Body))+"\r\n"), r.Body...), nil
}

const contentLength = "Content-Length: "

// unknown is the length of a body with placeholders, which is written later.
const unknown = -1

// lines returns the request line and the header lines, whose values must be valid, for
// a body of the given length.
func (r Request) lines(length int) string {
	method, path, host := cmp.Or(r.Method, "GET"), cmp.Or(r.Path, "/"), r.Host
	lines := make([]string, 0, len(r.Headers))
	for name, value := range r.Headers {
		switch {
		case strings.EqualFold(name, "Host"):
			host = value
		case strings.EqualFold(name, "Content-Length"):
		default:
			lines = append(lines, name+": "+strings.TrimSpace(value)+"\r\n")
		}
	}
	sort.Strings(lines)
	if r.Encode == nil && (length > 0 || length == 0 && (method == "POST" || method == "PUT" || method == "PATCH")) {
		lines = append(lines, contentLength+strconv.Itoa(length)+"\r\n")
	}
	return method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(lines, "")
}

// isIdempotent reports whether a method is idempotent (RFC 9110, 9.2.2).
func isIdempotent(method string) bool {
	switch method {
	case "", "GET", "HEAD", "OPTIONS", "PUT", "DELETE":
		return true
	}
	return false
}

func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

// hasToken reports whether a list such as Connection contains a token; token is in
// lower case.
func hasToken(list, token string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.Trim(part, " \t"), token) {
			return true
		}
	}
	return false
}

func isFieldValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if !valueByte(s[i]) {
			return false
		}
	}
	return true
}

// tokenByte reports which bytes a token may contain (RFC 9110, 5.6.2).
var tokenByte = func() (is [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

// valueByte reports whether a field's value may contain a byte: visible characters,
// space, tab, and all above ASCII (RFC 9110, 5.5).
func valueByte(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }
