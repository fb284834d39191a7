// Package wire speaks HTTP/1.1 as an agent needs it: a request whose bytes are
// built once, and a reader of answers that takes bytes as they come, keeps
// nothing of them and allocates nothing. It is pure: it opens no connection and
// follows no redirect, and an answer's body is looked through for a text at most.
package wire

import (
	"cmp"
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Request is what is sent.
type Request struct {
	Method  string // GET if empty
	Path    string // with query; / if empty
	Host    string
	Headers map[string]string
	Body    string
	Raw     bool // the body is sent as it is, whatever braces it has
}

// Bytes returns the request as it goes over the wire. A Host header wins over
// the field. What would not be one valid HTTP/1.1 request is an error: framing
// headers that disagree with the body, and bytes that would end a line.
func (r Request) Bytes() ([]byte, error) {
	method, path, host := cmp.Or(r.Method, "GET"), cmp.Or(r.Path, "/"), r.Host
	if !isToken(method) {
		return nil, fmt.Errorf("request: %q is no method", method)
	}
	if method == "CONNECT" {
		return nil, fmt.Errorf("request: CONNECT asks for a tunnel, not for an answer; use another method")
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
			return nil, fmt.Errorf("request: %q is no name of a header", name)
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
		return nil, fmt.Errorf("request: %q is no host", host)
	}
	return append([]byte(r.lines(len(r.Body))+"\r\n"), r.Body...), nil
}

const contentLength = "Content-Length: "

// unknown is a body's length that is to be written later.
const unknown = -1

// lines are the request's line and those of its headers, whose values are known
// to be good, for a body of so many bytes.
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
	if length > 0 || length == 0 && (method == "POST" || method == "PUT" || method == "PATCH") {
		lines = append(lines, contentLength+strconv.Itoa(length)+"\r\n")
	}
	return method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(lines, "")
}

func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !tokenByte[s[i]] {
			return false
		}
	}
	return s != ""
}

func isFieldValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if !valueByte(s[i]) {
			return false
		}
	}
	return true
}

// tokenByte tells which bytes a token is made of (RFC 9110, 5.6.2).
var tokenByte = func() (is [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		is[c] = true
	}
	return is
}()

// valueByte tells whether a byte may stand in a field's value: visible
// characters, space, tab, and all above ASCII (RFC 9110, 5.5).
func valueByte(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }
