package wire

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The status of an answer to a gRPC call that failed is firstCall and the call's code, so
// that it is counted beside the statuses of HTTP. Calls that succeed have 200.
const (
	firstCall = 600
	noCode    = 699 // the answer ended without a status
)

// Codes has the names of gRPC's codes, by number
// (https://grpc.github.io/grpc/core/md_doc_statuscodes.html).
var Codes = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// NoCode stands for the name of a code where an answer of gRPC ended without one.
const NoCode = "no grpc-status"

// StatusName is how a status of an answer is counted: the number of HTTP, or the name of a
// gRPC code.
func StatusName(status int) string {
	switch {
	case status == noCode:
		return NoCode
	case status >= firstCall && status < firstCall+len(Codes):
		return Codes[status-firstCall]
	}
	return strconv.Itoa(status)
}

// Trailers, in lower case, that have a call's code and its text.
const (
	codeField = "grpc-status"
	textField = "grpc-message"
)

// longestText is how much of a call's text is kept, in bytes.
const longestText = 200

// AppendCall appends the trailers of an answer to a gRPC call: its code, -1 if there is none,
// and its text, which is percent-encoded.
func AppendCall(b []byte, code int, text string) []byte {
	b = append(append(b, codeField...), ':')
	if code >= 0 {
		b = strconv.AppendInt(b, int64(code), 10)
	}
	if b = append(b, "\r\n"...); text != "" {
		b = append(append(b, textField...), ':')
		for i := 0; i < len(text); i++ {
			if c := text[i]; valueByte(c) {
				b = append(b, c)
			}
		}
		b = append(b, "\r\n"...)
	}
	return b
}

// takeTrailer keeps what a trailer says of a gRPC call.
func (a *Answer) takeTrailer(name, value []byte) {
	switch {
	case len(name) == len(codeField) && equalFold(name, codeField):
		a.takeCode(trim(value))
	case len(name) == len(textField) && equalFold(name, textField):
		a.text = append(a.text[:0], trim(value)...)
	}
}

// takeCode takes the code of a gRPC call. Where a proxy answers in place of the service, its
// status of HTTP says more than a code that is missing.
func (a *Answer) takeCode(value []byte) {
	code, err := strconv.Atoi(string(value))
	switch {
	case err == nil && code > 0 && code < len(Codes):
		a.status = firstCall + code
	case a.status == 200 && (err != nil || code != 0):
		a.status = noCode
	}
}

// Text is what the service says of a gRPC call that failed, of bounded length; "" if it says
// nothing.
func (a *Answer) Text() string {
	text, err := url.PathUnescape(string(a.text))
	if err != nil {
		text = string(a.text)
	}
	return strings.ToValidUTF8(text[:min(len(text), longestText)], "")
}

// encoded replaces a body without placeholders by what Encode makes of it. Of one that has some
// it checks what they can become at most and at least.
func (r Request) encoded(body []piece) ([]piece, error) {
	if r.Encode == nil {
		return body, nil
	}
	var once []byte
	for _, highest := range []bool{false, true} {
		bound := slices.Clone(body)
		for i := range bound {
			if p := &bound[i]; p.kind == random && highest {
				p.low += int64(p.numbers - 1)
			}
			bound[i].numbers = 1
		}
		var err error
		if once, err = r.Encode(nil, []byte(example(bound))); err != nil {
			return nil, fmt.Errorf("request: body: %w", err)
		}
	}
	if differs(body) {
		return body, nil
	}
	return []piece{{text: once}}, nil
}

// appendEncoded appends what encode makes of a body. Those of the bounds were valid. One between
// them may still be none, such as base64 of a length that is not a multiple of four: the service
// then gets the empty message.
func (t *Template) appendEncoded(b, body []byte) []byte {
	b, err := t.encode(b, body)
	if err != nil {
		return append(b, 0, 0, 0, 0, 0)
	}
	return b
}
