package h2

import (
	"bytes"
	"errors"
	"slices"
)

// Indices of HPACK's static table (RFC 7541, appendix A).
const (
	tableAuthority = 1
	tableGet       = 2
	tablePost      = 3
	tableMethod    = 2
	tableRoot      = 4
	tablePath      = 4
	tableHTTP      = 6
	tableHTTPS     = 7
)

// resize is a dynamic table size update to 0 (RFC 7541, 6.3). A service that has lowered
// its limit must see one at the begin of the next header block.
const resize = 0x20

var errHead = errors.New("the head of the request is not one of HTTP/1.1")

// AppendBlock appends the header block of a request whose head, without the empty line at
// its end, is that of HTTP/1.1. It uses no dynamic table, so the same head gives the same
// bytes on every connection. Fields that concern a connection of HTTP/1.1 are left out
// (RFC 9113, 8.2.2).
func AppendBlock(b []byte, head []byte, https bool) ([]byte, error) {
	line, fields, _ := bytes.Cut(head, []byte("\r\n"))
	method, rest, ok := bytes.Cut(line, []byte(" "))
	path, version, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 || string(version) != "HTTP/1.1" {
		return nil, errHead
	}
	switch string(method) {
	case "GET":
		b = append(b, 0x80|tableGet)
	case "POST":
		b = append(b, 0x80|tablePost)
	default:
		b = appendText(append(b, tableMethod), method)
	}
	if https {
		b = append(b, 0x80|tableHTTPS)
	} else {
		b = append(b, 0x80|tableHTTP)
	}
	if string(path) == "/" {
		b = append(b, 0x80|tableRoot)
	} else {
		b = appendText(append(b, tablePath), path)
	}
	hop := hopByHop(fields)
	// Pseudo-header fields come before all others.
	regular := make([]byte, 0, len(fields)+16)
	for len(fields) > 0 {
		line, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return nil, errHead
		}
		value = bytes.Trim(value, " \t")
		name = bytes.ToLower(name)
		switch isTE := string(name) == "te"; {
		case string(name) == "host":
			b = appendText(append(b, tableAuthority), value)
		case isTE && string(value) == "trailers", !isTE && !slices.Contains(hop, string(name)):
			regular = appendField(regular, name, value)
		}
	}
	return append(b, regular...), nil
}

// hopByHop are the names, in lower case, of the fields that concern a connection of
// HTTP/1.1 only: some always, and those that Connection names (RFC 9110, 7.6.1).
func hopByHop(fields []byte) []string {
	names := []string{"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}
	for line := range bytes.SplitSeq(fields, []byte("\r\n")) {
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Connection")) {
			for token := range bytes.SplitSeq(bytes.ToLower(value), []byte(",")) {
				names = append(names, string(bytes.Trim(token, " \t")))
			}
		}
	}
	return names
}

// appendField appends a literal field without indexing (RFC 7541, 6.2.2).
func appendField(b, name, value []byte) []byte {
	return appendText(appendText(append(b, 0), name), value)
}

// appendText appends a string literal, without Huffman's code (RFC 7541, 5.1 and 5.2).
func appendText(b, text []byte) []byte {
	n := len(text)
	if n < 0x7f {
		return append(append(b, byte(n)), text...)
	}
	b = append(b, 0x7f)
	for n -= 0x7f; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return append(append(b, byte(n)), text...)
}
