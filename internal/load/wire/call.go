package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// The status of an answer to a gRPC call that failed is firstCall and the call's code, so
// that it is counted beside the statuses of HTTP. Calls that succeed have 200.
const (
	firstCall = 600
	// A call whose answer is not that of gRPC has one of these.
	noCode       = 699 // it ended without a status
	noMessage    = 698
	manyMessages = 697 // more than one, where one is right
	messageCut   = 696
	tooLarge     = 695 // a message
	compressed   = 694 // a message, where that was not agreed
)

// notGRPC has the names of answers that are not those of gRPC, by status.
var notGRPC = map[int]string{noCode: NoCode, noMessage: "no message", manyMessages: "more than one message", messageCut: "message cut off",
	tooLarge: "message too large", compressed: "message compressed"}

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
	if name := notGRPC[status]; name != "" {
		return name
	}
	if status >= firstCall && status < firstCall+len(Codes) {
		return Codes[status-firstCall]
	}
	return strconv.Itoa(status)
}

// Trailers, in lower case, that have a call's code and its text.
const (
	codeField = "grpc-status"
	textField = "grpc-message"
)

// IsCall reports whether a request is a gRPC call, by the content type in its head:
// application/grpc, or that with a suffix. The calls of gRPC-Web have their status in the body.
func IsCall(head []byte) bool {
	_, value, found := bytes.Cut(bytes.ToLower(head), []byte("\r\ncontent-type:"))
	rest, call := bytes.CutPrefix(bytes.TrimLeft(value, " \t"), []byte("application/grpc"))
	return found && call && (len(rest) == 0 || bytes.IndexByte([]byte("+; \t\r"), rest[0]) >= 0)
}

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
	case a.status == 200 && a.call != nil:
		a.status = cmp.Or(a.messages.wrong(a.call), a.status)
	}
}

// Text is what the service says of a gRPC call that failed; "" if it says nothing.
func (a *Answer) Text() string {
	text, err := url.PathUnescape(string(a.text))
	if err != nil {
		text = string(a.text)
	}
	return strings.ToValidUTF8(text, "")
}

// encoded replaces a body without placeholders by what Encode makes of it. Of one that has some
// it checks what each random number can make of it, up to mostTried numbers, and the first
// value of the others.
func (r Request) encoded(body []piece) ([]piece, error) {
	if r.Encode == nil {
		return body, nil
	}
	var once []byte
	try := func(body []piece) (err error) {
		if once, err = r.Encode(nil, appendPieces(nil, body, &Values{Seq: 1, Random: rand.New(rand.NewPCG(0, 0))})); err != nil {
			err = fmt.Errorf("request: body: %w", err)
		}
		return err
	}
	if !differs(body) {
		err := try(body)
		return []piece{{text: once}}, err
	}
	lowest := slices.Clone(body)
	for i := range lowest {
		lowest[i].numbers = 1
	}
	for i, p := range body {
		if p.kind != random {
			continue
		}
		for n := range min(p.numbers-1, mostTried) { // 0 - 1 is the whole range
			one := slices.Clone(lowest)
			one[i].low = int64(uint64(p.low) + (p.numbers-1)/min(p.numbers-1, mostTried)*(n+1))
			if err := try(one); err != nil {
				return nil, err
			}
		}
	}
	return body, try(lowest)
}

// mostTried bounds the values of a random number that are tried before the load.
const mostTried = 500

// appendEncoded appends what encode makes of a body. If it is no message, v has the error and
// the request must not be sent.
func (t *Template) appendEncoded(b []byte, v *Values) []byte {
	whole, err := t.encode(b, v.body)
	if err != nil {
		v.Err = fmt.Errorf("request %d: %w: %.200s", v.Seq, err, v.body)
	}
	return whole
}
